/* How exact: each element within T(k) u s on unkind distributions (C2, C11), products with the
 * identity that must give A's own bits (C12), the roundings of tf32 inputs and of narrow results,
 * alpha on the sum and not on the inputs, and a second judge that shares no code with the library.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oracle.h"
#include "support/testcase.h"

typedef void row_test_t(const char *kernel, tcgemm_type_t type);

/* Every row and float type; the reference only if asked for. */
static void for_each_float_row(row_test_t *test, bool with_reference) {
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            if (kernel_does(row, (tcgemm_type_t)type, &info) &&
                oracle_is_float(tcgemm_type_info((tcgemm_type_t)type)->d) &&
                (with_reference || info.tile_n > 1))
                test(info.name, (tcgemm_type_t)type);
    assert_no_failures();
}

static double d_at(const operands_t *x, int64_t i, int64_t j) {
    return oracle_get(x->d.dtype, x->d.data, matrix_index(&x->d, 0, i, j));
}

static void set(matrix_t *x, int64_t i, int64_t j, double value) {
    oracle_set(x->dtype, x->data, matrix_index(x, 0, i, j), value);
}

static bool run(const testcase_t *t, const operands_t *x) {
    const tcgemm_status_t status = testcase_run_on(t, x);
    if (status != TCGEMM_STATUS_OK)
        testcase_fail(t, "%s: %s", tcgemm_status_name(status), tcgemm_last_error());
    return status == TCGEMM_STATUS_OK;
}

static bool expect(const testcase_t *t, const operands_t *x, int64_t i, int64_t j,
                   double expected) {
    if (d_at(x, i, j) == expected)
        return true;
    testcase_fail(t, "(%lld, %lld) is %a, expected exactly %a", (long long)i, (long long)j,
                  d_at(x, i, j), expected);
    return false;
}

/* ---- C2 ---- */

static void distributions(const char *kernel, tcgemm_type_t type) {
    static const fill_t fills[] = {FILL_UNIFORM, FILL_POSITIVE, FILL_LOGNORMAL, FILL_WIDE};
    static const int64_t depths[] = {1, 2, 3, 7, 16, 64, 255, 1024, 4096, 16384};
    const int64_t num_depths = at_level(7, 9, 10);
    const int64_t num_seeds = at_level(1, 1, 3);
    for (size_t f = 0; f < sizeof fills / sizeof fills[0]; ++f)
        for (int64_t d = 0; d < num_depths; ++d)
            for (int64_t seed = 0; seed < num_seeds; ++seed) {
                const int64_t size = depths[d] < 1000 ? 64 : 16;
                testcase_t t = testcase_make(kernel, tcgemm_problem(type, size, size, depths[d]),
                                             (uint64_t)seed + f);
                t.fill = fills[f];
                t.p.op_b = d & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
                (void)testcase_check(&t);
            }
}

static void unkind_distributions(void **state) {
    (void)state;
    for_each_float_row(distributions, false);
}

/* ---- C11: data on which a method that is not componentwise accurate fails ---- */

/* The exponent that element (i, p) of A (or (p, j) of B) gets in grading test `g`. */
static int grade_exponent(int g, bool is_a, int64_t line, int64_t p, int64_t size, int span,
                          uint64_t *random) {
    switch (g) {
    case 1: /* rows of A, columns of B */
        return (int)(line * 7 % (2 * span + 1)) - span;
    case 2: /* a quadrant */
        return (line < size / 2) == (p < size / 2) ? span : 0;
    case 3: /* every element */
        return (int)random_below(random, 2 * span + 1) - span;
    default: /* columns of A up, rows of B down */
        return ((int)(p * 11 % (2 * span + 1)) - span) * (is_a ? 1 : -1);
    }
}

static void grade_matrix(matrix_t *x, bool is_a, int g, int span, uint64_t *random) {
    for (int64_t i = 0; i < x->rows; ++i)
        for (int64_t j = 0; j < x->cols; ++j) {
            const int64_t line = is_a ? i : j;
            const int64_t p = is_a ? j : i;
            if (g == 5 && line % 4 == 1)
                set(x, i, j, 0.0);
            else if (g != 5)
                set(x, i, j,
                    ldexp(oracle_get(x->dtype, x->data, matrix_index(x, 0, i, j)),
                          grade_exponent(g, is_a, line, p, x->rows, span, random)));
        }
}

static void grades(const char *kernel, tcgemm_type_t type) {
    static const int64_t sizes[] = {64, 96, 128, 257};
    const tcgemm_dtype_t dtype = tcgemm_type_info(type)->a;
    const int span = dtype == TCGEMM_DTYPE_F64    ? 200
                     : oracle_bits(dtype) == 32   ? 40
                     : dtype == TCGEMM_DTYPE_BF16 ? 20
                                                  : 3;
    for (int64_t s = 0; s < at_level(1, 2, 4); ++s)
        for (int g = 1; g <= 5; ++g) {
            testcase_t t = testcase_make(kernel, tcgemm_problem(type, sizes[s], sizes[s], sizes[s]),
                                         (uint64_t)g);
            uint64_t random = (uint64_t)g;
            operands_t x;
            operands_make(&t, &x);
            grade_matrix(&x.a, true, g, span, &random);
            grade_matrix(&x.b, false, g, span, &random);
            operands_save(&x);
            if (run(&t, &x))
                (void)testcase_judge(&t, &x, NULL);
            for (int64_t j = 0; g == 5 && j < sizes[s]; ++j)
                (void)(expect(&t, &x, 1, j, 0.0) && expect(&t, &x, j, 1, 0.0));
            operands_free(&x);
        }
}

static void graded_data(void **state) {
    (void)state;
    for_each_float_row(grades, false);
}

/* ---- C12: probes ---- */

/* D = A * P or P * B where P has one power of two in each row and column (and k is the larger side
 * of a deep probe, so that each block of k is met). */
static void probe(const char *kernel, tcgemm_type_t type, int64_t size, bool times_two_to_e,
                  bool p_is_a, int64_t shift) {
    testcase_t t =
        testcase_make(kernel, tcgemm_problem(type, p_is_a ? size : 33, p_is_a ? 50 : size, size),
                      (uint64_t)(size + shift));
    t.p.op_a = shift & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    t.fill = FILL_LOGNORMAL;
    operands_t x;
    operands_make(&t, &x);
    matrix_t *p = p_is_a ? &x.a : &x.b;
    const bool transposed = p_is_a && t.p.op_a;
    for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j) {
            const bool one = (i + shift) % size == j;
            const double value = one ? ldexp(1.0, times_two_to_e ? (int)(i % 7) - 3 : 0) : 0.0;
            set(p, transposed ? j : i, transposed ? i : j, value);
        }
    if (run(&t, &x)) {
        bool right = true;
        for (int64_t i = 0; right && i < t.p.m; ++i)
            for (int64_t j = 0; right && j < t.p.n; ++j) {
                const int64_t q = p_is_a ? (i + shift) % size : (j - shift % size + size) % size;
                const matrix_t *source = p_is_a ? &x.b : &x.a;
                const int64_t r = p_is_a ? q : t.p.op_a ? q : i;
                const int64_t c = p_is_a ? j : t.p.op_a ? i : q;
                double value =
                    oracle_get(source->dtype, source->data, matrix_index(source, 0, r, c));
                if (type == TCGEMM_TF32_F32)
                    value = (double)oracle_tf32((float)value);
                const int64_t line = p_is_a ? i : q;
                value = ldexp(value, times_two_to_e ? (int)(line % 7) - 3 : 0);
                right =
                    expect(&t, &x, i, j, oracle_decode(x.d.dtype, oracle_encode(x.d.dtype, value)));
            }
    }
    operands_free(&x);
}

static void probes(const char *kernel, tcgemm_type_t type) {
    static const int64_t sizes[] = {65, 7, 401, 128, 801};
    for (int64_t s = 0; s < at_level(1, 3, 5); ++s)
        for (int which = 0; which < 8; ++which)
            probe(kernel, type, sizes[s], which & 1, which & 2, which & 4 ? 5 : 0);
}

static void identity_and_permutations_keep_all_bits(void **state) {
    (void)state;
    for_each_float_row(probes, true);
}

/* ---- tf32: nearest, ties away from zero, in A and in B, not in C ---- */

static void tf32_rounding(const char *kernel, tcgemm_type_t type) {
    if (type != TCGEMM_TF32_F32)
        return;
    static const double ties[] = {1 + 0x1p-11,           1 + 3 * 0x1p-11, -1 - 0x1p-11,
                                  1 + 0x1p-11 - 0x1p-23, 1 + 0x1p-23,     2 - 0x1p-12,
                                  -(2 - 0x1p-11),        0x1.0018p-130,   0x1.FFEp-127};
    for (int side = 0; side < 2; ++side) {
        testcase_t t = testcase_make(kernel, tcgemm_problem(type, 60, 60, 60), 8);
        t.p.order = side ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        t.beta = 1;
        operands_t x;
        operands_make(&t, &x);
        matrix_t *source = side ? &x.b : &x.a;
        matrix_t *identity = side ? &x.a : &x.b;
        uint64_t random = 4;
        for (int64_t i = 0; i < 60; ++i)
            for (int64_t j = 0; j < 60; ++j) {
                const uint32_t bits = (uint32_t)random_next(&random);
                const bool finite = (bits & 0x7F000000u) != 0x7F000000u;
                oracle_set_bits(TCGEMM_DTYPE_F32, source->data, matrix_index(source, 0, i, j),
                                finite ? bits : 0x3F801001u);
                if (i * 60 + j < 9)
                    set(source, i, j, ties[i * 60 + j]);
                set(identity, i, j, i == j);
                set(&x.c, i, j, 0.0);
            }
        operands_save(&x);
        bool right = run(&t, &x);
        for (int64_t i = 0; right && i < 60; ++i)
            for (int64_t j = 0; right && j < 60; ++j)
                right = expect(&t, &x, i, j,
                               (double)oracle_tf32((float)oracle_get(
                                   TCGEMM_DTYPE_F32, source->data, matrix_index(source, 0, i, j))));
        set(identity, 0, 0, 0.0); /* now C alone stands in row or column 0 */
        set(&x.c, 0, 0, 1 + 0x1p-23);
        operands_save(&x);
        if (right && run(&t, &x))
            (void)expect(&t, &x, 0, 0, 1 + 0x1p-23);
        operands_free(&x);
    }
}

static void tf32_inputs_are_rounded_ties_away(void **state) {
    (void)state;
    for_each_float_row(tf32_rounding, true);
}

/* ---- f16 and bf16 results: nearest, ties to even ---- */

/* D = a * 1 + c where a + c is exact in f32 and may lie anywhere between two results. */
static void output_rounding(const char *kernel, tcgemm_type_t type) {
    const tcgemm_type_info_t *info = tcgemm_type_info(type);
    if (oracle_bits(info->d) != 16)
        return;
    enum { SIZE = 53 };
    const int fraction = info->d == TCGEMM_DTYPE_F16 ? 10 : 7;
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, SIZE, SIZE, SIZE), 2);
    t.beta = 1;
    operands_t x;
    operands_make(&t, &x);
    uint64_t random = 77;
    for (int64_t i = 0; i < SIZE; ++i)
        for (int64_t j = 0; j < SIZE; ++j) {
            set(&x.b, i, j, i == j);
            set(&x.c, i, j,
                (random_below(&random, 2) ? 1 : -1) *
                    (1.0 + ldexp((double)random_below(&random, 1 << fraction), -fraction)));
            /* Quarters of the unit in the last place of C: ties are common. */
            set(&x.a, i, j, ldexp((double)(random_below(&random, 15) - 7), -fraction - 2));
        }
    operands_save(&x);
    bool right = run(&t, &x);
    for (int64_t i = 0; right && i < SIZE; ++i)
        for (int64_t j = 0; right && j < SIZE; ++j) {
            const double sum =
                oracle_get(info->a, x.a.data, matrix_index(&x.a, 0, i, j)) +
                oracle_get(info->d, x.c_was + (x.c.data - x.c.block), matrix_index(&x.c, 0, i, j));
            right = expect(&t, &x, i, j, oracle_decode(info->d, oracle_encode(info->d, sum)));
        }
    operands_free(&x);
}

static void narrow_results_round_to_even(void **state) {
    (void)state;
    for_each_float_row(output_rounding, true);
}

/* ---- single numbers ---- */

/* A is `a` in column 0, B is `b` in row 0, all else zero: D = alpha * a * b everywhere. */
static void one_product(const char *kernel, tcgemm_type_t type, double alpha, double a, double b,
                        double expected) {
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, 9, 50, 3), 0);
    t.alpha = alpha;
    operands_t x;
    operands_make(&t, &x);
    for (int64_t p = 0; p < 3; ++p) {
        for (int64_t i = 0; i < 9; ++i)
            set(&x.a, i, p, p == 0 ? a : 0.0);
        for (int64_t j = 0; j < 50; ++j)
            set(&x.b, p, j, p == 0 ? b : 0.0);
    }
    if (run(&t, &x))
        (void)(expect(&t, &x, 0, 0, expected) && expect(&t, &x, 8, 49, expected));
    operands_free(&x);
}

static void single_numbers(const char *kernel, tcgemm_type_t type) {
    switch (type) {
    case TCGEMM_F16_F32: /* alpha times the inputs would leave f16 */
        one_product(kernel, type, 1024, 60000, 60000, 1024 * 60000.0 * 60000.0);
        one_product(kernel, type, 0x1p-30, 0x1p-24, 0x1p-24, 0x1p-78);
        break;
    case TCGEMM_F16_F16: /* the sum may leave f16, alpha brings it back; overflow; subnormals */
        one_product(kernel, type, 0x1p-4, 60000, 4, 15000);
        one_product(kernel, type, 1, 65504, 1.0009765625, (double)INFINITY);
        one_product(kernel, type, 1, 0x1p-24, 0.5, 0.0);
        one_product(kernel, type, 1, 3 * 0x1p-24, 0.5, 0x1p-23);
        one_product(kernel, type, 1, -0x1p-24, 0.75, -0x1p-24);
        break;
    case TCGEMM_BF16_BF16:
        one_product(kernel, type, 0x1p-60, 0x1p100, 0x1p27, 0x1p67);
        one_product(kernel, type, 2, 0x1p100, 0x1p27, (double)INFINITY);
        break;
    case TCGEMM_E4M3_F32:
        one_product(kernel, type, 1000, 448, 448, 448.0 * 448.0 * 1000.0);
        one_product(kernel, type, 1, 0x1p-9, 0x1p-9, 0x1p-18);
        break;
    case TCGEMM_E5M2_F32:
        one_product(kernel, type, 3, 57344, 57344, 3 * 57344.0 * 57344.0);
        one_product(kernel, type, 1, 0x1p-16, 0x1p-16, 0x1p-32);
        break;
    case TCGEMM_F32_F32:
        one_product(kernel, type, 0x1p40, 0x1p-100, 0x1p-49, 0x1p-109); /* 2^-149 before alpha */
        one_product(kernel, type, 1, 0x1p-75, 0x1p-74, 0x1p-149);
        break;
    case TCGEMM_F64_F64:
        one_product(kernel, type, 1, 0x1p-537, 0x1p-537, 0x1p-1074);
        one_product(kernel, type, 1 + 0x1p-52, 1, 1, 1 + 0x1p-52); /* alpha is an f64 */
        break;
    default:
        break;
    }
}

static void alpha_multiplies_the_sum(void **state) {
    (void)state;
    for_each_float_row(single_numbers, true);
}

static void integer_alpha_multiplies_the_sum(void **state) {
    (void)state;
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            if (kernel_does(row, (tcgemm_type_t)type, &info) &&
                !oracle_is_float(tcgemm_type_info((tcgemm_type_t)type)->d)) {
                testcase_t t = testcase_make(
                    info.name, tcgemm_problem((tcgemm_type_t)type, 13, 53, 71), (uint64_t)row);
                t.alpha = 1000;
                t.beta = -77;
                (void)testcase_check(&t);
                t.alpha = -2147483648.0;
                (void)testcase_check(&t);
            }
    assert_no_failures();
}

/* ---- a second judge: the definition of the bound, written out here ---- */

static double input(const testcase_t *t, const matrix_t *x, bool transposed, int64_t i, int64_t j) {
    const double value =
        oracle_get(x->dtype, x->data, matrix_index(x, 0, transposed ? j : i, transposed ? i : j));
    return t->p.type == TCGEMM_TF32_F32 ? (double)oracle_tf32((float)value) : value;
}

static void judge_again(const char *kernel, tcgemm_type_t type) {
    const int64_t k = 200;
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, 19, 55, k), 6);
    t.p.op_a = TCGEMM_OP_T;
    t.p.order = TCGEMM_COL_MAJOR;
    t.alpha = -1.5;
    t.beta = 0.25;
    operands_t x;
    operands_make(&t, &x);
    const double unit = x.d.dtype == TCGEMM_DTYPE_F64 ? 0x1p-53 : 0x1p-24;
    const double d_unit = x.d.dtype == TCGEMM_DTYPE_F16    ? 0x1p-11
                          : x.d.dtype == TCGEMM_DTYPE_BF16 ? 0x1p-8
                                                           : 0.0;
    const double most = fmin((double)k + 2, 3 * sqrt((double)k) + 4) * unit;
    bool right = run(&t, &x);
    for (int64_t i = 0; right && i < t.p.m; ++i)
        for (int64_t j = 0; right && j < t.p.n; ++j) {
            long double exact = 0.0L; /* 64 bits: enough for k <= 512 */
            long double size = 0.0L;
            for (int64_t p = 0; p < k; ++p) {
                const long double term =
                    (long double)input(&t, &x.a, true, i, p) * input(&t, &x.b, false, p, j);
                exact += term;
                size += fabsl(term);
            }
            const double c = oracle_get(x.c.dtype, x.c.data, matrix_index(&x.c, 0, i, j));
            exact = -1.5L * exact + 0.25L * c;
            size = 1.5L * size + 0.25L * fabs(c);
            const double bound =
                (double)(most * size * (1 + d_unit) + d_unit * fabsl(exact)) + 0x1p-24 * d_unit;
            const double error = (double)fabsl((long double)d_at(&x, i, j) - exact);
            right = error <= bound; /* false for a NaN */
            if (!right)
                testcase_fail(&t, "(%lld, %lld) is off by %g, the bound is %g", (long long)i,
                              (long long)j, error, bound);
        }
    operands_free(&x);
}

static void a_second_judge_agrees(void **state) {
    (void)state;
    for_each_float_row(judge_again, true);
}

/* ---- C10: every row beside the reference kernel ---- */

static void beside_the_reference(const char *kernel, tcgemm_type_t type) {
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, 70, 60, 300), 12);
    double own;
    double reference;
    operands_t x;
    operands_make(&t, &x);
    if (run(&t, &x) && testcase_judge(&t, &x, &own)) {
        t.kernel = "reference";
        if (run(&t, &x) && testcase_judge(&t, &x, &reference) && !(reference <= 1.0))
            testcase_fail(&t, "the reference misses the bound: %g", reference);
    }
    operands_free(&x);
}

static void rows_and_reference_meet_the_bound(void **state) {
    (void)state;
    for_each_float_row(beside_the_reference, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unkind_distributions),
        cmocka_unit_test(graded_data),
        cmocka_unit_test(identity_and_permutations_keep_all_bits),
        cmocka_unit_test(tf32_inputs_are_rounded_ties_away),
        cmocka_unit_test(narrow_results_round_to_even),
        cmocka_unit_test(alpha_multiplies_the_sum),
        cmocka_unit_test(integer_alpha_multiplies_the_sum),
        cmocka_unit_test(a_second_judge_agrees),
        cmocka_unit_test(rows_and_reference_meet_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
