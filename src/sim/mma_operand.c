/* mma_operand.c - operands of mma-pipelined on their way from memory to the lanes of a warp.
 *
 * What an instruction does with the registers of its lanes is written here a second time, from the
 * PTX manual (Warp Level Matrix Multiply-Accumulate Instructions, the layouts of mma.m16n8k8, k16,
 * k32 and ldmatrix), so that fragment.h is held against it.
 */
#include "base/num.h"
#include "sim/mma.h"
#include "tile/fragment.h"
#include "tile/pipeline.h"

enum { LANES = TCGEMM_SIM_MMA_LANES, ROWS = TCGEMM_SIM_MMA_ROWS, COLS = TCGEMM_SIM_MMA_COLS };

typedef tcgemm_sim_mma_t machine_t;
typedef tcgemm_sim_mma_side_t side_t;

/* ---- global to shared ---- */

/* The chunk of a thread, in accesses of `width` bytes. */
static void copy_chunk(machine_t *x, const side_t *s, uint32_t slot, uint32_t thread, uint32_t pass,
                       int64_t k0, int64_t k_left, bool async) {
    const uint32_t row = tcgemm_copy_row(&s->copy, thread, pass);
    const uint32_t chunk = tcgemm_copy_chunk(&s->copy, thread);
    const uint32_t to =
        slot * x->slot_bytes + s->base + tcgemm_copy_to(s->form, s->size, &s->copy, thread, pass);
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[s->matrix];
    const uint32_t bytes =
        tcgemm_copy_bytes(s->form, s->size, row, chunk, matrix->mn - s->first, k_left);
    const int per_chunk = (int)(16 / s->size), inside = (int)(bytes / s->size);
    const int64_t along = (int64_t)chunk * per_chunk;
    const int64_t from = s->form == TCGEMM_FORM_K
                             ? tcgemm_sim_offset(matrix, s->first + row, k0 + along)
                             : tcgemm_sim_offset(matrix, s->first + along, k0 + row);
    tcgemm_sim_name_t names[16];
    tcgemm_sim_zeros(names, per_chunk);
    if (x->is_whole && bytes != 0 && bytes != 16)
        tcgemm_sim_fault(x->sim, "a chunk of 16 bytes has %u inside the matrix", bytes);
    if (inside > 0)
        tcgemm_sim_load(x->sim, s->matrix, x->item, from, inside, x->is_whole ? 16 : (int)s->size,
                        names);
    tcgemm_sim_shared_write(&x->shared, (int)thread, to, per_chunk, names, async);
}

void tcgemm_sim_mma_copy(machine_t *x, const side_t *s, uint32_t block, uint32_t part,
                         uint32_t parts, bool async) {
    const uint32_t slot = tcgemm_pipeline_slot(block, (uint32_t)x->row->stages);
    const int64_t k0 = (int64_t)block * x->row->bk;
    const int64_t left = x->sim->g->k - k0;
    const int64_t k_left = left < 0 ? 0 : min_i64(left, x->row->bk);
    const uint32_t end = tcgemm_copy_first_pass(s->copy.passes, part + 1, parts);
    for (uint32_t pass = tcgemm_copy_first_pass(s->copy.passes, part, parts); pass < end; ++pass)
        for (uint32_t thread = 0; thread < (uint32_t)x->row->threads; ++thread)
            copy_chunk(x, s, slot, thread, pass, k0, k_left, async);
}

/* ---- shared to registers ---- */

/* ldmatrix.x4: lane l names row l % 8 of matrix l / 8 and receives of each matrix row l / 4, bytes
 * 4 * (l % 4) .. + 3; with .trans, in units of two bytes, column l / 4. */
static void ldmatrix(machine_t *x, const side_t *s, int warp, const uint32_t at[LANES]) {
    tcgemm_sim_name_t line[LANES][16];
    const int per_line = (int)(16 / s->size);
    for (int l = 0; l < LANES; ++l)
        tcgemm_sim_shared_read(&x->shared, warp * LANES + l, at[l], per_line, line[l]);
    const int pair = s->size == 1 ? 2 : 1; /* elements in two bytes */
    for (int l = 0; l < LANES; ++l)
        for (int r = 0; r < 4; ++r)
            for (int e = 0; e < (int)(4 / s->size); ++e) {
                const int two = 2 * (l % 4) + e / pair; /* of the eight two-byte columns */
                x->words.at[l][r][e] = s->form == TCGEMM_FORM_K
                                           ? line[8 * r + l / 4][l % 4 * (4 / (int)s->size) + e]
                                           : line[8 * r + two][pair * (l / 4) + e % pair];
            }
}

/* One byte permutation of two registers, bytes 0 2 of both or 1 3 of both, makes a word. */
static void permute_bytes(const side_t *s, tcgemm_sim_name_t w[4][4]) {
    tcgemm_sim_name_t two[4][4];
    for (int i = 0; i < 16; ++i)
        two[i / 4][i % 4] = w[i / 4][i % 4];
    for (uint32_t word = 0; word < 4; ++word) {
        const uint32_t mn_half = tcgemm_fragment_mn_half(s->side, word);
        const uint32_t k_half = tcgemm_fragment_k_half(s->side, word);
        for (uint32_t e = 0; e < 4; ++e)
            w[word][e] = two[2 * k_half + e / 2][2 * (e % 2) + mn_half];
    }
}

/* The word that holds a half of the unit and a half of the step. */
static uint32_t word_of(int side, uint32_t mn_half, uint32_t k_half) {
    return side == TCGEMM_SIDE_A ? 2 * k_half + mn_half : 2 * mn_half + k_half;
}

static void read_f64(machine_t *x, const side_t *s, int warp, const uint32_t at[LANES]) {
    const uint32_t second = tcgemm_fragment_second_row(s->form, s->size) * s->copy.pitch;
    for (int l = 0; l < LANES; ++l)
        for (uint32_t row = 0; row < 2; ++row) {
            tcgemm_sim_name_t two[2];
            tcgemm_sim_shared_read(&x->shared, warp * LANES + l, at[l] + row * second, 2, two);
            for (uint32_t i = 0; i < 2; ++i) {
                const bool k_form = s->form == TCGEMM_FORM_K;
                const uint32_t word = word_of(s->side, k_form ? row : i, k_form ? i : row);
                x->words.at[l][word][0] = two[i];
            }
        }
}

/* Side A of tf32 with m contiguous: 8 bytes are two m of one k. Side B: 4 bytes each. */
static void read_tf32(machine_t *x, const side_t *s, int warp, uint32_t tile,
                      const uint32_t lane_at[LANES], uint32_t step, uint32_t unit) {
    const uint32_t second = tcgemm_fragment_second_row(s->form, s->size) * s->copy.pitch;
    for (int l = 0; l < LANES; ++l)
        for (uint32_t half = 0; half < 2; ++half) {
            tcgemm_sim_name_t(*w)[4] = x->words.at[l];
            const bool is_a = s->side == TCGEMM_SIDE_A;
            const uint32_t from =
                tile + tcgemm_fragment_at(s->form, s->size, s->copy.pitch, lane_at[l], step, unit,
                                          is_a ? 0 : half * 32);
            tcgemm_sim_name_t two[2];
            if (is_a) {
                tcgemm_sim_shared_read(&x->shared, warp * LANES + l, from + half * second, 2, two);
            } else {
                tcgemm_sim_shared_read(&x->shared, warp * LANES + l, from, 1, two);
                tcgemm_sim_shared_read(&x->shared, warp * LANES + l, from + second, 1, two + 1);
            }
            w[2 * half][0] = two[0];
            w[2 * half + 1][0] = two[1];
        }
}

/* The four words of every lane of a unit and step. */
void tcgemm_sim_mma_read(machine_t *x, const side_t *s, int warp, uint32_t first, uint32_t tile,
                         uint32_t step, uint32_t unit) {
    uint32_t lane_at[LANES], at[LANES];
    for (uint32_t l = 0; l < LANES; ++l) {
        lane_at[l] = tcgemm_fragment_lane_at(s->side, s->form, s->size, s->copy.pitch, l, first);
        at[l] =
            tile + tcgemm_fragment_at(s->form, s->size, s->copy.pitch, lane_at[l], step, unit, 0);
    }
    if (s->size == 8) {
        read_f64(x, s, warp, at);
    } else if (s->size == 4 && s->form == TCGEMM_FORM_MN) {
        read_tf32(x, s, warp, tile, lane_at, step, unit);
    } else {
        ldmatrix(x, s, warp, at);
        for (int l = 0; l < LANES && s->size == 1 && s->form == TCGEMM_FORM_MN; ++l)
            permute_bytes(s, x->words.at[l]);
    }
}

/* ---- the instruction ---- */

/* Side A of m16n8: word w of lane (g, q) is row g + 8 * (w % 2), its k begin at
 * e * (4 * (w / 2) + q) where e is the number of elements of a word. */
static void gather_a(const machine_t *x, tcgemm_sim_operand_t *a) {
    const int per_word = x->a.size >= 4 ? 1 : (int)(4 / x->a.size);
    a->rows = ROWS;
    a->slots = 8 * per_word;
    for (int l = 0; l < LANES; ++l)
        for (int w = 0; w < 4; ++w)
            for (int e = 0; e < per_word; ++e)
                a->name[l / 4 + 8 * (w % 2)][per_word * (4 * (w / 2) + l % 4) + e] =
                    x->words.at[l][w][e];
}

/* Side B: words 0, 1 are one product of eight columns, words 2, 3 the next; column g, k as in A. */
static void gather_b(const machine_t *x, tcgemm_sim_operand_t *b) {
    const int per_word = x->b.size >= 4 ? 1 : (int)(4 / x->b.size);
    for (int j = 0; j < 2; ++j) {
        b[j].rows = COLS;
        b[j].slots = 8 * per_word;
        for (int l = 0; l < LANES; ++l)
            for (int h = 0; h < 2; ++h)
                for (int e = 0; e < per_word; ++e)
                    b[j].name[l / 4][per_word * (4 * h + l % 4) + e] = x->words.at[l][2 * j + h][e];
    }
}

void tcgemm_sim_mma_gather(const machine_t *x, const side_t *s, tcgemm_sim_operand_t *operands) {
    if (s->side == TCGEMM_SIDE_A)
        gather_a(x, operands);
    else
        gather_b(x, operands);
}
