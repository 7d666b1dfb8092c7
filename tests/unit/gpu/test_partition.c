/* How host matrices are divided: every element of D once, when its row of A and its column of B are
 * there, within the buffers; and what the order costs by the model.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/known_gpus.h"
#include "gpu/model.h"
#include "gpu/panel_clock.h"
#include "gpu/partition.h"
#include "plan/planner.h"
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
    tcgemm_side_t a = tcgemm_side_of_a(plan, c, &c->unit);
    tcgemm_side_t b = tcgemm_side_of_b(plan, c, &c->unit);
    bool is_a;
    int64_t begin;
    while (tcgemm_next_panel(&a, &b, &is_a, &begin)) {
        const tcgemm_side_t *const side = is_a ? &a : &b;
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
    const tcgemm_area_t at = {s->i, s->m, s->j, s->n};
    struct tcgemm_plan plan;
    assert_true(s->m > 0 && s->n > 0 && s->i + s->m <= x->rows && s->j + s->n <= x->cols);
    assert_true((size_t)(s->m * tcgemm_tight_pitch(s->n, x->plan->g.type->d)) <= x->c->d_bytes);
    tcgemm_partition_plan(x->plan, &x->c->unit, &at, &plan);
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
    tcgemm_partition_best(plan, (size_t)1 << 37, false, &c);
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

static const double bus = 55.4e9; /* bytes a second, each way alone */

/* The time that the model gives a product, over the longest of its ways and itself. */
static double played(tcgemm_type_t type, int64_t size, const char *layout, int64_t steps[2]) {
    tcgemm_problem_t p = tcgemm_problem(type, size, size, size);
    p.op_a = layout[0] == 't' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = layout[1] == 't' ? TCGEMM_OP_T : TCGEMM_OP_N;
    tcgemm_plan_t *plan = plan_of(&p);
    tcgemm_partition_t c;
    tcgemm_partition_best(plan, plan->device->memory_bytes, false, &c);
    const double seconds = tcgemm_panel_clock(plan, &c);
    const double n = (double)size;
    const double in = 2 * n * n * tcgemm_dtype_bits(plan->g.a.dtype) / 8 / bus;
    const double out = n * n * tcgemm_dtype_bits(plan->g.type->d) / 8 / bus;
    const double product = tcgemm_gpu_time(plan->kernel, &plan->g, 1, false, plan->device).total;
    const double bound = fmax(fmax(in, out), product);
    (void)printf("%s %s %lld^3 %s: panels of %lld rows and %lld columns, %.2f ms, %.3f of the "
                 "longest way\n",
                 plan->kernel->name, tcgemm_type_info(type)->name, (long long)size, layout,
                 (long long)c.step_m, (long long)c.step_n, 1e3 * seconds, seconds / bound);
    assert_true(c.unit.m == size && c.unit.n == size);
    steps[0] = c.step_m;
    steps[1] = c.step_n;
    tcgemm_plan_destroy(plan);
    return seconds / bound;
}

/* With D as many bytes as A and B no order takes less than 1.25. */
static void order_keeps_the_bus_busy(void **state) {
    (void)state;
    int64_t steps[2];
    assert_true(played(TCGEMM_BF16_BF16, 16384, "nn", steps) < 1.15);
    assert_true(played(TCGEMM_BF16_BF16, 8192, "nn", steps) < 1.15);
    assert_true(played(TCGEMM_BF16_BF16, 8192, "nt", steps) < 1.15);
    assert_true(played(TCGEMM_BF16_BF16, 8192, "tn", steps) < 1.38);
    assert_true(played(TCGEMM_BF16_F32, 16384, "nn", steps) < 1.7);
    assert_true(played(TCGEMM_BF16_F32, 8192, "nn", steps) < 1.75);
    assert_true(played(TCGEMM_F32_F32, 8192, "nn", steps) < 1.18);
    assert_true(played(TCGEMM_BF16_BF16, 4096, "nn", steps) < 1.25);
    assert_true(played(TCGEMM_BF16_BF16, 2048, "nn", steps) < 1.6);
}

/* The operand that would come in parts of lines comes whole where the product is short, and in
 * panels where it is long. */
static void parts_of_lines_are_few(void **state) {
    (void)state;
    int64_t steps[2];
    (void)played(TCGEMM_BF16_BF16, 16384, "nn", steps);
    assert_true(steps[0] < 4096 && steps[1] == 16384);
    (void)played(TCGEMM_BF16_BF16, 16384, "tn", steps);
    assert_true(steps[0] == 16384 || steps[1] == 16384);
    (void)played(TCGEMM_F32_F32, 8192, "nn", steps);
    assert_true(steps[0] < 4096 && steps[1] < 8192);
}

/* Of a product with a tail, strips anywhere: what lies in the tail has its parts of k, the rest
 * none. */
static void strips_have_their_part_of_a_tail(void **state) {
    (void)state;
    static const int64_t places[] = {0, 128, 1664, 1800, 1920, 2160};
    for (int is_columns = 0; is_columns < 2; ++is_columns) {
        const tcgemm_problem_t p = is_columns ? tcgemm_problem(TCGEMM_F32_F32, 500, 9000, 2000)
                                              : tcgemm_problem(TCGEMM_F32_F32, 2288, 2288, 2288);
        const tcgemm_extent_t unit = {1, p.m, p.n, p.k};
        struct tcgemm_plan plan;
        assert_int_equal(tcgemm_plan_make_on(tcgemm_known_gpu_find("h200"), &p, NULL, 1, &plan),
                         TCGEMM_STATUS_OK);
        const tcgemm_step_t *const tail = tcgemm_plan_tail(&plan);
        assert_non_null(tail);
        const int64_t begins = is_columns ? tail->area.col : tail->area.row;
        const int64_t all = is_columns ? p.n : p.m, first = is_columns ? begins - 1920 : 0;
        for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
            const int64_t at = first + places[i], length = all - at < 256 ? all - at : 256;
            const tcgemm_area_t strip = is_columns ? (tcgemm_area_t){0, p.m, at, length}
                                                   : (tcgemm_area_t){at, length, 0, p.n};
            struct tcgemm_plan part;
            tcgemm_partition_plan(&plan, &unit, &strip, &part);
            int64_t whole = 0, in_parts = 0;
            for (int s = 0; s < part.steps.count; ++s) {
                const tcgemm_step_t *const step = &part.steps.step[s];
                const int64_t lines = is_columns ? step->area.cols : step->area.rows;
                if (step->kind == TCGEMM_STEP_PRODUCT)
                    *(step->splits > 1 ? &in_parts : &whole) += lines;
                if (step->splits > 1)
                    assert_int_equal(step->splits, tail->splits);
            }
            const int64_t ahead = begins > at ? begins - at : 0;
            assert_int_equal(whole, ahead < length ? ahead : length);
            assert_int_equal(in_parts, length - whole);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_once),
        cmocka_unit_test(order_keeps_the_bus_busy),
        cmocka_unit_test(parts_of_lines_are_few),
        cmocka_unit_test(strips_have_their_part_of_a_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
