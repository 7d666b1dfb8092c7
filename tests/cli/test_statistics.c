/* The statistics of bench on made-up samples, each worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/statistics.h"

#define COUNT(x) ((int64_t)(sizeof(x) / sizeof *(x)))

static void near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", got, expected);
}

static void expect(const double *values, int64_t count, double median, double least,
                   double spread) {
    const summary_t s = statistics_summarize(values, count);
    near(s.median, median);
    near(s.least, least);
    near(s.spread, spread);
}

/* The order of the samples means nothing, and they stay as they are. */
static void median_and_quartiles(void **state) {
    (void)state;
    const double odd[] = {9, 1, 5, 3, 7};
    const double even[] = {8, 2, 4, 1};
    const double eight[] = {10, 80, 30, 20, 50, 40, 70, 60};
    const double one[] = {0.25};
    const double skewed[] = {1, 1, 1, 1, 100};
    expect(odd, COUNT(odd), 5, 1, 0.5 * (7 - 3) / 5.0);
    expect(even, COUNT(even), 3, 1, 0.5 * (4 - 2) / 3.0);
    expect(eight, COUNT(eight), 45, 10, 0.5 * (60 - 30) / 45.0);
    expect(one, 1, 0.25, 0.25, 0);
    expect(skewed, COUNT(skewed), 1, 1, 0); /* one slow sample is not the median's business */
    assert_true(odd[0] == 9 && odd[4] == 7);
    double sorted[] = {3, 1, 2};
    near(statistics_median(sorted, 3), 2);
    near(statistics_median(sorted, 2), 1.5); /* of 1 and 2, for it has sorted them */
}

static void nothing_is_known_of_nothing(void **state) {
    (void)state;
    const summary_t none = statistics_summarize(NULL, 0);
    assert_true(none.median == 0 && none.least == 0 && none.spread == 0);
    const summary_t ratio = statistics_ratio(NULL, NULL, 0);
    assert_true(ratio.median == 0);
    const double zeros[] = {0, 0, 0};
    expect(zeros, 3, 0, 0, 0);
    assert_true(statistics_rate(5, 0) == 0 && statistics_rate(5, -1) == 0);
    assert_true(statistics_fraction(5, 0) == 0);
}

/* Round by round, so that a slow moment that both meet leaves no trace: the ratio of the medians
 * would be 6 / 3. */
static void ratio_is_how_many_times_faster_we_are(void **state) {
    (void)state;
    const double ours[] = {1, 2, 3, 40, 50};
    const double theirs[] = {4, 6, 6, 120, 100};
    const summary_t s = statistics_ratio(ours, theirs, 5); /* 4 3 2 3 2 */
    near(s.median, 3);
    near(s.least, 2);
    near(s.spread, 0.5 * (3 - 2) / 3.0);
    const double slow[] = {2, 2};
    const double quick[] = {1, 1};
    near(statistics_ratio(slow, quick, 2).median, 0.5);
}

static void rates(void **state) {
    (void)state;
    near(statistics_rate(2.0 * 1000 * 1000 * 1000, 0.5), 4e9);
    near(statistics_fraction(4e9, 16e9), 0.25);
    near(statistics_triad_bytes(1000), 24000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_and_quartiles),
        cmocka_unit_test(nothing_is_known_of_nothing),
        cmocka_unit_test(ratio_is_how_many_times_faster_we_are),
        cmocka_unit_test(rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
