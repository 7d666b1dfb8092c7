/* wmma_shared.c - the data path of wmma-shared, as wmma_shared.cuh runs it: persistent blocks whose
 * ring of chunks does not stop between tiles, pieces permuted in shared memory, D from registers.
 */
#include <stdlib.h>

#include "base/num.h"
#include "gpu/gpu_row.h"
#include "gpu/launch.h"
#include "sim/shared.h"
#include "sim/wmma.h"
#include "tile/pipeline.h"

enum { MAX_TILES = 8 };

typedef struct side {
    int side, k_form;
    uint32_t size, outer; /* of an element; rows of A, columns of B of the block */
    uint32_t warp, blocks, group;
    uint32_t base; /* in a stage */
    tcgemm_wmma_copy_t copy;
    int64_t first; /* of the tile that is being copied */
    tcgemm_sim_chunk_t chunk;
    tcgemm_sim_operand_t operand[MAX_TILES];
} side_t;

typedef struct machine {
    tcgemm_sim_t *sim;
    const tcgemm_gpu_row_t *row;
    tcgemm_sim_shared_t shared;
    side_t a, b;
    int extent; /* of a warp-matrix tile, both ways */
    int warps, warps_n, tiles_m, tiles_n;
    uint32_t stages, stage_bytes, chunk_k, chunks, steps;
    uint32_t grid_m, grid_n, num_tiles, grid;
    uint32_t copy_tile, copy_left; /* the producer's place: a tile, and chunks of it left */
    int64_t copy_item;
    tcgemm_sim_product_t *products;
} machine_t;

/* ---- global to shared ---- */

/* Elements [0, count) of a piece exist; accesses of `width` bytes. */
static void load_piece(machine_t *x, const side_t *s, uint32_t row, uint32_t element, int64_t k0,
                       int count, int width, tcgemm_sim_name_t *names) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[s->side];
    const int64_t outer = s->first + (s->k_form ? row : element);
    const int64_t k = k0 + (s->k_form ? element : row);
    tcgemm_sim_zeros(names, 16 / (int)s->size);
    if (count > 0)
        tcgemm_sim_load(x->sim, s->side, x->copy_item, tcgemm_sim_offset(matrix, outer, k), count,
                        width, names);
}

/* How many of the elements from `element` on in row `row` of the tile exist. */
static int elements_left(const machine_t *x, const side_t *s, uint32_t row, uint32_t element,
                         int64_t k0) {
    const int64_t outer_left = x->sim->side[s->side].mn - s->first, k_left = x->sim->g->k - k0;
    const int64_t rows = s->k_form ? outer_left : k_left, run = s->k_form ? k_left : outer_left;
    const int64_t left = run - element;
    return row >= rows || left <= 0 ? 0 : (int)min_i64(left, 16 / s->size);
}

/* By 16 bytes, or the same in fours. */
static void copy_pieces(machine_t *x, const side_t *s, uint32_t to, int64_t k0, bool async) {
    const uint32_t per_piece = 16 / s->size;
    const uint32_t vector = x->sim->side[s->side].vector;
    for (uint32_t thread = 0; thread < (uint32_t)x->row->threads; ++thread)
        for (uint32_t i = 0; i < s->copy.times; ++i) {
            const uint32_t row = thread / s->copy.pieces + i * s->copy.hop;
            const uint32_t piece = thread % s->copy.pieces;
            tcgemm_sim_name_t names[16];
            load_piece(x, s, row, piece * per_piece, k0,
                       elements_left(x, s, row, piece * per_piece, k0), vector >= 16 ? 16 : 4,
                       names);
            const uint32_t at =
                to + tcgemm_wmma_copy_to(row, piece, s->copy.pieces, s->size, s->group, s->k_form);
            tcgemm_sim_shared_write(&x->shared, (int)thread, at, (int)per_piece, names, async);
        }
}

/* Element by element, through registers. */
static void copy_elements(machine_t *x, const side_t *s, uint32_t to, int64_t k0) {
    const uint32_t per_piece = 16 / s->size, threads = (uint32_t)x->row->threads;
    const uint32_t run = s->copy.pieces * per_piece; /* elements in a row of shared memory */
    for (uint32_t e = 0; e < s->copy.rows * run; ++e) {
        const uint32_t row = e / run, element = e % run;
        tcgemm_sim_name_t names[16];
        load_piece(x, s, row, element, k0, elements_left(x, s, row, element, k0) > 0, (int)s->size,
                   names);
        const uint32_t at = to + element % per_piece * s->size +
                            tcgemm_wmma_copy_to(row, element / per_piece, s->copy.pieces, s->size,
                                                s->group, s->k_form);
        tcgemm_sim_shared_write(&x->shared, (int)(e % threads), at, 1, names, false);
    }
}

static void copy_operand(machine_t *x, const side_t *s, uint32_t stage, int64_t k0) {
    const uint32_t to = stage * x->stage_bytes + s->base;
    const uint32_t vector = x->sim->side[s->side].vector;
    const bool is_inside =
        x->sim->side[s->side].mn - s->first >= s->outer && x->sim->g->k - k0 >= x->chunk_k;
    if (x->sim->has_async_copy && (vector >= 4 || s->size >= 4))
        copy_pieces(x, s, to, k0, true);
    else if (!x->sim->has_async_copy && vector >= 16 && is_inside)
        copy_pieces(x, s, to, k0, false);
    else
        copy_elements(x, s, to, k0);
}

/* Turns to the tile that is copied next. */
static void open_tile(machine_t *x) {
    if (x->copy_tile >= x->num_tiles)
        return;
    const tcgemm_batch_tile_t t = tcgemm_sim_tile(x->sim, x->copy_tile, x->grid_m, x->grid_n);
    x->copy_item = t.batch;
    x->a.first = (int64_t)t.at.m * x->row->bm;
    x->b.first = (int64_t)t.at.n * x->row->bn;
    x->copy_left = x->chunks;
}

static void copy_stage(machine_t *x, uint32_t stage) {
    if (x->copy_left > 0) {
        const int64_t k0 = (int64_t)(x->chunks - x->copy_left) * x->chunk_k;
        tcgemm_sim_tell(x->sim, 1, "all threads copy A %s and B %s, %s, of tile %u to stage %u",
                        tcgemm_sim_span("rows", x->a.first, x->a.outer, x->sim->g->m).text,
                        tcgemm_sim_span("columns", x->b.first, x->b.outer, x->sim->g->n).text,
                        tcgemm_sim_span("k", k0, x->chunk_k, x->sim->g->k).text, x->copy_tile,
                        stage);
        copy_operand(x, &x->a, stage, k0);
        copy_operand(x, &x->b, stage, k0);
        if (--x->copy_left == 0) {
            x->copy_tile += x->grid;
            open_tile(x);
        }
    }
    tcgemm_sim_commit(&x->shared);
}

/* ---- shared to registers ---- */

static void read_side(machine_t *x, side_t *s, int warp, uint32_t stage) {
    const uint32_t tile = stage * x->stage_bytes + s->base, lane_k = 16 / s->size;
    const uint32_t segments = s->blocks / s->group;
    const int at = s->side == TCGEMM_SIDE_A ? warp / x->warps_n : warp % x->warps_n;
    for (uint32_t lane = 0; lane < TCGEMM_SIM_LANES; ++lane) {
        const int thread = warp * TCGEMM_SIM_LANES + (int)lane;
        const uint32_t lane_at = tcgemm_wmma_lane_at((uint32_t)at * s->warp, lane / 4, lane % 4,
                                                     s->copy.pieces, s->size, s->group, s->k_form);
        for (uint32_t block = 0; s->k_form && block < s->blocks; ++block)
            tcgemm_sim_shared_read(&x->shared, thread,
                                   tile + tcgemm_wmma_block_at(lane_at, block, s->group),
                                   (int)lane_k, s->chunk.at[lane][block]);
        for (uint32_t i = 0; !s->k_form && i < lane_k; ++i)
            for (uint32_t segment = 0; segment < segments; ++segment) {
                tcgemm_sim_name_t names[16];
                tcgemm_sim_shared_read(&x->shared, thread,
                                       tile + tcgemm_wmma_segment_at(lane_at, segment, i,
                                                                     s->copy.pieces, s->size,
                                                                     s->group),
                                       (int)s->group, names);
                for (uint32_t e = 0; e < s->group; ++e)
                    s->chunk.at[lane][segment * s->group + e][i] = names[e];
            }
    }
}

static tcgemm_sim_product_t *product_of(const machine_t *x, int warp, int i, int j) {
    return &x->products[(warp * x->tiles_m + i) * x->tiles_n + j];
}

static void gather(machine_t *x, side_t *s, int tiles, uint32_t step) {
    const uint32_t per_tile = (uint32_t)x->extent / 8;
    const int paired = s->side == TCGEMM_SIDE_A && x->extent >= 16;
    for (int i = 0; i < tiles; ++i)
        tcgemm_sim_wmma_operand(x->sim, s->side, &s->chunk, (uint32_t)i * per_tile, per_tile, step,
                                s->size, paired, &s->operand[i]);
}

static void warp_chunk(machine_t *x, int warp, uint32_t stage) {
    tcgemm_sim_tell(x->sim, 2,
                    "warp %d reads rows %u..%u of A and columns %u..%u of B in stage %u: %u steps "
                    "of %d x %d products of %d x %d x %d",
                    warp, (uint32_t)(warp / x->warps_n) * x->a.warp,
                    (uint32_t)(warp / x->warps_n + 1) * x->a.warp - 1,
                    (uint32_t)(warp % x->warps_n) * x->b.warp,
                    (uint32_t)(warp % x->warps_n + 1) * x->b.warp - 1, stage, x->steps, x->tiles_m,
                    x->tiles_n, x->row->im, x->row->in, x->row->ik);
    read_side(x, &x->a, warp, stage);
    read_side(x, &x->b, warp, stage);
    for (uint32_t step = 0; step < x->steps; ++step) {
        gather(x, &x->a, x->tiles_m, step);
        gather(x, &x->b, x->tiles_n, step);
        for (int i = 0; i < x->tiles_m; ++i)
            for (int j = 0; j < x->tiles_n; ++j)
                tcgemm_sim_multiply(x->sim, product_of(x, warp, i, j), &x->a.operand[i],
                                    &x->b.operand[j]);
    }
}

/* ---- D ---- */

static tcgemm_sim_sum_t sum_at(const machine_t *x, int warp, uint32_t lane, uint32_t block_a,
                               uint32_t block_b, uint32_t place) {
    const uint32_t per = (uint32_t)x->extent / 8;
    return tcgemm_sim_wmma_sum(product_of(x, warp, (int)(block_a / per), (int)(block_b / per)),
                               lane, block_b % per * 4 + block_a % per * 2 + place);
}

static void store_row(machine_t *x, int warp, uint32_t lane, uint32_t block_a, int64_t item,
                      int64_t row, int64_t col0) {
    const tcgemm_canonical_t *g = x->sim->g;
    const uint32_t bytes = (uint32_t)tcgemm_dtype_bits(g->type->d) / 8;
    const uint32_t run = 16 / bytes < 2 * x->b.group ? 16 / bytes : 2 * x->b.group;
    const bool wide =
        x->sim->vector_d >= run * bytes && (!x->sim->call->c || x->sim->vector_c >= run * bytes);
    for (uint32_t i = 0; i < x->b.warp / 4; ++i) {
        const int64_t col = col0 + tcgemm_wmma_col(i, x->b.group);
        if (col >= g->n)
            continue;
        if (wide && i % run == 0 && g->n - col >= run)
            tcgemm_sim_check_alignment(x->sim, item, row, col, (int)(run * bytes));
        const tcgemm_sim_sum_t sum =
            sum_at(x, warp, lane, block_a, tcgemm_wmma_col_block(i, x->b.group),
                   tcgemm_wmma_col_place(i, x->b.group));
        tcgemm_sim_store(x->sim, item, row, col, &sum);
    }
}

static void store_warp(machine_t *x, int warp, tcgemm_batch_tile_t t) {
    for (uint32_t lane = 0; lane < TCGEMM_SIM_LANES; ++lane) {
        const int64_t row0 = (int64_t)t.at.m * x->row->bm +
                             (int64_t)(warp / x->warps_n) * x->a.warp + lane / 4 * x->a.group;
        const int64_t col0 = (int64_t)t.at.n * x->row->bn +
                             (int64_t)(warp % x->warps_n) * x->b.warp +
                             (int64_t)(2 * (lane % 4) * x->b.group);
        for (uint32_t block = 0; block < x->a.blocks; ++block) {
            const int64_t row = row0 + tcgemm_wmma_outer(block, 0, x->a.group); /* g is in row0 */
            if (row < x->sim->g->m)
                store_row(x, warp, lane, block, t.batch, row, col0);
        }
    }
}

/* ---- blocks ---- */

static void run_tile(machine_t *x, uint32_t tile, uint32_t *slot) {
    const tcgemm_batch_tile_t t = tcgemm_sim_tile(x->sim, tile, x->grid_m, x->grid_n);
    tcgemm_sim_products_clear(x->products, (int64_t)x->warps * x->tiles_m * x->tiles_n);
    for (uint32_t chunk = 0; chunk < x->chunks; ++chunk) {
        tcgemm_sim_tell(x->sim, 1, "wait for stage %u of tile %u; barrier", *slot, tile);
        if (x->sim->has_async_copy)
            tcgemm_sim_wait(&x->shared, x->stages - 2);
        tcgemm_sim_barrier(&x->shared);
        for (int warp = 0; warp < x->warps; ++warp)
            warp_chunk(x, warp, *slot);
        copy_stage(x, *slot == 0 ? x->stages - 1 : *slot - 1);
        *slot = tcgemm_pipeline_next(*slot, x->stages);
    }
    tcgemm_sim_tell(
        x->sim, 1, "tile %u: every lane stores its runs of D %s, %s, item %u", tile,
        tcgemm_sim_span("rows", (int64_t)t.at.m * x->row->bm, x->row->bm, x->sim->g->m).text,
        tcgemm_sim_span("columns", (int64_t)t.at.n * x->row->bn, x->row->bn, x->sim->g->n).text,
        t.batch);
    for (int warp = 0; warp < x->warps; ++warp)
        store_warp(x, warp, t);
}

static void run_block(machine_t *x, uint32_t index) {
    uint32_t slot = 0;
    tcgemm_sim_tell(x->sim, 0, "block %u of %u: tiles %u, %u, ... of D", index, x->grid, index,
                    index + x->grid);
    tcgemm_sim_shared_poison(&x->shared);
    x->copy_tile = index;
    x->copy_left = 0;
    open_tile(x);
    for (uint32_t i = 0; i < tcgemm_pipeline_lead(x->stages); ++i)
        copy_stage(x, i);
    for (uint32_t tile = index; tile < x->num_tiles; tile += x->grid) {
        x->sim->report->num_blocks += 1;
        x->sim->report->num_steps += x->chunks;
        x->sim->report->num_warps += x->warps;
        run_tile(x, tile, &slot);
    }
}

static void set_up_side(machine_t *x, side_t *s, int side, int outer, int warp) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[side];
    s->side = side;
    s->k_form = matrix->form == TCGEMM_FORM_K;
    s->size = (uint32_t)matrix->element_bytes;
    s->outer = (uint32_t)outer;
    s->warp = (uint32_t)warp;
    s->blocks = s->warp / 8;
    const uint32_t group = tcgemm_wmma_group(s->blocks, s->size);
    s->group = group > 0 ? group : 1; /* a warp has a block at least */
    s->copy = tcgemm_wmma_copy(s->outer, s->size, s->k_form, (uint32_t)x->row->threads);
}

static void set_up(machine_t *x) {
    const tcgemm_canonical_t *g = x->sim->g;
    const tcgemm_gpu_row_t *row = x->row;
    set_up_side(x, &x->a, TCGEMM_SIDE_A, row->bm, row->wm);
    set_up_side(x, &x->b, TCGEMM_SIDE_B, row->bn, row->wn);
    x->b.base = x->a.outer * TCGEMM_WMMA_CHUNK;
    x->stage_bytes = x->b.base + x->b.outer * TCGEMM_WMMA_CHUNK;
    x->stages = (uint32_t)row->stages;
    x->extent = row->im;
    x->warps_n = row->bn / row->wn;
    x->warps = row->bm / row->wm * x->warps_n;
    x->tiles_m = row->wm / row->im;
    x->tiles_n = row->wn / row->in;
    x->chunk_k = TCGEMM_WMMA_CHUNK / x->a.size;
    x->chunks = tcgemm_pipeline_blocks(g->k, x->chunk_k);
    x->steps = tcgemm_wmma_steps(x->a.size);
    x->grid_m = (uint32_t)ceil_div(g->m, row->bm);
    x->grid_n = (uint32_t)ceil_div(g->n, row->bn);
    x->num_tiles = x->grid_m * x->grid_n * (uint32_t)g->batch;
    x->grid =
        (uint32_t)tcgemm_gpu_grid(x->sim->plan, tcgemm_plan_product(x->sim->plan), x->num_tiles);
}

void tcgemm_sim_wmma_shared(tcgemm_sim_t *sim) {
    machine_t *x = tcgemm_sim_allocate(sim, 1, sizeof *x);
    if (!x)
        return;
    x->sim = sim;
    x->row = sim->plan->kernel->gpu;
    set_up(x);
    x->products = tcgemm_sim_products_make(sim, (int64_t)x->warps * x->tiles_m * x->tiles_n,
                                           x->extent, x->extent);
    if (x->tiles_m > MAX_TILES || x->tiles_n > MAX_TILES || x->a.blocks > TCGEMM_SIM_MAX_BLOCKS ||
        x->b.blocks > TCGEMM_SIM_MAX_BLOCKS) {
        tcgemm_sim_fault(sim, "a warp tile of %d x %d is too large to be simulated", x->row->wm,
                         x->row->wn);
    } else if (tcgemm_sim_shared_make(&x->shared, sim, x->row->smem_bytes, (int)x->a.size)) {
        for (uint32_t i = 0; x->products && i < x->grid; ++i)
            run_block(x, i);
        tcgemm_sim_shared_free(&x->shared);
    }
    free(x->products);
    free(x);
}
