/* One wrong element anywhere in D, in the first run alone: the real judge of bench finds it. */
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

enum { SIDE = 40 };

static int runs;
static int spoiled; /* the element; -1: none */

tcgemm_status_t __wrap_tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                  const void *b, double beta, const void *c, void *d) {
    const tcgemm_status_t status = __real_tcgemm_run(plan, alpha, a, b, beta, c, d);
    if (runs++ == 0 && spoiled >= 0)
        ((float *)d)[spoiled] += 1;
    return status;
}

static int bench(int element) {
    char *words[] = {"tcgemm",        "bench", "--shape",   "40", "--samples",     "3",
                     "--min-seconds", "0",     "--threads", "1",  "--no-progress", "--quiet"};
    runs = 0;
    spoiled = element;
    return tcgemm_cli_main(sizeof words / sizeof *words, words);
}

static void one_wrong_element(void **state) {
    (void)state;
    assert_int_equal(bench(-1), CLI_OK);
    assert_true(runs > 3);
    static const int elements[] = {0, 17 * SIDE + 5, SIDE * SIDE - 1};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(bench(elements[i]), CLI_WRONG);
        assert_int_equal(runs, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_wrong_element)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
