/* How host matrices are divided: every element of D once, when its row of A and its column of B are
 * there, within the buffers; and what the order costs on a made-up bus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/num.h"
#include "gpu/gpu_row.h"
#include "gpu/partition.h"
#include "tcgemm/tcgemm.h"

static tcgemm_plan_t *plan_of(const tcgemm_problem_t *p) {
    tcgemm_context_options_t where = tcgemm_context_options();
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
    where.known_gpu = "h200";
    assert_int_equal(tcgemm_context_create(&where, &context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(context, p, NULL, &plan), TCGEMM_STATUS_OK);
    tcgemm_context_destroy(context);
    return plan;
}

/* ---- a unit, as host_panels.c runs it ---- */

typedef struct strip {
    int64_t i, j, m, n;
} strip_t;

typedef void strip_fn(void *argument, const strip_t *strip);
typedef void panel_fn(void *argument, bool is_a, int64_t begin, int64_t end);

static void play(const tcgemm_plan_t *plan, const tcgemm_partition_t *c, panel_fn *on_panel,
                 strip_fn *on_strip, void *argument) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_side_t a = {.size = c->unit.m, .step = c->step_m};
    tcgemm_side_t b = {.size = c->unit.n, .step = c->step_n};
    a.bytes = (double)c->unit.k * tcgemm_dtype_bits(g->a.dtype) / 8;
    b.bytes = (double)c->unit.k * tcgemm_dtype_bits(g->b.dtype) / 8;
    while (a.used < a.size || b.used < b.size) {
        const bool is_a = tcgemm_next_is_a(&a, &b);
        tcgemm_side_t *const side = is_a ? &a : &b;
        const int64_t begin = side->used;
        side->used = tcgemm_panel_end(side);
        assert_true(side->used > begin && side->used <= side->size);
        assert_true(side->used == side->size || side->used % 16 == 0);
        on_panel(argument, is_a, begin, side->used);
        strip_t s = {is_a ? begin : 0, is_a ? 0 : begin, is_a ? a.used - begin : a.used,
                     is_a ? b.used : b.used - begin};
        const strip_t whole = s;
        for (; s.i < whole.i + whole.m; s.i += is_a ? whole.m : c->piece_m)
            for (s.j = whole.j; s.j < whole.j + whole.n; s.j += is_a ? c->piece_n : whole.n) {
                s.m = is_a ? whole.m : c->piece_m;
                s.n = is_a ? c->piece_n : whole.n;
                s.m = s.i + s.m < whole.i + whole.m ? s.m : whole.i + whole.m - s.i;
                s.n = s.j + s.n < whole.j + whole.n ? s.n : whole.j + whole.n - s.j;
                on_strip(argument, &s);
            }
    }
}

/* ---- every element once ---- */

enum { SIDE = 3000 };

typedef struct canvas {
    const tcgemm_plan_t *plan;
    const tcgemm_partition_t *c;
    int64_t rows, cols; /* that are there */
    uint8_t done[SIDE][SIDE];
} canvas_t;

static canvas_t canvas;

static void note_panel(void *argument, bool is_a, int64_t begin, int64_t end) {
    canvas_t *x = argument;
    int64_t *const there = is_a ? &x->rows : &x->cols;
    assert_int_equal(*there, begin);
    *there = end;
}

static void note_strip(void *argument, const strip_t *s) {
    canvas_t *x = argument;
    const tcgemm_extent_t extent = {x->c->unit.items, s->m, s->n, x->c->unit.k};
    struct tcgemm_plan plan;
    assert_true(s->m > 0 && s->n > 0 && s->i + s->m <= x->rows && s->j + s->n <= x->cols);
    assert_true((size_t)(s->m * tcgemm_tight_pitch(s->n, x->plan->g.type->d)) <= x->c->d_bytes);
    tcgemm_partition_plan(x->plan, &x->c->unit, &extent, &plan);
    assert_true(tcgemm_plan_workspace(&plan) <= x->c->workspace_bytes);
    for (int64_t i = s->i; i < s->i + s->m; ++i)
        for (int64_t j = s->j; j < s->j + s->n; ++j)
            x->done[i][j] += 1;
}

static void check_unit(const tcgemm_plan_t *plan, const tcgemm_partition_t *c) {
    memset(&canvas, 0, sizeof canvas);
    canvas.plan = plan;
    canvas.c = c;
    play(plan, c, note_panel, note_strip, &canvas);
    assert_true(canvas.rows == c->unit.m && canvas.cols == c->unit.n);
    for (int64_t i = 0; i < c->unit.m; ++i)
        for (int64_t j = 0; j < c->unit.n; ++j)
            assert_int_equal(canvas.done[i][j], 1);
}

/* Down to the smallest partition. */
static void check_all(tcgemm_type_t type, int64_t m, int64_t n, int64_t k, unsigned layout) {
    tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    tcgemm_partition_t c;
    p.op_a = layout & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    tcgemm_plan_t *plan = plan_of(&p);
    tcgemm_partition_best(plan, (size_t)1 << 37, &c);
    assert_int_equal(c.unit.k, k);
    const size_t bytes = c.bytes;
    do
        check_unit(plan, &c);
    while (tcgemm_partition_smaller(plan, &c));
    assert_true(c.tight && c.unit.m <= 16 && c.unit.n <= 16 && c.bytes < bytes);
    tcgemm_plan_destroy(plan);
}

static void every_element_once(void **state) {
    (void)state;
    check_all(TCGEMM_BF16_F32, 2900, 2950, 1700, 0);
    check_all(TCGEMM_F32_F32, 2999, 700, 4001, 1);
    check_all(TCGEMM_S8_S32, 130, 3000, 9000, 2);
    check_all(TCGEMM_F64_F64, 2900, 2950, 1, 3);
    check_all(TCGEMM_BF16_BF16, 1, 3000, 20000, 0);
}

/* ---- time ---- */

static const double bus = 55e9;  /* bytes a second, each way */
static const double each = 8e-6; /* seconds that a copy takes beside its bytes */
static const double launching = 3e-6;

/* When the way in, the SMs, the products side by side and the way out are through with what they
 * have; when the buffers of D are free. */
typedef struct clock_of {
    const tcgemm_plan_t *plan;
    const tcgemm_partition_t *c;
    double rate; /* operations a second of the GPU, every tile busy */
    double in, busy, product[2], out, left[TCGEMM_MOST_STRIPS];
    int64_t strips;
} clock_of_t;

static void panel_comes(void *argument, bool is_a, int64_t begin, int64_t end) {
    clock_of_t *x = argument;
    const tcgemm_canonical_t *g = &x->plan->g;
    x->in += (double)((end - begin) * g->k) * tcgemm_dtype_bits(is_a ? g->a.dtype : g->b.dtype) /
                 8 / bus +
             each;
}

static double later(double x, double y) {
    return x > y ? x : y;
}

static void strip_goes(void *argument, const strip_t *s) {
    clock_of_t *x = argument;
    const tcgemm_canonical_t *g = &x->plan->g;
    double *const left = &x->left[x->strips % x->c->num_d];
    double *const product = &x->product[x->strips % x->c->num_lanes];
    const tcgemm_gpu_row_t *row = x->plan->kernel->gpu;
    const double tile = 2.0 * row->bm * row->bn * (double)g->k / (x->rate / 132);
    const double tiles = (double)(ceil_div(s->m, row->bm) * ceil_div(s->n, row->bn));
    const double start = later(later(x->in, *product), *left) + launching;
    x->strips += 1;
    x->busy = later(x->busy, start) + tiles / 132 * tile;
    *product = later(x->busy, start + tile);
    x->out = later(x->out, *product) +
             (double)(s->m * s->n) * tcgemm_dtype_bits(g->type->d) / 8 / bus + each;
    *left = x->out;
}

/* The time of a cube over the longest of its ways and its product. */
static double played(tcgemm_type_t type, int64_t size, double rate) {
    const tcgemm_problem_t p = tcgemm_problem(type, size, size, size);
    tcgemm_plan_t *plan = plan_of(&p);
    tcgemm_partition_t c;
    tcgemm_partition_best(plan, plan->device->memory_bytes, &c);
    clock_of_t x = {.plan = plan, .c = &c, .rate = rate};
    play(plan, &c, panel_comes, strip_goes, &x);
    const double n = (double)size;
    const double in = 2 * n * n * tcgemm_dtype_bits(plan->g.a.dtype) / 8 / bus;
    const double out = n * n * tcgemm_dtype_bits(plan->g.type->d) / 8 / bus;
    const double bound = later(later(in, out), 2 * n * n * n / rate);
    (void)printf("%s %s %lld^3: %.2f ms, %.3f of the longest way\n", plan->kernel->name,
                 tcgemm_type_info(type)->name, (long long)size, 1e3 * x.out, x.out / bound);
    assert_true(c.unit.m == size && c.unit.n == size);
    tcgemm_plan_destroy(plan);
    return x.out / bound;
}

/* With D as many bytes as A and B no order takes less than 1.25. */
static void order_keeps_the_bus_busy(void **state) {
    (void)state;
    assert_true(played(TCGEMM_BF16_BF16, 16384, 700e12) < 1.11);
    assert_true(played(TCGEMM_BF16_BF16, 8192, 700e12) < 1.13);
    assert_true(played(TCGEMM_BF16_F32, 16384, 700e12) < 1.33);
    assert_true(played(TCGEMM_BF16_F32, 8192, 700e12) < 1.38);
    assert_true(played(TCGEMM_F32_F32, 8192, 52e12) < 1.12);
    assert_true(played(TCGEMM_BF16_BF16, 4096, 700e12) < 1.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_once),
        cmocka_unit_test(order_keeps_the_bus_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
