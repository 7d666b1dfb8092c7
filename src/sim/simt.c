/* simt.c - the data path of mma-pipelined on CUDA cores (f32), as simt_f32_f32.cu runs it: two
 * slots, every lane multiplies 8 rows by wn / 4 columns for each k. */
#include <stdlib.h>

#include "base/num.h"
#include "gpu/gpu_row.h"
#include "sim/product.h"
#include "sim/shared.h"
#include "tile/pipeline.h"
#include "tile/simt.h"

enum { LANES = 32, ROWS = 8, BYTES = 4 };

typedef struct side {
    int side, turn;
    tcgemm_simt_copy_t copy;
    uint32_t base; /* floats, of the operand in a slot */
    int64_t first;
    uint32_t mn;
} side_t;

typedef struct machine {
    tcgemm_sim_t *sim;
    const tcgemm_gpu_row_t *row;
    tcgemm_sim_shared_t shared;
    side_t a, b;
    uint32_t warps_n, slot_floats, blocks;
    int cols; /* of a lane */
    bool is_wide;
    int64_t item;
    tcgemm_sim_product_t *products;
    tcgemm_sim_operand_t operand_a, operand_b;
} machine_t;

/* ---- global to shared ---- */

/* One pass of a thread: `run` neighbours of global memory, along k (turn) or along m. */
static void copy_run(machine_t *x, const side_t *s, uint32_t slot, uint32_t thread, uint32_t pass,
                     int64_t k0) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[s->side];
    const tcgemm_simt_copy_t *copy = &s->copy;
    const uint32_t row0 = tcgemm_simt_copy_row(copy, s->turn, thread);
    const uint32_t kk0 = tcgemm_simt_copy_k(copy, s->turn, thread);
    const uint32_t row = row0 + (s->turn ? pass * copy->down : 0);
    const uint32_t k = kk0 + (s->turn ? 0 : pass * copy->down);
    const bool is_inside = s->first + row < matrix->mn && k0 + k < x->sim->g->k;
    tcgemm_sim_name_t names[4];
    tcgemm_sim_zeros(names, (int)copy->run);
    if (is_inside)
        tcgemm_sim_load(x->sim, s->side, x->item, tcgemm_sim_offset(matrix, s->first + row, k0 + k),
                        (int)copy->run, (int)copy->run * BYTES, names);
    const uint32_t to = slot * x->slot_floats + s->base + kk0 * copy->pitch +
                        tcgemm_simt_place(s->turn, row0, kk0) + pass * copy->pass_floats;
    const bool through_registers = s->turn && x->is_wide;
    if (through_registers)
        for (uint32_t i = 0; i < copy->run; ++i)
            tcgemm_sim_shared_write(&x->shared, (int)thread, (to + i * copy->pitch) * BYTES, 1,
                                    &names[i], false);
    else
        tcgemm_sim_shared_write(&x->shared, (int)thread, to * BYTES, (int)copy->run, names,
                                x->sim->has_async_copy);
}

static void copy_block(machine_t *x, uint32_t block) {
    const uint32_t slot = tcgemm_pipeline_slot(block, 2);
    const int64_t k0 = (int64_t)block * TCGEMM_SIMT_BK;
    const side_t *sides[] = {&x->a, &x->b};
    tcgemm_sim_tell(x->sim, 1, "all threads copy A %s and B %s, %s, to slot %u",
                    tcgemm_sim_span("rows", x->a.first, x->row->bm, x->sim->g->m).text,
                    tcgemm_sim_span("columns", x->b.first, x->row->bn, x->sim->g->n).text,
                    tcgemm_sim_span("k", k0, TCGEMM_SIMT_BK, x->sim->g->k).text, slot);
    for (int i = 0; i < 2; ++i)
        for (uint32_t pass = 0; pass < sides[i]->copy.passes; ++pass)
            for (uint32_t thread = 0; thread < (uint32_t)x->row->threads; ++thread)
                copy_run(x, sides[i], slot, thread, pass, k0);
}

/* ---- products ---- */

/* What a lane reads of one operand for one k: pieces of 16 bytes. */
static void read_lane(machine_t *x, const side_t *s, tcgemm_sim_operand_t *operand, int thread,
                      uint32_t slot, uint32_t k, uint32_t first, int count) {
    operand->rows = count;
    operand->slots = 1;
    for (int i = 0; i < count; i += 4) {
        const uint32_t step = s->side == TCGEMM_SIDE_A ? tcgemm_simt_row_step((uint32_t)i)
                                                       : tcgemm_simt_col_step((uint32_t)i);
        const uint32_t at = slot * x->slot_floats + s->base + k * s->copy.pitch +
                            tcgemm_simt_place(s->turn, first, k / 8 * 8) +
                            step; /* one address for eight k */
        tcgemm_sim_name_t names[4];
        tcgemm_sim_shared_read(&x->shared, thread, at * BYTES, 4, names);
        for (int e = 0; e < 4; ++e)
            operand->name[i + e][0] = names[e];
    }
    tcgemm_sim_identify(x->sim, s->side, operand);
}

static uint32_t row_of(const machine_t *x, int thread) {
    return tcgemm_simt_row((uint32_t)thread / LANES, x->warps_n, (uint32_t)thread % LANES);
}

static uint32_t col_of(const machine_t *x, int thread) {
    return tcgemm_simt_col((uint32_t)thread / LANES, x->warps_n, (uint32_t)x->row->wn,
                           (uint32_t)thread % LANES);
}

static void multiply_block(machine_t *x, uint32_t block) {
    const uint32_t slot = tcgemm_pipeline_slot(block, 2);
    for (int thread = 0; thread < x->row->threads; ++thread) {
        if (thread % LANES == 0)
            tcgemm_sim_tell(x->sim, 2,
                            "warp %d, slot %u: for each of %d k a lane multiplies 8 rows by %d "
                            "columns; lane 0 those from (%u, %u) of the tile",
                            thread / LANES, slot, TCGEMM_SIMT_BK, x->cols, row_of(x, thread),
                            col_of(x, thread));
        for (uint32_t k = 0; k < TCGEMM_SIMT_BK; ++k) {
            read_lane(x, &x->a, &x->operand_a, thread, slot, k, row_of(x, thread), ROWS);
            read_lane(x, &x->b, &x->operand_b, thread, slot, k, col_of(x, thread), x->cols);
            tcgemm_sim_multiply(x->sim, &x->products[thread], &x->operand_a, &x->operand_b);
        }
    }
}

/* ---- D ---- */

static void store_thread(machine_t *x, int thread) {
    const tcgemm_canonical_t *g = x->sim->g;
    const bool wide = x->sim->vector_d >= 16 && (!x->sim->call->c || x->sim->vector_c >= 16);
    for (int i = 0; i < ROWS; ++i) {
        const int64_t row = x->a.first + row_of(x, thread) + tcgemm_simt_row_step((uint32_t)i);
        for (int j = 0; row < g->m && j < x->cols; ++j) {
            const int64_t col = x->b.first + col_of(x, thread) + tcgemm_simt_col_step((uint32_t)j);
            if (col >= g->n)
                continue;
            if (wide && j % 4 == 0 && g->n - col >= 4)
                tcgemm_sim_check_alignment(x->sim, x->item, row, col, 16);
            const tcgemm_sim_sum_t sum = tcgemm_sim_sum_of(&x->products[thread], i, j);
            tcgemm_sim_store(x->sim, x->item, row, col, &sum);
        }
    }
}

/* ---- blocks ---- */

static void run_block(machine_t *x, uint32_t index, uint32_t tiles_m, uint32_t tiles_n) {
    const tcgemm_batch_tile_t tile = tcgemm_sim_tile(x->sim, index, tiles_m, tiles_n);
    x->item = tile.batch;
    x->a.first = (int64_t)tile.at.m * x->row->bm;
    x->b.first = (int64_t)tile.at.n * x->row->bn;
    tcgemm_sim_tell(x->sim, 0, "block %u, %d threads: tile (%u, %u) of D, item %u", index,
                    x->row->threads, tile.at.m, tile.at.n, tile.batch);
    x->sim->report->num_blocks += 1;
    x->sim->report->num_steps += x->blocks;
    x->sim->report->num_warps += x->row->threads / LANES;
    tcgemm_sim_shared_poison(&x->shared);
    tcgemm_sim_products_clear(x->products, x->row->threads);
    copy_block(x, 0);
    for (uint32_t block = 0; block < x->blocks; ++block) {
        tcgemm_sim_tell(x->sim, 1, "wait for k block %u; barrier", block);
        tcgemm_sim_commit(&x->shared);
        tcgemm_sim_wait(&x->shared, 0);
        tcgemm_sim_barrier(&x->shared);
        copy_block(x, block + 1);
        multiply_block(x, block);
    }
    tcgemm_sim_tell(x->sim, 1, "each thread stores its %d x %d elements of D", ROWS, x->cols);
    for (int thread = 0; thread < x->row->threads; ++thread)
        store_thread(x, thread);
}

static bool has_whole_runs(const tcgemm_sim_t *sim, int side) {
    const tcgemm_sim_matrix_t *matrix = &sim->side[side];
    return matrix->vector >= 16 &&
           (matrix->form == TCGEMM_FORM_K ? sim->g->k : matrix->mn) % 4 == 0;
}

static side_t side_of(const machine_t *x, int side, int mn) {
    side_t s = {.side = side, .turn = x->sim->side[side].form == TCGEMM_FORM_K, .mn = (uint32_t)mn};
    s.copy = tcgemm_simt_copy(s.mn, s.turn, x->is_wide, (uint32_t)x->row->threads);
    return s;
}

static void run(machine_t *x) {
    const tcgemm_canonical_t *g = x->sim->g;
    const uint32_t tiles_m = (uint32_t)ceil_div(g->m, x->row->bm);
    const uint32_t tiles_n = (uint32_t)ceil_div(g->n, x->row->bn);
    for (uint32_t i = 0; i < tiles_m * tiles_n * (uint32_t)g->batch; ++i)
        run_block(x, i, tiles_m, tiles_n);
}

void tcgemm_sim_simt(tcgemm_sim_t *sim) {
    machine_t *x = tcgemm_sim_allocate(sim, 1, sizeof *x);
    if (!x)
        return;
    x->sim = sim;
    x->row = sim->plan->kernel->gpu;
    x->is_wide = has_whole_runs(sim, TCGEMM_SIDE_A) && has_whole_runs(sim, TCGEMM_SIDE_B);
    x->a = side_of(x, TCGEMM_SIDE_A, x->row->bm);
    x->b = side_of(x, TCGEMM_SIDE_B, x->row->bn);
    x->b.base = TCGEMM_SIMT_BK * x->a.copy.pitch;
    x->slot_floats = TCGEMM_SIMT_BK * (x->a.copy.pitch + x->b.copy.pitch);
    x->warps_n = (uint32_t)(x->row->bn / x->row->wn);
    x->cols = x->row->wn / 4;
    x->blocks = tcgemm_pipeline_blocks(sim->g->k, TCGEMM_SIMT_BK);
    x->products = tcgemm_sim_products_make(sim, x->row->threads, ROWS, x->cols);
    if (tcgemm_sim_shared_make(&x->shared, sim, x->row->smem_bytes, BYTES)) {
        if (x->products)
            run(x);
        tcgemm_sim_shared_free(&x->shared);
    }
    free(x->products);
    free(x);
}
