/* gemm.c - the loops around the micro-kernel (Goto and van de Geijn, "Anatomy of High-Performance
 * Matrix Multiplication", ACM TOMS 34(3), 2008; Van Zee and van de Geijn, "BLIS", TOMS 41(3),
 * 2015).
 *
 *     for jc over n by nc                        columns of D
 *       for ic over m by mt                      rows of D
 *         for pc over k by kc
 *           pack B(pc, jc), pack A(ic, pc)       all threads, a panel each in turn
 *           --- barrier ---
 *           for units of mc x nb                 threads take them as they come
 *             for panels of B, for panels of A   one register tile
 *           --- barrier ---
 *
 *     time   thread 0  [pack][unit 0][unit 2][unit 3]|[pack][unit 0] ...
 *            thread 1  [pack][unit 1   ][unit 4]     |[pack][unit 1] ...
 *
 * The steps of k (kc) depend on k and the kernel alone, and a unit is computed by one thread, so
 * the bits of D depend neither on the number of threads nor on who did what.
 */
#include "cpu/gemm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/num.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/packing.h"
#include "cpu/panel.h"
#include "cpu/prepack.h"
#include "host/pool.h"

static size_t align64(int64_t bytes) {
    return ((size_t)bytes + 63) & ~(size_t)63;
}

/* ---- the workspace ---- */

/* Offsets of the parts in one workspace; equal offsets: the part is empty. */
typedef struct layout {
    size_t a, b, a_terms, b_terms, a_special, b_special, sums, end;
} layout_t;

/* Columns of B that a thread packs for a unit of its own, and the threads that do. */
static int64_t own_columns(const struct tcgemm_plan *plan) {
    return round_up(plan->cpu.nb, plan->kernel->cpu->nr);
}

static int packers(const struct tcgemm_plan *plan) {
    return plan->cpu.split_batch ? 1 : plan->num_threads;
}

static layout_t layout_of(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_canonical_t *g = &plan->g;
    const int64_t rows = ceil_div(min_i64(s->mt, g->m), u->mr) * u->mr;
    const int64_t cols = ceil_div(min_i64(s->nc, g->n), u->nr) * u->nr;
    const int64_t packed_cols = s->packs_units ? own_columns(plan) * packers(plan) : cols;
    const int64_t steps = ceil_div(min_i64(s->kc, g->k), u->ku);
    const int64_t flags = u->exact != NULL;
    const int64_t integer = tcgemm_family_has_terms(u->family);
    layout_t l;
    l.a = 0;
    const bool pack_a = s->pack_a && !g->a.packed_bytes;
    const bool pack_b = s->pack_b && !g->b.packed_bytes;
    l.b = l.a + align64(pack_a ? rows * steps * u->lane_bytes : 0);
    l.a_terms = l.b + align64(pack_b ? packed_cols * steps * u->lane_bytes : 0);
    l.b_terms = l.a_terms + align64(pack_a ? integer * rows * 4 : 0);
    l.a_special = l.b_terms + align64(pack_b ? integer * packed_cols * 4 : 0);
    l.b_special = l.a_special + align64(pack_a ? flags * rows / u->mr : 0);
    l.sums = l.b_special + align64(pack_b ? flags * packed_cols / u->nr : 0);
    const bool has_sums = !s->direct_output && !(u->finishes_tiles && s->kc >= g->k);
    l.end = l.sums + align64(has_sums ? rows * cols * 4 : 0);
    return l;
}

tcgemm_cpu_sizes_t tcgemm_cpu_sizes(const struct tcgemm_plan *plan) {
    const layout_t l = layout_of(plan);
    const size_t slack = 63; /* the caller's workspace may lie anywhere */
    const size_t copies = plan->cpu.split_batch ? (size_t)plan->num_threads : 1;
    return (tcgemm_cpu_sizes_t){
        .workspace_bytes = l.end ? copies * l.end + slack : 0,
        .packed_a_bytes = l.b - l.a,
        .packed_b_bytes = l.a_terms - l.b,
    };
}

/* ---- one product ---- */

/* Where the time goes, in nanoseconds of the monotonic clock. */
typedef struct phases {
    atomic_uint_fast64_t packed, multiplied; /* when the last thread was through with the phase */
    uint64_t begin;                          /* of the present phase; thread 0's, as what follows */
    double pack_seconds, product_seconds;
} phases_t;

/* What the threads of one product share. */
typedef struct product {
    const struct tcgemm_plan *plan;
    const tcgemm_cpu_ukernel_t *u;
    const tcgemm_call_t *call; /* of the batch */
    tcgemm_call_t item;        /* of this item; set by thread 0 */
    int64_t item_index;
    int64_t a_offset, b_offset; /* of this item in A and B, in elements */
    char *a, *b;                /* panels of the current block, packed now ... */
    uint32_t *a_terms, *b_terms;
    bool *a_special, *b_special;     /* a flag a panel: it holds a bf16 subnormal */
    tcgemm_prepacked_t a_all, b_all; /* ... or ahead */
    float *sums;                     /* of narrow results: mt x nc */
    int64_t ld_sums;
    tcgemm_signs_t signs;
    atomic_int_fast64_t next_panel; /* of those still to be packed, then of ... */
    atomic_int_fast64_t next_unit;  /* ... the units still to be multiplied */
    tcgemm_barrier_t barrier;
    phases_t phases;
    bool timed;
} product_t;

typedef tcgemm_cpu_block_t block_t; /* the current one */

/* ---- the statistics ---- */

/* Thread t is through with a phase. A phase ends when its last thread arrives at the barrier: when
 * the others leave it does not count, for the operating system may let one of them sleep until all
 * work of the next phase is done. */
static void arrive(product_t *x, atomic_uint_fast64_t *last) {
    if (!x->timed)
        return;
    const uint64_t now = now_nanoseconds();
    uint64_t latest = atomic_load_explicit(last, memory_order_relaxed);
    while (latest < now && !atomic_compare_exchange_weak(last, &latest, now))
        ;
}

/* Ends a phase for the statistics: by thread 0, between this barrier and the next one. */
static void close_phase(product_t *x, const atomic_uint_fast64_t *last, double *seconds) {
    if (!x->timed)
        return;
    const uint64_t end = atomic_load(last);
    *seconds += 1e-9 * (double)(end - x->phases.begin);
    x->phases.begin = end;
}

static void set_up_workspace(product_t *x, char *workspace) {
    const layout_t l = layout_of(x->plan);
    char *const base = workspace;
    x->a = base + l.a;
    x->b = base + l.b;
    x->a_terms = (uint32_t *)(void *)(base + l.a_terms);
    x->b_terms = (uint32_t *)(void *)(base + l.b_terms);
    x->a_special = (bool *)(base + l.a_special);
    x->b_special = (bool *)(base + l.b_special);
    x->sums = (float *)(void *)(base + l.sums);
    x->ld_sums = ceil_div(min_i64(x->plan->cpu.nc, x->plan->g.n), x->u->nr) * x->u->nr;
}

/* ---- packing ---- */

/* One operand's panels of the current block. */
typedef struct panels {
    tcgemm_pack_t pack;
    int64_t count;
    int64_t lines;
    int width;
    int group; /* panels that are packed together */
    char *data;
    uint32_t *terms;
    bool *special;
} panels_t;

enum { PANELS_OF_GROUP = 4 };

static void pack_panel(const product_t *x, const panels_t *p, int64_t i) {
    const int64_t first = i * p->width;
    const int64_t steps = tcgemm_panel_steps(p->pack.k, x->u->ku);
    char *const panel = p->data + tcgemm_panel_at(first, steps, x->u->lane_bytes);
    const int lines = (int)min_i64(p->width, p->lines - first);
    const bool found =
        x->u->pack(&p->pack, first, lines, p->width, panel, p->terms ? p->terms + first : NULL);
    if (x->u->exact)
        p->special[i] = found;
}

/* Panels [i, end), a step of each in turn: a row of k that is 64 bytes in each panel is read as
 * one piece. Only for kernels without terms. */
static void pack_by_steps(const product_t *x, const panels_t *p, int64_t i, int64_t end) {
    const int64_t steps = tcgemm_panel_steps(p->pack.k, x->u->ku);
    tcgemm_pack_t part = p->pack;
    bool found[PANELS_OF_GROUP] = {false};
    for (int64_t step = 0; step < steps; ++step) {
        part.k = min_i64(x->u->ku, p->pack.k - step * x->u->ku);
        part.origin = p->pack.origin + step * x->u->ku * p->pack.k_stride;
        for (int64_t at = i; at < end; ++at) {
            const int64_t first = at * p->width;
            char *const panel = p->data + tcgemm_panel_at(first, steps, x->u->lane_bytes) +
                                step * p->width * x->u->lane_bytes;
            found[at - i] |= x->u->pack(&part, first, (int)min_i64(p->width, p->lines - first),
                                        p->width, panel, NULL);
        }
    }
    for (int64_t at = i; x->u->exact && at < end; ++at)
        p->special[at] = found[at - i];
}

static int64_t num_groups(const panels_t *p) {
    return ceil_div(p->count, p->group);
}

static void pack_group(const product_t *x, const panels_t *p, int64_t group) {
    if (p->group == 1)
        pack_panel(x, p, group);
    else
        pack_by_steps(x, p, group * p->group, min_i64((group + 1) * p->group, p->count));
}

/* Long lanes whose lines lie side by side are packed some panels at a time. */
static int group_of(const product_t *x, bool along_k) {
    return x->u->lane_bytes == 64 && !along_k ? PANELS_OF_GROUP : 1;
}

static panels_t panels_of_a(const product_t *x, const block_t *block) {
    return (panels_t){
        .pack =
            tcgemm_pack_of_a(&x->plan->g, x->u->family, &x->signs, x->item.a, x->a_offset, block),
        .count =
            x->plan->cpu.pack_a && !x->plan->g.a.packed_bytes ? ceil_div(block->rows, x->u->mr) : 0,
        .lines = block->rows,
        .width = x->u->mr,
        .group = group_of(x, x->plan->g.a.col_stride == 1),
        .data = x->a,
        .terms = x->signs.use_a_terms ? x->a_terms : NULL,
        .special = x->a_special,
    };
}

static panels_t panels_of_b(const product_t *x, const block_t *block, bool is_packed) {
    return (panels_t){
        .pack =
            tcgemm_pack_of_b(&x->plan->g, x->u->family, &x->signs, x->item.b, x->b_offset, block),
        .count = x->plan->cpu.pack_b && !is_packed && !x->plan->g.b.packed_bytes
                     ? ceil_div(block->cols, x->u->nr)
                     : 0,
        .lines = block->cols,
        .width = x->u->nr,
        .group = group_of(x, x->plan->g.b.row_stride == 1),
        .data = x->b,
        .terms = x->signs.use_b_terms ? x->b_terms : NULL,
        .special = x->b_special,
    };
}

/* The threads take panels as they come, those of B first: they are the larger ones. */
static void pack_block(product_t *x, const block_t *block, bool b_is_packed) {
    const panels_t b = panels_of_b(x, block, b_is_packed || x->plan->cpu.packs_units);
    const panels_t a = panels_of_a(x, block);
    if (a.count + b.count == 0)
        return;
    for (;;) {
        const int64_t i = atomic_fetch_add_explicit(&x->next_panel, 1, memory_order_relaxed);
        if (i < num_groups(&b))
            pack_group(x, &b, i);
        else if (i < num_groups(&b) + num_groups(&a))
            pack_group(x, &a, i - num_groups(&b));
        else
            return;
    }
}

/* ---- multiplying ---- */

static char *element_at(const void *base, int64_t index, int bytes) {
    return (char *)(uintptr_t)base + index * bytes;
}

/* Beyond what a second-level cache keeps for the next product. */
static bool d_is_large(const tcgemm_canonical_t *g) {
    const double bytes = (double)g->m * (double)g->n * tcgemm_dtype_bits(g->type->d) / 8.0;
    return bytes > 8 << 20;
}

/* alpha, beta and where C and D are, for the step of k at hand. */
static tcgemm_tile_t tile_of_block(const product_t *x, const block_t *block) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    tcgemm_tile_t tile = {
        .steps = tcgemm_panel_steps(block->ks, x->u->ku),
        .a_row = s->pack_a ? 1 : g->a.row_stride,
        .a_step = s->pack_a ? x->u->mr : g->a.col_stride,
        .b_step = s->pack_b ? x->u->nr : g->b.row_stride,
        .scale = g->flags & TCGEMM_FLAG_XOR ? 0u - 2u : 1u,
        .a_is_signed = x->signs.a_is_signed,
        .b_is_signed = x->signs.b_is_signed,
    };
    const double alpha = s->direct_output ? x->item.alpha : 1.0;
    const double beta = block->first ? x->item.beta : 1.0;
    tile.continues = !block->first && alpha == 1.0;
    tile.streams = block->last && s->direct_output && x->u->begin && d_is_large(g);
    if (g->type->accumulator == TCGEMM_DTYPE_F64) {
        tile.alpha.f64 = alpha;
        tile.beta.f64 = beta;
    } else if (g->type->accumulator == TCGEMM_DTYPE_F32) {
        tile.alpha.f32 = (float)alpha;
        tile.beta.f32 = (float)beta;
    } else {
        tile.alpha.s32 = tcgemm_integer_scalar(alpha);
        tile.beta.s32 = tcgemm_integer_scalar(beta);
    }
    return tile;
}

static void place_output(const product_t *x, const block_t *block, int64_t i, int64_t j,
                         tcgemm_tile_t *tile) {
    const tcgemm_canonical_t *g = &x->plan->g;
    if (!x->plan->cpu.direct_output) {
        tile->d = x->sums + i * x->ld_sums + j;
        tile->c = block->first ? NULL : tile->d;
        tile->ldd = tile->ldc = x->ld_sums;
        return;
    }
    const int bytes = tcgemm_dtype_bits(g->type->d) / 8;
    tile->d = element_at(x->item.d, (block->row + i) * g->ldd + block->col + j, bytes);
    tile->ldd = g->ldd;
    if (!block->first) {
        tile->c = tile->d;
        tile->ldc = g->ldd;
    } else {
        tile->c = x->item.c
                      ? element_at(x->item.c, (block->row + i) * g->ldc + block->col + j, bytes)
                      : NULL;
        tile->ldc = g->ldc;
    }
}

/* How rows i .. i+rows, columns j .. j+cols of the block become f16 or bf16. */
static tcgemm_finish_t finish_of(const product_t *x, const block_t *block, int64_t i, int64_t rows,
                                 int64_t j, int64_t cols) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const int bytes = tcgemm_dtype_bits(g->type->d) / 8;
    return (tcgemm_finish_t){
        .dtype = g->type->d,
        .sums = x->sums + i * x->ld_sums + j,
        .ld_sums = x->ld_sums,
        .c = x->item.c ? element_at(x->item.c, (block->row + i) * g->ldc + block->col + j, bytes)
                       : NULL,
        .d = element_at(x->item.d, (block->row + i) * g->ldd + block->col + j, bytes),
        .ldc = g->ldc,
        .ldd = g->ldd,
        .rows = rows,
        .cols = cols,
        .alpha = (float)x->item.alpha,
        .beta = (float)x->item.beta,
    };
}

/* The panels of the current block, whoever packed them. */
typedef struct parts {
    const char *panels;
    const uint32_t *terms;
    const bool *special;
    int64_t first; /* row or column of the block: the first of the panels */
} parts_t;

static parts_t parts_of_a(const product_t *x, const block_t *block) {
    const int64_t k_block = block->k / x->plan->cpu.kc;
    if (!x->plan->g.a.packed_bytes)
        return (parts_t){x->a, x->a_terms, x->a_special, 0};
    const void *const data = x->call->a;
    return (parts_t){
        tcgemm_prepacked_panel(&x->a_all, data, x->item_index, k_block, block->row),
        tcgemm_prepacked_terms(&x->a_all, data, x->item_index, k_block) + block->row,
        tcgemm_prepacked_flags(&x->a_all, data, x->item_index, k_block) + block->row / x->u->mr, 0};
}

static parts_t parts_of_b(const product_t *x, const block_t *block) {
    const int64_t k_block = block->k / x->plan->cpu.kc;
    if (!x->plan->g.b.packed_bytes)
        return (parts_t){x->b, x->b_terms, x->b_special, 0};
    const void *const data = x->call->b;
    return (parts_t){
        tcgemm_prepacked_panel(&x->b_all, data, x->item_index, k_block, block->col),
        tcgemm_prepacked_terms(&x->b_all, data, x->item_index, k_block) + block->col,
        tcgemm_prepacked_flags(&x->b_all, data, x->item_index, k_block) + block->col / x->u->nr, 0};
}

static const void *panel_of_a(const product_t *x, const block_t *block, const char *panels,
                              int64_t i) {
    if (x->plan->cpu.pack_a)
        return panels +
               tcgemm_panel_at(i, tcgemm_panel_steps(block->ks, x->u->ku), x->u->lane_bytes);
    const tcgemm_operand_t *a = &x->plan->g.a;
    const int64_t index = x->a_offset + (block->row + i) * a->row_stride + block->k * a->col_stride;
    return element_at(x->item.a, index, x->u->lane_bytes);
}

static const void *panel_of_b(const product_t *x, const block_t *block, const parts_t *parts,
                              int64_t j) {
    if (x->plan->cpu.pack_b)
        return parts->panels + tcgemm_panel_at(j - parts->first,
                                               tcgemm_panel_steps(block->ks, x->u->ku),
                                               x->u->lane_bytes);
    const tcgemm_operand_t *b = &x->plan->g.b;
    const int64_t index = x->b_offset + block->k * b->row_stride + (block->col + j) * b->col_stride;
    return element_at(x->item.b, index, x->u->lane_bytes);
}

static tcgemm_tile_fn *tile_function(const product_t *x, const parts_t *a, int64_t a_panel,
                                     const parts_t *b, int64_t b_panel) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    if (!s->pack_a || !s->pack_b)
        return x->u->strided;
    if (x->u->exact &&
        (x->plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE || a->special[a_panel] || b->special[b_panel]))
        return x->u->exact;
    return x->u->packed;
}

/* B's panels for columns j0 .. j1 of the block, packed by thread t for itself. */
static parts_t pack_own_b(const product_t *x, const block_t *block, int64_t j0, int64_t j1, int t) {
    const int64_t cols = own_columns(x->plan);
    const int64_t steps = tcgemm_panel_steps(min_i64(x->plan->cpu.kc, x->plan->g.k), x->u->ku);
    block_t own = *block;
    own.col += j0;
    own.cols = j1 - j0;
    panels_t p = panels_of_b(x, &own, false);
    p.data += t * cols * steps * x->u->lane_bytes;
    p.special += t * cols / x->u->nr;
    if (p.terms)
        p.terms += t * cols;
    for (int64_t group = 0; group < num_groups(&p); ++group)
        pack_group(x, &p, group);
    return (parts_t){p.data, p.terms, p.special, j0};
}

static void multiply_unit(const product_t *x, const block_t *block, int64_t unit, int t) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_unit_t at = tcgemm_unit_at(unit, block->rows, s->mc, s->nb);
    const int64_t i0 = at.row;
    const int64_t j0 = at.col;
    const int64_t i1 = min_i64(i0 + s->mc, block->rows);
    const int64_t j1 = min_i64(j0 + s->nb, block->cols);
    const parts_t a = parts_of_a(x, block);
    const bool packs_unit = s->packs_units && s->pack_b && !x->plan->g.b.packed_bytes;
    const parts_t b = packs_unit ? pack_own_b(x, block, j0, j1, t) : parts_of_b(x, block);
    tcgemm_tile_t tile = tile_of_block(x, block);
    const bool finishes_tiles = block->last && !s->direct_output && x->u->finishes_tiles;
    for (int64_t j = j0; j < j1; j += x->u->nr) {
        tile.n = (int)min_i64(x->u->nr, j1 - j);
        tile.b = panel_of_b(x, block, &b, j);
        tile.col_term = x->signs.use_b_terms ? b.terms + j - b.first : NULL;
        for (int64_t i = i0; i < i1; i += x->u->mr) {
            tile.m = (int)min_i64(x->u->mr, i1 - i);
            tile.a = panel_of_a(x, block, a.panels, i);
            tile.row_term = x->signs.use_a_terms ? a.terms + i : NULL;
            place_output(x, block, i, j, &tile);
            tcgemm_finish_t finish;
            if (finishes_tiles) {
                finish = finish_of(x, block, i, tile.m, j, tile.n);
                tile.finish = &finish;
            }
            tile_function(x, &a, i / x->u->mr, &b, (j - b.first) / x->u->nr)(&tile);
        }
    }
    if (block->last && !s->direct_output && !x->u->finishes_tiles) {
        const tcgemm_finish_t finish = finish_of(x, block, i0, i1 - i0, j0, j1 - j0);
        x->u->finish(&finish);
    }
}

/* One step of k for one block of D, by thread t. */
static void do_block(product_t *x, const block_t *block, bool b_is_packed, int t, int num_threads) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    /* Each counter is set back while nobody uses it: the units' while panels are packed, the
     * panels' while units are multiplied. */
    if (t == 0)
        atomic_store_explicit(&x->next_unit, 0, memory_order_relaxed);
    pack_block(x, block, b_is_packed);
    arrive(x, &x->phases.packed);
    tcgemm_barrier_wait(&x->barrier, num_threads);
    if (t == 0) {
        close_phase(x, &x->phases.packed, &x->phases.pack_seconds);
        atomic_store_explicit(&x->next_panel, 0, memory_order_relaxed);
    }

    const int64_t num_units = tcgemm_unit_count(block->rows, block->cols, s->mc, s->nb);
    if (x->u->begin)
        x->u->begin();
    for (;;) {
        const int64_t unit = atomic_fetch_add_explicit(&x->next_unit, 1, memory_order_relaxed);
        if (unit >= num_units)
            break;
        multiply_unit(x, block, unit, t);
    }
    if (x->u->end)
        x->u->end();
    arrive(x, &x->phases.multiplied);
    tcgemm_barrier_wait(&x->barrier, num_threads);
    if (t == 0)
        close_phase(x, &x->phases.multiplied, &x->phases.product_seconds);
}

/* One item of the batch, by thread t of num_threads that all come here. */
static void do_item(product_t *x, int t, int num_threads) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    block_t block;
    for (block.col = 0; block.col < g->n; block.col += s->nc) {
        block.cols = min_i64(s->nc, g->n - block.col);
        for (block.row = 0; block.row < g->m; block.row += s->mt) {
            block.rows = min_i64(s->mt, g->m - block.row);
            for (block.k = 0; block.k < g->k; block.k += s->kc) {
                block.ks = min_i64(s->kc, g->k - block.k);
                block.first = block.k == 0;
                block.last = block.k + block.ks == g->k;
                /* With one step of k the panel of B serves all rows. */
                const bool b_is_packed = block.row > 0 && block.first && block.last;
                do_block(x, &block, b_is_packed, t, num_threads);
            }
        }
    }
}

/* ---- the batch ---- */

typedef struct job {
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    char *workspace; /* 64-byte aligned */
    bool timed;
    product_t shared; /* of all threads, unless each takes items of its own */
    atomic_int_fast64_t next_item;
    pthread_mutex_t stats_lock;           /* for the threads with items of their own: ... */
    double slowest_seconds;               /* ... the longest time of one, ... */
    double pack_seconds, product_seconds; /* ... and the sums over all of them */
} job_t;

static void set_up_product(product_t *x, const job_t *job, char *workspace) {
    memset(x, 0, sizeof *x);
    x->plan = job->plan;
    x->u = job->plan->kernel->cpu;
    x->call = job->call;
    x->timed = job->timed;
    x->phases.begin = job->timed ? now_nanoseconds() : 0;
    x->signs = tcgemm_signs_of(&job->plan->g, x->u->family);
    if (x->plan->g.a.packed_bytes)
        x->a_all = tcgemm_cpu_prepacked(x->plan, false);
    if (x->plan->g.b.packed_bytes)
        x->b_all = tcgemm_cpu_prepacked(x->plan, true);
    set_up_workspace(x, workspace);
}

/* A and B stay where they are and get an element offset: items of sub-byte elements may begin
 * within a byte. */
static void select_item(product_t *x, int64_t item) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const int d_bytes = tcgemm_dtype_bits(g->type->d) / 8;
    x->item = *x->call;
    x->item_index = item;
    x->item.d = element_at(x->call->d, item * g->stride_d, d_bytes);
    if (x->call->c)
        x->item.c = element_at(x->call->c, item * g->stride_c, d_bytes);
    x->a_offset = item * g->a.batch_stride;
    x->b_offset = item * g->b.batch_stride;
}

/* A thread with items of its own is through with them. */
static void report_times(job_t *job, const phases_t *own) {
    const double seconds = own->pack_seconds + own->product_seconds;
    (void)pthread_mutex_lock(&job->stats_lock);
    job->pack_seconds += own->pack_seconds;
    job->product_seconds += own->product_seconds;
    if (seconds > job->slowest_seconds)
        job->slowest_seconds = seconds;
    (void)pthread_mutex_unlock(&job->stats_lock);
}

/* The time of the slowest thread, divided as that of all threads is: the slowest may have been
 * stopped in its only packing. */
static void fill_stats(const job_t *job, tcgemm_run_stats_t *stats) {
    const phases_t *const shared = &job->shared.phases;
    const double all = job->pack_seconds + job->product_seconds;
    const double share = all > 0.0 ? job->slowest_seconds / all : 0.0;
    stats->pack_seconds = shared->pack_seconds + share * job->pack_seconds;
    stats->product_seconds = shared->product_seconds + share * job->product_seconds;
}

/* Items are many and small: each thread takes whole ones. */
static void do_items_apart(job_t *job, int t) {
    product_t own;
    set_up_product(&own, job, job->workspace + (size_t)t * layout_of(job->plan).end);
    for (;;) {
        const int64_t item = atomic_fetch_add(&job->next_item, 1);
        if (item >= job->plan->g.batch)
            break;
        select_item(&own, item);
        do_item(&own, 0, 1);
    }
    if (job->timed)
        report_times(job, &own.phases);
}

static void worker(void *argument, int t, int num_threads) {
    job_t *const job = argument;
    product_t *const x = &job->shared;
    if (job->plan->cpu.split_batch) {
        do_items_apart(job, t);
        return;
    }
    for (int64_t item = 0; item < job->plan->g.batch; ++item) {
        if (t == 0)
            select_item(x, item);
        tcgemm_barrier_wait(&x->barrier, num_threads);
        do_item(x, t, num_threads);
    }
}

tcgemm_status_t tcgemm_cpu_run(const struct tcgemm_plan *plan, const struct tcgemm_call *call,
                               void *workspace, tcgemm_run_stats_t *stats) {
    job_t job;
    job.plan = plan;
    job.call = call;
    job.workspace = workspace ? (char *)workspace + (64 - (uintptr_t)workspace % 64) % 64 : NULL;
    job.timed = stats != NULL;
    job.slowest_seconds = job.pack_seconds = job.product_seconds = 0.0;
    (void)pthread_mutex_init(&job.stats_lock, NULL);
    atomic_init(&job.next_item, 0);
    set_up_product(&job.shared, &job, job.workspace);
    tcgemm_pool_run(plan->num_threads, worker, &job);
    (void)pthread_mutex_destroy(&job.stats_lock);
    if (stats)
        fill_stats(&job, stats);
    return TCGEMM_STATUS_OK;
}
