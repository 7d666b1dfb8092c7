/* What the formula means at its corners: what is not read (X1), where NaN and infinity go (X2), the
 * extremes of the formats (X4), and the floating-point environment (X5), for every kernel row.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "support/oracle.h"
#include "support/testcase.h"

typedef void row_test_t(const tcgemm_kernel_info_t *info, tcgemm_type_t type);

static void for_each_row(row_test_t *test, bool floats_only) {
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            if (kernel_does(row, (tcgemm_type_t)type, &info) &&
                (!floats_only || oracle_is_float(tcgemm_type_info((tcgemm_type_t)type)->d)))
                test(&info, (tcgemm_type_t)type);
    assert_no_failures();
}

static double element(const matrix_t *x, const uint8_t *data, int64_t i, int64_t j) {
    return oracle_get(x->dtype, data, matrix_index(x, 0, i, j));
}

static size_t bytes_of(const matrix_t *x) {
    return (size_t)(x->span * oracle_bits(x->dtype) + 7) / 8;
}

/* ---- X1 ---- */

/* Runs with these pointers and compares D with alpha * 0 + beta * C, or leaves it to the judge. */
static void expect_status_ok(const testcase_t *t, const operands_t *x, const void *a, const void *b,
                             const void *c, void *d, const char *what) {
    tcgemm_plan_t *plan = plan_of(context_of(1), &t->p, t->kernel);
    const tcgemm_status_t status = tcgemm_run(plan, t->alpha, a, b, t->beta, c, d);
    tcgemm_plan_destroy(plan);
    if (status != TCGEMM_STATUS_OK)
        testcase_fail(t, "%s: %s: %s", what, tcgemm_status_name(status), tcgemm_last_error());
    (void)testcase_untouched(t, x);
}

static void expect_scaled_c(const testcase_t *t, const operands_t *x, const char *what) {
    const uint8_t *c = x->c_was + (x->c.data - x->c.block);
    for (int64_t i = 0; i < t->p.m; ++i)
        for (int64_t j = 0; j < t->p.n; ++j) {
            double expected = t->beta == 0 ? 0.0 : t->beta * element(&x->c, c, i, j);
            if (!oracle_is_float(x->d.dtype))
                expected = (double)(int32_t)(uint32_t)(int64_t)expected;
            expected = oracle_decode(x->d.dtype, oracle_encode(x->d.dtype, expected));
            if (element(&x->d, x->d.data, i, j) != expected) {
                testcase_fail(t, "%s: (%lld, %lld) is %g, expected %g", what, (long long)i,
                              (long long)j, element(&x->d, x->d.data, i, j), expected);
                return;
            }
        }
}

/* alpha = 0 or k = 0: A and B are NULL, then full of NaN (0xFF). */
static void without_product(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t size,
                            double alpha, int64_t k, double beta) {
    testcase_t t = testcase_make(info->name, tcgemm_problem(type, size, size, k), 3);
    t.alpha = alpha;
    t.beta = beta;
    t.fill = FILL_SMALL_INT;
    operands_t x;
    operands_make(&t, &x);
    memset(x.a.data, 0xFF, bytes_of(&x.a));
    memset(x.b.data, 0xFF, bytes_of(&x.b));
    operands_save(&x);
    const void *c = beta == 0 ? NULL : x.c.data;
    expect_status_ok(&t, &x, NULL, NULL, c, x.d.data, "A, B NULL");
    expect_scaled_c(&t, &x, "A, B NULL");
    expect_status_ok(&t, &x, x.a.data, x.b.data, x.c.data, x.d.data, "A, B NaN");
    expect_scaled_c(&t, &x, "A, B NaN");
    operands_free(&x);
}

/* beta = 0: C is NULL, then full of NaN; then D itself is C and full of NaN. */
static void without_c(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t size) {
    testcase_t t = testcase_make(info->name, tcgemm_problem(type, size, size, size), 4);
    t.fill = FILL_SMALL_INT;
    operands_t x;
    operands_make(&t, &x); /* C and D are 0xFF */
    expect_status_ok(&t, &x, x.a.data, x.b.data, NULL, x.d.data, "C NULL");
    (void)testcase_compare_exact(&t, &x);
    const uint64_t expected = hash_bytes(x.d.data, bytes_of(&x.d));
    expect_status_ok(&t, &x, x.a.data, x.b.data, x.c.data, x.d.data, "C NaN");
    if (hash_bytes(x.d.data, bytes_of(&x.d)) != expected)
        testcase_fail(&t, "other bits when C is full of NaN");
    memset(x.d.data, 0xFF, bytes_of(&x.d));
    expect_status_ok(&t, &x, x.a.data, x.b.data, x.d.data, x.d.data, "C = D NaN");
    if (hash_bytes(x.d.data, bytes_of(&x.d)) != expected)
        testcase_fail(&t, "other bits when D is C and full of NaN");
    operands_free(&x);
}

static void nothing_to_do(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t size) {
    static const int which[] = {0, 1, 2};
    for (size_t i = 0; i < 3; ++i) {
        testcase_t t = testcase_make(info->name, tcgemm_problem(type, size, size, size), 5);
        t.p.m = which[i] == 0 ? 0 : size;
        t.p.n = which[i] == 1 ? 0 : size;
        t.p.batch = which[i] == 2 ? 0 : 1;
        t.beta = 1;
        operands_t x;
        operands_make(&t, &x);
        expect_status_ok(&t, &x, NULL, NULL, NULL, NULL, "empty D");
        expect_status_ok(&t, &x, x.a.data, x.b.data, x.c.data, x.d.data, "empty D");
        operands_free(&x);
    }
}

/* alpha = 0, beta = 1, D = C: the very bits stay, NaN codes and -0 too. */
static void identity_in_place(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t size) {
    testcase_t t = testcase_make(info->name, tcgemm_problem(type, size, size, size), 6);
    t.alpha = 0;
    t.beta = 1;
    t.in_place = true;
    operands_t x;
    operands_make(&t, &x);
    uint64_t random = 1;
    for (int64_t e = 0; e < x.d.span; ++e)
        oracle_set_bits(x.d.dtype, x.d.data, e, random_next(&random));
    operands_save(&x);
    expect_status_ok(&t, &x, NULL, NULL, x.d.data, x.d.data, "D = C");
    if (memcmp(x.d.block, x.d_was, x.d.block_bytes) != 0)
        testcase_fail(&t, "alpha = 0, beta = 1 in place changes bits");
    operands_free(&x);
}

static void rules_at_sizes(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    static const int64_t sizes[] = {1, 2, 8, 64, 100, 101, 128, 300};
    const int64_t count = info->tile_n == 1 ? at_level(3, 5, 7) : at_level(4, 8, 8);
    for (int64_t s = 0; s < count; ++s) {
        const bool large =
            sizes[s] > 101; /* the rules have two code paths; those are not of size */
        without_c(info, type, sizes[s]);
        without_product(info, type, sizes[s], 0, large ? 1 : sizes[s], 3);
        without_product(info, type, sizes[s], 2, 0, -2);
        if (large)
            continue;
        without_product(info, type, sizes[s], 0, sizes[s], 0);
        without_product(info, type, sizes[s], 1, 0, 0);
        nothing_to_do(info, type, sizes[s]);
        identity_in_place(info, type, sizes[s]);
    }
}

static void what_is_not_needed_is_not_read(void **state) {
    (void)state;
    for_each_row(rules_at_sizes, false);
}

/* ---- X2: one special number, and exactly the elements it reaches ---- */

typedef enum kind { KIND_FINITE, KIND_PLUS, KIND_MINUS, KIND_NAN } kind_t;

static kind_t kind_of(double x) {
    return isnan(x) ? KIND_NAN : isinf(x) ? (x > 0 ? KIND_PLUS : KIND_MINUS) : KIND_FINITE;
}

typedef struct planted {
    int matrix;   /* 0 A, 1 B, 2 C */
    int64_t i, j; /* of op(A), op(B), C */
    double value;
} planted_t;

static double op_element(const matrix_t *x, bool transposed, int64_t i, int64_t j) {
    return element(x, x->data, transposed ? j : i, transposed ? i : j);
}

/* What the plant adds to element (i, j) of D; 0 if it does not reach it. */
static double reach(const testcase_t *t, const operands_t *x, const planted_t *s, int64_t i,
                    int64_t j) {
    if (s->matrix == 2)
        return i == s->i && j == s->j ? t->beta * s->value : 0.0;
    if (s->matrix == 0)
        return i == s->i ? t->alpha * (s->value * op_element(&x->b, t->p.op_b, s->j, j)) : 0.0;
    return j == s->j ? t->alpha * (op_element(&x->a, t->p.op_a, i, s->i) * s->value) : 0.0;
}

static bool check_plant(const testcase_t *t, const operands_t *x, const planted_t *s,
                        const uint8_t *clean) {
    for (int64_t i = 0; i < t->p.m; ++i)
        for (int64_t j = 0; j < t->p.n; ++j) {
            const int64_t index = matrix_index(&x->d, 0, i, j);
            const kind_t expected = kind_of(reach(t, x, s, i, j));
            const double got = oracle_get(x->d.dtype, x->d.data, index);
            const bool right = expected == KIND_FINITE
                                   ? oracle_get_bits(x->d.dtype, x->d.data, index) ==
                                         oracle_get_bits(x->d.dtype, clean, index)
                                   : kind_of(got) == expected;
            if (right)
                continue;
            testcase_fail(t, "%g at (%lld, %lld) of op(%c): D(%lld, %lld) is %g", s->value,
                          (long long)s->i, (long long)s->j, "ABC"[s->matrix], (long long)i,
                          (long long)j, got);
            return false;
        }
    return true;
}

/* Corners, the edges of the register tile, then anywhere. */
static int64_t spot(int64_t size, int64_t tile, int64_t which, uint64_t *random) {
    const int64_t named[] = {0, size - 1, tile - 1, tile, size / 2};
    const int64_t at = which < 5 ? named[which] : random_below(random, size);
    return at >= 0 && at < size ? at : size - 1;
}

static void plant_in(const testcase_t *t, operands_t *x, const tcgemm_kernel_info_t *info,
                     int matrix, double value, const uint8_t *clean) {
    matrix_t *const target = matrix == 0 ? &x->a : matrix == 1 ? &x->b : &x->c;
    const int64_t rows = matrix == 1 ? t->p.k : t->p.m;
    const int64_t cols = matrix == 0 ? t->p.k : t->p.n;
    const bool transposed = matrix == 0 ? t->p.op_a : matrix == 1 ? t->p.op_b : false;
    if (kind_of(oracle_decode(target->dtype, oracle_encode(target->dtype, value))) !=
        kind_of(value))
        return; /* e4m3 has no infinity */
    const int64_t count = at_level(4, 12, 64);
    uint64_t random = (uint64_t)matrix + 10;
    for (int64_t s = 0; s < count; ++s) {
        const planted_t plant = {
            .matrix = matrix,
            .i = spot(rows, matrix == 1 ? info->tile_k : info->tile_m, s % 8, &random),
            .j =
                spot(cols, matrix == 0 ? info->tile_k : info->tile_n, (s * 3 + s / 8) % 8, &random),
            .value = value,
        };
        const int64_t index =
            matrix_index(target, 0, transposed ? plant.j : plant.i, transposed ? plant.i : plant.j);
        const uint64_t old = oracle_get_bits(target->dtype, target->data, index);
        oracle_set(target->dtype, target->data, index, value);
        const tcgemm_status_t status = testcase_run_on(t, x);
        if (status != TCGEMM_STATUS_OK)
            testcase_fail(t, "%s", tcgemm_status_name(status));
        const bool right = check_plant(t, x, &plant, clean);
        oracle_set_bits(target->dtype, target->data, index, old);
        if (!right)
            return;
    }
}

static void specials(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t shapes[][3] = {{1, 1, 1},
                                 {info->tile_m + 1, info->tile_n + 1, info->tile_k + 1},
                                 {info->tile_m * 2 - 1, info->tile_n * 2 - 1, 37},
                                 {67, 31, 40},
                                 {3, 5, 803},
                                 {130, 140, 150}}; /* beyond the path without packing */
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int64_t s = 0; s < at_level(4, 6, 6); ++s) {
        testcase_t t = testcase_make(info->name,
                                     tcgemm_problem(type, shapes[s][0], shapes[s][1], shapes[s][2]),
                                     (uint64_t)s);
        t.fill = FILL_SMALL_INT;
        t.p.op_a = s & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_b = s & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.order = s & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        t.alpha = s & 1 ? -2 : 1;
        t.beta = 2;
        if (info->tile_n == 1 && s > 3)
            break;
        operands_t x;
        operands_make(&t, &x);
        if (testcase_run_on(&t, &x) != TCGEMM_STATUS_OK)
            testcase_fail(&t, "%s", tcgemm_last_error());
        uint8_t *clean = malloc(bytes_of(&x.d) + 1);
        assert_non_null(clean);
        memcpy(clean, x.d.data, bytes_of(&x.d));
        for (int matrix = 0; matrix < 3; ++matrix)
            for (size_t v = 0; v < 3; ++v)
                plant_in(&t, &x, info, matrix, values[v], clean);
        free(clean);
        operands_free(&x);
    }
}

static void specials_go_where_the_formula_sends_them(void **state) {
    (void)state;
    for_each_row(specials, true);
}

/* Infinities of both signs in one row meet in NaN; scalars that are not finite reach everything. */
static void special_scalars(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    static const double scalars[][2] = {
        {(double)NAN, 0}, {1, (double)NAN}, {(double)INFINITY, 0}, {1, -(double)INFINITY}};
    for (size_t s = 0; s < 4; ++s) {
        testcase_t t = testcase_make(info->name, tcgemm_problem(type, 17, 51, 9), 8);
        t.alpha = scalars[s][0];
        t.beta = scalars[s][1];
        t.fill = FILL_POSITIVE;
        operands_t x;
        operands_make(&t, &x);
        const tcgemm_status_t status = testcase_run_on(&t, &x);
        const kind_t expected = kind_of(isfinite(t.alpha) ? t.beta : t.alpha);
        for (int64_t e = 0; e < x.d.span; ++e)
            if (status != TCGEMM_STATUS_OK ||
                kind_of(oracle_get(x.d.dtype, x.d.data, e)) != expected) {
                testcase_fail(&t, "element %lld is %g", (long long)e,
                              oracle_get(x.d.dtype, x.d.data, e));
                break;
            }
        operands_free(&x);
    }
}

static void scalars_that_are_not_finite(void **state) {
    (void)state;
    for_each_row(special_scalars, true);
}

static void opposite_infinities(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const tcgemm_dtype_t dtype = tcgemm_type_info(type)->a;
    if (dtype == TCGEMM_DTYPE_E4M3)
        return;
    for (int64_t k = 2; k < 900; k = k * 3 + 1) {
        testcase_t t = testcase_make(info->name, tcgemm_problem(type, 11, 53, k), 9);
        t.fill = FILL_POSITIVE;
        operands_t x;
        operands_make(&t, &x);
        for (int64_t p = 0; p < k; ++p) /* B all ones */
            for (int64_t j = 0; j < 53; ++j)
                oracle_set(dtype, x.b.data, matrix_index(&x.b, 0, p, j), 1.0);
        oracle_set(dtype, x.a.data, matrix_index(&x.a, 0, 5, 0), (double)INFINITY);
        oracle_set(dtype, x.a.data, matrix_index(&x.a, 0, 5, k - 1), -(double)INFINITY);
        operands_save(&x);
        (void)testcase_run_on(&t, &x);
        for (int64_t i = 0; i < 11; ++i)
            for (int64_t j = 0; j < 53; ++j)
                if (isnan(element(&x.d, x.d.data, i, j)) != (i == 5))
                    testcase_fail(&t, "(%lld, %lld) is %g", (long long)i, (long long)j,
                                  element(&x.d, x.d.data, i, j));
        operands_free(&x);
    }
}

static void opposite_infinities_make_nan(void **state) {
    (void)state;
    for_each_row(opposite_infinities, true);
}

/* ---- subnormal inputs count ---- */

/* The smallest positive input times a large one; all other elements of the row are zero. */
static void subnormals(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const tcgemm_dtype_t dtype = tcgemm_type_info(type)->a;
    if (type == TCGEMM_TF32_F32) /* the smallest f32 is no tf32 */
        return;
    const int large = dtype == TCGEMM_DTYPE_F64    ? 1000
                      : oracle_bits(dtype) == 32   ? 120
                      : dtype == TCGEMM_DTYPE_BF16 ? 120
                                                   : 7;
    for (int i = 0; i < 3; ++i)
        for (int64_t k = 1; k < 900; k = k * 4 + 1) {
            const bool is_in_a = i > 0, is_across = i == 2;
            testcase_t t = testcase_make(info->name, tcgemm_problem(type, 19, 101, k), 10);
            t.p.op_a = is_across ? TCGEMM_OP_T : TCGEMM_OP_N;
            operands_t x;
            operands_make(&t, &x);
            const double tiny = oracle_decode(dtype, 1 + (uint64_t)(k % 2));
            for (int64_t p = 0; p < k; ++p) {
                for (int64_t row = 0; row < 19; ++row)
                    oracle_set(dtype, x.a.data,
                               is_across ? matrix_index(&x.a, 0, p, row)
                                         : matrix_index(&x.a, 0, row, p),
                               p + 1 < k ? 0.0
                               : is_in_a ? tiny
                                         : ldexp(1.0, large));
                for (int64_t j = 0; j < 101; ++j)
                    oracle_set(dtype, x.b.data, matrix_index(&x.b, 0, p, j),
                               p + 1 < k ? 0.0
                               : is_in_a ? ldexp(1.0, large)
                                         : tiny);
            }
            operands_save(&x);
            (void)testcase_run_on(&t, &x);
            const double expected =
                oracle_decode(x.d.dtype, oracle_encode(x.d.dtype, ldexp(tiny, large)));
            for (int64_t e = 0; e < x.d.span; ++e)
                if (oracle_get(x.d.dtype, x.d.data, e) != expected) {
                    testcase_fail(&t, "%a times 2^%d in %c: element %lld is %a", tiny, large,
                                  is_in_a ? 'A' : 'B', (long long)e,
                                  oracle_get(x.d.dtype, x.d.data, e));
                    break;
                }
            operands_free(&x);
        }
}

static void subnormal_inputs_count(void **state) {
    (void)state;
    for_each_row(subnormals, true);
}

/* ---- X4 ---- */

static double largest_of(tcgemm_dtype_t dtype) {
    const int bits = oracle_bits(dtype);
    uint64_t code = (UINT64_C(1) << (bits - 1)) - 1; /* down from the largest NaN */
    if (dtype == TCGEMM_DTYPE_F64)
        return DBL_MAX;
    if (dtype == TCGEMM_DTYPE_F32)
        return (double)FLT_MAX;
    while (!isfinite(oracle_decode(dtype, code)))
        --code;
    return oracle_decode(dtype, code);
}

static double extreme(int pattern, tcgemm_dtype_t dtype, int64_t e) {
    const double tiny = oracle_decode(dtype, 1);
    switch (pattern) {
    case 0:
        return largest_of(dtype);
    case 1:
        return e & 1 ? -largest_of(dtype) : largest_of(dtype);
    case 2:
        return tiny;
    case 3:
        return -0.0;
    default:
        return e % 3 == 0 ? largest_of(dtype) : e % 3 == 1 ? tiny : -1.0;
    }
}

static void extremes(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    static const double alphas[] = {1, 0x1p-100, -2};
    for (int pattern = 0; pattern < 5; ++pattern)
        for (int other = 0; other < 5; ++other)
            for (size_t s = 0; s < 3; ++s) {
                if ((pattern + other + (int)s) % (int)at_level(5, 1, 1) != 0)
                    continue;
                testcase_t t = testcase_make(info->name, tcgemm_problem(type, 10, 50, 33), 11);
                t.alpha = alphas[s];
                t.beta = s == 1 ? 1 : 0;
                operands_t x;
                operands_make(&t, &x);
                for (int64_t e = 0; e < x.a.span; ++e)
                    oracle_set(x.a.dtype, x.a.data, e, extreme(pattern, x.a.dtype, e));
                for (int64_t e = 0; e < x.b.span; ++e)
                    oracle_set(x.b.dtype, x.b.data, e, extreme(other, x.b.dtype, e));
                for (int64_t e = 0; t.beta != 0 && e < x.c.span; ++e)
                    oracle_set(x.c.dtype, x.c.data, e, extreme(pattern, x.c.dtype, e + 1));
                operands_save(&x);
                if (testcase_run_on(&t, &x) != TCGEMM_STATUS_OK)
                    testcase_fail(&t, "%s", tcgemm_last_error());
                (void)testcase_judge(&t, &x, NULL);
                operands_free(&x);
            }
}

static void extremes_of_the_formats(void **state) {
    (void)state;
    for_each_row(extremes, true);
}

/* ---- X5 ---- */

/* No exception but inexact and underflow on ordinary data, even if the workspace is full of
 * signalling NaN: what is not data takes no part in the arithmetic. */
static void flags_of(const testcase_t *t) {
    operands_t x;
    operands_make(t, &x);
    tcgemm_plan_t *plan = plan_of(context_of(1), &t->p, t->kernel);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    (void)tcgemm_plan_get_info(plan, &info);
    uint8_t *workspace = malloc(info.workspace_bytes + 8);
    assert_non_null(workspace);
    const bool is_f64 = t->p.type == TCGEMM_F64_F64;
    const uint64_t poison = is_f64 ? UINT64_C(0x7FF4000000000000) : UINT64_C(0x7FA07FA07FA07FA0);
    for (size_t i = 0; i + 8 <= info.workspace_bytes + 8; i += 8)
        memcpy(workspace + i, &poison, 8);
    (void)feclearexcept(FE_ALL_EXCEPT);
    const tcgemm_status_t status =
        tcgemm_run_with(plan, t->alpha, x.a.data, x.b.data, t->beta, x.c.data, x.d.data, workspace,
                        info.workspace_bytes, NULL);
    const int raised = fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    if (status != TCGEMM_STATUS_OK || raised != 0)
        testcase_fail(t, "%s, exceptions%s%s%s", tcgemm_status_name(status),
                      raised & FE_INVALID ? " invalid" : "",
                      raised & FE_DIVBYZERO ? " divide-by-zero" : "",
                      raised & FE_OVERFLOW ? " overflow" : "");
    (void)feclearexcept(FE_ALL_EXCEPT);
    free(workspace);
    tcgemm_plan_destroy(plan);
    operands_free(&x);
}

static void exceptions(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t shapes[][3] = {{info->tile_m + 1, info->tile_n + 1, info->tile_k + 1},
                                 {1, 1, 1},
                                 {67, 101, 35},
                                 {130, 133, 137},
                                 {3, 5, 801}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; ++s)
        for (int ops = 0; ops < 4; ++ops) {
            testcase_t t = testcase_make(
                info->name, tcgemm_problem(type, shapes[s][0], shapes[s][1], shapes[s][2]), 12);
            t.p.op_a = ops & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.p.op_b = ops & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.beta = ops == 3 ? 2 : 0;
            flags_of(&t);
        }
}

static void clean_data_raise_no_exception(void **state) {
    (void)state;
    for_each_row(exceptions, false);
}

#ifdef __x86_64__
/* Flush-to-zero, zero denormals and directed rounding of the caller survive the call. */
static void modes(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    static const unsigned controls[] = {0x1F80u, 0x9FC0u, 0x5F80u, 0x3F80u, 0x7F80u};
    for (size_t s = 0; s < sizeof controls / sizeof controls[0]; ++s) {
        testcase_t t = testcase_make(info->name, tcgemm_problem(type, 21, 61, 43), 13);
        operands_t x;
        operands_make(&t, &x);
        (void)testcase_run_on(&t, &x);
        tcgemm_plan_t *plan = plan_of(context_of(2), &t.p, t.kernel);
        const unsigned before = _mm_getcsr();
        _mm_setcsr(controls[s]);
        const tcgemm_status_t status =
            tcgemm_run(plan, 1.0, x.a.data, x.b.data, 0.0, NULL, x.d.data);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        if (status != TCGEMM_STATUS_OK || (after & ~0x3Fu) != controls[s])
            testcase_fail(&t, "%s, MXCSR %#x became %#x", tcgemm_status_name(status), controls[s],
                          after);
        tcgemm_plan_destroy(plan);
        operands_free(&x);
    }
}

static void modes_of_the_processor_stay(void **state) {
    (void)state;
    for_each_row(modes, false);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_needed_is_not_read),
        cmocka_unit_test(specials_go_where_the_formula_sends_them),
        cmocka_unit_test(scalars_that_are_not_finite),
        cmocka_unit_test(opposite_infinities_make_nan),
        cmocka_unit_test(subnormal_inputs_count),
        cmocka_unit_test(extremes_of_the_formats),
        cmocka_unit_test(clean_data_raise_no_exception),
#ifdef __x86_64__
        cmocka_unit_test(modes_of_the_processor_stay),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
