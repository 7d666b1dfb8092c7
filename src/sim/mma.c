/* mma.c - the data path of mma-pipelined on tensor cores, as mma_pipelined.cuh runs it.
 *
 *     global memory --copy.h--> slots of pipeline.h, swizzle.h --fragment.h--> lanes --mma-->
 *     accumulators --epilogue.h--> 16 lines a warp --> D
 *
 * The sides of the instruction, x->a and x->b, may be swapped (fragment.h): then x->a works on B.
 */
#include <stdlib.h>

#include "base/num.h"
#include "sim/mma.h"
#include "tile/epilogue.h"
#include "tile/fragment.h"
#include "tile/pipeline.h"

enum { LANES = TCGEMM_SIM_MMA_LANES, ROWS = TCGEMM_SIM_MMA_ROWS, COLS = TCGEMM_SIM_MMA_COLS };

typedef tcgemm_sim_mma_t machine_t;
typedef tcgemm_sim_mma_side_t side_t;

/* The side that works on a matrix, TCGEMM_SIDE_A or _B. */
static const side_t *side_with(const machine_t *x, int matrix) {
    return x->a.matrix == matrix ? &x->a : &x->b;
}

/* ---- copies and barriers ---- */

static void tell_copy(machine_t *x, uint32_t block) {
    if (!tcgemm_sim_is_told(x->sim))
        return;
    const tcgemm_canonical_t *g = x->sim->g;
    const uint32_t slot = tcgemm_pipeline_slot(block, (uint32_t)x->row->stages);
    const int64_t k0 = (int64_t)block * x->row->bk;
    const side_t *a = side_with(x, TCGEMM_SIDE_A);
    const side_t *b = side_with(x, TCGEMM_SIDE_B);
    if (block >= x->blocks) {
        tcgemm_sim_tell(x->sim, 1, "k block %u lies beyond k: all threads fill slot %u with zeros",
                        block, slot);
        return;
    }
    tcgemm_sim_tell(x->sim, 1,
                    "k block %u, %s: all threads copy A %s to byte %u and B %s to byte %u, slot %u "
                    "(round %u of the ring)",
                    block, tcgemm_sim_span("k", k0, x->row->bk, g->k).text,
                    tcgemm_sim_span("rows", a->first, x->row->bm, g->m).text,
                    slot * x->slot_bytes + a->base,
                    tcgemm_sim_span("columns", b->first, x->row->bn, g->n).text,
                    slot * x->slot_bytes + b->base, slot, block / (uint32_t)x->row->stages);
}

static void copy_block(machine_t *x, uint32_t block) {
    tell_copy(x, block);
    tcgemm_sim_mma_copy(x, &x->a, block, 0, 1, x->sim->has_async_copy);
    tcgemm_sim_mma_copy(x, &x->b, block, 0, 1, x->sim->has_async_copy);
    tcgemm_sim_commit(&x->shared);
}

/* Waits for the block of k after the current one, and for every warp to be done with this one. */
static void arrive(machine_t *x) {
    tcgemm_sim_tell(x->sim, 1, "wait until at most %d k blocks are under way; barrier",
                    x->sim->has_async_copy ? x->row->stages - 2 : 0);
    if (x->sim->has_async_copy)
        tcgemm_sim_wait(&x->shared, (uint32_t)x->row->stages - 2);
    tcgemm_sim_barrier(&x->shared);
}

/* ---- a step of a warp ---- */

static tcgemm_sim_product_t *product_of(const machine_t *x, int warp, int i, int j) {
    return &x->products[(warp * x->a.units + i) * 2 * x->b.units + j];
}

/* What a warp has of D. */
static int64_t warp_first(const machine_t *x, const side_t *s, int warp) {
    return s->first + (int64_t)(s == &x->a ? warp / x->warps_n : warp % x->warps_n) * s->warp;
}
static int64_t warp_row(const machine_t *x, int warp) {
    return warp_first(x, side_with(x, TCGEMM_SIDE_A), warp);
}
static int64_t warp_col(const machine_t *x, int warp) {
    return warp_first(x, side_with(x, TCGEMM_SIDE_B), warp);
}
static uint32_t warp_rows(const machine_t *x) {
    return side_with(x, TCGEMM_SIDE_A)->warp;
}
static uint32_t warp_cols(const machine_t *x) {
    return side_with(x, TCGEMM_SIDE_B)->warp;
}

static void tell_lane(machine_t *x, int lane, const side_t *s) {
    const char letter = s->matrix == TCGEMM_SIDE_A ? 'A' : 'B';
    tcgemm_sim_name_t(*w)[4] = x->words.at[lane];
    tcgemm_sim_tell(x->sim, 3,
                    "lane %d has of %c, as (%s, k): word 0 (%d, %d), word 1 (%d, %d), word 2 (%d, "
                    "%d), word 3 (%d, %d)%s",
                    lane, letter, letter == 'A' ? "row" : "column", w[0][0].mn, w[0][0].k,
                    w[1][0].mn, w[1][0].k, w[2][0].mn, w[2][0].k, w[3][0].mn, w[3][0].k,
                    x->a.size < 4 ? " and the k after them" : "");
}

static void tell_step(machine_t *x, int warp, uint32_t block, uint32_t step) {
    const tcgemm_canonical_t *g = x->sim->g;
    if (!tcgemm_sim_is_told(x->sim))
        return;
    const int64_t k0 = (int64_t)block * x->row->bk + (int64_t)step * x->step_k;
    tcgemm_sim_tell(x->sim, 2, "warp %d, %s: fragments of A %s and B %s from slot %u, %d mma", warp,
                    tcgemm_sim_span("k", k0, x->step_k, g->k).text,
                    tcgemm_sim_span("rows", warp_row(x, warp), warp_rows(x), g->m).text,
                    tcgemm_sim_span("columns", warp_col(x, warp), warp_cols(x), g->n).text,
                    tcgemm_pipeline_slot(block, (uint32_t)x->row->stages),
                    2 * x->a.units * x->b.units);
}

/* The last of the rows (columns, k) that lies inside. */
static int32_t last_of(const int32_t *names, int count) {
    while (count > 1 && names[count - 1] == TCGEMM_SIM_ZERO)
        --count;
    return names[count - 1];
}

/* Rows and columns are told in the order of the instruction, in which they need not be neighbours.
 */
static void tell_mma(machine_t *x, int number, const tcgemm_sim_operand_t *a,
                     const tcgemm_sim_operand_t *b) {
    const char *const form =
        x->swap ? "mma %d: D^T(columns %d %d .. %d, rows %d %d .. %d) += B^T(columns, k %d..%d) * "
                  "A^T"
                : "mma %d: D(rows %d %d .. %d, columns %d %d .. %d) += A(rows, k %d..%d) * B";
    tcgemm_sim_tell(x->sim, 3, form, number, a->mn[0], a->mn[1], last_of(a->mn, ROWS), b->mn[0],
                    b->mn[1], last_of(b->mn, COLS), a->k[0], last_of(a->k, a->slots));
}

/* Reads the fragments of a warp for one step and multiplies them. */
static void warp_step(machine_t *x, int warp, uint32_t block, uint32_t step) {
    const uint32_t slot = tcgemm_pipeline_slot(block, (uint32_t)x->row->stages) * x->slot_bytes;
    const uint32_t first_a = (uint32_t)(warp / x->warps_n) * x->a.warp;
    const uint32_t first_b = (uint32_t)(warp % x->warps_n) * x->b.warp;
    const bool is_first = warp == 0 && block == 0 && step == 0 && tcgemm_sim_is_told(x->sim);
    tell_step(x, warp, block, step);
    for (int i = 0; i < x->a.units; ++i) {
        tcgemm_sim_mma_read(x, &x->a, warp, first_a, slot, step, (uint32_t)i);
        if (is_first && i == 0) {
            tell_lane(x, 0, &x->a);
            tell_lane(x, 5, &x->a);
        }
        tcgemm_sim_mma_gather(x, &x->a, &x->operand_a[i]);
        tcgemm_sim_identify(x->sim, x->a.matrix, &x->operand_a[i]);
    }
    for (int j = 0; j < x->b.units; ++j) {
        tcgemm_sim_mma_read(x, &x->b, warp, first_b, slot + x->b.base, step, (uint32_t)j);
        if (is_first && j == 0)
            tell_lane(x, 5, &x->b);
        tcgemm_sim_mma_gather(x, &x->b, &x->operand_b[2 * j]);
        tcgemm_sim_identify(x->sim, x->b.matrix, &x->operand_b[2 * j]);
        tcgemm_sim_identify(x->sim, x->b.matrix, &x->operand_b[2 * j + 1]);
    }
    if (block >= x->blocks)
        return; /* read ahead of the products, and never multiplied */
    for (int i = 0; i < x->a.units; ++i)
        for (int j = 0; j < 2 * x->b.units; ++j) {
            if (is_first && !x->operand_a[i].is_empty && !x->operand_b[j].is_empty)
                tell_mma(x, i * 2 * x->b.units + j, &x->operand_a[i], &x->operand_b[j]);
            tcgemm_sim_multiply(x->sim, product_of(x, warp, i, j), &x->operand_a[i],
                                &x->operand_b[j]);
        }
}

static void all_warps(machine_t *x, uint32_t block, uint32_t step) {
    for (int warp = 0; warp < x->warps; ++warp)
        warp_step(x, warp, block, step);
}

/* ---- the two main loops ---- */

/* 16-byte chunks throughout: copies, reads of the next step and products take turns. The fragments
 * of the next step are read before those of this one are multiplied. */
static void run_whole(machine_t *x) {
    const uint32_t lead = tcgemm_pipeline_lead((uint32_t)x->row->stages);
    const uint32_t parts = x->steps - 1;
    const bool async = x->sim->has_async_copy;
    for (uint32_t block = 0; block < lead; ++block)
        copy_block(x, block);
    arrive(x);
    all_warps(x, 0, 0);
    for (uint32_t block = 0; block < x->blocks; ++block) {
        tell_copy(x, block + lead);
        for (uint32_t step = 0; step < x->steps; ++step) {
            if (step < parts) {
                tcgemm_sim_mma_copy(x, &x->a, block + lead, step, parts, async);
                tcgemm_sim_mma_copy(x, &x->b, block + lead, step, parts, async);
            }
            const bool is_last = step + 1 == x->steps;
            if (is_last) {
                tcgemm_sim_commit(&x->shared);
                arrive(x);
            }
            all_warps(x, is_last ? block + 1 : block, is_last ? 0 : step + 1);
        }
    }
}

/* Anything else: the same ring, nothing overlapped by hand. */
static void run_any(machine_t *x) {
    const uint32_t lead = tcgemm_pipeline_lead((uint32_t)x->row->stages);
    for (uint32_t block = 0; block < lead; ++block)
        copy_block(x, block);
    for (uint32_t block = 0; block < x->blocks; ++block) {
        arrive(x);
        copy_block(x, block + lead);
        for (uint32_t step = 0; step < x->steps; ++step)
            all_warps(x, block, step);
    }
}

/* ---- epilogue ---- */

static uint32_t scalar_bytes(const machine_t *x) {
    return x->a.size == 8 ? 8u : 4u;
}

/* Where slot `slot` of half `half` of a side's unit lies in the warp's part. */
static uint32_t place_of(const side_t *s, uint32_t unit, uint32_t half, uint32_t slot) {
    return tcgemm_fragment_mn(s->side, s->form, s->size, unit, half, slot);
}

/* Line and column of accumulator r of product (i, j), and the sum. Lines are the 16 rows of D of a
 * unit of A's side: rows of the instruction, or columns of two of them if the sides are swapped. */
static void stage_sum(machine_t *x, int warp, int unit, int other, uint32_t lane, uint32_t r) {
    const uint32_t bytes = scalar_bytes(x), pitch = tcgemm_epilogue_pitch(warp_cols(x), bytes);
    const uint32_t c_row = tcgemm_fragment_c_row(lane, r), c_col = tcgemm_fragment_c_col(lane, r);
    const uint32_t half = (uint32_t)other % 2;
    uint32_t line = c_row, at;
    const tcgemm_sim_product_t *product;
    if (x->swap) {
        product = product_of(x, warp, other / 2, 2 * unit + (int)half);
        line = 8 * half + c_col;
        at = place_of(&x->a, (uint32_t)other / 2, c_row / 8, c_row % 8);
    } else {
        product = product_of(x, warp, unit, other);
        at = place_of(&x->b, (uint32_t)other / 2, half, c_col);
    }
    /* c0..c3: row g, and g + 8 for c2 and c3, columns 2q and 2q + 1 */
    tcgemm_sim_sum_t sum =
        tcgemm_sim_sum_of(product, (int)(lane / 4 + 8 * (r / 2)), (int)(2 * (lane % 4) + r % 2));
    if (x->swap) {
        const int32_t row = sum.row;
        sum.row = sum.col;
        sum.col = row;
    }
    const uint32_t base = (uint32_t)warp * tcgemm_epilogue_bytes(warp_cols(x), bytes);
    tcgemm_sim_shared_put(&x->shared, warp * LANES + (int)lane, base + (line * pitch + at) * bytes,
                          bytes, &sum);
}

static void stage_rows(machine_t *x, int warp, int unit) {
    const int others = 2 * side_with(x, TCGEMM_SIDE_B)->units;
    for (uint32_t lane = 0; lane < LANES; ++lane)
        for (int other = 0; other < others; ++other)
            for (uint32_t r = 0; r < 4; ++r)
                stage_sum(x, warp, unit, other, lane, r);
}

/* A piece of a line, to a row of D. */
static void store_piece(machine_t *x, int thread, int64_t row, int64_t col, uint32_t at) {
    const tcgemm_canonical_t *g = x->sim->g;
    const uint32_t bytes = scalar_bytes(x), piece = tcgemm_epilogue_piece(bytes);
    const int out = tcgemm_dtype_bits(g->type->d) / 8 * (int)piece;
    const bool is_whole = g->n - col >= (int64_t)piece && x->sim->vector_d >= (uint32_t)out &&
                          (!x->sim->call->c || x->sim->vector_c >= (uint32_t)out);
    if (is_whole)
        tcgemm_sim_check_alignment(x->sim, x->item, row, col, out);
    for (uint32_t i = 0; i < piece; ++i) {
        tcgemm_sim_sum_t sum;
        tcgemm_sim_shared_get(&x->shared, thread, at + i * bytes, bytes, &sum);
        if (col + i < g->n)
            tcgemm_sim_store(x->sim, x->item, row, col + i, &sum);
    }
}

static void store_rows(machine_t *x, int warp, int i) {
    const uint32_t bytes = scalar_bytes(x), pitch = tcgemm_epilogue_pitch(warp_cols(x), bytes);
    const uint32_t base = (uint32_t)warp * tcgemm_epilogue_bytes(warp_cols(x), bytes);
    const uint32_t lanes = tcgemm_epilogue_lanes(warp_cols(x), bytes);
    const int64_t row0 = warp_row(x, warp), col0 = warp_col(x, warp);
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        const uint32_t col = tcgemm_epilogue_col(lane, lanes, bytes);
        for (uint32_t line = tcgemm_epilogue_line(lane, lanes); line < TCGEMM_EPILOGUE_LINES;
             line += tcgemm_epilogue_line_step(lanes)) {
            const int64_t row =
                row0 + place_of(side_with(x, TCGEMM_SIDE_A), (uint32_t)i, line / 8, line % 8);
            if (row < x->sim->g->m && col0 + col < x->sim->g->n)
                store_piece(x, warp * LANES + (int)lane, row, col0 + col,
                            base + (line * pitch + col) * bytes);
        }
    }
}

static void finish(machine_t *x) {
    tcgemm_sim_wait(&x->shared, 0);
    tcgemm_sim_barrier(&x->shared);
    for (int warp = 0; warp < x->warps; ++warp) {
        tcgemm_sim_tell(
            x->sim, 2, "warp %d: 16 rows at a time through shared memory to D %s, %s", warp,
            tcgemm_sim_span("rows", warp_row(x, warp), warp_rows(x), x->sim->g->m).text,
            tcgemm_sim_span("columns", warp_col(x, warp), warp_cols(x), x->sim->g->n).text);
        for (int i = 0; i < side_with(x, TCGEMM_SIDE_A)->units; ++i) {
            tcgemm_sim_syncwarp(&x->shared);
            stage_rows(x, warp, i);
            tcgemm_sim_syncwarp(&x->shared);
            store_rows(x, warp, i);
        }
    }
}

/* ---- blocks ---- */

static void run_block(machine_t *x, uint32_t index, uint32_t tiles_m, uint32_t tiles_n) {
    const tcgemm_batch_tile_t tile = tcgemm_sim_tile(x->sim, index, tiles_m, tiles_n);
    x->item = tile.batch;
    const int64_t row = (int64_t)tile.at.m * x->row->bm, col = (int64_t)tile.at.n * x->row->bn;
    x->a.first = x->swap ? col : row;
    x->b.first = x->swap ? row : col;
    tcgemm_sim_tell(x->sim, 0, "block %u, %d warps: tile (%u, %u) of D, item %u", index, x->warps,
                    tile.at.m, tile.at.n, tile.batch);
    x->sim->report->num_blocks += 1;
    x->sim->report->num_steps += x->blocks;
    x->sim->report->num_warps += x->warps;
    tcgemm_sim_shared_poison(&x->shared);
    tcgemm_sim_products_clear(x->products, (int64_t)x->warps * x->a.units * 2 * x->b.units);
    if (x->is_whole)
        run_whole(x);
    else
        run_any(x);
    finish(x);
}

static side_t side_of(const machine_t *x, int side, int warp) {
    const int which = x->swap ? TCGEMM_SIDE_A + TCGEMM_SIDE_B - side : side;
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[which];
    const int mn = which == TCGEMM_SIDE_A ? x->row->bm : x->row->bn;
    side_t s = {.side = side,
                .matrix = which,
                .form = matrix->form,
                .size = (uint32_t)matrix->element_bytes,
                .mn = (uint32_t)mn,
                .warp = (uint32_t)warp,
                .units = warp / ROWS};
    s.copy =
        tcgemm_copy_shape(s.form, s.size, s.mn, (uint32_t)x->row->bk, (uint32_t)x->row->threads);
    return s;
}

/* True if every row of the operand consists of whole, aligned chunks. */
static bool has_whole_chunks(const machine_t *x, int side) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[side];
    const int64_t length = matrix->form == TCGEMM_FORM_K ? x->sim->g->k : matrix->mn;
    return matrix->vector >= 16 && length * matrix->element_bytes % 16 == 0;
}

static void set_up(machine_t *x) {
    const tcgemm_gpu_row_t *row = x->row;
    const tcgemm_sim_matrix_t *a = &x->sim->side[TCGEMM_SIDE_A];
    x->swap = tcgemm_fragment_swaps((uint32_t)a->element_bytes, a->form,
                                    x->sim->side[TCGEMM_SIDE_B].form, x->sim->plan->device->cc);
    x->a = side_of(x, TCGEMM_SIDE_A, row->wm);
    x->b = side_of(x, TCGEMM_SIDE_B, row->wn);
    x->b.base = x->a.copy.bytes;
    x->slot_bytes = x->a.copy.bytes + x->b.copy.bytes;
    x->warps_n = (int)(x->b.mn / x->b.warp);
    x->warps = (int)(x->a.mn / x->a.warp) * x->warps_n;
    x->step_k = tcgemm_fragment_step_bytes(x->a.size) / x->a.size;
    x->steps = (uint32_t)row->bk / x->step_k;
    x->blocks = tcgemm_pipeline_blocks(x->sim->g->k, (uint32_t)row->bk);
    x->is_whole = has_whole_chunks(x, TCGEMM_SIDE_A) && has_whole_chunks(x, TCGEMM_SIDE_B);
}

void tcgemm_sim_mma(tcgemm_sim_t *sim) {
    machine_t *x = tcgemm_sim_allocate(sim, 1, sizeof *x);
    if (!x)
        return;
    x->sim = sim;
    x->row = sim->plan->kernel->gpu;
    set_up(x);
    const bool has_shared =
        tcgemm_sim_shared_make(&x->shared, sim, x->row->smem_bytes, (int)x->a.size);
    x->products =
        tcgemm_sim_products_make(sim, (int64_t)x->warps * x->a.units * 2 * x->b.units, ROWS, COLS);
    if (x->warps * LANES != x->row->threads || x->a.units > TCGEMM_SIM_MMA_UNITS ||
        x->b.units > TCGEMM_SIM_MMA_UNITS)
        tcgemm_sim_fault(sim, "%d warps of %d x %d do not make a block of %d threads", x->warps,
                         x->row->wm, x->row->wn, x->row->threads);
    else if (has_shared && x->products) {
        const uint32_t tiles_m = (uint32_t)ceil_div(sim->g->m, x->row->bm);
        const uint32_t tiles_n = (uint32_t)ceil_div(sim->g->n, x->row->bn);
        for (uint32_t i = 0; i < tiles_m * tiles_n * (uint32_t)sim->g->batch; ++i)
            run_block(x, i, tiles_m, tiles_n);
    }
    free(x->products);
    if (has_shared)
        tcgemm_sim_shared_free(&x->shared);
    free(x);
}
