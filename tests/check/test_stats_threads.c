/* The times that a run reports: they add up, and no product is faster than its machine, however
 * late the operating system wakes the thread that keeps the book. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/support.h"
#include "tcgemm/tcgemm.h"

/* Two 512-bit multiply-adds of f32 a cycle at 6 GHz: no processor that we know does more, save on
 * matrix tiles, which tf32 has not on a CPU. */
static const double most_of_a_processor = 2.0 * 2 * 16 * 6e9;

typedef struct data {
    tcgemm_problem_t problem;
    void *a, *b, *d;
} data_t;

static void *bytes_of(int64_t elements) {
    void *const x = calloc((size_t)elements, sizeof(double));
    assert_non_null(x);
    return x;
}

static void check_run(const data_t *x, int num_threads) {
    tcgemm_plan_t *const plan = plan_of(context_of(num_threads), &x->problem, NULL);
    tcgemm_run_stats_t s = {.struct_size = sizeof s};
    const tcgemm_problem_t *p = &x->problem;
    assert_int_equal(tcgemm_run_with(plan, 1, x->a, x->b, 0, NULL, x->d, NULL, 0, &s),
                     TCGEMM_STATUS_OK);
    const double operations = 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    const double most = most_of_a_processor * (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (!(s.product_seconds * most >= operations))
        report_failure("%d threads: the product took %.3g s, %.3g operations a second", num_threads,
                       s.product_seconds, operations / s.product_seconds);
    if (!(s.pack_seconds > 0 && s.pack_seconds + s.product_seconds <= s.total_seconds))
        report_failure("%d threads: pack %.3g s and product %.3g s of %.3g s", num_threads,
                       s.pack_seconds, s.product_seconds, s.total_seconds);
    tcgemm_plan_destroy(plan);
}

static void check_problem(tcgemm_problem_t problem, int64_t rounds) {
    static const int teams[] = {1, 2, 3, 8};
    const int64_t items = problem.batch;
    problem.stride_a = problem.m * problem.k;
    problem.stride_b = problem.k * problem.n;
    problem.stride_d = problem.m * problem.n;
    const data_t x = {problem, bytes_of(items * problem.stride_a),
                      bytes_of(items * problem.stride_b), bytes_of(items * problem.stride_d)};
    for (int64_t round = 0; round < rounds; ++round)
        for (size_t i = 0; i < sizeof teams / sizeof teams[0]; ++i)
            check_run(&x, teams[i]);
    free(x.a);
    free(x.b);
    free(x.d);
}

static void no_product_is_faster_than_its_machine(void **state) {
    (void)state;
    check_problem(tcgemm_problem(TCGEMM_TF32_F32, 300, 301, 299), at_level(5, 100, 1000));
    check_problem(tcgemm_problem(TCGEMM_F32_F32, 200, 2000, 300),
                  at_level(5, 50, 500)); /* packs B */
    assert_no_failures();
}

static void times_of_a_batch_are_those_of_the_slowest(void **state) {
    (void)state;
    tcgemm_problem_t many = tcgemm_problem(TCGEMM_TF32_F32, 40, 41, 42); /* whole items a thread */
    many.batch = 200;
    check_problem(many, at_level(3, 50, 500));
    tcgemm_problem_t few = tcgemm_problem(TCGEMM_TF32_F32, 200, 201, 202);
    few.batch = 3;
    check_problem(few, at_level(3, 30, 300));
    assert_no_failures();
}

/* It is measured once in each process. */
static double told_clock(void) {
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    return tcgemm_machine_get_info(&machine) == TCGEMM_STATUS_OK ? machine.clock_hz : 0;
}

/* The clock by which all peaks are worked out, as the public header tells it. Others on the same
 * core may take half of it for a while: one process of several must be told it as it is, and a
 * clock that is wrong is told to none. */
static void the_machines_clock_is_no_other(void **state) {
    (void)state;
    enum { PROCESSES = 20, PAUSE_US = 50000 };
    double clock = 0;
    double other = 0;
    bool agree = false;
    for (int i = 0; i < PROCESSES && !agree; ++i) {
        if (i > 0)
            (void)usleep(PAUSE_US);
        clock = in_a_process(told_clock);
        other = fmax(other, multiplications_hz());
        agree = clock < 2 * other && other < 2.5 * clock;
    }
    if (!agree)
        report_failure("%.3f GHz, but multiplications run at %.3f", clock * 1e-9, other * 1e-9);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machines_clock_is_no_other), /* first: nothing has measured it yet */
        cmocka_unit_test(no_product_is_faster_than_its_machine),
        cmocka_unit_test(times_of_a_batch_are_those_of_the_slowest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
