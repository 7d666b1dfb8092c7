/* A kernel that the judge calls wrong is told, has no row and no further run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli.h"
#include "support/exit_status.h"
#include "tcgemm/tcgemm.h"

tcgemm_status_t __real_tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                  const void *b, double beta, const void *c, void *d);
tcgemm_status_t __wrap_tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                  const void *b, double beta, const void *c, void *d);
tcgemm_status_t __real_tcgemm_verify(const tcgemm_plan_t *plan, double alpha, const void *a,
                                     const void *b, double beta, const void *c, const void *d,
                                     tcgemm_verify_mode_t mode, uint64_t seed,
                                     tcgemm_verify_report_t *report);
tcgemm_status_t __wrap_tcgemm_verify(const tcgemm_plan_t *plan, double alpha, const void *a,
                                     const void *b, double beta, const void *c, const void *d,
                                     tcgemm_verify_mode_t mode, uint64_t seed,
                                     tcgemm_verify_report_t *report);

double __wrap_stream_bandwidth(int num_threads, double cache_bytes);

/* What a kept table would measure for a second each time. */
double __wrap_stream_bandwidth(int num_threads, double cache_bytes) {
    (void)num_threads, (void)cache_bytes;
    return 1e9;
}

static int runs, verdicts;
static int wrong_verdict; /* which verdict is turned into "wrong"; 0: none */

tcgemm_status_t __wrap_tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                  const void *b, double beta, const void *c, void *d) {
    ++runs;
    return __real_tcgemm_run(plan, alpha, a, b, beta, c, d);
}

tcgemm_status_t __wrap_tcgemm_verify(const tcgemm_plan_t *plan, double alpha, const void *a,
                                     const void *b, double beta, const void *c, const void *d,
                                     tcgemm_verify_mode_t mode, uint64_t seed,
                                     tcgemm_verify_report_t *report) {
    const tcgemm_status_t status =
        __real_tcgemm_verify(plan, alpha, a, b, beta, c, d, mode, seed, report);
    report->num_wrong += ++verdicts == wrong_verdict;
    return status;
}

static int bench(char *algo, int wrong) {
    char *words[] = {
        "tcgemm",    "bench", "--shape",       "24", "--samples", "3",     "--min-seconds", "0",
        "--threads", "1",     "--no-progress", "-a", algo,        "--csv", "t.csv",         "-f"};
    runs = verdicts = 0;
    wrong_verdict = wrong;
    (void)remove("t.csv");
    return tcgemm_cli_main(sizeof words / sizeof *words, words);
}

static int rows(void) {
    FILE *file = fopen("t.csv", "r");
    int lines = 0;
    for (int c; file && (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        (void)fclose(file);
    return lines > 0 ? lines - 1 : 0;
}

static void a_wrong_kernel_is_not_timed(void **state) {
    (void)state;
    assert_int_equal(bench("cpu", 0), CLI_OK);
    assert_true(runs > 3);
    assert_int_equal(rows(), 1);
    assert_int_equal(bench("cpu", 1), CLI_WRONG);
    assert_int_equal(runs, 1); /* the one that was judged */
    assert_int_equal(rows(), 0);
}

/* Of two, either may be the wrong one: the other is timed, and the exit status says it. */
static void the_other_one_is_timed(void **state) {
    (void)state;
    assert_int_equal(bench("cpu,reference", 0), CLI_OK);
    assert_int_equal(rows(), 2);
    for (int wrong = 1; wrong <= 2; ++wrong) {
        assert_int_equal(bench("cpu,reference", wrong), CLI_WRONG);
        assert_int_equal(verdicts, 2);
        assert_int_equal(rows(), 1);
        assert_true(runs > 5);
    }
    (void)remove("t.csv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_kernel_is_not_timed),
        cmocka_unit_test(the_other_one_is_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
