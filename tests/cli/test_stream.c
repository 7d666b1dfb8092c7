/* The bandwidth by a clock of our own: one tick a look, whatever the machine does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "measure/stream.h"

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

static _Atomic long looks;
static size_t largest = SIZE_MAX; /* of the blocks to be had */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    *now = (struct timespec){.tv_sec = 2 * looks++};
    return 0;
}

void *__wrap_malloc(size_t bytes) {
    return bytes > largest ? NULL : __real_malloc(bytes);
}

/* A pass lies between two looks, so it takes 2 s: three arrays of a third of the bytes each. */
static void expect(double cache_bytes, double bytes) {
    const double length = (double)((size_t)bytes / 3 / sizeof(double));
    const double got = stream_bandwidth(1, cache_bytes);
    if (!(got == 3 * 8 * length / 2))
        fail_msg("cache of %g: %g, expected %g", cache_bytes, got, 3 * 8 * length / 2);
}

static void each_pass_moves_three_arrays(void **state) {
    (void)state;
    expect(32e6, 8 * 32e6);
    expect(1e3, 0x1p27); /* never so small that the clock would be coarse */
}

/* Where memory is refused there is no figure. */
static void memory_is_short(void **state) {
    (void)state;
    largest = (size_t)0x1p26;
    assert_true(stream_bandwidth(1, 1e6) == 0);
    largest = SIZE_MAX;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pass_moves_three_arrays),
        cmocka_unit_test(memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
