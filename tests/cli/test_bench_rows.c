/* A row of bench: made-up samples and a made-up peak go in, the figures of the CSV come out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench_rows.h"
#include "support/exit_status.h"
#include "tables/csv.h"

static double ours[] = {4e-3, 2e-3, 3e-3};
static double theirs[] = {2e-3, 4e-3, 3e-3};

static double number(const csv_t *csv, const char *column) {
    const char *text = csv_cell(csv, 0, csv_column(csv, column));
    if (csv_column(csv, column) < 0 || *text == '\0')
        fail_msg("no %s", column);
    return strtod(text, NULL);
}

static void expect(const csv_t *csv, const char *column, double value) {
    const double got = number(csv, column);
    if (!(fabs(got - value) <= 1e-9 * fabs(value)))
        fail_msg("%s is %.12g, expected %.12g", column, got, value);
}

static void expect_text(const csv_t *csv, const char *column, const char *text) {
    assert_string_equal(csv_cell(csv, 0, csv_column(csv, column)), text);
}

/* One row of 100 x 200 x 300 in batches of 5, as CSV. */
static csv_t row_of(bench_rows_t *rows, bool with_peer) {
    tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, 100, 200, 300);
    problem.batch = 5;
    problem.stride_a = problem.stride_b = problem.stride_c = problem.stride_d = 100000;
    problem.op_b = TCGEMM_OP_T;
    tcgemm_plan_t *plan;
    assert_int_equal(tcgemm_plan_create(NULL, &problem, NULL, &plan), TCGEMM_STATUS_OK);
    const candidate_t us = {.plan = plan, .samples = ours, .beta = 2};
    const candidate_t them = {.samples = theirs};
    const bench_row_t row = {.problem = &problem,
                             .ours = &us,
                             .peer = with_peer ? &them : NULL,
                             .peer_name = with_peer ? "the peer" : NULL,
                             .peer_version = "1.2",
                             .num_samples = 3,
                             .num_threads = 7,
                             .cold = true,
                             .steady_seconds = 0.25};
    assert_int_equal(bench_rows_add(rows, &row), CLI_OK);
    tcgemm_plan_destroy(plan);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(bench_rows_write(rows, TABLE_FORMAT_CSV, out));
    (void)fclose(out);
    csv_t csv;
    char why[CSV_ERROR_SIZE];
    assert_true(csv_parse(text, size, &csv, why));
    free(text);
    assert_int_equal(csv.num_rows, 1);
    return csv;
}

static void expect_times(const csv_t *csv) {
    const double flop = 2.0 * 100 * 200 * 300 * 5;
    expect(csv, "m", 100);
    expect(csv, "n", 200);
    expect(csv, "k", 300);
    expect(csv, "batch", 5);
    expect(csv, "samples", 3);
    expect(csv, "beta", 2);
    expect_text(csv, "ops", "NT");
    expect_text(csv, "cold", "yes");
    expect(csv, "steady_seconds", 0.25);
    expect(csv, "time_median_seconds", 3e-3);
    expect(csv, "time_min_seconds", 2e-3);
    expect(csv, "time_spread_fraction", 0.5 * (4e-3 - 2e-3) / 3e-3);
    expect(csv, "gflops", flop / 3e-3 * 1e-9);
    expect(csv, "tflops", flop / 3e-3 * 1e-12);
}

static void on_the_cpu(void **state) {
    (void)state;
    const settings_t settings = {.csv = "kept.csv"};
    bench_rows_t rows;
    assert_int_equal(bench_rows_create(&rows, &settings, NULL), CLI_OK);
    rows.peaks[rows.num_peaks++] = (bench_peak_t){TCGEMM_F32_F32, 6, 1};
    rows.peaks[rows.num_peaks++] = (bench_peak_t){TCGEMM_F64_F64, 7, 2};
    rows.peaks[rows.num_peaks++] = (bench_peak_t){TCGEMM_F32_F32, 7, 100e9};
    rows.bandwidths[rows.num_bandwidths++] = (bench_bandwidth_t){7, 25e9};
    csv_t csv = row_of(&rows, true);
    expect_times(&csv);
    expect(&csv, "threads", 7);
    expect(&csv, "peak_gflops", 100);
    expect_text(&csv, "peak_kind", "measured");
    expect(&csv, "peak_fraction", 0.2);
    expect_text(&csv, "peer", "the peer");
    expect_text(&csv, "peer_version", "1.2");
    expect(&csv, "peer_time_median_seconds", 3e-3);
    expect(&csv, "peer_time_min_seconds", 2e-3);
    expect(&csv, "peer_gflops", 20);
    expect(&csv, "peer_tflops", 0.02);
    expect(&csv, "ratio_median", 1); /* of 0.5, 2 and 1 */
    expect(&csv, "ratio_spread_fraction", 0.75);
    expect(&csv, "memory_gb_per_second", 25);
    expect_text(&csv, "memory_kind", "measured");
    csv_free(&csv);
    bench_rows_free(&rows);
}

static void on_a_gpu(void **state) {
    (void)state;
    const settings_t settings = {.csv = NULL};
    tcgemm_device_info_t gpu = {
        .struct_size = sizeof gpu, .bandwidth = 4.8e12, .l2_bytes = 50 << 20};
    gpu.peak[TCGEMM_F32_F32] = 40e9;
    bench_rows_t rows;
    assert_int_equal(bench_rows_create(&rows, &settings, &gpu), CLI_OK);
    assert_true(bench_rows_last_cache(&rows) == 50 << 20);
    csv_t csv = row_of(&rows, true);
    expect_times(&csv);
    expect(&csv, "peak_fraction", 0.5);
    expect_text(&csv, "peak_kind", "theory");
    expect(&csv, "peer_peak_fraction", 0.5);
    expect(&csv, "memory_gb_per_second", 4800);
    csv_free(&csv);
    bench_rows_free(&rows);
}

/* Without a peer, a peak and a bandwidth there is no figure, not a zero. */
static void what_is_not_known_is_empty(void **state) {
    (void)state;
    const settings_t settings = {.csv = NULL};
    tcgemm_device_info_t gpu = {.struct_size = sizeof gpu};
    bench_rows_t rows;
    assert_int_equal(bench_rows_create(&rows, &settings, &gpu), CLI_OK);
    csv_t csv = row_of(&rows, false);
    static const char *const empty[] = {
        "peak_gflops",
        "peak_fraction",
        "peer",
        "peer_version",
        "peer_time_median_seconds",
        "peer_gflops",
        "ratio_median",
        "memory_kind",
        "ratio_spread_fraction",
        "memory_gb_per_second",
    };
    for (size_t i = 0; i < sizeof empty / sizeof *empty; ++i)
        expect_text(&csv, empty[i], "");
    csv_free(&csv);
    bench_rows_free(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(what_is_not_known_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
