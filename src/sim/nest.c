/* nest.c - the hierarchy of tiles as loop nests: blocks; blocks and warps; blocks, warps, threads.
 *
 *     for blocks of D, in the order of tile/raster.h           one thread block
 *       for k in steps of bk                                   A: bm x bk, B: bk x bn at hand
 *         for warps, wm x wn                                   depth 2: a warp
 *           for k in steps of wk
 *             for k in steps of tk
 *               for threads, tm x tn                           depth 3: an instruction or a thread
 *                 sums(tm, tn) += A(tm, tk) * B(tk, tn)        outer products
 *
 * Each level walks the tile of the level above, in steps that need not divide it. Where the nest is
 * not followed further down, the tile is multiplied at once. (After the description of the
 * hierarchy in CUTLASS, "Efficient GEMM in CUDA".)
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "sim/sim.h"

/* Rows [m, m + ms), columns [n, n + ns), k [k, k + ks). */
typedef struct box {
    int64_t m, ms, n, ns, k, ks;
} box_t;

typedef struct nest {
    tcgemm_sim_t *sim;
    const tcgemm_tiles_t *tiles;
    tcgemm_depth_t depth;
    int64_t item;
    box_t block;  /* of D and of k, as it stands */
    double *a;    /* what the block holds: bm x bk, row after row ... */
    double *b;    /* ... bk x bn ... */
    double *sums; /* ... bm x bn ... */
    int64_t *terms;
} nest_t;

/* ---- the product of what a level holds ---- */

static void multiply(nest_t *x, const box_t *t) {
    const box_t *block = &x->block;
    for (int64_t i = t->m; i < t->m + t->ms; ++i) {
        const int64_t at = (i - block->m) * block->ns + t->n - block->n;
        double *sum = x->sums + at;
        for (int64_t p = t->k; p < t->k + t->ks; ++p) {
            const double a = x->a[(i - block->m) * block->ks + p - block->k];
            const double *b = x->b + (p - block->k) * block->ns + t->n - block->n;
            for (int64_t j = 0; j < t->ns; ++j)
                sum[j] += a * b[j];
        }
        for (int64_t j = 0; j < t->ns; ++j)
            x->terms[at + j] += t->ks;
    }
    x->sim->report->num_products += 1;
    x->sim->report->num_macs += t->ms * t->ns * t->ks;
}

static void trace(nest_t *x, int level, const char *who, const box_t *t) {
    if (tcgemm_sim_is_traced(x->sim))
        tcgemm_sim_trace(x->sim, level,
                         "%s: D(%lld..%lld, %lld..%lld) += A(rows, k %lld..%lld) * B(k, columns)",
                         who, (long long)t->m, (long long)t->m + t->ms - 1, (long long)t->n,
                         (long long)t->n + t->ns - 1, (long long)t->k, (long long)t->k + t->ks - 1);
}

/* ---- the nest, from the inside out ---- */

static void thread_level(nest_t *x, const box_t *warp) {
    const tcgemm_tiles_t *s = x->tiles;
    box_t t;
    for (t.k = warp->k; t.k < warp->k + warp->ks; t.k += s->tk)
        for (t.m = warp->m; t.m < warp->m + warp->ms; t.m += s->tm)
            for (t.n = warp->n; t.n < warp->n + warp->ns; t.n += s->tn) {
                t.ms = min_i64(s->tm, warp->m + warp->ms - t.m);
                t.ns = min_i64(s->tn, warp->n + warp->ns - t.n);
                t.ks = min_i64(s->tk, warp->k + warp->ks - t.k);
                x->sim->report->warp_loads += (t.ms + t.ns) * t.ks;
                trace(x, 3, "thread tile", &t);
                multiply(x, &t);
            }
}

static void warp_level(nest_t *x, const box_t *block) {
    const tcgemm_tiles_t *s = x->tiles;
    box_t w;
    for (w.m = block->m; w.m < block->m + block->ms; w.m += s->wm)
        for (w.n = block->n; w.n < block->n + block->ns; w.n += s->wn) {
            x->sim->report->num_warps += 1;
            for (w.k = block->k; w.k < block->k + block->ks; w.k += s->wk) {
                w.ms = min_i64(s->wm, block->m + block->ms - w.m);
                w.ns = min_i64(s->wn, block->n + block->ns - w.n);
                w.ks = min_i64(s->wk, block->k + block->ks - w.k);
                x->sim->report->block_loads += (w.ms + w.ns) * w.ks;
                trace(x, 2, "warp", &w);
                if (x->depth >= TCGEMM_DEPTH_THREADS)
                    thread_level(x, &w);
                else
                    multiply(x, &w);
            }
        }
}

/* Brings A(rows, ks) and B(ks, columns) of the block to where its warps find them. */
static void load_block(nest_t *x) {
    const box_t *t = &x->block;
    const tcgemm_canonical_t *g = x->sim->g;
    for (int64_t i = 0; i < t->ms; ++i)
        for (int64_t p = 0; p < t->ks; ++p) {
            const tcgemm_sim_name_t name = {(int32_t)(x->item * g->m + t->m + i),
                                            (int32_t)(t->k + p)};
            x->a[i * t->ks + p] = tcgemm_sim_value(x->sim, TCGEMM_SIDE_A, name);
        }
    for (int64_t p = 0; p < t->ks; ++p)
        for (int64_t j = 0; j < t->ns; ++j) {
            const tcgemm_sim_name_t name = {(int32_t)(x->item * g->n + t->n + j),
                                            (int32_t)(t->k + p)};
            x->b[p * t->ns + j] = tcgemm_sim_value(x->sim, TCGEMM_SIDE_B, name);
        }
    x->sim->report->memory_loads += (t->ms + t->ns) * t->ks;
}

static void store_block(nest_t *x) {
    const box_t *t = &x->block;
    const tcgemm_canonical_t *g = x->sim->g;
    for (int64_t i = 0; i < t->ms; ++i)
        for (int64_t j = 0; j < t->ns; ++j) {
            const int64_t row = t->m + i, col = t->n + j;
            const tcgemm_sim_sum_t sum = {x->sums[i * t->ns + j], (int32_t)(x->item * g->m + row),
                                          (int32_t)(x->item * g->n + col), x->terms[i * t->ns + j]};
            tcgemm_sim_store(x->sim, x->item, row, col, &sum);
        }
}

static void block_level(nest_t *x, tcgemm_tile_coord_t at) {
    const tcgemm_tiles_t *s = x->tiles;
    const tcgemm_canonical_t *g = x->sim->g;
    box_t *t = &x->block;
    t->m = at.m * s->bm;
    t->n = at.n * s->bn;
    t->ms = min_i64(s->bm, g->m - t->m);
    t->ns = min_i64(s->bn, g->n - t->n);
    memset(x->sums, 0, (size_t)(t->ms * t->ns) * sizeof *x->sums);
    memset(x->terms, 0, (size_t)(t->ms * t->ns) * sizeof *x->terms);
    for (t->k = 0; t->k < g->k; t->k += s->bk) {
        t->ks = min_i64(s->bk, g->k - t->k);
        x->sim->report->num_steps += 1;
        load_block(x);
        trace(x, 1, "step of k", t);
        if (x->depth >= TCGEMM_DEPTH_WARPS)
            warp_level(x, t);
        else
            multiply(x, t);
    }
    store_block(x);
}

static void walk(nest_t *x) {
    const tcgemm_canonical_t *g = x->sim->g;
    const uint32_t tiles_m = (uint32_t)ceil_div(g->m, x->tiles->bm);
    const uint32_t tiles_n = (uint32_t)ceil_div(g->n, x->tiles->bn);
    const uint32_t tiles = tiles_m * tiles_n * (uint32_t)g->batch;
    for (uint32_t i = 0; i < tiles; ++i) {
        const tcgemm_batch_tile_t at = tcgemm_sim_tile(x->sim, i, tiles_m, tiles_n);
        tcgemm_sim_trace(x->sim, 0, "block %u: tile (%u, %u) of D, item %u", i, at.at.m, at.at.n,
                         at.batch);
        x->item = at.batch;
        x->sim->report->num_blocks += 1;
        block_level(x, at.at);
    }
}

void tcgemm_sim_nest(tcgemm_sim_t *sim, const tcgemm_tiles_t *tiles, tcgemm_depth_t depth) {
    const tcgemm_canonical_t *g = sim->g;
    const int64_t bm = min_i64(tiles->bm, g->m);
    const int64_t bn = min_i64(tiles->bn, g->n);
    const int64_t bk = min_i64(tiles->bk, g->k);
    nest_t x = {.sim = sim, .tiles = tiles, .depth = depth};
    x.a = tcgemm_sim_allocate(sim, bm * bk, sizeof *x.a);
    x.b = tcgemm_sim_allocate(sim, bk * bn, sizeof *x.b);
    x.sums = tcgemm_sim_allocate(sim, bm * bn, sizeof *x.sums);
    x.terms = tcgemm_sim_allocate(sim, bm * bn, sizeof *x.terms);
    if (!sim->is_out_of_memory)
        walk(&x);
    free(x.a);
    free(x.b);
    free(x.sums);
    free(x.terms);
}
