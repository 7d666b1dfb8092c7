/* Kernels of a few rows times lines along or across k, called directly: lines that are fetched
 * ahead and crowded (ukernel.h) have the bits of the same lines as they are, which end at a page
 * that may not be touched.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cpu/kernels/ukernel.h"
#include "support/guard.h"
#include "support/oracle.h"
#include "support/support.h"
#include "table/family.h"

enum { MOST_STEPS = 450, MOST_LINES = 35, MOST_WIDTH = 16, PAD = 5 };

static guard_t lines_guard, x_guard;
static char current[160];

static void on_fault(int number) {
    (void)fprintf(stderr, "FAILED %s: signal %d\n", current, number);
    _exit(1);
}

static double number(uint64_t *random) {
    return (double)(random_below(random, 2001) - 1000) / 64;
}

static void fill(uint64_t *random, tcgemm_dtype_t dtype, uint8_t *to, int64_t count) {
    const int bytes = oracle_bits(dtype) / 8;
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t bits = oracle_encode(dtype, number(random));
        memcpy(to + i * bytes, &bits, (size_t)bytes);
    }
}

/* `rows` of x along `steps`, `lines` of them, whose last element is the last one of a page. */
static tcgemm_dots_t random_dots(uint64_t *random, tcgemm_dtype_t dtype, tcgemm_dtype_t sums,
                                 int width, bool across) {
    const int64_t steps = 1 + random_below(random, MOST_STEPS);
    const int num_lines = 1 + (int)random_below(random, MOST_LINES);
    const int64_t length = across ? num_lines : steps;
    const int64_t pitch = length + random_below(random, PAD);
    const int64_t count = ((across ? steps : num_lines) - 1) * pitch + length;
    const size_t bytes = (size_t)(count * oracle_bits(dtype) / 8);
    const size_t x_bytes = (size_t)(steps * width * oracle_bits(sums) / 8);
    uint8_t *const lines = guard_place(&lines_guard, bytes, true);
    uint8_t *const x = guard_place(&x_guard, x_bytes, true);
    fill(random, dtype, lines, count);
    fill(random, sums, x, steps * width);
    tcgemm_dots_t t = {.dtype = dtype,
                       .steps = steps,
                       .x = x,
                       .width = width,
                       .num_rows = 1 + (int)random_below(random, width),
                       .lines = lines,
                       .line_stride = across ? 1 : pitch,
                       .k_stride = across ? pitch : 1,
                       .num_lines = num_lines,
                       .d_row = MOST_LINES,
                       .d_line = 1};
    if (sums == TCGEMM_DTYPE_F64)
        t.alpha.f64 = 1.5;
    else
        t.alpha.f32 = 1.5F;
    return t;
}

static void check_dots(const tcgemm_kernel_t *kernel, tcgemm_dots_fn *dots, tcgemm_dtype_t dtype,
                       int width, bool across) {
    const tcgemm_dtype_t sums =
        kernel->cpu->family == TCGEMM_FAMILY_F64 ? TCGEMM_DTYPE_F64 : TCGEMM_DTYPE_F32;
    static _Alignas(64) uint8_t d[2][MOST_WIDTH * MOST_LINES * sizeof(double)];
    uint64_t random = (uint64_t)dtype * 100 + (uint64_t)width;
    for (int64_t i = 0; i < at_level(4, 20, 100); ++i) {
        tcgemm_dots_t t = random_dots(&random, dtype, sums, width, across);
        (void)snprintf(current, sizeof current,
                       "%s %s dtype %d width %d steps %d lines %d, case %d", kernel->name,
                       across ? "across" : "along", (int)dtype, width, (int)t.steps, t.num_lines,
                       (int)i);
        memset(d, 0xFF, sizeof d);
        for (int crowd = 0; crowd < 2; ++crowd) {
            t.fetches = t.is_crowded = crowd;
            t.d = d[crowd];
            dots(&t);
        }
        if (memcmp(d[0], d[1], sizeof d[0]) != 0)
            report_failure("%s: other bits in a crowd", current);
    }
}

static void check_kernel(const tcgemm_kernel_t *kernel) {
    static const tcgemm_dtype_t f32[] = {TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F16, TCGEMM_DTYPE_BF16,
                                         TCGEMM_DTYPE_E4M3, TCGEMM_DTYPE_E5M2};
    static const tcgemm_dtype_t f64[] = {TCGEMM_DTYPE_F64};
    const tcgemm_cpu_ukernel_t *u = kernel->cpu;
    const bool is_f64 = u->family == TCGEMM_FAMILY_F64;
    for (int i = 0; i < (is_f64 ? 1 : 5); ++i)
        for (int width = 1; width <= u->dots_width; width *= 2) {
            check_dots(kernel, u->dots, (is_f64 ? f64 : f32)[i], width, false);
            check_dots(kernel, u->across, (is_f64 ? f64 : f32)[i], width, true);
        }
}

static void crowded_lines_have_the_same_bits(void **state) {
    (void)state;
    lines_guard = guard_make((size_t)MOST_STEPS * (MOST_LINES + PAD) * 8 * 2);
    x_guard = guard_make((size_t)MOST_STEPS * MOST_WIDTH * 8);
    (void)signal(SIGSEGV, on_fault);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (kernel->cpu && kernel->cpu->across && kernel->family->fits(kernel, NULL))
            check_kernel(kernel);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    guard_free(&x_guard);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowded_lines_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
