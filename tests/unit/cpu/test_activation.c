/* Activations: those of f64 against tables and properties, those of f32 of every instruction set
 * against them, over all exponents. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/epilogue.h"
#include "cpu/kernels/ukernel.h"
#include "plan/plan.h"
#include "support/support.h"

/* By other functions than the library's: GELU by erf, where nothing cancels for x > 0, and its
 * other side by gelu(x) - gelu(-x) = x; sigmoids by tanh. */
static double by_another_way(tcgemm_activation_t f, double x) {
    const double root = sqrt(2.0 / 3.14159265358979323846);
    switch (f) {
    case TCGEMM_ACTIVATION_RELU:
        return fmax(x, 0.0);
    case TCGEMM_ACTIVATION_GELU:
        return x >= 0.0 ? 0.5 * x * (1.0 + erf(x / sqrt(2.0))) : x + by_another_way(f, -x);
    case TCGEMM_ACTIVATION_GELU_TANH:
        return 0.5 * x * (1.0 + tanh(root * (x + 0.044715 * x * x * x)));
    case TCGEMM_ACTIVATION_SILU:
        return 0.5 * x * (1.0 + tanh(0.5 * x));
    case TCGEMM_ACTIVATION_SIGMOID:
        return 0.5 * (1.0 + tanh(0.5 * x));
    case TCGEMM_ACTIVATION_TANH:
        return expm1(2.0 * x) / (expm1(2.0 * x) + 2.0);
    default:
        return x;
    }
}

static void those_of_f64(void **state) {
    (void)state;
    for (int f = 0; f < TCGEMM_NUM_ACTIVATIONS; ++f)
        for (double x = -18.0; x <= 18.0; x += 1.0 / 256) {
            const double y = tcgemm_activate((tcgemm_activation_t)f, x);
            const double expected = by_another_way((tcgemm_activation_t)f, x);
            if (fabs(y - expected) > 4e-16 * fmax(1.0, fabs(x)))
                report_failure("activation %d of %g is %.17g, not %.17g", f, x, y, expected);
        }
    /* Far below zero, where the other ways have lost all digits: Phi(-5) as tables have it. */
    assert_true(fabs(tcgemm_activate(TCGEMM_ACTIVATION_GELU, -5.0) + 5.0 * 2.866515718791939e-7) <
                1e-20);
    assert_true(fabs(tcgemm_activate(TCGEMM_ACTIVATION_SILU, -50.0) + 50.0 * exp(-50.0)) < 1e-35);
    assert_no_failures();
}

static void limits_and_nan(void **state) {
    (void)state;
    for (int f = 1; f < TCGEMM_NUM_ACTIVATIONS; ++f) {
        const bool is_bounded = f == TCGEMM_ACTIVATION_SIGMOID || f == TCGEMM_ACTIVATION_TANH;
        const double low = tcgemm_activate((tcgemm_activation_t)f, -(double)INFINITY);
        const double high = tcgemm_activate((tcgemm_activation_t)f, (double)INFINITY);
        assert_true(low == (f == TCGEMM_ACTIVATION_TANH ? -1.0 : 0.0));
        assert_true(is_bounded ? high == 1.0 : isinf(high) && high > 0);
        assert_true(isnan(tcgemm_activate((tcgemm_activation_t)f, (double)NAN)));
    }
}

/* What a difference is stretched by at most, as the judge believes. */
static void slopes(void **state) {
    (void)state;
    for (int f = 0; f < TCGEMM_NUM_ACTIVATIONS; ++f) {
        const double most = tcgemm_activation_slope((tcgemm_activation_t)f);
        double steepest = 0.0;
        for (double x = -10.0; x < 10.0; x += 1.0 / 1024)
            steepest = fmax(steepest, fabs(tcgemm_activate((tcgemm_activation_t)f, x + 1.0 / 1024) -
                                           tcgemm_activate((tcgemm_activation_t)f, x)) *
                                          1024);
        assert_true(steepest <= most + 1e-9 && steepest > 0.95 * most);
    }
}

/* Within 6 units of roundoff, below zero of what the rounded argument of exp leaves of them;
 * of the least numbers, of 2^-126. */
static void compare(const char *kernel, int f, float x, float got) {
    const double expected = tcgemm_activate((tcgemm_activation_t)f, (double)x);
    const double steep = x < 0.0F ? fmin((double)x * (double)x, 200.0) : 0.0;
    const double bound = 6 * 0x1p-24 * fabs(expected) * (1.0 + steep) + 0x1p-118;
    const bool is_right = isnan(expected)   ? isnan(got)
                          : isinf(expected) ? (double)got == expected
                                            : fabs((double)got - expected) <= bound;
    if (!is_right)
        report_failure("%s, activation %d of %a is %a, not %a", kernel, f, (double)x, (double)got,
                       expected);
}

static void those_of_f32(void **state) {
    (void)state;
    enum { COUNT = 1 << 14 };
    static float x[COUNT], y[COUNT];
    tcgemm_kernel_info_t info;
    uint64_t random = 5;
    for (int row = 0; row < tcgemm_kernel_count(); ++row) {
        if (!kernel_does(row, TCGEMM_F32_F32, &info) || strcmp(info.algo, "cpu") != 0)
            continue;
        const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
        tcgemm_plan_t *const plan = plan_of(context_of(1), &p, info.name);
        for (int f = 0; f < TCGEMM_NUM_ACTIVATIONS; ++f) {
            for (int i = 0; i < COUNT; ++i) {
                const uint32_t bits = (uint32_t)random_next(&random);
                memcpy(&x[i], &bits, sizeof bits); /* every exponent, NaN and infinities too */
                if (i % 4)
                    x[i] = (float)(random_unit(&random) - 0.5) * (i % 8 < 4 ? 8.0F : 200.0F);
            }
            const float ends[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 0.625F};
            memcpy(x, ends, sizeof ends);
            memcpy(y, x, sizeof x);
            const tcgemm_finish_t finish = {.dtype = TCGEMM_DTYPE_F32,
                                            .d = y,
                                            .ldd = COUNT / 2,
                                            .rows = 2,
                                            .cols = COUNT / 2,
                                            .epilogue = {.activation = (tcgemm_activation_t)f}};
            plan->kernel->cpu->finish(&finish);
            for (int i = 0; i < COUNT; ++i)
                compare(info.name, f, x[i], y[i]);
            /* One alone has the bits of one among many. */
            float alone = x[77];
            const tcgemm_finish_t one = {.dtype = TCGEMM_DTYPE_F32,
                                         .d = &alone,
                                         .ldd = 1,
                                         .rows = 1,
                                         .cols = 1,
                                         .epilogue = finish.epilogue};
            plan->kernel->cpu->finish(&one);
            assert_memory_equal(&alone, &y[77], sizeof alone);
        }
        tcgemm_plan_destroy(plan);
    }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_f64),
        cmocka_unit_test(limits_and_nan),
        cmocka_unit_test(slopes),
        cmocka_unit_test(those_of_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
