/* gemm.c - the loops around the micro-kernel (Goto and van de Geijn, "Anatomy of High-Performance
 * Matrix Multiplication", ACM TOMS 34(3), 2008; Van Zee and van de Geijn, "BLIS", TOMS 41(3),
 * 2015).
 *
 *     for jc over n by nc                        columns of D
 *       for ic over m by mt                      rows of D
 *         for pc over k by kc
 *           pack B(pc, jc), pack A(ic, pc)       a panel each in turn
 *           --- when all panels are packed ---
 *           for units of mc x nb
 *             for panels of B, for panels of A   one register tile (or A first: keeps_a_panel)
 *           --- when all units are done ---
 *
 * The caller and its workers take panels and units as they come (host/pool.h):
 *
 *     time   thread 0  [pack][unit 0][unit 2][unit 3]|[pack][unit 0] ...
 *            thread 1  [pack][unit 1   ][unit 4]     |[pack][unit 1] ...
 *
 * Many threads pack ahead (`overlaps`), so that nobody is idle while the last units are done:
 *
 *            thread 0  [pack]|[unit 0][unit 2][pack]|[unit 0] ...
 *            thread 1  [pack]|[unit 1   ][unit 3][p]|[unit 1] ...
 *
 * What would take longer to come from the core that packed it than to pack, panels of products that
 * have room in the caches of the cores, is packed by each thread for the one unit that it takes,
 * the same in each call if it comes in time (`packs_both`):
 *
 *            thread 0  [pack A0 B0][unit 0, 0]
 *            thread 1  [pack A0 B1][unit 0, 1]
 *
 * One thread alone packs B first, and A's panels only when the units that need them begin, mc rows
 * at a time in one place, which stays in the L2 cache (`packs_a_late`).
 *
 * The steps of k (kc) depend on k and the kernel alone, and a unit is computed by one thread, so
 * the bits of D depend neither on the number of threads nor on who did what.
 */
#include "cpu/gemm.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/num.h"
#include "cpu/dots.h"
#include "cpu/kernels/kernels.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/model.h"
#include "cpu/packing.h"
#include "cpu/panel.h"
#include "cpu/prepack.h"
#include "host/caches.h"
#include "host/pool.h"

/* ---- the workspace ---- */

/* Offsets of the parts in one workspace; equal offsets: the part is empty. */
typedef struct layout {
    size_t a, b, a_terms, b_terms, a_special, b_special, partials;
    size_t packed; /* all of these, twice where packing is ahead; then ... */
    size_t sums, end;
} layout_t;

/* Rows of A and columns of B that a thread packs for a unit of its own, and the threads that do. */
static int64_t own_rows(const struct tcgemm_plan *plan) {
    return round_up(plan->cpu.mc, plan->kernel->cpu->mr);
}

static int64_t own_columns(const struct tcgemm_plan *plan) {
    return round_up(plan->cpu.nb, plan->kernel->cpu->nr);
}

static int packers(const struct tcgemm_plan *plan) {
    return plan->cpu.split_batch ? 1 : plan->num_threads;
}

/* Bytes of the sums of all tiles of a unit. */
static size_t partials_of_unit(const struct tcgemm_plan *plan) {
    return (size_t)(own_rows(plan) * own_columns(plan) * tcgemm_sum_bytes(plan->kernel->cpu));
}

static layout_t layout_of(const struct tcgemm_plan *plan) {
    if (plan->cpu.dots)
        return (layout_t){.end = tcgemm_dots_bytes(plan)};
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_canonical_t *g = &plan->g;
    const int64_t rows = ceil_div(min_i64(s->mt, g->m), u->mr) * u->mr;
    const int64_t packed_rows = s->packs_both     ? own_rows(plan) * packers(plan)
                                : s->packs_a_late ? min_i64(own_rows(plan), rows)
                                                  : rows;
    const int64_t cols = ceil_div(min_i64(s->nc, g->n), u->nr) * u->nr;
    const int64_t packed_cols =
        s->packs_units || s->packs_both ? own_columns(plan) * packers(plan) : cols;
    const int64_t noted_rows = s->packs_both ? packed_rows : rows;
    const int64_t steps = ceil_div(min_i64(s->kc, g->k), u->ku);
    const int64_t b_steps = s->packs_units ? ceil_div(s->kb, u->ku) : steps;
    const int64_t flags = u->exact != NULL;
    const int64_t integer = tcgemm_family_has_terms(u->family);
    layout_t l;
    l.a = 0;
    const bool pack_a = s->pack_a && !g->a.packed_bytes;
    const bool pack_b = s->pack_b && !g->b.packed_bytes;
    l.b = l.a + tcgemm_align64(pack_a ? packed_rows * steps * u->lane_bytes : 0);
    l.a_terms = l.b + tcgemm_align64(pack_b ? packed_cols * b_steps * u->lane_bytes : 0);
    l.b_terms = l.a_terms + tcgemm_align64(pack_a ? integer * noted_rows * 4 : 0);
    l.a_special = l.b_terms + tcgemm_align64(pack_b ? integer * packed_cols * 4 : 0);
    l.b_special = l.a_special + tcgemm_align64(pack_a ? flags * noted_rows / u->mr : 0);
    l.partials = l.b_special + tcgemm_align64(pack_b ? flags * packed_cols / u->nr : 0);
    l.packed = l.partials + (s->packs_units ? (size_t)packers(plan) * partials_of_unit(plan) : 0);
    l.sums = s->overlaps ? 2 * l.packed : l.packed;
    const bool has_sums = !s->direct_output && !(u->finishes_tiles && s->kc >= g->k);
    l.end = l.sums + tcgemm_align64(has_sums ? rows * cols * 4 : 0);
    return l;
}

tcgemm_cpu_sizes_t tcgemm_cpu_sizes(const struct tcgemm_plan *plan) {
    const layout_t l = layout_of(plan);
    const size_t slack = 63; /* the caller's workspace may lie anywhere */
    const size_t copies = plan->cpu.split_batch ? (size_t)plan->num_threads : 1;
    return (tcgemm_cpu_sizes_t){
        .workspace_bytes = l.end ? copies * l.end + slack : 0,
        .packed_a_bytes = tcgemm_cpu_leaves_a(plan) ? 0 : l.b - l.a,
        .packed_b_bytes = l.a_terms - l.b,
    };
}

/* ---- one product ---- */

typedef tcgemm_cpu_block_t block_t;

/* Where panels are packed. */
typedef struct buffers {
    char *a, *b;
    uint32_t *a_terms, *b_terms;
    bool *a_special, *b_special; /* a flag a panel: it holds a bf16 subnormal */
    char *partials;              /* of the units of each thread */
    float *sums;                 /* of narrow results: mt x nc */
} buffers_t;

/* One block of D and k, of one item of the batch. */
typedef struct step {
    block_t block;
    buffers_t buffers;
    tcgemm_call_t item;
    int64_t item_index;
    int64_t a_offset, b_offset; /* of this item in A and B, in elements */
    bool copies_b;              /* its first row of tiles leaves B's panels */
} step_t;

/* One operand's panels of a step. */
typedef struct panels {
    tcgemm_pack_t pack;
    int64_t count;
    int64_t lines;
    int width;
    int group;         /* panels that are packed together ... */
    bool is_one_call;  /* ... by one call, else some steps of each in turn */
    int64_t share;     /* groups that a thread packs before it asks for more */
    int64_t even_from; /* the line from which panels are about as wide, those of the last unit */
    int64_t base;      /* the line with which `data` begins */
    char *data;
    uint32_t *terms;
    bool *special;
    bool stay;     /* they are rows where they lie, to be looked at for subnormals */
    bool are_rows; /* they are converted as they lie, not turned */
} panels_t;

/* Where the time of all threads goes, in nanoseconds. */
typedef struct times {
    atomic_uint_fast64_t packing, multiplying;
} times_t;

/* What the threads of one product share; it changes between phases only. */
typedef struct product {
    const struct tcgemm_plan *plan;
    const tcgemm_cpu_ukernel_t *u;
    const tcgemm_call_t *call; /* of the batch */
    int64_t next_item, end_item;
    step_t now;                      /* whose units are multiplied in this phase ... */
    int64_t num_units;               /* ... if there are any */
    bool has_next;                   /* and ... */
    step_t next;                     /* ... whose panels are packed */
    panels_t a_panels, b_panels;     /* those */
    tcgemm_prepacked_t a_all, b_all; /* operands packed ahead of the call */
    buffers_t buffers[2];
    int a_buffer, b_buffer; /* of `next` */
    int64_t ld_sums;
    tcgemm_signs_t signs;
    atomic_ushort owner[TCGEMM_MOST_UNITS_APART]; /* of a unit: 1 + the thread (packs_both) */
    bool a_stays;                                 /* A is read where it lies after all */
    bool a_is_rows; /* A's panels are rows of lanes, which tiles read by strides */
    bool a_is_late; /* packs_a_late, unless it stays */
    times_t *times; /* NULL: nobody asks */
} product_t;

/* ---- the statistics ---- */

/* On the thread's own clock: where threads share cores, whoever waits for one does no packing. */
static uint64_t start_timing(const product_t *x) {
    return x->times ? thread_nanoseconds() : 0;
}

static void stop_timing(const product_t *x, uint64_t start, atomic_uint_fast64_t *sum) {
    if (x->times)
        atomic_fetch_add_explicit(sum, thread_nanoseconds() - start, memory_order_relaxed);
}

static void set_up_workspace(product_t *x, char *workspace) {
    const layout_t l = layout_of(x->plan);
    for (int i = 0; i < 2; ++i) {
        char *const base = workspace + (x->plan->cpu.overlaps ? (size_t)i * l.packed : 0);
        x->buffers[i] = (buffers_t){
            .a = base + l.a,
            .b = base + l.b,
            .a_terms = (uint32_t *)(void *)(base + l.a_terms),
            .b_terms = (uint32_t *)(void *)(base + l.b_terms),
            .a_special = (bool *)(base + l.a_special),
            .b_special = (bool *)(base + l.b_special),
            .partials = base + l.partials,
            .sums = (float *)(void *)(workspace + l.sums),
        };
    }
    x->ld_sums = ceil_div(min_i64(x->plan->cpu.nc, x->plan->g.n), x->u->nr) * x->u->nr;
}

static bool is_on_lane(const tcgemm_cpu_ukernel_t *u, const void *a) {
    return (uintptr_t)a % (uintptr_t)u->lane_bytes == 0;
}

/* ---- packing ---- */

/* Of `cols` columns left, those of the next tile of a kernel that reads B by strides: no last tile
 * of one vector behind a whole one, whose sums are too few to keep the multiply-adds busy. */
static int64_t even_tile_columns(const tcgemm_cpu_ukernel_t *u, int64_t cols) {
    const int64_t lanes = u->nr / 3; /* of a vector (tile_tmpl.h) */
    if (cols <= u->nr)
        return cols;
    return cols <= u->nr + lanes ? u->nr - lanes : u->nr;
}

/* Tiles read A row by row, where it lies or was converted; else its panels. */
static bool reads_rows_of_a(const product_t *x) {
    return !x->plan->cpu.pack_a || x->a_stays || x->a_is_rows;
}

/* Tiles read B by strides, and nobody else has packed it. */
static bool has_even_columns(const product_t *x) {
    return (reads_rows_of_a(x) || !x->plan->cpu.pack_b) && x->u->strided &&
           !x->plan->g.b.packed_bytes;
}

/* Columns of the next tile of `cols` to the end of a unit, and the width of its panel. Units before
 * the last one are whole panels, so they are shared out as the block is. */
static int64_t columns_of_tile(const product_t *x, int64_t cols) {
    if (cols >= 2 * x->u->nr) /* for most: this is asked of each tile */
        return x->u->nr;
    return has_even_columns(x) ? even_tile_columns(x->u, cols) : min_i64(x->u->nr, cols);
}

static int64_t width_of_panel(const product_t *x, int64_t cols) {
    if (cols >= 2 * x->u->nr)
        return x->u->nr;
    const int64_t lanes = x->u->nr / 3;
    const int64_t some = columns_of_tile(x, cols);
    return !has_even_columns(x) || some > 2 * lanes ? x->u->nr : some > lanes ? 2 * lanes : lanes;
}

enum {
    PANELS_OF_GROUP = 4,
    MOST_OF_GROUP = TCGEMM_MOST_OWN_PANELS,
    STREAMS = 16,          /* rows of k that prefetchers follow */
    FAR_PITCH = 4096,      /* bytes of a row across k, from which as many rows as ... */
    LEAST_FAR_STEPS = 1024 /* ... this leave the caches before they are read again */
};

/* The line at which panel i begins. */
static int64_t first_of_panel(const product_t *x, const panels_t *p, int64_t i) {
    int64_t at = p->even_from / p->width;
    int64_t first = p->even_from;
    if (i <= at)
        return i * p->width;
    for (; at < i; ++at)
        first += columns_of_tile(x, p->lines - first);
    return first;
}

/* The rows of a panel as they lie, converted to `to`; or, NULL, only looked at, those that stay
 * where they are: has one of them a bf16 subnormal? */
static bool take_rows(const product_t *x, const panels_t *p, int64_t i, void *to) {
    const int64_t first = i * p->width;
    tcgemm_pack_t rows = p->pack;
    rows.origin += first * rows.line_stride;
    return x->u->pack_rows(&rows, (int)min_i64(p->width, p->lines - first), to, NULL);
}

static void pack_panel(const product_t *x, const panels_t *p, int64_t i) {
    const int64_t first = first_of_panel(x, p, i);
    const int64_t steps = tcgemm_panel_steps(p->pack.k, x->u->ku);
    char *const panel = p->data + tcgemm_panel_at(first - p->base, steps, x->u->lane_bytes);
    const bool is_even = first >= p->even_from;
    const int lines =
        (int)(is_even ? columns_of_tile(x, p->lines - first) : min_i64(p->width, p->lines - first));
    const int width = is_even ? (int)width_of_panel(x, p->lines - first) : p->width;
    const bool found = p->are_rows ? take_rows(x, p, i, panel)
                                   : x->u->pack(&p->pack, first, lines, width, panel,
                                                p->terms ? p->terms + first : NULL);
    if (x->u->exact)
        p->special[i] = found;
}

/* Lines from `first` on as a panel of `p`, some elements of k of them. */
static bool pack_part(const product_t *x, const panels_t *p, const tcgemm_pack_t *part,
                      int64_t first, char *panel) {
    const int lines = (int)min_i64(p->width, p->lines - first);
    return x->u->pack(part, first, lines, p->width, panel, p->terms ? p->terms + first : NULL);
}

/* Elements of k behind others, whose terms are there. */
static void continue_terms(tcgemm_pack_t *part) {
    part->adds_terms = true;
    part->sum_offset = 0;
}

/* Panels [i, end), a few steps of each in turn: a row of k that is 64 bytes in each panel is read
 * as one piece. */
static void pack_by_steps(const product_t *x, const panels_t *p, int64_t i, int64_t end) {
    const int64_t ku = x->u->ku;
    const int64_t some = tcgemm_is_matrix(x->u) ? ku : STREAMS;
    const int64_t steps = tcgemm_panel_steps(p->pack.k, (int)ku);
    tcgemm_pack_t part = p->pack;
    bool found[MOST_OF_GROUP] = {false};
    for (int64_t k = 0; k < p->pack.k; k += some) {
        part.k = min_i64(some, p->pack.k - k);
        part.origin = p->pack.origin + k * p->pack.k_stride;
        if (k > 0)
            continue_terms(&part);
        for (int64_t at = i; at < end; ++at) {
            const int64_t first = at * p->width;
            char *const panel = p->data +
                                tcgemm_panel_at(first - p->base, steps, x->u->lane_bytes) +
                                k / ku * p->width * x->u->lane_bytes;
            found[at - i] |= pack_part(x, p, &part, first, panel);
        }
    }
    for (int64_t at = i; x->u->exact && at < end; ++at)
        p->special[at] = found[at - i];
}

/* Whole panels of A from row `first` on by one call: which of them have a bf16 subnormal, bit 0 the
 * first. */
static uint64_t pack_whole_panels(const tcgemm_cpu_ukernel_t *u, const tcgemm_pack_t *pack,
                                  int64_t first, int64_t panels, char *to, uint32_t *terms) {
    const int64_t panel_bytes = u->mr * tcgemm_panel_steps(pack->k, u->ku) * u->lane_bytes;
    uint64_t special = 0;
    if (u->pack(pack, first, (int)panels * u->mr, u->mr, to, terms)) /* in which one? */
        for (int64_t at = 0; at < panels; ++at)
            special |= (uint64_t)u->pack(pack, first + at * u->mr, u->mr, u->mr,
                                         to + at * panel_bytes, terms ? terms + at * u->mr : NULL)
                       << at;
    return special;
}

/* Panels [i, end) by one call, and by itself a last one that is no whole one. */
static void pack_at_once(const product_t *x, const panels_t *p, int64_t i, int64_t end) {
    const int64_t steps = tcgemm_panel_steps(p->pack.k, x->u->ku), first = i * p->width;
    const int64_t whole = min_i64(end * p->width, p->lines) / p->width;
    char *const panel = p->data + tcgemm_panel_at(first - p->base, steps, x->u->lane_bytes);
    const uint64_t special = whole > i ? pack_whole_panels(x->u, &p->pack, first, whole - i, panel,
                                                           p->terms ? p->terms + first : NULL)
                                       : 0;
    if (whole < end)
        pack_panel(x, p, whole);
    for (int64_t at = i; x->u->exact && at < whole; ++at)
        p->special[at] = special >> (at - i) & 1u;
}

static void pack_panels(const product_t *x, const panels_t *p, int64_t i, int64_t end) {
    if (p->group == 1)
        pack_panel(x, p, i);
    else if (p->is_one_call)
        pack_at_once(x, p, i, end);
    else
        pack_by_steps(x, p, i, end);
}

static int64_t num_groups(const panels_t *p) {
    return ceil_div(p->count, p->group);
}

static void pack_group(const product_t *x, const panels_t *p, int64_t group) {
    if (p->stay)
        p->special[group] = take_rows(x, p, group, NULL);
    else
        pack_panels(x, p, group * p->group, min_i64((group + 1) * p->group, p->count));
}

static void pack_groups(const product_t *x, const panels_t *p, int64_t first, int64_t end) {
    for (int64_t group = first; group < end; ++group)
        pack_group(x, p, group);
}

static void pack_all(const product_t *x, const panels_t *p) {
    pack_groups(x, p, 0, num_groups(p));
}

/* To ask for the next group takes many threads as long as to pack a short one: each packs some
 * then, but no thread all of them. */
static int64_t share_of_panels(const product_t *x, const panels_t *p) {
    enum { SHARE_BYTES = 1 << 14, LEAST_SHARES = 4 }; /* of each thread */
    const int64_t steps = tcgemm_panel_steps(p->pack.k, x->u->ku);
    const int64_t bytes = p->group * p->width * steps * x->u->lane_bytes;
    const int64_t most = num_groups(p) / ((int64_t)LEAST_SHARES * x->plan->num_threads);
    const int64_t share = bytes > 0 ? min_i64(most, SHARE_BYTES / bytes) : 1;
    return share > 1 ? share : 1;
}

static int64_t num_shares(const panels_t *p) {
    return ceil_div(num_groups(p), p->share);
}

static void pack_share(const product_t *x, const panels_t *p, int64_t share) {
    pack_groups(x, p, share * p->share, min_i64((share + 1) * p->share, num_groups(p)));
}

/* Long lanes whose lines lie side by side are packed some panels at a time. */
static int group_of(const product_t *x, bool along_k) {
    return tcgemm_is_matrix(x->u) && !along_k ? PANELS_OF_GROUP : 1;
}

/* Of an A that lies across k: the panels that are packed by one call, else those that share the
 * lines of memory in which its rows lie, if they are so long that such a line is not near any more
 * when its next panel's turn comes. Of several threads each is to have some. */
static int group_of_a(const product_t *x, const tcgemm_pack_t *pack, int64_t rows) {
    const int64_t bits = tcgemm_dtype_bits(pack->dtype), panel_bits = x->u->mr * bits;
    const int at_once = tcgemm_panels_at_once(x->u, pack);
    const bool is_far = pack->line_stride == 1 && pack->k_stride * bits / 8 >= FAR_PITCH &&
                        x->plan->g.k >= LEAST_FAR_STEPS && x->u->ku > 1;
    const bool are_lanes = x->u->ku == 1 && pack->dtype == x->plan->g.type->accumulator;
    if (at_once > 1 && are_lanes) /* that are copied as they are, and one thread alone needs */
        return x->a_is_late ? at_once : 1;
    if (at_once > 1)
        return is_far || x->a_is_late || x->plan->cpu.packs_both
                   ? at_once
                   : (int)min_i64(at_once, ceil_div(rows, x->u->mr * x->plan->num_threads));
    if (!is_far || tcgemm_is_matrix(x->u) || bits < 8)
        return group_of(x, pack->k_stride == 1);
    return panel_bits < 512 ? (int)(512 / panel_bits) : 1;
}

static panels_t panels_of_a(const product_t *x, const step_t *s) {
    const bool is_packed_here =
        x->plan->cpu.pack_a && !x->plan->g.a.packed_bytes && !(x->a_stays && !x->u->exact);
    const tcgemm_pack_t pack =
        tcgemm_pack_of_a(&x->plan->g, x->u->family, &x->signs, s->item.a, s->a_offset, &s->block);
    return (panels_t){
        .pack = pack,
        .count = is_packed_here ? ceil_div(s->block.rows, x->u->mr) : 0,
        .lines = s->block.rows,
        .width = x->u->mr,
        .group = group_of_a(x, &pack, s->block.rows),
        .is_one_call = tcgemm_panels_at_once(x->u, &pack) > 1,
        .even_from = INT64_MAX,
        .data = s->buffers.a,
        .terms = x->signs.use_a_terms ? s->buffers.a_terms : NULL,
        .special = s->buffers.a_special,
        .stay = x->a_stays,
        .are_rows = x->a_is_rows,
    };
}

/* Columns col .. col + cols of the block alone. */
static panels_t panels_of_b(const product_t *x, const step_t *s, int64_t col, int64_t cols) {
    const bool is_packed_here = x->plan->cpu.pack_b && !x->plan->g.b.packed_bytes;
    block_t block = s->block;
    block.col += col;
    const int64_t nb = x->plan->cpu.nb;
    const bool is_even = has_even_columns(x) && !x->plan->cpu.packs_units && cols > 0;
    return (panels_t){
        .pack =
            tcgemm_pack_of_b(&x->plan->g, x->u->family, &x->signs, s->item.b, s->b_offset, &block),
        .count = is_packed_here ? ceil_div(cols, x->u->nr) : 0,
        .lines = cols,
        .width = x->u->nr,
        .group = group_of(x, x->plan->g.b.row_stride == 1),
        .even_from = is_even ? (cols - 1) / nb * nb : INT64_MAX,
        .data = s->buffers.b,
        .terms = x->signs.use_b_terms ? s->buffers.b_terms : NULL,
        .special = s->buffers.b_special,
    };
}

/* Those of B first: they are the larger ones. */
static void pack_item(const product_t *x, int64_t i) {
    if (i < num_shares(&x->b_panels))
        pack_share(x, &x->b_panels, i);
    else
        pack_share(x, &x->a_panels, i - num_shares(&x->b_panels));
}

/* ---- multiplying ---- */

/* Beyond what a second-level cache keeps for the next product. */
static bool d_is_large(const tcgemm_canonical_t *g) {
    const double bytes = (double)g->m * (double)g->n * tcgemm_dtype_bits(g->type->d) / 8.0;
    return bytes > 8 << 20;
}

/* Rows of a tile of so many; panels of A have as many as the register tile. */
static int64_t rows_of_tile(const product_t *x, int64_t rows) {
    return x->plan->cpu.pack_a ? x->u->mr : tcgemm_even_tile_rows(x->u, rows);
}

/* Whether one call is to multiply so many rows by so many columns of a tile, which is some tiles
 * below one another, instead of a call for each of them. */
static bool are_worth_a_call(const tcgemm_cpu_ukernel_t *u, int64_t rows, int64_t cols) {
    const int least_tiles = 3 * cols <= u->nr ? 4 : 8; /* of one vector, or more */
    return rows >= least_tiles * u->mr;
}

static void set_scalars(const tcgemm_canonical_t *g, double alpha, double beta,
                        tcgemm_tile_t *tile) {
    if (g->type->accumulator == TCGEMM_DTYPE_F64) {
        tile->alpha.f64 = alpha;
        tile->beta.f64 = beta;
    } else if (g->type->accumulator == TCGEMM_DTYPE_F32) {
        tile->alpha.f32 = (float)alpha;
        tile->beta.f32 = (float)beta;
    } else {
        tile->alpha.s32 = tcgemm_integer_scalar(alpha);
        tile->beta.s32 = tcgemm_integer_scalar(beta);
    }
}

/* alpha, beta and where C and D are, for the step of k at hand. */
static tcgemm_tile_t tile_of_block(const product_t *x, const step_t *step) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    tcgemm_tile_t tile = {
        .steps = tcgemm_panel_steps(step->block.ks, x->u->ku),
        .a_row = !reads_rows_of_a(x) ? 1
                 : x->a_is_rows      ? tcgemm_panel_steps(step->block.ks, x->u->ku)
                                     : g->a.row_stride / (x->a_stays ? x->u->ku : 1),
        .a_step = reads_rows_of_a(x) ? g->a.col_stride : x->u->mr,
        .b_step = s->pack_b ? x->u->nr : g->b.row_stride,
        .scale = g->flags & TCGEMM_FLAG_XOR ? 0u - 2u : 1u,
        .a_is_signed = x->signs.a_is_signed,
        .b_is_signed = x->signs.b_is_signed,
        .a_flip = x->a_stays ? tcgemm_flip_of_lane(x->signs.flip_a) : 0,
        .stores_parts = s->stores_parts,
    };
    const double alpha = s->direct_output ? step->item.alpha : 1.0;
    const double beta = step->block.first ? step->item.beta : 1.0;
    tile.continues = !step->block.first && alpha == 1.0;
    tile.streams = step->block.last && s->direct_output && x->u->begin && d_is_large(g) &&
                   tcgemm_epilogue_is_empty(&step->item.epilogue);
    set_scalars(g, alpha, beta, &tile);
    return tile;
}

static void place_output(const product_t *x, const step_t *step, int64_t i, int64_t j,
                         tcgemm_tile_t *tile) {
    const tcgemm_canonical_t *g = &x->plan->g;
    if (!x->plan->cpu.direct_output) {
        tile->d = step->buffers.sums + i * x->ld_sums + j;
        tile->c = step->block.first ? NULL : tile->d;
        tile->ldd = tile->ldc = x->ld_sums;
        return;
    }
    const int bytes = tcgemm_dtype_bits(g->type->d) / 8;
    tile->d = tcgemm_element_at(step->item.d, (step->block.row + i) * g->ldd + step->block.col + j,
                                bytes);
    tile->ldd = g->ldd;
    if (!step->block.first) {
        tile->c = tile->d;
        tile->ldc = g->ldd;
    } else {
        tile->c =
            step->item.c
                ? tcgemm_element_at(step->item.c,
                                    (step->block.row + i) * g->ldc + step->block.col + j, bytes)
                : NULL;
        tile->ldc = g->ldc;
    }
}

/* How rows i .. i+rows, columns j .. j+cols of the block become f16 or bf16, or other D what its
 * epilogue makes of it. */
static tcgemm_finish_t finish_of(const product_t *x, const step_t *step, int64_t i, int64_t rows,
                                 int64_t j, int64_t cols) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const int bytes = tcgemm_dtype_bits(g->type->d) / 8;
    const int64_t row = step->block.row + i, col = step->block.col + j;
    return (tcgemm_finish_t){
        .dtype = g->type->d,
        .sums = x->plan->cpu.direct_output ? NULL : step->buffers.sums + i * x->ld_sums + j,
        .ld_sums = x->ld_sums,
        .c = step->item.c ? tcgemm_element_at(step->item.c, row * g->ldc + col, bytes) : NULL,
        .d = tcgemm_element_at(step->item.d, row * g->ldd + col, bytes),
        .ldc = g->ldc,
        .ldd = g->ldd,
        .rows = rows,
        .cols = cols,
        .alpha = (float)step->item.alpha,
        .beta = (float)step->item.beta,
        .epilogue = tcgemm_epilogue_at(&step->item.epilogue, bytes, row, col),
    };
}

/* All tiles of these rows and columns have their sums. */
static void finish_unit(const product_t *x, const step_t *step, int64_t i, int64_t rows, int64_t j,
                        int64_t cols) {
    const bool is_done = x->plan->cpu.direct_output ? tcgemm_epilogue_is_empty(&step->item.epilogue)
                                                    : x->u->finishes_tiles;
    if (is_done || !step->block.last)
        return;
    const tcgemm_finish_t finish = finish_of(x, step, i, rows, j, cols);
    x->u->finish(&finish);
}

/* The panels of the current block, whoever packed them. */
typedef struct parts {
    const char *panels;
    const uint32_t *terms;
    const bool *special;
    int64_t first; /* row or column of the block: the first of the panels */
} parts_t;

/* Of the unit that begins with this row. */
static parts_t parts_of_a(const product_t *x, const step_t *step, int64_t row) {
    const int64_t k_block = step->block.k / x->plan->cpu.kc;
    if (!x->plan->g.a.packed_bytes)
        return (parts_t){step->buffers.a, step->buffers.a_terms, step->buffers.a_special,
                         x->a_is_late ? row : 0};
    const void *const data = x->call->a;
    return (parts_t){
        tcgemm_prepacked_panel(&x->a_all, data, step->item_index, k_block, step->block.row),
        tcgemm_prepacked_terms(&x->a_all, data, step->item_index, k_block) + step->block.row,
        tcgemm_prepacked_flags(&x->a_all, data, step->item_index, k_block) +
            step->block.row / x->u->mr,
        0};
}

static parts_t parts_of_b(const product_t *x, const step_t *step) {
    const int64_t k_block = step->block.k / x->plan->cpu.kc;
    if (!x->plan->g.b.packed_bytes)
        return (parts_t){step->buffers.b, step->buffers.b_terms, step->buffers.b_special, 0};
    const void *const data = x->call->b;
    return (parts_t){
        tcgemm_prepacked_panel(&x->b_all, data, step->item_index, k_block, step->block.col),
        tcgemm_prepacked_terms(&x->b_all, data, step->item_index, k_block) + step->block.col,
        tcgemm_prepacked_flags(&x->b_all, data, step->item_index, k_block) +
            step->block.col / x->u->nr,
        0};
}

/* Row i of A where it lies, from element k of the block on, ... */
static const void *row_of_a(const product_t *x, const step_t *step, int64_t i, int64_t k) {
    const tcgemm_operand_t *a = &x->plan->g.a;
    const int64_t index = step->a_offset + (step->block.row + i) * a->row_stride +
                          (step->block.k + k) * a->col_stride;
    return tcgemm_element_at(step->item.a, index, x->u->lane_bytes / (x->a_stays ? x->u->ku : 1));
}

/* ... or the panel that begins with it. */
static const void *panel_of_a(const product_t *x, const step_t *step, const parts_t *parts,
                              int64_t i, int64_t k) {
    if (!x->plan->cpu.pack_a || x->a_stays)
        return row_of_a(x, step, i, k);
    const int64_t steps = tcgemm_panel_steps(step->block.ks, x->u->ku);
    return parts->panels + tcgemm_panel_at(i - parts->first, steps, x->u->lane_bytes) +
           k / x->u->ku * x->u->mr * x->u->lane_bytes;
}

/* Column j of B where it lies, elements k and on of the block, ... */
static const void *column_of_b(const product_t *x, const step_t *step, int64_t j, int64_t k) {
    const tcgemm_operand_t *b = &x->plan->g.b;
    const int64_t index = step->b_offset + (step->block.k + k) * b->row_stride +
                          (step->block.col + j) * b->col_stride;
    return tcgemm_element_at(step->item.b, index, x->u->lane_bytes);
}

/* ... or the panel that begins with it. */
static const void *panel_of_b(const product_t *x, const step_t *step, const parts_t *parts,
                              int64_t j) {
    if (!x->plan->cpu.pack_b)
        return column_of_b(x, step, j, 0);
    return parts->panels + tcgemm_panel_at(j - parts->first,
                                           tcgemm_panel_steps(step->block.ks, x->u->ku),
                                           x->u->lane_bytes);
}

/* Special: of panels that hold a bf16 subnormal. */
static tcgemm_tile_fn *tile_function(const product_t *x, bool is_special) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    if (!s->pack_a || !s->pack_b)
        return x->u->strided;
    if (x->u->exact && (is_special || x->plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE))
        return x->u->exact;
    return reads_rows_of_a(x) && x->u->strided ? x->u->strided : x->u->packed;
}

/* Row i and column j of the block are the first ones of the tile. */
static tcgemm_tile_fn *function_of_tile(const product_t *x, const parts_t *a, int64_t i,
                                        const parts_t *b, int64_t j) {
    return tile_function(x, a->special[i / x->u->mr] || b->special[(j - b->first) / x->u->nr]);
}

/* The function of all tiles of a unit; NULL: some of its panels are special. */
static tcgemm_tile_fn *function_of_unit(const product_t *x, const parts_t *a, const parts_t *b,
                                        tcgemm_unit_t at, int64_t i1, int64_t j1) {
    tcgemm_tile_fn *const function = tile_function(x, false);
    if (function == tile_function(x, true))
        return function;
    bool is_special = false;
    for (int64_t i = at.row; i < i1; i += x->u->mr)
        is_special |= a->special[i / x->u->mr];
    for (int64_t j = at.col; j < j1; j += x->u->nr)
        is_special |= b->special[(j - b->first) / x->u->nr];
    return is_special ? NULL : function;
}

/* The next rows of A, where it lies, and of D: pieces too short for prefetchers to follow. All at
 * once, where they lie far apart. */
static void fetch_rows(const product_t *x, const step_t *step, int64_t i, int64_t rows, int64_t j,
                       int64_t cols) {
    const int64_t a_bytes = step->block.ks * x->u->lane_bytes;
    tcgemm_tile_t tile;
    for (int64_t r = i; r < i + rows; ++r) {
        const char *const a = row_of_a(x, step, r, 0);
        for (int64_t at = 0; at < a_bytes; at += 64)
            __builtin_prefetch(a + at);
        place_output(x, step, r, j, &tile);
        for (int64_t at = 0; at < cols * tcgemm_sum_bytes(x->u); at += 64)
            __builtin_prefetch((const char *)tile.d + at, 1);
    }
}

/* Rows that lie so close that their gaps may be fetched with them: bit by bit, while tiles are
 * multiplied, for loads wait behind many fetches. */
static bool has_close_rows(const product_t *x) {
    enum { MOST_PARTS = 3 };
    const tcgemm_canonical_t *g = &x->plan->g;
    return g->a.row_stride <= MOST_PARTS * g->k && x->plan->cpu.direct_output &&
           g->ldd <= MOST_PARTS * g->n;
}

static void fetch_beside(const char *at, int64_t bytes, tcgemm_tile_t *tile) {
    tile->next = at;
    tile->next_step = ceil_div(bytes, tile->steps);
    tile->fetches = true;
}

/* Beside a tile of rows i .., from column j of the unit on: during the first one the next rows of
 * A, during the second one those of D. */
static void fetch_next_rows(const product_t *x, const step_t *step, int64_t i, int64_t j,
                            const tcgemm_unit_t *unit, tcgemm_tile_t *tile) {
    /* Of several threads another one may be at work behind the unit. */
    const int64_t end = x->plan->num_threads == 1 ? step->block.rows : unit->row + x->plan->cpu.mc;
    const int64_t next = i + tile->m;
    const int64_t rows = min_i64(tile->m, min_i64(end, step->block.rows) - next);
    tcgemm_tile_t there;
    tile->fetches = false;
    if (rows <= 0 || j > x->u->nr)
        return;
    if (j == 0) {
        fetch_beside(row_of_a(x, step, next, 0), rows * x->plan->g.a.row_stride * x->u->lane_bytes,
                     tile);
    } else {
        place_output(x, step, next, unit->col, &there);
        fetch_beside(there.d, rows * there.ldd * tcgemm_sum_bytes(x->u), tile);
    }
}

enum { LEAST_FETCHED = 256, MOST_FETCHED = 1024 };

/* Where A lies beyond the caches, and few columns of D use it. */
static bool fetches_rows(const product_t *x) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const int64_t a_bytes = x->plan->g.k * x->u->lane_bytes;
    return s->fetches && !s->pack_a && x->plan->g.a.col_stride == 1 &&
           tcgemm_cpu_is_narrow(x->plan) && a_bytes >= LEAST_FETCHED && a_bytes <= MOST_FETCHED;
}

/* How many steps of k ahead the first row of a unit's tiles has a B fetched that stays where it is,
 * and that no cache near the core holds, if there are not many more rows. */
static int64_t steps_ahead(const product_t *x) {
    enum { MOST_ROWS = 16, STEPS = 40 }; /* of tiles; of k */
    const tcgemm_canonical_t *g = &x->plan->g;
    const double bytes = (double)g->n * (double)g->k * x->u->lane_bytes;
    const bool is_far =
        !x->plan->cpu.pack_b && g->m <= MOST_ROWS * x->u->mr && bytes > (double)tcgemm_near_bytes();
    return is_far ? STEPS : 0;
}

/* B's rows of the next block of k, where they lie beyond the caches and are fetched while all rows
 * of tiles but the first, which waits for this block's, are multiplied. */
typedef struct next_b {
    const char *at;
    int64_t share; /* bytes for each tile; 0: none */
} next_b_t;

static next_b_t next_b(const product_t *x, const step_t *step, const tcgemm_unit_t *unit,
                       int64_t tile_rows) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_canonical_t *g = &x->plan->g;
    const int64_t bytes = g->b.row_stride * x->u->lane_bytes;
    const int64_t ks = min_i64(s->kc, g->k - step->block.k - step->block.ks);
    const int64_t rows = min_i64(s->mc, step->block.rows - unit->row);
    const int64_t tiles = (ceil_div(rows, tile_rows) - 1) * ceil_div(g->n, x->u->nr);
    if (!s->fetches || ks <= 0 || tiles <= 0 || steps_ahead(x) == 0 || g->b.row_stride != g->n ||
        s->nb < g->n)
        return (next_b_t){NULL, 0};
    return (next_b_t){(const char *)column_of_b(x, step, 0, 0) + step->block.ks * bytes,
                      round_up(ceil_div(ks * bytes, tiles), 64)};
}

/* Of a B that lies far: beside the first row of tiles it is fetched so many steps ahead, beside the
 * others a share of the next block of k. */
static void fetch_b(next_b_t *b, int64_t ahead, tcgemm_tile_t *tile) {
    tile->ahead = ahead * tile->b_step;
    tile->next_step = 0;
    if (ahead == 0 && b->share > 0) {
        tile->next = b->at;
        tile->next_step = ceil_div(b->share, tile->steps);
        b->at += b->share;
    }
    tile->fetches = tile->ahead != 0 || tile->next_step != 0;
}

/* What will be read after the tiles at hand, beyond the caches, where prefetchers find each row
 * anew: some lines of memory of rows that lie apart. Each tile has a share of them fetched to the
 * second level. */
typedef struct later {
    const char *at;
    int64_t pitch; /* bytes from row to row */
    int64_t rows, lines;
    int64_t share; /* lines that a tile fetches; 0: none */
} later_t;

static void fetch_share(const later_t *later, int64_t index) {
    const int64_t end = min_i64((index + 1) * later->share, later->rows * later->lines);
    for (int64_t i = index * later->share; i < end;) {
        const char *const row = later->at + i / later->lines * later->pitch;
        const int64_t first = i % later->lines;
        const int64_t last = min_i64(first + end - i, later->lines);
        for (int64_t line = first; line < last; ++line)
            TCGEMM_PREFETCH_FAR(row + line * 64);
        i += last - first;
    }
}

/* The rows that will be packed for the next row of units, beside tiles of as many of this one. */
static later_t later_rows(const product_t *x, const step_t *step, int64_t row, int64_t tile_rows) {
    const tcgemm_canonical_t *g = &x->plan->g;
    const int64_t next = row + x->plan->cpu.mc;
    if (!x->plan->cpu.fetches || !x->a_is_rows || !x->a_is_late || next >= step->block.rows)
        return (later_t){.share = 0};
    const int64_t bits = tcgemm_dtype_bits(g->a.dtype);
    const int64_t lines = ceil_div(step->block.ks * bits, 8 * 64);
    const int64_t index =
        step->a_offset + (step->block.row + next) * g->a.row_stride + step->block.k;
    return (later_t){.at = (const char *)step->item.a + index * bits / 8,
                     .pitch = g->a.row_stride * bits / 8,
                     .rows = tile_rows,
                     .lines = lines,
                     .share = lines * tile_rows};
}

/* Of the rows of a tile, of an A that stays where it is, the next block of k. Of long vectors
 * prefetchers bring it in time. */
static later_t later_a(const product_t *x, const step_t *step, int64_t row, int64_t tile_rows) {
    enum { PART_OF_NEAR = 4 }; /* of the cache near the core, for those of all rows */
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_canonical_t *g = &x->plan->g;
    const int64_t bytes = min_i64(s->kc, g->k - step->block.k - step->block.ks) * x->u->lane_bytes;
    if (!s->fetches || s->pack_a || g->a.col_stride != 1 || bytes <= 0 || tcgemm_is_wide(x->u) ||
        !tcgemm_cpu_is_narrow(x->plan) ||
        g->m * bytes > (int64_t)tcgemm_near_bytes() / PART_OF_NEAR)
        return (later_t){.share = 0};
    const int64_t lines = ceil_div(bytes, 64);
    return (later_t){.at = row_of_a(x, step, row, step->block.ks),
                     .pitch = g->a.row_stride * x->u->lane_bytes,
                     .rows = tile_rows,
                     .lines = lines,
                     .share = ceil_div(lines * tile_rows, ceil_div(g->n, x->u->nr))};
}

/* Bytes from a tile of the unit to the one behind it, and lines. To ask anew for each tile where
 * everything is costs tiles of short vectors 3 % of their time. */
typedef struct stride {
    int64_t panel, d, c, terms;
} stride_t;

static void move_output(const stride_t *by, tcgemm_tile_t *tile) {
    tile->d = (char *)tile->d + by->d;
    if (tile->c)
        tile->c = (const char *)tile->c + by->c;
}

static void move_down(const stride_t *by, tcgemm_tile_t *tile) {
    tile->a = (const char *)tile->a + by->panel;
    if (tile->row_term)
        tile->row_term += by->terms;
    move_output(by, tile);
}

static void move_right(const stride_t *by, tcgemm_tile_t *tile) {
    tile->b = (const char *)tile->b + by->panel;
    if (tile->col_term)
        tile->col_term += by->terms;
    move_output(by, tile);
}

/* Bytes of an element of what tiles write. */
static int64_t output_bytes(const product_t *x) {
    return x->plan->cpu.direct_output ? tcgemm_dtype_bits(x->plan->g.type->d) / 8
                                      : (int64_t)sizeof(float);
}

/* Down the rows of the block first; along them where each row of units has A's panels for itself.
 */
static tcgemm_unit_t unit_at(const product_t *x, int64_t unit) {
    const block_t *block = &x->now.block;
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    if (!x->a_is_late)
        return tcgemm_unit_at(unit, block->rows, s->mc, s->nb);
    const tcgemm_unit_t t = tcgemm_unit_at(unit, block->cols, s->nb, s->mc);
    return (tcgemm_unit_t){.row = t.col, .col = t.row};
}

/* Whether one call multiplies all rows of a unit beside each tile of its `cols` columns: rows of A
 * lie as kernels read them, and nothing is fetched or left bit by bit. Beside several tiles that
 * gains with a few steps of k alone. (With AVX2 on a Zen 4 2000 x 2000 x 16 took 1.08 times as
 * long.) */
static bool takes_all_rows(const product_t *x, const step_t *step, tcgemm_tile_fn *function,
                           int64_t rows, int64_t cols) {
    enum { FEW_STEPS = 8 };
    const bool are_few = tcgemm_panel_steps(step->block.ks, x->u->ku) <= FEW_STEPS;
    return function && function == x->u->strided && reads_rows_of_a(x) && !step->copies_b &&
           (cols <= x->u->nr || are_few) && are_worth_a_call(x->u, rows, cols) &&
           !fetches_rows(x) && steps_ahead(x) == 0 && !(x->a_is_rows && x->plan->cpu.fetches);
}

static void multiply_unit(const product_t *x, const step_t *step, tcgemm_unit_t at) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const int64_t i0 = at.row;
    const int64_t j0 = at.col;
    const int64_t i1 = min_i64(i0 + s->mc, step->block.rows);
    const int64_t j1 = min_i64(j0 + s->nb, step->block.cols);
    const parts_t a = parts_of_a(x, step, at.row);
    const parts_t b = parts_of_b(x, step);
    tcgemm_tile_t tile = tile_of_block(x, step);
    const bool finishes_tiles = step->block.last && !s->direct_output && x->u->finishes_tiles;
    tcgemm_tile_fn *const function = function_of_unit(x, &a, &b, at, i1, j1);
    const bool is_one_call =
        takes_all_rows(x, step, function, i1 - i0, j1 - j0) && !later_a(x, step, i0, 1).share;
    const int64_t tile_rows = is_one_call ? i1 - i0 : rows_of_tile(x, i1 - i0);
    const int64_t ahead = steps_ahead(x);
    const bool are_close = fetches_rows(x) && has_close_rows(x);
    next_b_t next = next_b(x, step, &at, tile_rows);
    const char *const first_a = panel_of_a(x, step, &a, i0, 0);
    const int64_t a_bytes = (const char *)panel_of_a(x, step, &a, i0 + tile_rows, 0) - first_a;
    const int64_t d_bytes = output_bytes(x);
    for (int64_t j = j0; j < j1; j += tile.n) {
        tile.n = (int)columns_of_tile(x, j1 - j);
        if (s->pack_b)
            tile.b_step = width_of_panel(x, j1 - j);
        tile.b = panel_of_b(x, step, &b, j);
        tile.col_term = x->signs.use_b_terms ? b.terms + j - b.first : NULL;
        later_t later = later_a(x, step, i0, tile_rows);
        tile.a = first_a;
        tile.row_term = x->signs.use_a_terms ? a.terms + i0 : NULL;
        place_output(x, step, i0, j, &tile);
        const stride_t down = {.panel = a_bytes,
                               .d = tile_rows * tile.ldd * d_bytes,
                               .c = tile_rows * tile.ldc * d_bytes,
                               .terms = tile_rows};
        for (int64_t i = i0; i < i1; i += tile_rows) {
            tile.m = (int)min_i64(tile_rows, i1 - i);
            if (i > i0)
                move_down(&down, &tile);
            if (ahead != 0)
                fetch_b(&next, i == i0 ? ahead : 0, &tile);
            if (are_close)
                fetch_next_rows(x, step, i, j - j0, &at, &tile);
            tcgemm_finish_t finish;
            if (finishes_tiles) {
                finish = finish_of(x, step, i, tile.m, j, tile.n);
                tile.finish = &finish;
            }
            if (later.share) {
                later.rows = tile.m;
                fetch_share(&later, (j - j0) / x->u->nr);
                later.at += tile_rows * later.pitch;
            }
            (function ? function : function_of_tile(x, &a, i, &b, j))(&tile);
        }
    }
    finish_unit(x, step, i0, i1 - i0, j0, j1 - j0);
}

/* Rows of D that are written to memory, and are long enough for its prefetchers. */
static bool d_is_far(const tcgemm_canonical_t *g) {
    enum { LEAST_ROW_BYTES = 512 };
    const double row_bytes = (double)g->n * tcgemm_dtype_bits(g->type->d) / 8.0;
    return row_bytes >= LEAST_ROW_BYTES &&
           (double)g->m * row_bytes > 2.0 * (double)tcgemm_far_bytes();
}

/* Whose panel stays in the first-level cache while those of the other operand pass: A's where B's
 * is much the larger one, and cannot, or all of a unit's do, so that D is written along its rows;
 * of long vectors always, if it can. (With AVX2 on a Zen 4 1469 x 837 x 5 of s8 in half of the time
 * so, where D comes from memory, 63270 x 64 x 9 of f64 in 0.75. Where the first level is roomy it
 * is D alone that decides: on a Zen 5 6000 x 2000 x 8 of f32 in 0.66, 1670 x 1488 x 3, which stays
 * in the last cache, in 1.1, on a Xeon in 1.2.) */
static bool keeps_a_panel(const product_t *x, const step_t *step) {
    enum { L1_BYTES = 40 << 10, LEAST_TILES = 3 };
    const int64_t line = tcgemm_panel_steps(step->block.ks, x->u->ku) * x->u->lane_bytes;
    const int64_t cols = min_i64(x->plan->cpu.nb, step->block.cols);
    const bool are_near = 2 * cols * line <= L1_BYTES && cols >= LEAST_TILES * x->u->nr;
    const bool by_rows = x->u->nr * line > L1_BYTES || tcgemm_is_wide(x->u) ||
                         (are_near && (!x->plan->cpu.is_roomy || d_is_far(&x->plan->g)));
    return x->u->mr * line <= L1_BYTES && by_rows && !x->u->finishes_tiles;
}

/* A tile of the block's first rows, elements k and on of B: what will be its panel of B is still to
 * be written. What lies far is fetched so many steps ahead. */
static void multiply_and_copy(const product_t *x, const step_t *step, int64_t j, int64_t k,
                              int64_t steps_ahead, const tcgemm_tile_t *tile) {
    tcgemm_tile_t first = *tile;
    first.copy = (void *)(uintptr_t)tile->b;
    first.copy_step = tile->b_step;
    first.b = column_of_b(x, step, j, k);
    first.b_step = x->plan->g.b.row_stride;
    first.ahead = steps_ahead * first.b_step;
    x->u->strided(&first);
}

/* The tiles along the columns of a unit: whole ones, and one or two from column `from` on. To ask
 * anew for each tile how wide it is costs those of a few steps a tenth of their time. */
typedef struct last_tiles {
    int64_t from;
    int n[2], width[2]; /* columns, and of the panel */
} last_tiles_t;

static last_tiles_t last_tiles(const product_t *x, int64_t j0, int64_t j1) {
    const int64_t nr = x->u->nr, cols = j1 - j0;
    last_tiles_t last = {.from = cols < 2 * nr ? j0 : j0 + (cols / nr - 1) * nr};
    int64_t left = j1 - last.from;
    for (int t = 0; t < 2 && left > 0; ++t) {
        last.n[t] = (int)columns_of_tile(x, left);
        last.width[t] = (int)width_of_panel(x, left);
        left -= last.n[t];
    }
    return last;
}

/* As multiply_unit, with a panel of A that stays. */
static void multiply_unit_by_rows(const product_t *x, const step_t *step, tcgemm_unit_t at) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const int64_t i1 = min_i64(at.row + s->mc, step->block.rows);
    const int64_t j1 = min_i64(at.col + s->nb, step->block.cols);
    const parts_t a = parts_of_a(x, step, at.row);
    const parts_t b = parts_of_b(x, step);
    const bool fetches = fetches_rows(x), are_close = fetches && has_close_rows(x);
    const int64_t ahead = steps_ahead(x);
    const int64_t rows = i1 - at.row;
    const int64_t cols = j1 - at.col;
    tcgemm_tile_fn *const function = function_of_unit(x, &a, &b, at, i1, j1);
    const bool is_one_call = cols <= x->u->nr && takes_all_rows(x, step, function, rows, cols);
    const int64_t tile_rows = is_one_call ? rows : rows_of_tile(x, rows);
    const char *const first_a = panel_of_a(x, step, &a, at.row, 0);
    const int64_t a_bytes = (const char *)panel_of_a(x, step, &a, at.row + tile_rows, 0) - first_a;
    const char *const first_b = panel_of_b(x, step, &b, at.col);
    const int64_t b_bytes = (const char *)panel_of_b(x, step, &b, at.col + 1) - first_b;
    const int64_t d_bytes = output_bytes(x);
    const last_tiles_t last = last_tiles(x, at.col, j1);
    next_b_t next = next_b(x, step, &at, tile_rows);
    later_t later = later_rows(x, step, at.row, tile_rows);
    tcgemm_tile_t tile = tile_of_block(x, step);
    tcgemm_tile_t first = {
        .a = first_a, .row_term = x->signs.use_a_terms ? a.terms + at.row : NULL}; /* of a row */
    place_output(x, step, at.row, at.col, &first);
    tile.ldd = first.ldd;
    tile.ldc = first.ldc;
    const stride_t down = {a_bytes, tile_rows * tile.ldd * d_bytes, tile_rows * tile.ldc * d_bytes,
                           tile_rows};
    for (int64_t i = at.row; i < i1; i += tile_rows) {
        tile.m = (int)min_i64(tile_rows, i1 - i);
        if (later.share) {
            fetch_share(&later, 0);
            later.at += tile_rows * later.pitch;
        }
        if (fetches && !are_close && i + tile_rows < i1)
            fetch_rows(x, step, i + tile_rows, min_i64(tile_rows, i1 - i - tile_rows), at.col,
                       j1 - at.col);
        tile.a = first.a;
        tile.row_term = first.row_term;
        tile.c = first.c;
        tile.d = first.d;
        move_down(&down, &first);
        tile.b = first_b;
        tile.col_term = x->signs.use_b_terms ? b.terms + at.col - b.first : NULL;
        for (int64_t j = at.col; j < j1; j += tile.n) {
            if (j > at.col) {
                const stride_t right = {tile.n * b_bytes, tile.n * d_bytes, tile.n * d_bytes,
                                        tile.n};
                move_right(&right, &tile);
            }
            const bool is_last = j >= last.from, is_second = j > last.from;
            tile.n = is_last ? last.n[is_second] : x->u->nr;
            if (s->pack_b)
                tile.b_step = is_last ? last.width[is_second] : x->u->nr;
            if (ahead != 0)
                fetch_b(&next, i == at.row ? ahead : 0, &tile);
            if (are_close)
                fetch_next_rows(x, step, i, j - at.col, &at, &tile);
            if (step->copies_b && i == 0)
                multiply_and_copy(x, step, j, 0, 0, &tile);
            else
                (function ? function : function_of_tile(x, &a, i, &b, j))(&tile);
        }
    }
    finish_unit(x, step, at.row, i1 - at.row, at.col, j1 - at.col);
}

/* ---- units of few rows, whose part of B nobody else needs ---- */

/* What the thread has for its unit: columns j0 .. j1 and all rows of the block. */
typedef struct own_unit {
    const step_t *step;
    int64_t i1, j0, j1;
    panels_t b;                     /* kb elements of k of all columns */
    char *partials;                 /* the tiles' sums in between, down the rows first */
    bool is_special[MOST_OF_GROUP]; /* panels of B in which a bf16 subnormal was found */
} own_unit_t;

/* Else a panel is packed when it is needed, where the last one was. */
static bool packs_all_panels(const product_t *x) {
    return tcgemm_cpu_packs_whole_units(x->plan);
}

static own_unit_t own_unit(const product_t *x, int64_t unit, int t) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_unit_t at = tcgemm_unit_at(unit, x->now.block.rows, s->mc, s->nb);
    const int64_t cols = own_columns(x->plan);
    own_unit_t own = {
        .step = &x->now,
        .i1 = x->now.block.rows,
        .j0 = at.col,
        .j1 = min_i64(at.col + s->nb, x->now.block.cols),
        .partials = x->now.buffers.partials + (size_t)t * partials_of_unit(x->plan),
    };
    own.b = panels_of_b(x, own.step, own.j0, own.j1 - own.j0);
    own.b.data += t * cols * tcgemm_panel_steps(s->kb, x->u->ku) * x->u->lane_bytes;
    own.b.special += t * cols / x->u->nr;
    if (own.b.terms)
        own.b.terms += t * cols;
    if (packs_all_panels(x) && x->plan->g.b.row_stride != 1)
        own.b.group = MOST_OF_GROUP; /* whole rows of the unit: long pieces of each page */
    return own;
}

/* B's panels for elements k .. k + kb of the block. */
static panels_t own_panels(const product_t *x, const own_unit_t *own, int64_t k) {
    panels_t b = own->b;
    b.pack.origin += k * b.pack.k_stride;
    b.pack.k = min_i64(x->plan->cpu.kb, own->step->block.ks - k);
    if (k > 0)
        continue_terms(&b.pack);
    return b;
}

static void pack_own_panel(const product_t *x, const panels_t *b, own_unit_t *own, int64_t panel) {
    const bool found = pack_part(x, b, &b->pack, panel * b->width, b->data);
    if (x->u->exact)
        own->is_special[panel] |= found;
}

static void pack_own_b(const product_t *x, own_unit_t *own, int64_t k) {
    const panels_t b = own_panels(x, own, k);
    pack_all(x, &b);
    for (int64_t j = 0; x->u->exact && j < b.count; ++j)
        own->is_special[j] |= b.special[j];
}

/* Columns j .. j + nr of the block, elements k .. k + kb: B's lanes. */
static const void *own_panel_of_b(const product_t *x, const own_unit_t *own, int64_t j, int64_t k,
                                  int64_t steps) {
    if (x->plan->cpu.pack_b)
        return own->b.data +
               (packs_all_panels(x) ? tcgemm_panel_at(j - own->j0, steps, x->u->lane_bytes) : 0);
    return column_of_b(x, own->step, j, k);
}

/* Lines of memory `pitch` bytes apart that tiles are to fetch, so many bytes of each. */
typedef struct next_lines {
    const char *at;
    int64_t count, bytes, pitch;
} next_lines_t;

/* Of a B that lies far, what is packed after the panel from column j on, or after all panels of the
 * unit: the next panel, or the first one of the next elements of k, or of the next unit, unless
 * another thread takes it. */
static next_lines_t lines_after(const product_t *x, const own_unit_t *own, int64_t j, int64_t k) {
    const struct tcgemm_plan *const plan = x->plan;
    const tcgemm_pack_t *const pack = &own->b.pack;
    const int64_t ks = own->step->block.ks, bits = tcgemm_dtype_bits(pack->dtype);
    const int64_t some = packs_all_panels(x) ? plan->cpu.nb : x->u->nr;
    int64_t col = j + some, end = own->j1;
    if (col >= end) {
        k += plan->cpu.kb;
        col = own->j0;
    }
    if (k >= ks && plan->num_threads == 1) {
        k = 0;
        col = own->j1;
        end = own->step->block.cols;
    }
    if (!plan->cpu.fetches || col >= end || k >= ks)
        return (next_lines_t){.count = 0};
    const int64_t cols = min_i64(some, end - col), steps = min_i64(plan->cpu.kb, ks - k);
    const bool along_k = pack->k_stride == 1;
    const int64_t first = pack->origin + k * pack->k_stride + (col - own->j0) * pack->line_stride;
    return (next_lines_t){.at = (const char *)pack->source + first * bits / 8,
                          .count = along_k ? cols : steps,
                          .bytes = ceil_div((along_k ? steps : cols) * bits, 8),
                          .pitch = (along_k ? pack->line_stride : pack->k_stride) * bits / 8};
}

/* Each of so many tiles fetches some of them. */
static int64_t fetch_lines(const next_lines_t *lines, int64_t tiles, tcgemm_tile_t *tile) {
    const int64_t share = ceil_div(lines->count, tiles);
    tile->fetches = share > 0;
    if (!tile->fetches)
        return 0;
    tile->next = lines->at;
    tile->next_step = min_i64(ceil_div(share * lines->bytes, tile->steps), TCGEMM_MOST_NEXT);
    tile->next_count = ceil_div(lines->bytes, tile->next_step);
    tile->next_line = lines->pitch - tile->next_count * tile->next_step;
    return share * lines->pitch;
}

/* All tiles for elements k .. k + kb, whose panels of B are there, are packed one by one, or are
 * left by the first tile of each. A tile with a subnormal of B anywhere along k is to be computed
 * by the exact kernel from the first k on, but that is known only at the end: such tiles are left
 * alone then, and done in a second round. */
static void multiply_own(const product_t *x, own_unit_t *own, int64_t k, bool is_again) {
    const tcgemm_cpu_ukernel_t *u = x->u;
    const step_t *step = own->step;
    const parts_t a = parts_of_a(x, step, 0);
    const panels_t b = own_panels(x, own, k);
    const bool packs_here = x->plan->cpu.pack_b && !packs_all_panels(x);
    const bool is_in_place = !x->plan->cpu.pack_a || !x->plan->cpu.pack_b;
    const int64_t steps = tcgemm_panel_steps(b.pack.k, u->ku);
    const bool is_last = k + x->plan->cpu.kb >= step->block.ks;
    const bool finishes_tiles = step->block.last && u->finishes_tiles;
    const bool copies = x->plan->cpu.copies_b;
    /* Some 300 cycles of tiles; of rows a power of two apart 64 or 32 have room in a cache. */
    const int64_t steps_ahead = u->lane_bytes == 4 ? 32 : 24;
    const int64_t tile_rows = copies ? u->mr : rows_of_tile(x, own->i1);
    const char *const first_a = panel_of_a(x, step, &a, 0, k);
    const int64_t a_bytes = (const char *)panel_of_a(x, step, &a, tile_rows, k) - first_a;
    const int64_t d_bytes = output_bytes(x);
    const int64_t sums_bytes = u->mr * u->nr * tcgemm_sum_bytes(u);
    const int64_t sums_of_panel = ceil_div(own->i1, u->mr) * sums_bytes;
    tcgemm_tile_fn *function = is_in_place ? u->strided : u->packed;
    tcgemm_tile_t tile = tile_of_block(x, step);
    tile.steps = steps;
    tile.resumes = k > 0;
    tile.pauses = !is_last;
    int64_t next_bytes = 0;
    if (tcgemm_cpu_fetches_units(x->plan)) {
        const next_lines_t next = lines_after(x, own, own->j0, k);
        const int64_t tiles = ceil_div(own->i1, tile_rows) * ceil_div(own->j1 - own->j0, u->nr);
        next_bytes = fetch_lines(&next, tiles, &tile);
    }
    for (int64_t j = own->j0, panel = 0; j < own->j1; j += tile.n, ++panel) {
        tile.n = (int)(x->plan->cpu.pack_b ? min_i64(u->nr, own->j1 - j)
                                           : columns_of_tile(x, own->j1 - j));
        tile.b = own_panel_of_b(x, own, j, k, steps);
        tile.col_term = x->signs.use_b_terms && is_last ? own->b.terms + j - own->j0 : NULL;
        tile.a = first_a;
        tile.row_term = x->signs.use_a_terms && is_last ? a.terms : NULL;
        tile.partial = own->partials + panel * sums_of_panel;
        place_output(x, step, 0, j, &tile);
        if (packs_here) {
            const next_lines_t next = lines_after(x, own, j, k);
            pack_own_panel(x, &b, own, panel);
            next_bytes = fetch_lines(&next, ceil_div(own->i1, tile_rows), &tile);
        }
        const stride_t down = {.panel = a_bytes,
                               .d = tile_rows * tile.ldd * d_bytes,
                               .c = tile_rows * tile.ldc * d_bytes,
                               .terms = tile_rows};
        for (int64_t i = 0; i < own->i1; i += tile_rows) {
            if (i > 0) {
                move_down(&down, &tile);
                tile.partial = (char *)tile.partial + sums_bytes;
            }
            if (u->exact) {
                const bool is_exact =
                    x->plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE || a.special[i / u->mr];
                const bool waits = !is_exact && own->is_special[panel];
                if (is_again ? !waits : waits && is_last)
                    continue;
                function = is_in_place ? u->strided : is_exact || is_again ? u->exact : u->packed;
            }
            tile.m = (int)min_i64(tile_rows, own->i1 - i);
            tcgemm_finish_t finish;
            if (finishes_tiles && !x->plan->cpu.direct_output) {
                finish = finish_of(x, step, i, tile.m, j, tile.n);
                tile.finish = &finish;
            }
            if (copies && i == 0)
                multiply_and_copy(x, step, j, k, steps_ahead, &tile);
            else
                function(&tile);
            if (tile.fetches)
                tile.next = (const char *)tile.next + next_bytes;
        }
    }
}

static void multiply_own_unit(const product_t *x, int64_t unit, int t) {
    const int64_t ks = x->now.block.ks;
    const int64_t kb = x->plan->cpu.kb;
    own_unit_t own = own_unit(x, unit, t);
    bool is_special = false;
    for (int64_t k = 0; k < ks; k += kb) {
        if (packs_all_panels(x) && !x->plan->cpu.copies_b)
            pack_own_b(x, &own, k);
        multiply_own(x, &own, k, false);
    }
    for (int64_t j = 0; x->u->exact && j < own.b.count; ++j)
        is_special |= own.is_special[j];
    for (int64_t k = 0; k < ks && is_special; k += kb) {
        if (packs_all_panels(x))
            pack_own_b(x, &own, k);
        multiply_own(x, &own, k, true);
    }
    finish_unit(x, &x->now, 0, own.i1, own.j0, own.j1 - own.j0); /* tiles that waited, too */
}

/* ---- units whose A and B are packed by the thread that multiplies them ---- */

/* The unit as a step of its own: its part of the block, with buffers that this thread alone has. */
static step_t step_of_unit(const product_t *x, int64_t unit, int t) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_unit_t at = unit_at(x, unit);
    const int64_t line_bytes =
        tcgemm_panel_steps(min_i64(s->kc, x->plan->g.k), x->u->ku) * x->u->lane_bytes;
    const int64_t rows = t * own_rows(x->plan), cols = t * own_columns(x->plan);
    step_t own = x->now;
    own.block.row += at.row;
    own.block.col += at.col;
    own.block.rows = min_i64(s->mc, x->now.block.rows - at.row);
    own.block.cols = min_i64(s->nb, x->now.block.cols - at.col);
    own.buffers.a += rows * line_bytes;
    own.buffers.b += cols * line_bytes;
    own.buffers.a_terms += rows;
    own.buffers.b_terms += cols;
    own.buffers.a_special += rows / x->u->mr;
    own.buffers.b_special += cols / x->u->nr;
    own.buffers.sums += at.row * x->ld_sums + at.col;
    return own;
}

/* What the last unit of this thread, -1 if there was none, has left need not be packed again: a
 * thread that nobody comes to help goes down the rows, with the same columns of B. */
static void pack_unit(const product_t *x, int64_t unit, int64_t last, int t) {
    const step_t own = step_of_unit(x, unit, t);
    const tcgemm_unit_t at = unit_at(x, unit), before = unit_at(x, last >= 0 ? last : unit);
    const panels_t a = panels_of_a(x, &own);
    const panels_t b = panels_of_b(x, &own, 0, own.block.cols);
    if (last < 0 || before.col != at.col)
        pack_all(x, &b);
    if (last < 0 || before.row != at.row)
        pack_all(x, &a);
}

static void multiply_packed_unit(const product_t *x, int64_t unit, int t) {
    const step_t own = step_of_unit(x, unit, t);
    multiply_unit(x, &own, (tcgemm_unit_t){0});
}

/* ---- small products: of one block, each by one thread (has_small_items in model.c) ---- */

/* What all items and tiles have in common. */
typedef struct small {
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    char *workspace;
    tcgemm_signs_t signs;
    tcgemm_tile_t tile;
    int64_t row, rows;    /* of A, that are packed at a time */
    bool has_rows;        /* A is packed as rows of lanes, or as lines across k */
    bool has_free_panels; /* the kernel reads panels of any width, and such rows */
    uint64_t *packing;    /* nanoseconds of it, NULL: nobody asks */
} small_t;

static void set_up_small(small_t *x, const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                         char *workspace, uint64_t *packing) {
    const tcgemm_canonical_t *const g = &plan->g;
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    x->plan = plan;
    x->call = call;
    x->workspace = workspace;
    x->packing = packing;
    x->has_rows = tcgemm_cpu_packs_rows(plan);
    /* Short vectors multiply panels sooner as panels, if there are many. */
    const bool is_long = plan->cpu.pack_a && g->m > plan->cpu.mc && !tcgemm_is_wide(u);
    x->has_free_panels =
        u->strided != NULL && (x->has_rows || plan->cpu.small_b_rows || !plan->cpu.pack_a ||
                               !plan->cpu.pack_b || (u->ku > 1 && !is_long));
    /* One by one: to clear the whole struct first takes as long as a tile of 8 x 8. */
    tcgemm_tile_t *const tile = &x->tile;
    tile->steps = plan->cpu.small_steps;
    tile->a_row = g->a.row_stride;
    tile->a_step = g->a.col_stride;
    tile->b_step = g->b.row_stride;
    tile->copy = NULL;
    tile->fetches = false;
    tile->ldd = g->ldd;
    tile->ldc = g->ldc;
    tile->scale = 1;
    tile->row_term = tile->col_term = NULL;
    tile->a_is_signed = tile->b_is_signed = false;
    tile->a_flip = 0;
    tile->continues = tile->streams = tile->resumes = tile->pauses = false;
    tile->stores_parts = plan->cpu.stores_parts;
    tile->finish = NULL;
    tile->partial = NULL;
    set_scalars(g, call->alpha, call->beta, tile);
    if (!plan->cpu.pack_a && !plan->cpu.pack_b)
        return; /* such lanes have no signs */
    x->signs = tcgemm_signs_of(g, u->family);
    x->tile.a_is_signed = x->signs.a_is_signed;
    x->tile.b_is_signed = x->signs.b_is_signed;
}

static uint64_t start_packing(const small_t *x) {
    return x->packing ? now_nanoseconds() : 0;
}

static void stop_packing(const small_t *x, uint64_t start) {
    if (x->packing)
        *x->packing += now_nanoseconds() - start;
}

/* Where the parts of an item lie: B's rows, for all rows of A, or a panel of it; A's panels; and
 * their terms. */
typedef struct small_parts {
    char *a, *b;
    uint32_t *a_terms, *b_terms; /* NULL: none */
} small_parts_t;

static small_parts_t small_parts(const small_t *x) {
    const tcgemm_cpu_ukernel_t *const u = x->plan->kernel->cpu;
    const int64_t row_bytes = x->tile.steps * u->lane_bytes; /* of a panel */
    const bool has_a = x->plan->cpu.pack_a;
    const int64_t rows = has_a ? round_up_to_power(x->rows, u->mr) : 0;
    const int64_t cols = x->plan->cpu.small_b_rows ? x->plan->g.n : x->plan->cpu.pack_b ? u->nr : 0;
    small_parts_t p = {.b = x->workspace};
    p.a = p.b + tcgemm_align64(cols * row_bytes);
    if (x->signs.use_a_terms || x->signs.use_b_terms) {
        uint32_t *const terms = (uint32_t *)(void *)(p.a + tcgemm_align64(rows * row_bytes));
        p.a_terms = x->signs.use_a_terms ? terms : NULL;
        p.b_terms = x->signs.use_b_terms ? terms + (x->signs.use_a_terms ? rows : 0) : NULL;
    }
    return p;
}

/* The tiles of A of an item: the first one, and the bytes from each to the next. */
typedef struct small_a {
    const char *first;
    int64_t pitch;
    uint64_t special; /* bit i: only the exact kernel takes tile i */
} small_a_t;

/* Packs the rows, if there is room for them, or looks at them: which tiles have a bf16 subnormal.
 * That seldom one has is seen sooner of all rows. */
static uint64_t special_rows(const small_t *x, const tcgemm_pack_t *pack, char *rows,
                             int64_t tile_rows) {
    const tcgemm_cpu_ukernel_t *const u = x->plan->kernel->cpu;
    const bool has_some = u->pack_rows(pack, (int)x->rows, rows, NULL);
    tcgemm_pack_t some = *pack;
    uint64_t special = 0;
    for (int64_t i = 0, tile = 0; has_some && i < x->rows; i += tile_rows, ++tile) {
        const int count = (int)min_i64(tile_rows, x->rows - i);
        some.origin = pack->origin + i * pack->line_stride;
        special |= (uint64_t)u->pack_rows(&some, count, NULL, NULL) << tile;
    }
    return x->plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE ? UINT64_MAX : special;
}

static small_a_t rows_of_a(small_t *x, const tcgemm_pack_t *pack, const small_parts_t *p,
                           const char *a, int64_t tile_rows) {
    const tcgemm_canonical_t *const g = &x->plan->g;
    const tcgemm_cpu_ukernel_t *const u = x->plan->kernel->cpu;
    const bool stays = tcgemm_cpu_has_lanes(x->plan) && is_on_lane(u, a);
    const int64_t row_bytes =
        stays ? g->a.row_stride * (u->lane_bytes / u->ku) : x->tile.steps * u->lane_bytes;
    small_a_t tiles = {.first = stays ? a : p->a, .pitch = tile_rows * row_bytes};
    const uint64_t start = start_packing(x);
    if (u->exact)
        tiles.special = special_rows(x, pack, stays ? NULL : p->a, tile_rows);
    else if (!stays)
        (void)u->pack_rows(pack, (int)x->rows, p->a, p->a_terms);
    stop_packing(x, start);
    x->tile.a_step = 1;
    x->tile.a_row = row_bytes / u->lane_bytes;
    x->tile.a_flip = stays ? tcgemm_flip_of_lane(x->signs.flip_a) : 0;
    return tiles;
}

/* So many lines across k as f32, one behind another, by one call. */
static void pack_lines_across(const small_t *x, tcgemm_pack_t pack, int64_t line, char *lines) {
    const uint64_t start = start_packing(x);
    const int64_t steps = pack.k;
    pack.line_stride = pack.k_stride;
    pack.k_stride = 1;
    pack.k = line;
    (void)x->plan->kernel->cpu->pack_rows(&pack, (int)steps, lines, NULL);
    stop_packing(x, start);
}

static small_a_t lines_of_a(small_t *x, const tcgemm_pack_t *pack, const small_parts_t *p,
                            int64_t tile_rows) {
    pack_lines_across(x, *pack, x->rows, p->a);
    x->tile.a_row = 1;
    x->tile.a_step = x->rows;
    return (small_a_t){.first = p->a, .pitch = tile_rows * x->plan->kernel->cpu->lane_bytes};
}

static small_a_t panels_of_small_a(small_t *x, const tcgemm_pack_t *pack, const small_parts_t *p,
                                   int64_t tile_rows) {
    const tcgemm_cpu_ukernel_t *const u = x->plan->kernel->cpu;
    const uint64_t start = start_packing(x);
    const int64_t at_once = tile_rows == u->mr ? tcgemm_panels_at_once(u, pack) : 1;
    small_a_t tiles = {.first = p->a, .pitch = u->mr * x->tile.steps * u->lane_bytes};
    char *panel = p->a;
    int64_t i = 0, at = 0;
    while (at_once > 1 && i + 2 * u->mr <= x->rows) {
        const int64_t panels = min_i64(at_once, (x->rows - i) / u->mr);
        tiles.special |=
            pack_whole_panels(u, pack, i, panels, panel, p->a_terms ? p->a_terms + i : NULL) << at;
        i += panels * u->mr;
        at += panels;
        panel += panels * tiles.pitch;
    }
    for (; i < x->rows; i += tile_rows, ++at, panel += tiles.pitch) {
        const int rows = (int)min_i64(tile_rows, x->rows - i);
        uint32_t *const terms = p->a_terms ? p->a_terms + i : NULL;
        tiles.special |= (uint64_t)u->pack(pack, i, rows, u->mr, panel, terms) << at;
    }
    if (x->plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE)
        tiles.special = UINT64_MAX;
    stop_packing(x, start);
    x->tile.a_row = 1;
    x->tile.a_step = u->mr;
    return tiles;
}

static small_a_t tiles_of_a(small_t *x, int64_t item, const small_parts_t *p, int64_t tile_rows) {
    const struct tcgemm_plan *const plan = x->plan;
    const tcgemm_canonical_t *const g = &plan->g;
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    const int64_t first = item * g->a.batch_stride + x->row * g->a.row_stride;
    if (!plan->cpu.pack_a)
        return (small_a_t){
            .first = tcgemm_element_at(x->call->a, first, u->lane_bytes),
            .pitch = tile_rows * g->a.row_stride * u->lane_bytes,
        };
    const tcgemm_cpu_block_t some = {.rows = x->rows, .cols = g->n, .ks = g->k};
    const tcgemm_pack_t pack = tcgemm_pack_of_a(g, u->family, &x->signs, x->call->a, first, &some);
    if (plan->cpu.small_a_lines)
        return lines_of_a(x, &pack, p, tile_rows);
    if (x->has_rows)
        return rows_of_a(
            x, &pack, p,
            tcgemm_element_at(x->call->a, first, u->family == TCGEMM_FAMILY_BF16 ? 2 : 1),
            tile_rows);
    return panels_of_small_a(x, &pack, p, tile_rows);
}

/* B's, for all rows of A. */
static void pack_rows_of_b(small_t *x, int64_t item) {
    const tcgemm_canonical_t *const g = &x->plan->g;
    const tcgemm_cpu_block_t all = {.rows = g->m, .cols = g->n, .ks = g->k};
    const tcgemm_pack_t pack = tcgemm_pack_of_b(g, x->plan->kernel->cpu->family, &x->signs,
                                                x->call->b, item * g->b.batch_stride, &all);
    pack_lines_across(x, pack, g->n, x->workspace); /* small_parts */
    x->tile.b_step = g->n;
}

/* Rows that a kernel multiplies by one call: all, if they are some tiles. */
static int64_t rows_of_call(const small_t *x, int64_t rows) {
    return are_worth_a_call(x->plan->kernel->cpu, rows, x->tile.n) ? rows : x->plan->cpu.small_rows;
}

/* So many rows of A, C and D. */
static void run_rows_in_place(small_t *x, const char *a, const char *b, const char *c, char *d,
                              int64_t rows) {
    const tcgemm_canonical_t *const g = &x->plan->g;
    const tcgemm_cpu_ukernel_t *const u = x->plan->kernel->cpu;
    const int64_t bytes = u->lane_bytes; /* of an element of A, B, C and D */
    tcgemm_tile_t *const tile = &x->tile;
    for (int64_t j = 0; j < g->n; j += tile->n) {
        tile->n = (int)even_tile_columns(u, g->n - j);
        tile->a = a;
        tile->b = b;
        tile->c = c ? c + j * bytes : NULL;
        tile->d = d + j * bytes;
        const int64_t tile_rows = rows_of_call(x, rows);
        for (int64_t i = 0; i < rows; i += tile_rows) {
            tile->m = (int)min_i64(tile_rows, rows - i);
            u->strided(tile);
            tile->a = (const char *)tile->a + tile_rows * g->a.row_stride * bytes;
            tile->c = c ? (const char *)tile->c + tile_rows * g->ldc * bytes : NULL;
            tile->d = (char *)tile->d + tile_rows * g->ldd * bytes;
        }
        b += tile->n * g->b.col_stride * bytes;
    }
}

/* Nothing is packed: only tiles, down the columns of D or along its rows. */
static void run_small_in_place(small_t *x, int64_t item) {
    const tcgemm_call_t *const call = x->call;
    const tcgemm_canonical_t *const g = &x->plan->g;
    const int64_t bytes = x->plan->kernel->cpu->lane_bytes;
    const int64_t some = x->plan->cpu.small_by_rows ? x->plan->cpu.small_rows : g->m;
    const char *a = (const char *)call->a + item * g->a.batch_stride * bytes;
    const char *const b = (const char *)call->b + item * g->b.batch_stride * bytes;
    const char *c = call->c ? (const char *)call->c + item * g->stride_c * bytes : NULL;
    char *d = (char *)call->d + item * g->stride_d * bytes;
    for (int64_t row = 0; row < g->m; row += some) {
        run_rows_in_place(x, a, b, c, d, min_i64(some, g->m - row));
        a += some * g->a.row_stride * bytes;
        c = c ? c + some * g->ldc * bytes : NULL;
        d += some * g->ldd * bytes;
    }
}

/* Of D's transposed, whose tiles have B's columns as rows and A's rows, which lie side by side, as
 * columns; no more rows than TCGEMM_MOST_TURNED. Nothing is packed. */
static void run_small_turned(small_t *x, int64_t item) {
    enum { MOST_TILE_BYTES = 192 }; /* of a row of the widest one */
    const tcgemm_canonical_t *const g = &x->plan->g;
    const tcgemm_cpu_ukernel_t *const u = x->plan->kernel->cpu;
    const int64_t bytes = u->lane_bytes, tile_rows = tcgemm_even_tile_rows(u, g->n);
    const char *const a = (const char *)x->call->a + item * g->a.batch_stride * bytes;
    const char *const b = (const char *)x->call->b + item * g->b.batch_stride * bytes;
    char *const d = (char *)x->call->d + item * g->stride_d * bytes;
    _Alignas(64) char sums[TCGEMM_MOST_TURNED * MOST_TILE_BYTES];
    tcgemm_tile_t tile = x->tile;
    tcgemm_dots_t to = {.num_rows = (int)g->n, .alpha = tile.alpha, .d_row = 1, .d_line = g->ldd};
    set_scalars(g, 1.0, 0.0, &tile);
    tile.a_row = g->b.col_stride;
    tile.a_step = g->b.row_stride;
    tile.b_step = g->a.col_stride;
    tile.ldd = u->nr;
    tile.c = NULL;
    for (int64_t i = 0; i < g->m; i += tile.n) {
        tile.n = (int)even_tile_columns(u, g->m - i);
        tile.b = a + i * bytes;
        for (int64_t j = 0; j < g->n; j += tile_rows) {
            tile.m = (int)min_i64(tile_rows, g->n - j);
            tile.a = b + j * g->b.col_stride * bytes;
            tile.d = sums + j * u->nr * bytes;
            u->strided(&tile);
        }
        to.d = d + i * g->ldd * bytes;
        u->turn(&to, sums, u->nr, tile.n);
    }
}

/* Rows x->row .. of an item. */
static void run_some_rows(small_t *x, int64_t item) {
    const struct tcgemm_plan *const plan = x->plan;
    const tcgemm_call_t *const call = x->call;
    const tcgemm_canonical_t *const g = &plan->g;
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *const s = &plan->cpu;
    tcgemm_tile_t *const tile = &x->tile;
    const int d_bytes = tcgemm_sum_bytes(u); /* D takes them as they are */
    const small_parts_t parts = small_parts(x);
    const char *const b = s->small_b_rows
                              ? parts.b
                              : tcgemm_element_at(call->b, item * g->b.batch_stride, u->lane_bytes);
    const char *const c =
        call->c ? tcgemm_element_at(call->c, item * g->stride_c + x->row * g->ldc, d_bytes) : NULL;
    char *const d = tcgemm_element_at(call->d, item * g->stride_d + x->row * g->ldd, d_bytes);
    const int64_t tile_rows = s->small_rows;
    const small_a_t a = tiles_of_a(x, item, &parts, tile_rows);
    tcgemm_pack_t pack;
    const bool has_panels_of_b = s->pack_b && !s->small_b_rows;
    if (has_panels_of_b) {
        const tcgemm_cpu_block_t all = {.rows = g->m, .cols = g->n, .ks = g->k};
        pack = tcgemm_pack_of_b(g, u->family, &x->signs, call->b, item * g->b.batch_stride, &all);
    }
    tcgemm_tile_fn *const multiply = x->has_free_panels ? u->strided : u->packed;
    const bool are_rows = multiply == u->strided && (x->has_rows || !s->pack_a); /* not panels */
    tile->col_term = parts.b_terms;
    for (int64_t j = 0; j < g->n; j += tile->n) {
        bool is_b_special = false;
        tile->n =
            (int)(x->has_free_panels ? even_tile_columns(u, g->n - j) : min_i64(u->nr, g->n - j));
        if (has_panels_of_b) {
            const uint64_t start = start_packing(x);
            const int width = x->has_free_panels ? tile->n : u->nr;
            is_b_special = u->pack(&pack, j, tile->n, width, parts.b, parts.b_terms);
            stop_packing(x, start);
            tile->b = parts.b;
            tile->b_step = width;
        } else {
            tile->b = tcgemm_element_at(b, j * g->b.col_stride, u->lane_bytes);
        }
        tile->a = a.first;
        const bool has_special = is_b_special || a.special != 0;
        const int64_t call_rows = are_rows && !has_special ? rows_of_call(x, x->rows) : tile_rows;
        for (int64_t i = 0, panel = 0; i < x->rows; i += call_rows, ++panel) {
            tile->m = (int)min_i64(call_rows, x->rows - i);
            tile->row_term = parts.a_terms ? parts.a_terms + i : NULL;
            tile->d = tcgemm_element_at(d, i * g->ldd + j, d_bytes);
            tile->c = c ? tcgemm_element_at(c, i * g->ldc + j, d_bytes) : NULL;
            const bool is_special = u->exact && (is_b_special || a.special >> panel & 1u);
            (is_special ? u->exact : multiply)(tile);
            tile->a = (const char *)tile->a + a.pitch;
        }
    }
}

/* Some rows at a time: no more than a unit has, nor tiles than flags have bits. */
static void run_small(small_t *x, int64_t item) {
    const tcgemm_cpu_blocking_t *const s = &x->plan->cpu;
    const int64_t m = x->plan->g.m, most = min_i64(64 * s->small_rows, s->mc);
    const int64_t some = m <= most ? m : most / s->small_rows * s->small_rows;
    if (s->small_b_rows)
        pack_rows_of_b(x, item);
    for (x->row = 0; x->row < m; x->row += some) {
        x->rows = min_i64(some, m - x->row);
        run_some_rows(x, item);
    }
}

static void finish_small(const struct tcgemm_plan *plan, const tcgemm_call_t *call, int64_t item) {
    const tcgemm_canonical_t *const g = &plan->g;
    const int bytes = tcgemm_dtype_bits(g->type->d) / 8;
    const tcgemm_finish_t finish = {
        .dtype = g->type->d,
        .d = tcgemm_element_at(call->d, item * g->stride_d, bytes),
        .ldd = g->ldd,
        .rows = g->m,
        .cols = g->n,
        .epilogue = call->epilogue,
    };
    plan->kernel->cpu->finish(&finish);
}

/* Items first .. end of the batch. */
static void run_small_items(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                            char *workspace, int64_t first, int64_t end, times_t *times) {
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    const uint64_t start = times ? now_nanoseconds() : 0;
    const uint64_t own_start = times ? thread_nanoseconds() : 0;
    uint64_t packing = 0;
    small_t small;
    set_up_small(&small, plan, call, workspace, times ? &packing : NULL);
    if (u->begin)
        u->begin();
    const bool is_in_place = !plan->cpu.pack_a && !plan->cpu.pack_b;
    const bool is_turned = plan->cpu.small_turned && !call->c;
    const bool has_epilogue = !tcgemm_epilogue_is_empty(&call->epilogue);
    for (int64_t item = first; item < end; ++item) {
        (is_turned ? run_small_turned : is_in_place ? run_small_in_place : run_small)(&small, item);
        if (has_epilogue)
            finish_small(plan, call, item);
    }
    if (u->end)
        u->end();
    if (times) {
        /* A small item is over before the thread's own clock is read: its time is divided by the
         * other one. */
        const uint64_t own = thread_nanoseconds() - own_start;
        const uint64_t all = now_nanoseconds() - start;
        const uint64_t own_packing = (uint64_t)((double)own * (double)packing / (double)(all + 1));
        atomic_fetch_add_explicit(&times->packing, own_packing, memory_order_relaxed);
        atomic_fetch_add_explicit(&times->multiplying, own - own_packing, memory_order_relaxed);
    }
}

/* ---- phases ---- */

/* A and B stay where they are and get an element offset: items of sub-byte elements may begin
 * within a byte. */
static void select_item(const product_t *x, step_t *step, int64_t item) {
    const tcgemm_canonical_t *g = &x->plan->g;
    step->item = tcgemm_item_output(g, x->call, item);
    step->item_index = item;
    step->a_offset = item * g->a.batch_stride;
    step->b_offset = item * g->b.batch_stride;
}

/* The block behind this one, k the fastest; false: that was the last one of the item. */
static bool next_block(const product_t *x, block_t *block) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_canonical_t *g = &x->plan->g;
    block->k += s->kc;
    if (block->k < g->k)
        return true;
    block->k = 0;
    block->row += s->mt;
    if (block->row < g->m)
        return true;
    block->row = 0;
    block->col += s->nc;
    return block->col < g->n;
}

/* Sets x->next to the step behind it; false: that was the last one. */
static bool next_step(product_t *x) {
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    const tcgemm_canonical_t *g = &x->plan->g;
    block_t *const block = &x->next.block;
    if (block->rows == 0 || !next_block(x, block)) {
        block->rows = 0; /* where the walk begins and ends */
        if (x->next_item == x->end_item)
            return false;
        select_item(x, &x->next, x->next_item++);
        block->row = block->col = block->k = 0;
    }
    block->rows = min_i64(s->mt, g->m - block->row);
    block->cols = min_i64(s->nc, g->n - block->col);
    block->ks = min_i64(s->kc, g->k - block->k);
    block->first = block->k == 0;
    block->last = block->k + block->ks == g->k;
    return true;
}

/* Whether the first row of the block's tiles is a whole one, which can leave B's panels. */
static bool has_whole_rows(const product_t *x, const block_t *block) {
    const int64_t rows = min_i64(x->plan->cpu.mc, block->rows);
    return rows >= x->u->mr && rows_of_tile(x, rows) == x->u->mr;
}

/* Where the panels of x->next go, and which they are. */
static void choose_panels(product_t *x) {
    const block_t *block = &x->next.block;
    /* With one step of k the panels of B serve all rows. */
    const bool has_b = block->row > 0 && block->first && block->last;
    x->a_buffer ^= 1;
    if (!has_b)
        x->b_buffer ^= 1;
    x->next.buffers = x->buffers[x->a_buffer];
    x->next.buffers.b = x->buffers[x->b_buffer].b;
    x->next.buffers.b_terms = x->buffers[x->b_buffer].b_terms;
    x->next.buffers.b_special = x->buffers[x->b_buffer].b_special;
    x->a_panels = panels_of_a(x, &x->next);
    x->b_panels = panels_of_b(x, &x->next, 0, block->cols);
    if (x->a_is_late || x->plan->cpu.packs_both)
        x->a_panels.count = 0;
    x->next.copies_b = x->plan->cpu.copies_b && !has_b && has_whole_rows(x, block);
    if (has_b || x->next.copies_b || x->plan->cpu.packs_units || x->plan->cpu.packs_both)
        x->b_panels.count = 0;
    x->a_panels.share = share_of_panels(x, &x->a_panels);
    x->b_panels.share = share_of_panels(x, &x->b_panels);
}

/* The units of the step whose panels are there, then the panels of the next one; but where packing
 * is not ahead, only one of the two. */
static int64_t next_phase(void *argument) {
    product_t *const x = argument;
    const tcgemm_cpu_blocking_t *s = &x->plan->cpu;
    int64_t count;
    do {
        x->num_units = 0;
        if (x->has_next) {
            x->now = x->next;
            x->num_units = tcgemm_unit_count(x->now.block.rows, x->now.block.cols, s->mc, s->nb);
        }
        for (int64_t i = 0; s->packs_both && i < x->num_units; ++i)
            atomic_store_explicit(&x->owner[i], 0, memory_order_relaxed);
        x->has_next = (s->overlaps || x->num_units == 0) && next_step(x);
        count = x->num_units;
        if (x->has_next) {
            choose_panels(x);
            count += num_shares(&x->a_panels) + num_shares(&x->b_panels);
        }
    } while (count == 0 && x->has_next);
    return count;
}

static void do_unit(const product_t *x, int64_t unit, int t) {
    if (x->u->begin)
        x->u->begin();
    if (x->plan->cpu.packs_both)
        multiply_packed_unit(x, unit, t);
    else if (x->plan->cpu.packs_units)
        multiply_own_unit(x, unit, t);
    else if (keeps_a_panel(x, &x->now))
        multiply_unit_by_rows(x, &x->now, unit_at(x, unit));
    else
        multiply_unit(x, &x->now, unit_at(x, unit));
    if (x->u->end)
        x->u->end();
}

/* A's panels for the row of units that begins with this one. */
static void pack_late(const product_t *x, int64_t unit) {
    const tcgemm_unit_t at = unit_at(x, unit);
    const int64_t end = min_i64(at.row + x->plan->cpu.mc, x->now.block.rows);
    panels_t a = panels_of_a(x, &x->now);
    a.base = at.row;
    a.count = ceil_div(end, a.width);
    for (int64_t panel = at.row / a.width; panel < a.count; panel += a.group)
        pack_panels(x, &a, panel, min_i64(panel + a.group, a.count));
}

/* Thread t's own unit, if it is still there, else the next one: in the next call the same part of D
 * lies in the same cache. There are as many takers as units. `last`: the one that it had before, or
 * -1. */
static int64_t take_unit(product_t *x, int t, int64_t *last) {
    const unsigned short me = (unsigned short)(t + 1);
    *last = -1;
    for (int64_t unit = t % x->num_units;; unit = (unit + 1) % x->num_units) {
        unsigned short owner = 0;
        if (atomic_compare_exchange_strong(&x->owner[unit], &owner, me))
            return unit;
        if (owner == me)
            *last = unit;
    }
}

/* What was left to the thread that takes the unit; false: nothing. */
static bool pack_for_unit(const product_t *x, int64_t unit, int64_t last, int t) {
    if (x->plan->cpu.packs_both)
        pack_unit(x, unit, last, t);
    else if (x->a_is_late && unit_at(x, unit).col == 0)
        pack_late(x, unit);
    else
        return false;
    return true;
}

static void do_item(void *argument, int t, int64_t item) {
    product_t *const x = argument;
    uint64_t start = start_timing(x);
    if (item < x->num_units) {
        int64_t last = -1;
        if (x->plan->cpu.packs_both)
            item = take_unit(x, t, &last);
        if (pack_for_unit(x, item, last, t)) {
            stop_timing(x, start, x->times ? &x->times->packing : NULL);
            start = start_timing(x);
        }
        do_unit(x, item, t);
        stop_timing(x, start, x->times ? &x->times->multiplying : NULL);
    } else {
        pack_item(x, item - x->num_units);
        stop_timing(x, start, x->times ? &x->times->packing : NULL);
    }
}

/* ---- the batch ---- */

static void set_up_product(product_t *x, const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                           char *workspace, times_t *times) {
    memset(x, 0, sizeof *x);
    x->plan = plan;
    x->u = plan->kernel->cpu;
    x->call = call;
    x->end_item = plan->g.batch;
    x->times = times;
    x->signs = tcgemm_signs_of(&plan->g, x->u->family);
    x->a_stays = tcgemm_cpu_leaves_a(plan) && is_on_lane(x->u, call->a);
    x->a_is_rows = !x->a_stays && tcgemm_cpu_has_rows_of_lanes(plan);
    x->a_is_late = plan->cpu.packs_a_late && !x->a_stays;
    if (x->plan->g.a.packed_bytes)
        x->a_all = tcgemm_cpu_prepacked(x->plan, false);
    if (x->plan->g.b.packed_bytes)
        x->b_all = tcgemm_cpu_prepacked(x->plan, true);
    set_up_workspace(x, workspace);
}

/* Items that are many and small: each thread takes some whole ones. */
typedef struct batch {
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    char *workspace;        /* of all threads */
    size_t workspace_bytes; /* of each */
    times_t *times;
    int64_t share; /* of items, that are taken together */
    bool is_begun;
} batch_t;

enum { SHARES_PER_THREAD = 16 };

static int64_t whole_batch(void *argument) {
    batch_t *const b = argument;
    if (b->is_begun)
        return 0;
    b->is_begun = true;
    return ceil_div(b->plan->g.batch, b->share);
}

static void do_share(void *argument, int t, int64_t index) {
    const batch_t *const b = argument;
    product_t own;
    const int64_t first = index * b->share;
    const int64_t end = min_i64(first + b->share, b->plan->g.batch);
    char *const workspace = b->workspace + (size_t)t * b->workspace_bytes;
    if (b->plan->cpu.small_rows) {
        run_small_items(b->plan, b->call, workspace, first, end, b->times);
        return;
    }
    if (b->plan->cpu.dots) {
        tcgemm_run_dots(b->plan, b->call, workspace, first, end);
        return;
    }
    set_up_product(&own, b->plan, b->call, workspace, b->times);
    own.next_item = first;
    own.end_item = end;
    tcgemm_pool_work(1, &(tcgemm_work_t){next_phase, do_item, &own});
}

static void run_items_apart(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                            char *workspace, times_t *times) {
    const int64_t shares = (int64_t)plan->num_threads * SHARES_PER_THREAD;
    batch_t batch = {
        .plan = plan,
        .call = call,
        .workspace = workspace,
        .workspace_bytes = layout_of(plan).end,
        .times = times,
        .share = ceil_div(plan->g.batch, shares),
    };
    tcgemm_pool_work(plan->num_threads, &(tcgemm_work_t){whole_batch, do_share, &batch});
}

/* The time that it took, divided as the threads' time on cores is. */
static void fill_stats(const times_t *times, double seconds, tcgemm_run_stats_t *stats) {
    const double packing = (double)atomic_load(&times->packing);
    const double multiplying = (double)atomic_load(&times->multiplying);
    const double all = packing + multiplying;
    stats->pack_seconds = all > 0.0 ? seconds * packing / all : 0.0;
    stats->product_seconds = seconds - stats->pack_seconds;
}

static void run_product(const struct tcgemm_plan *plan, const tcgemm_call_t *call, char *workspace,
                        times_t *times) {
    product_t product;
    set_up_product(&product, plan, call, workspace, times);
    tcgemm_pool_work(plan->num_threads, &(tcgemm_work_t){next_phase, do_item, &product});
}

tcgemm_status_t tcgemm_cpu_run(const struct tcgemm_plan *plan, const struct tcgemm_call *call,
                               void *workspace, tcgemm_run_stats_t *stats) {
    char *const aligned =
        workspace ? (char *)workspace + (64 - (uintptr_t)workspace % 64) % 64 : NULL;
    times_t times = {0};
    const double start = stats ? now_seconds() : 0.0;
    if (plan->cpu.small_rows && !plan->cpu.split_batch)
        run_small_items(plan, call, aligned, 0, plan->g.batch, stats ? &times : NULL);
    else if (plan->cpu.split_batch)
        run_items_apart(plan, call, aligned, stats ? &times : NULL);
    else if (plan->cpu.dots)
        tcgemm_run_dots(plan, call, aligned, 0, plan->g.batch);
    else
        run_product(plan, call, aligned, stats ? &times : NULL);
    if (stats)
        fill_stats(&times, now_seconds() - start, stats);
    return TCGEMM_STATUS_OK;
}
