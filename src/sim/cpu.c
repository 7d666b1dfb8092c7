/* cpu.c - the data path of the CPU rows, as cpu/gemm.c runs it: panels packed by the row's own
 * packing (or, where this processor cannot run that, by the plain one of the same family), units of
 * work, register tiles. Every lane of a panel is decoded and held against the element that belongs
 * there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "cpu/kernels/kernels.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/packing.h"
#include "cpu/panel.h"
#include "sim/sim.h"

enum { MAX_WIDTH = 48 };

/* One packed operand of the current block. */
typedef struct panels {
    int side;
    int width; /* lines of a panel */
    char *data;
    uint32_t *terms;
    int64_t first, lines; /* in the matrix: row of A, column of B */
    bool is_packed;
} panels_t;

typedef struct machine {
    tcgemm_sim_t *sim;
    const tcgemm_cpu_ukernel_t *u;
    const tcgemm_cpu_blocking_t *s;
    tcgemm_pack_fn *pack;
    tcgemm_signs_t signs;
    int64_t item;
    panels_t a, b;
    double *sums; /* of D, over the blocks of k; integers modulo 2^32 */
    int64_t *terms;
} machine_t;

/* ---- lanes ---- */

static tcgemm_pack_fn *plain_pack(tcgemm_family_t family) {
    switch (family) {
    case TCGEMM_FAMILY_F32:
        return tcgemm_pack_any_f32;
    case TCGEMM_FAMILY_F64:
        return tcgemm_pack_any_f64;
    case TCGEMM_FAMILY_BF16:
        return tcgemm_pack_any_bf16;
    case TCGEMM_FAMILY_U8S8:
    case TCGEMM_FAMILY_I8X4:
        return tcgemm_pack_any_u8s8;
    case TCGEMM_FAMILY_S16:
        return tcgemm_pack_any_s16;
    case TCGEMM_FAMILY_BF16X32:
        return tcgemm_pack_any_bf16x32;
    case TCGEMM_FAMILY_F16X32:
        return tcgemm_pack_any_f16x32;
    case TCGEMM_FAMILY_I8X64:
        return tcgemm_pack_any_i8x64;
#ifdef TCGEMM_ARM /* where these need no more than every processor has */
    case TCGEMM_FAMILY_I8X8:
        return tcgemm_pack_neon_i8x8;
    case TCGEMM_FAMILY_BF16X4:
        return tcgemm_pack_neon_bf16x4;
#endif
    default:
        return tcgemm_pack_any_b1;
    }
}

/* Element e of a lane, as the micro-kernel takes it. */
static double decode(const machine_t *x, int side, const char *lane, int e) {
    switch (x->u->family) {
    case TCGEMM_FAMILY_F32:
        return tcgemm_load_float(TCGEMM_DTYPE_F32, lane, e);
    case TCGEMM_FAMILY_F64:
        return tcgemm_load_float(TCGEMM_DTYPE_F64, lane, e);
    case TCGEMM_FAMILY_BF16:
    case TCGEMM_FAMILY_BF16X32:
    case TCGEMM_FAMILY_BF16X4:
        return tcgemm_load_float(TCGEMM_DTYPE_BF16, lane, e);
    case TCGEMM_FAMILY_F16X32:
        return tcgemm_load_float(TCGEMM_DTYPE_F16, lane, e);
    case TCGEMM_FAMILY_U8S8:
        return tcgemm_load_integer(side == TCGEMM_SIDE_A ? TCGEMM_DTYPE_U8 : TCGEMM_DTYPE_S8, lane,
                                   e);
    case TCGEMM_FAMILY_I8X4:
    case TCGEMM_FAMILY_I8X8:
    case TCGEMM_FAMILY_I8X64: {
        const bool is_signed = side == TCGEMM_SIDE_A ? x->signs.a_is_signed : x->signs.b_is_signed;
        return tcgemm_load_integer(is_signed ? TCGEMM_DTYPE_S8 : TCGEMM_DTYPE_U8, lane, e);
    }
    case TCGEMM_FAMILY_S16: {
        int16_t value;
        memcpy(&value, lane + (size_t)e * sizeof value, sizeof value);
        return value;
    }
    default:
        return tcgemm_load_integer(TCGEMM_DTYPE_B1, lane, e);
    }
}

/* What decode should give: bytes are shifted (packing.h), bits stay bits. */
static double expected(const machine_t *x, int side, tcgemm_sim_name_t name) {
    const double value = tcgemm_sim_value(x->sim, side, name);
    if (x->u->family == TCGEMM_FAMILY_U8S8 || x->u->family == TCGEMM_FAMILY_I8X4)
        return side == TCGEMM_SIDE_A ? value + (int32_t)x->signs.za : value - (int32_t)x->signs.zb;
    if (x->u->family == TCGEMM_FAMILY_B1 && (x->sim->g->flags & TCGEMM_FLAG_XOR))
        return (1.0 - value) / 2.0;
    return value;
}

static bool is_same(double x, double y) {
    return x == y || (isnan(x) && isnan(y));
}

/* Element k of a line of a panel whose lanes are rows of matrix tiles. */
static double read_word(const machine_t *x, const panels_t *p, const char *panel, int line,
                        int64_t k) {
    const int each = x->u->ku / 16;
    const int64_t word = tcgemm_panel_word(k / x->u->ku, line, (int)(k % x->u->ku) / each, p->width,
                                           p->side == TCGEMM_SIDE_B);
    return decode(x, p->side, panel + word * 4, (int)(k % each));
}

/* Element (line, k) of the block as the tile reads it. */
static double read_packed(const machine_t *x, const panels_t *p, const tcgemm_cpu_block_t *block,
                          int64_t line, int64_t k) {
    const int64_t steps = tcgemm_panel_steps(block->ks, x->u->ku);
    const int within = (int)(line % p->width);
    const char *panel = p->data + tcgemm_panel_at(line - within, steps, x->u->lane_bytes);
    if (tcgemm_is_matrix(x->u))
        return read_word(x, p, panel, within, k);
    const int64_t lane = tcgemm_panel_lane(k / x->u->ku, within, p->width);
    return decode(x, p->side, panel + lane * x->u->lane_bytes, (int)(k % x->u->ku));
}

static void check_element(const machine_t *x, const panels_t *p, const tcgemm_cpu_block_t *block,
                          int64_t line, int64_t k) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[p->side];
    const bool is_inside = line < p->lines && k < block->ks;
    const tcgemm_sim_name_t name = {(int32_t)(x->item * matrix->mn + p->first + line),
                                    (int32_t)(block->k + k)};
    const double got = read_packed(x, p, block, line, k);
    if (!is_same(got, is_inside ? expected(x, p->side, name) : 0.0))
        tcgemm_sim_fault(x->sim, "the panel of %c holds %g where element (%lld, %lld) belongs",
                         p->side == TCGEMM_SIDE_A ? 'A' : 'B', got, (long long)p->first + line,
                         (long long)block->k + k);
}

static void pack_side(machine_t *x, panels_t *p, const tcgemm_cpu_block_t *block) {
    const bool is_a = p->side == TCGEMM_SIDE_A;
    const tcgemm_operand_t *o = x->sim->side[p->side].operand;
    const int64_t offset = x->item * o->batch_stride;
    const tcgemm_pack_t pack =
        is_a ? tcgemm_pack_of_a(x->sim->g, x->u->family, &x->signs, x->sim->call->a, offset, block)
             : tcgemm_pack_of_b(x->sim->g, x->u->family, &x->signs, x->sim->call->b, offset, block);
    const int64_t steps = tcgemm_panel_steps(block->ks, x->u->ku);
    for (int64_t first = 0; first < p->lines; first += p->width)
        (void)x->pack(&pack, first, (int)min_i64(p->width, p->lines - first), p->width,
                      p->data + tcgemm_panel_at(first, steps, x->u->lane_bytes), p->terms + first);
    const int64_t padded = round_up(p->lines, p->width);
    for (int64_t line = 0; line < padded; ++line)
        for (int64_t k = 0; k < steps * x->u->ku; ++k)
            check_element(x, p, block, line, k);
    x->sim->report->memory_loads += p->lines * block->ks;
    tcgemm_sim_trace(
        x->sim, 1, "all threads pack %c: %lld lines from %lld, k %lld..%lld, %lld panels",
        is_a ? 'A' : 'B', (long long)p->lines, (long long)p->first, (long long)block->k,
        (long long)block->k + block->ks - 1, (long long)(padded / p->width));
}

/* ---- register tiles ---- */

static double element_of(const machine_t *x, const panels_t *p, const tcgemm_cpu_block_t *block,
                         int64_t line, int64_t k) {
    if (p->is_packed)
        return read_packed(x, p, block, line, k);
    const tcgemm_sim_name_t name = {(int32_t)(x->item * x->sim->side[p->side].mn + p->first + line),
                                    (int32_t)(block->k + k)};
    return tcgemm_sim_value(x->sim, p->side, name);
}

/* scale * sum + terms, as a tile of integers ends (ukernel.h). */
static uint32_t finish_integer(const machine_t *x, double sum, int64_t i, int64_t j) {
    uint32_t value = (uint32_t)(int64_t)sum;
    if (x->sim->g->flags & TCGEMM_FLAG_XOR)
        value *= 0u - 2u;
    if (x->signs.use_a_terms)
        value += x->a.terms[i];
    if (x->signs.use_b_terms)
        value += x->b.terms[j];
    return value;
}

static void add_sum(machine_t *x, const tcgemm_cpu_block_t *block, int64_t i, int64_t j,
                    double sum) {
    const int64_t at = (block->row + i) * x->sim->g->n + block->col + j;
    if (tcgemm_dtype_is_integer(x->sim->g->type->d))
        x->sums[at] = (uint32_t)((uint32_t)x->sums[at] + finish_integer(x, sum, i, j));
    else
        x->sums[at] += sum;
    x->terms[at] += block->ks;
}

static void multiply_tile(machine_t *x, const tcgemm_cpu_block_t *block, int64_t i0, int64_t j0) {
    const int64_t i1 = min_i64(i0 + x->u->mr, block->rows);
    const int64_t j1 = min_i64(j0 + x->u->nr, block->cols);
    for (int64_t i = i0; i < i1; ++i) {
        double sums[MAX_WIDTH] = {0};
        for (int64_t k = 0; k < block->ks; ++k) {
            const double a = element_of(x, &x->a, block, i, k);
            for (int64_t j = j0; j < j1; ++j)
                sums[j - j0] += a * element_of(x, &x->b, block, j, k);
        }
        for (int64_t j = j0; j < j1; ++j)
            add_sum(x, block, i, j, sums[j - j0]);
    }
    x->sim->report->num_products += 1;
    x->sim->report->num_macs += (int64_t)x->u->mr * x->u->nr * block->ks;
    x->sim->report->warp_loads += (x->u->mr + x->u->nr) * block->ks;
    if (tcgemm_sim_is_traced(x->sim))
        tcgemm_sim_trace(x->sim, 3,
                         "register tile: D(%lld..%lld, %lld..%lld) += k %lld..%lld, %lld steps",
                         (long long)block->row + i0, (long long)block->row + i1 - 1,
                         (long long)block->col + j0, (long long)block->col + j1 - 1,
                         (long long)block->k, (long long)block->k + block->ks - 1,
                         (long long)tcgemm_panel_steps(block->ks, x->u->ku));
}

static void multiply_unit(machine_t *x, const tcgemm_cpu_block_t *block, int64_t unit) {
    const tcgemm_unit_t at = tcgemm_unit_at(unit, block->rows, x->s->mc, x->s->nb);
    const int64_t rows = min_i64(at.row + x->s->mc, block->rows);
    const int64_t cols = min_i64(at.col + x->s->nb, block->cols);
    tcgemm_sim_trace(x->sim, 2, "unit %lld, taken by whichever thread is free: D(%lld.., %lld..)",
                     (long long)unit, (long long)block->row + at.row,
                     (long long)block->col + at.col);
    x->sim->report->num_blocks += block->first;
    x->sim->report->num_steps += 1;
    for (int64_t j = at.col; j < cols; j += x->u->nr) {
        x->sim->report->num_warps += 1;
        x->sim->report->block_loads += (rows - at.row + x->u->nr) * block->ks;
        for (int64_t i = at.row; i < rows; i += x->u->mr)
            multiply_tile(x, block, i, j);
    }
}

/* ---- the loops of gemm.c ---- */

static void do_block(machine_t *x, const tcgemm_cpu_block_t *block, bool b_is_packed) {
    x->a.first = block->row;
    x->a.lines = block->rows;
    x->b.first = block->col;
    x->b.lines = block->cols;
    if (x->b.is_packed && !b_is_packed)
        pack_side(x, &x->b, block);
    if (x->a.is_packed)
        pack_side(x, &x->a, block);
    const int64_t units = tcgemm_unit_count(block->rows, block->cols, x->s->mc, x->s->nb);
    for (int64_t unit = 0; unit < units; ++unit)
        multiply_unit(x, block, unit);
}

static void do_item(machine_t *x) {
    const tcgemm_canonical_t *g = x->sim->g;
    tcgemm_cpu_block_t block;
    for (block.col = 0; block.col < g->n; block.col += x->s->nc) {
        block.cols = min_i64(x->s->nc, g->n - block.col);
        for (block.row = 0; block.row < g->m; block.row += x->s->mt) {
            block.rows = min_i64(x->s->mt, g->m - block.row);
            for (block.k = 0; block.k < g->k; block.k += x->s->kc) {
                block.ks = min_i64(x->s->kc, g->k - block.k);
                block.first = block.k == 0;
                block.last = block.k + block.ks == g->k;
                tcgemm_sim_trace(x->sim, 0, "item %lld: D(%lld.., %lld..), k %lld..%lld",
                                 (long long)x->item, (long long)block.row, (long long)block.col,
                                 (long long)block.k, (long long)block.k + block.ks - 1);
                do_block(x, &block, block.row > 0 && block.first && block.last);
            }
        }
    }
}

/* XOR is counted here as it is; the store expects equal less unequal pairs (sim.h). */
static double sum_for_store(const machine_t *x, double sum) {
    const tcgemm_canonical_t *g = x->sim->g;
    const bool is_xor = g->type->type == TCGEMM_B1_S32 && (g->flags & TCGEMM_FLAG_XOR) != 0;
    return is_xor ? (double)g->k - 2.0 * sum : sum;
}

static void store_item(machine_t *x) {
    const tcgemm_canonical_t *g = x->sim->g;
    for (int64_t i = 0; i < g->m; ++i)
        for (int64_t j = 0; j < g->n; ++j) {
            const int64_t at = i * g->n + j;
            const tcgemm_sim_sum_t sum = {sum_for_store(x, x->sums[at]),
                                          (int32_t)(x->item * g->m + i),
                                          (int32_t)(x->item * g->n + j), x->terms[at]};
            tcgemm_sim_store(x->sim, x->item, i, j, &sum);
        }
    memset(x->sums, 0, (size_t)(g->m * g->n) * sizeof *x->sums);
    memset(x->terms, 0, (size_t)(g->m * g->n) * sizeof *x->terms);
}

static panels_t panels_of(machine_t *x, int side) {
    const tcgemm_canonical_t *g = x->sim->g;
    const bool is_a = side == TCGEMM_SIDE_A;
    panels_t p = {.side = side,
                  .width = is_a ? x->u->mr : x->u->nr,
                  .is_packed = is_a ? x->s->pack_a : x->s->pack_b};
    const int64_t most = is_a ? min_i64(x->s->mt, g->m) : min_i64(x->s->nc, g->n);
    const int64_t lines = round_up(most, p.width);
    const int64_t steps = tcgemm_panel_steps(min_i64(x->s->kc, g->k), x->u->ku);
    p.data = tcgemm_sim_allocate(x->sim, p.is_packed ? lines * steps : 0, (size_t)x->u->lane_bytes);
    p.terms = tcgemm_sim_allocate(x->sim, lines, sizeof *p.terms);
    return p;
}

void tcgemm_sim_cpu(tcgemm_sim_t *sim) {
    const tcgemm_canonical_t *g = sim->g;
    machine_t x = {.sim = sim, .u = sim->plan->kernel->cpu, .s = &sim->plan->cpu};
    x.pack = sim->plan->kernel->family->fits(sim->plan->kernel, NULL) ? x.u->pack
                                                                      : plain_pack(x.u->family);
    x.signs = tcgemm_signs_of(g, x.u->family);
    x.a = panels_of(&x, TCGEMM_SIDE_A);
    x.b = panels_of(&x, TCGEMM_SIDE_B);
    x.sums = tcgemm_sim_allocate(sim, g->m * g->n, sizeof *x.sums);
    x.terms = tcgemm_sim_allocate(sim, g->m * g->n, sizeof *x.terms);
    for (x.item = 0; !sim->is_out_of_memory && x.item < g->batch; ++x.item) {
        do_item(&x);
        store_item(&x);
    }
    free(x.a.data);
    free(x.a.terms);
    free(x.b.data);
    free(x.b.terms);
    free(x.sums);
    free(x.terms);
}

void tcgemm_sim_reference(tcgemm_sim_t *sim) {
    const tcgemm_tiles_t tiles = tcgemm_tiles(1, 1, sim->g->k);
    tcgemm_sim_nest(sim, &tiles, TCGEMM_DEPTH_THREADS);
}
