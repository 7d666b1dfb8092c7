/* partition.c - see partition.h. */
#include "gpu/partition.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "gpu/expand.h"
#include "gpu/panel_clock.h"

enum {
    LINE_BYTES = 16,        /* lines on the GPU start on such a boundary */
    PART = 128,             /* panels have multiples of so many rows and columns */
    LEAST_PART = 16,        /* ... or of so many, where memory is short */
    DEPTH_PART = 256,       /* units have multiples of so many steps of k */
    SQUARE = 1024,          /* the size down to which units are halved before all else */
    LARGE = 16384,          /* ... and down to which the room for the whole is not taken */
    ALIGNMENT = 256,        /* of each buffer */
    GROUP_BYTES = 32 << 20, /* of a unit of small batch items */
    STAGED_STEP = 1024,     /* rows and columns of panels that the CPU brings */
    LEAST_PANELS = 3,       /* of a side that does not come whole */
    MOST_PANELS = 32,
    MOST_STEPS = 6, /* widths that are tried for a side */
    MOST_STEP = 4096,
    LEAST_PANEL_BYTES = 1 << 20, /* a copy of less does not fill the bus */
    MOST_PIECE_BYTES = 64 << 20,
    FEW_STRIPS = 2
};

static int64_t size_of(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_bits(dtype) / 8;
}

int64_t tcgemm_tight_pitch(int64_t elements, tcgemm_dtype_t dtype) {
    return round_up(elements * size_of(dtype), LINE_BYTES);
}

/* ---- plans of strips ---- */

static void tighten(tcgemm_operand_t *x, int64_t rows, int64_t cols, int64_t items) {
    const int64_t pitch =
        tcgemm_tight_pitch(tcgemm_operand_length(x, rows, cols), x->dtype) / size_of(x->dtype);
    if (x->col_stride == 1)
        x->row_stride = pitch;
    else
        x->col_stride = pitch;
    x->padded = true;
    x->batch_stride =
        x->batch_stride && items > 1 ? tcgemm_operand_lines(x, rows, cols) * pitch : 0;
}

void tcgemm_partition_plan(const struct tcgemm_plan *whole, const tcgemm_extent_t *unit,
                           const tcgemm_area_t *strip, struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &whole->g;
    memset(plan, 0, sizeof *plan);
    plan->g = *g;
    plan->g.m = strip->rows;
    plan->g.n = strip->cols;
    plan->g.k = unit->k;
    plan->g.batch = unit->items;
    tighten(&plan->g.a, unit->m, unit->k, unit->items);
    tighten(&plan->g.b, unit->k, unit->n, unit->items);
    plan->g.ldc = plan->g.ldd = tcgemm_tight_pitch(strip->cols, g->type->d) / size_of(g->type->d);
    plan->g.stride_c = plan->g.stride_d = strip->rows * plan->g.ldd;
    tcgemm_gpu_expand_like(whole, strip, plan);
}

/* Of strips of so many rows and columns, wherever they lie: the last have most of a tail. */
static size_t workspace_of(const struct tcgemm_plan *whole, const tcgemm_extent_t *unit, int64_t m,
                           int64_t n) {
    const tcgemm_area_t strip = {whole->g.m - m, m, whole->g.n - n, n};
    struct tcgemm_plan plan;
    tcgemm_partition_plan(whole, unit, &strip, &plan);
    return tcgemm_plan_workspace(&plan);
}

/* ---- sizes ---- */

static size_t operand_bytes(const tcgemm_operand_t *x, int64_t rows, int64_t cols, int64_t items) {
    const bool in_rows = x->col_stride == 1;
    const int64_t lines = in_rows ? rows : cols;
    const int64_t pitch = tcgemm_tight_pitch(in_rows ? cols : rows, x->dtype);
    return (size_t)round_up(lines * pitch * (x->batch_stride ? items : 1), ALIGNMENT);
}

/* As many of `size` as go into a piece with `other` on the other side. */
static int64_t piece_step(int64_t size, int64_t other_bytes) {
    const int64_t most = MOST_PIECE_BYTES / other_bytes / (2 * (int64_t)PART) * 2 * PART;
    return min_i64(size, most > 0 ? most : 2 * (int64_t)PART);
}

static void set_steps(const struct tcgemm_plan *plan, tcgemm_partition_t *c, int64_t step_m,
                      int64_t step_n) {
    const int64_t size = size_of(plan->g.type->d);
    c->step_m = step_m;
    c->step_n = step_n;
    c->piece_m = piece_step(c->unit.m, step_n * size);
    c->piece_n = piece_step(c->unit.n, step_m * size);
}

/* The widths of panels that are worth a try, the whole side among them. */
static int list_steps(int64_t size, int64_t row_bytes, int64_t steps[MOST_STEPS]) {
    int count = 0;
    steps[count++] = size;
    for (int64_t step = 2 * (int64_t)PART; step <= MOST_STEP && count < MOST_STEPS; step *= 2)
        if (step <= size / LEAST_PANELS && step >= size / MOST_PANELS &&
            (step * row_bytes >= LEAST_PANEL_BYTES || step == MOST_STEP))
            steps[count++] = step;
    return count;
}

/* Those with which the model takes the least time. */
static void choose_steps(const struct tcgemm_plan *plan, tcgemm_partition_t *c) {
    const tcgemm_extent_t *e = &c->unit;
    int64_t of_a[MOST_STEPS];
    int64_t of_b[MOST_STEPS];
    const int count_a = list_steps(e->m, e->k * size_of(plan->g.a.dtype), of_a);
    const int count_b = list_steps(e->n, e->k * size_of(plan->g.b.dtype), of_b);
    int best = 0;
    double least = HUGE_VAL;
    for (int i = 0; i < count_a * count_b && count_a * count_b > 1; ++i) {
        set_steps(plan, c, of_a[i / count_b], of_b[i % count_b]);
        const double seconds = tcgemm_panel_clock(plan, c);
        if (seconds < least) {
            least = seconds;
            best = i;
        }
    }
    set_steps(plan, c, of_a[best / count_b], of_b[best % count_b]);
}

/* Small items travel whole, and so do the parts of a sum over k, which stays where it is. */
static void choose_panels(const struct tcgemm_plan *plan, tcgemm_partition_t *c) {
    const tcgemm_extent_t *e = &c->unit;
    c->step_m = c->piece_m = e->m;
    c->step_n = c->piece_n = e->n;
    c->num_d = c->tight ? 1 : c->most_d;
    c->num_lanes = c->tight ? 1 : 2;
    if (e->items != 1 || e->k != plan->g.k)
        return;
    if (c->is_staged && e->m >= 4 * STAGED_STEP && e->n >= 4 * STAGED_STEP)
        set_steps(plan, c, STAGED_STEP, STAGED_STEP);
    else
        choose_steps(plan, c);
}

static int count_buffers(bool changes, const tcgemm_partition_t *c) {
    return changes && !c->tight ? 2 : 1;
}

static void measure(const struct tcgemm_plan *plan, tcgemm_partition_t *c) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_extent_t *e = &c->unit;
    const bool many_items = e->items < g->batch;
    choose_panels(plan, c);
    const bool has_strips =
        c->step_m < e->m || c->step_n < e->n || c->piece_m < e->m || c->piece_n < e->n;
    const bool has_units = e->m < g->m || e->n < g->n || many_items;
    c->num_a = count_buffers(e->m < g->m || e->k < g->k || (many_items && g->a.batch_stride), c);
    c->num_b = count_buffers(e->n < g->n || e->k < g->k || (many_items && g->b.batch_stride), c);
    c->num_d = c->tight || !(has_strips || has_units) ? 1 : has_strips ? c->most_d : FEW_STRIPS;
    c->num_lanes = c->tight || !(has_strips || has_units) ? 1 : 2;
    c->a_bytes = operand_bytes(&g->a, e->m, e->k, e->items);
    c->b_bytes = operand_bytes(&g->b, e->k, e->n, e->items);
    const int64_t of_a = c->step_m * tcgemm_tight_pitch(c->piece_n, g->type->d);
    const int64_t of_b = c->piece_m * tcgemm_tight_pitch(c->step_n, g->type->d);
    c->d_bytes = (size_t)round_up(e->items * (of_a > of_b ? of_a : of_b), ALIGNMENT);
    const size_t for_a = workspace_of(plan, e, c->step_m, c->piece_n);
    const size_t for_b = workspace_of(plan, e, c->piece_m, c->step_n);
    c->workspace_bytes = (size_t)round_up((int64_t)(for_a > for_b ? for_a : for_b), ALIGNMENT);
    c->bytes = (size_t)c->num_a * c->a_bytes + (size_t)c->num_b * c->b_bytes +
               (size_t)c->num_d * c->d_bytes + (size_t)c->num_lanes * c->workspace_bytes;
}

static int64_t half(int64_t x, int64_t multiple) {
    return round_up((x + 1) / 2, multiple);
}

static int64_t whole_k(const struct tcgemm_plan *plan, size_t most_bytes) {
    const tcgemm_canonical_t *g = &plan->g;
    const double step = 2.0 * PART * (double)(size_of(g->a.dtype) + size_of(g->b.dtype));
    int64_t k = g->k;
    while (g->type->d == g->type->accumulator && k > DEPTH_PART &&
           (double)k * step > (double)most_bytes / 2)
        k = half(k, DEPTH_PART);
    return k;
}

void tcgemm_partition_best(const struct tcgemm_plan *plan, size_t most_bytes, bool is_staged,
                           tcgemm_partition_t *c) {
    enum { KEPT = 16 }; /* of the GPU's memory: what is kept from call to call (staging.c) */
    const tcgemm_canonical_t *g = &plan->g;
    memset(c, 0, sizeof *c);
    c->most_d = TCGEMM_MOST_STRIPS;
    c->is_staged = is_staged;
    c->unit = (tcgemm_extent_t){1, g->m, g->n, whole_k(plan, most_bytes)};
    measure(plan, c);
    const size_t item_bytes = c->a_bytes + c->b_bytes + c->d_bytes;
    if (g->batch > 1 && item_bytes < GROUP_BYTES)
        c->unit.items = min_i64(g->batch, (int64_t)(GROUP_BYTES / item_bytes));
    measure(plan, c);
    while (c->bytes > plan->device->memory_bytes / KEPT &&
           (c->unit.m > LARGE || c->unit.n > LARGE)) {
        int64_t *const larger = c->unit.m > c->unit.n ? &c->unit.m : &c->unit.n;
        *larger = half(*larger, PART);
        measure(plan, c);
    }
}

bool tcgemm_partition_smaller(const struct tcgemm_plan *plan, tcgemm_partition_t *c) {
    tcgemm_extent_t *e = &c->unit;
    if (c->most_d > FEW_STRIPS)
        c->most_d = FEW_STRIPS;
    else if (e->items > 1)
        e->items = (e->items + 1) / 2;
    else if (e->m > SQUARE && e->m >= e->n)
        e->m = half(e->m, PART);
    else if (e->n > SQUARE)
        e->n = half(e->n, PART);
    else if (e->m > SQUARE)
        e->m = half(e->m, PART);
    else if (e->m > PART)
        e->m = half(e->m, PART);
    else if (e->n > PART)
        e->n = half(e->n, PART);
    else if (!c->tight)
        c->tight = true;
    else if (e->m > LEAST_PART)
        e->m = half(e->m, LEAST_PART);
    else if (e->n > LEAST_PART)
        e->n = half(e->n, LEAST_PART);
    else
        return false;
    measure(plan, c);
    return true;
}

/* ---- the order of the panels ---- */

tcgemm_side_t tcgemm_side_of_a(const struct tcgemm_plan *plan, const tcgemm_partition_t *c,
                               const tcgemm_extent_t *unit) {
    return (tcgemm_side_t){
        .size = unit->m, .step = c->step_m, .bytes = (double)(unit->k * size_of(plan->g.a.dtype))};
}

tcgemm_side_t tcgemm_side_of_b(const struct tcgemm_plan *plan, const tcgemm_partition_t *c,
                               const tcgemm_extent_t *unit) {
    return (tcgemm_side_t){
        .size = unit->n, .step = c->step_n, .bytes = (double)(unit->k * size_of(plan->g.b.dtype))};
}

/* Where the next panel ends. */
static int64_t panel_end(const tcgemm_side_t *side) {
    const int64_t rest = side->size - side->used;
    const int64_t half_step = half(side->step - 1, PART);
    const bool many = side->size >= 4 * side->step;
    if (many && side->used < side->step)
        return side->used < half_step ? half_step : side->step;
    if (rest > side->step)
        return side->used + side->step;
    return many && rest > half_step ? side->used + half_step : side->size;
}

/* Elements of D for each byte that comes: used columns a row of A, used rows a column of B. What
 * has arrived already costs nothing. */
static bool next_is_a(const tcgemm_side_t *a, const tcgemm_side_t *b) {
    if (a->used == a->size || b->used == b->size)
        return a->used < a->size;
    if (a->used < a->arrived || b->used < b->arrived)
        return a->used < a->arrived;
    return (double)b->used * b->bytes >= (double)a->used * a->bytes;
}

bool tcgemm_next_panel(tcgemm_side_t *a, tcgemm_side_t *b, bool *is_a, int64_t *begin) {
    if (a->used == a->size && b->used == b->size)
        return false;
    *is_a = next_is_a(a, b);
    tcgemm_side_t *const side = *is_a ? a : b;
    *begin = side->used;
    side->used = panel_end(side);
    return true;
}
