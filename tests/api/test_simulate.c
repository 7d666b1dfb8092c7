/* tcgemm_plan_simulate, tcgemm_simulate_tiles, tcgemm_plan_get_tiles: statuses, reports, the trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#include "tcgemm/tcgemm.h"

enum { M = 6, N = 5, K = 7 };

static float a[M * K], b[K * N], c[M * N], d[M * N];

static tcgemm_simulate_report_t new_report(void) {
    return (tcgemm_simulate_report_t){.struct_size = sizeof(tcgemm_simulate_report_t)};
}

static tcgemm_status_t simulate(const tcgemm_plan_t *plan, tcgemm_depth_t depth, double beta,
                                void *to, tcgemm_simulate_report_t *report) {
    return tcgemm_plan_simulate(plan, depth, 1.0, a, b, beta, c, to, NULL, NULL, report);
}

static tcgemm_plan_t *simulated_plan_of(const char *gpu, const char *algo,
                                        const tcgemm_problem_t *problem) {
    tcgemm_context_options_t o = tcgemm_context_options();
    o.device = TCGEMM_DEVICE_CPU;
    o.known_gpu = gpu;
    tcgemm_plan_options_t p = tcgemm_plan_options();
    p.algo = algo;
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    assert_int_equal(tcgemm_context_create(&o, &context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(context, problem, &p, &plan), TCGEMM_STATUS_OK);
    tcgemm_context_destroy(context);
    return plan;
}

static void a_plan_for_a_gpu_that_is_not_here(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    const tcgemm_problem_t problem = tcgemm_problem(TCGEMM_TF32_F32, M, N, K);
    tcgemm_plan_t *plan = simulated_plan_of("h200", "mma-pipelined", &problem);
    tcgemm_tiles_t tiles = {.struct_size = sizeof tiles};
    assert_int_equal(tcgemm_plan_get_tiles(plan, &tiles), TCGEMM_STATUS_OK);
    assert_true(tiles.bm >= 64 && tiles.wm <= tiles.bm && tiles.tm == 16 && tiles.tn == 8);
    for (int i = 0; i < M * K; ++i)
        a[i] = (float)(i % 5);
    for (int i = 0; i < K * N; ++i)
        b[i] = (float)(i % 3);
    for (int depth = TCGEMM_DEPTH_BLOCKS; depth <= TCGEMM_DEPTH_DATA; ++depth) {
        memset(d, 0xFF, sizeof d);
        tcgemm_simulate_report_t report = new_report();
        assert_int_equal(simulate(plan, (tcgemm_depth_t)depth, 0.0, d, &report), TCGEMM_STATUS_OK);
        assert_int_equal(report.depth, depth);
        assert_int_equal(report.num_blocks, 1);
        assert_int_equal(report.num_written, M * N);
        assert_true(report.num_faults == 0 && report.num_wrong == 0 && report.wrong_row == -1);
        assert_string_equal(report.fault, "");
        for (int i = 0; i < M * N; ++i) {
            float sum = 0;
            for (int p = 0; p < K; ++p)
                sum += a[i / N * K + p] * b[p * N + i % N];
            assert_true(d[i] == sum);
        }
    }
    tcgemm_plan_destroy(plan);
}

static void bad_arguments(void **state) {
    (void)state;
    const tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    tcgemm_plan_t *plan = simulated_plan_of(NULL, NULL, &problem);
    tcgemm_simulate_report_t report = new_report();
    const tcgemm_depth_t data = TCGEMM_DEPTH_DATA;
    assert_int_equal(simulate(NULL, data, 0.0, d, &report), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(simulate(plan, data, 0.0, d, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(simulate(plan, data, 0.0, NULL, &report), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(simulate(plan, (tcgemm_depth_t)5, 0.0, d, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(simulate(plan, (tcgemm_depth_t)0, 0.0, d, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(simulate(plan, data, 1.0, c, &report), TCGEMM_STATUS_OVERLAP);
    assert_int_equal(simulate(plan, data, 1.0, a, &report), TCGEMM_STATUS_OVERLAP);
    report.struct_size = 8;
    assert_int_equal(simulate(plan, data, 0.0, d, &report), TCGEMM_STATUS_BAD_ARGUMENT);
    tcgemm_tiles_t tiles = {0};
    assert_int_equal(tcgemm_plan_get_tiles(plan, &tiles), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_tiles(plan, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    tiles.struct_size = sizeof tiles;
    assert_int_equal(tcgemm_plan_get_tiles(NULL, &tiles), TCGEMM_STATUS_BAD_ARGUMENT);
    tcgemm_plan_destroy(plan);
}

static tcgemm_status_t simulate_tiles(const tcgemm_problem_t *problem, const tcgemm_tiles_t *tiles,
                                      tcgemm_depth_t depth, tcgemm_simulate_report_t *report) {
    return tcgemm_simulate_tiles(problem, tiles, depth, 1.0, a, b, 0.0, NULL, d, NULL, NULL,
                                 report);
}

static void tiles_that_are_none(void **state) {
    (void)state;
    tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    tcgemm_simulate_report_t report = new_report();
    tcgemm_tiles_t tiles = tcgemm_tiles(4, 3, 2);
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_THREADS, &report),
                     TCGEMM_STATUS_OK);
    assert_int_equal(report.num_blocks, 4);
    assert_int_equal(report.num_macs, M * N * K);
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_DATA, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    tiles.wk = 0;
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), "wk of the tiles is 0"));
    tiles = tcgemm_tiles(4, 3, 2);
    tiles.group = -1;
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    tiles.group = 0;
    assert_int_equal(simulate_tiles(NULL, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(simulate_tiles(&problem, NULL, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    problem.lda = 1;
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_BAD_LD);
}

static void what_is_too_large(void **state) {
    (void)state;
    tcgemm_simulate_report_t report = new_report();
    const tcgemm_tiles_t tiles = tcgemm_tiles(64, 64, 64);
    tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, 646, 645, 645);
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_TOO_LARGE);
    assert_non_null(strstr(tcgemm_last_error(), "268435456"));
    problem = tcgemm_problem(TCGEMM_F32_F32, 4097, 4096, 1);
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_TOO_LARGE);
    problem = tcgemm_problem(TCGEMM_F32_F32, INT32_MAX, INT32_MAX, 1);
    assert_int_equal(simulate_tiles(&problem, &tiles, TCGEMM_DEPTH_BLOCKS, &report),
                     TCGEMM_STATUS_TOO_LARGE);
}

/* A tile of D is simulated whole, however little of it there is. */
static void what_is_too_long(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    static float x[(1 << 19) + 1];
    const tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, 1, 1, (1 << 19) + 1);
    tcgemm_plan_t *plan = simulated_plan_of("h200", "mma-pipelined", &problem);
    tcgemm_simulate_report_t report = new_report();
    assert_int_equal(tcgemm_plan_simulate(plan, TCGEMM_DEPTH_BLOCKS, 1.0, x, x, 0.0, NULL, d, NULL,
                                          NULL, &report),
                     TCGEMM_STATUS_OK);
    assert_int_equal(
        tcgemm_plan_simulate(plan, TCGEMM_DEPTH_DATA, 1.0, x, x, 0.0, NULL, d, NULL, NULL, &report),
        TCGEMM_STATUS_TOO_LARGE);
    assert_non_null(strstr(tcgemm_last_error(), "1 tiles of D with k = 524289"));
    tcgemm_plan_destroy(plan);
}

/* Nothing to multiply: A and B are not read, D is beta * C; nothing to write: nothing happens. */
static void empty_products(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F16_F32, M, N, 0);
    tcgemm_plan_t *plan = simulated_plan_of("orin", NULL, &problem);
    tcgemm_simulate_report_t report = new_report();
    for (int i = 0; i < M * N; ++i)
        c[i] = (float)i;
    for (int depth = TCGEMM_DEPTH_BLOCKS; depth <= TCGEMM_DEPTH_DATA; ++depth) {
        assert_int_equal(tcgemm_plan_simulate(plan, (tcgemm_depth_t)depth, 1.0, NULL, NULL, 2.0, c,
                                              d, NULL, NULL, &report),
                         TCGEMM_STATUS_OK);
        assert_true(report.num_written == M * N && report.num_wrong == 0 && d[7] == 14.0f);
    }
    tcgemm_plan_destroy(plan);
    problem = tcgemm_problem(TCGEMM_F16_F32, 0, N, K);
    plan = simulated_plan_of("orin", NULL, &problem);
    assert_int_equal(tcgemm_plan_simulate(plan, TCGEMM_DEPTH_DATA, 1.0, NULL, NULL, 0.0, NULL, NULL,
                                          NULL, NULL, &report),
                     TCGEMM_STATUS_OK);
    assert_int_equal(report.num_written, 0);
    tcgemm_plan_destroy(plan);
}

static int stop_after_three(void *user, const char *line) {
    int *lines = user;
    assert_null(strchr(line, '\n'));
    return ++*lines == 3;
}

static void a_trace_that_has_heard_enough(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    const tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    tcgemm_plan_t *plan = simulated_plan_of("t4", "mma-pipelined", &problem);
    tcgemm_simulate_report_t report = new_report();
    for (int depth = TCGEMM_DEPTH_BLOCKS; depth <= TCGEMM_DEPTH_DATA; ++depth) {
        int lines = 0;
        assert_int_equal(tcgemm_plan_simulate(plan, (tcgemm_depth_t)depth, 1.0, a, b, 0.0, NULL, d,
                                              stop_after_three, &lines, &report),
                         TCGEMM_STATUS_OK);
        assert_int_equal(lines, 3);
        assert_int_equal(report.num_faults, 0);
    }
    tcgemm_plan_destroy(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_for_a_gpu_that_is_not_here),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(tiles_that_are_none),
        cmocka_unit_test(what_is_too_large),
        cmocka_unit_test(what_is_too_long),
        cmocka_unit_test(empty_products),
        cmocka_unit_test(a_trace_that_has_heard_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
