/* The reference against products computed by hand, in long integers, or from the definition. */
#include "ref_fixture.h"

#include <float.h>
#include <math.h>

__extension__ typedef __int128 int128;

/* ---- every type, op, order and batch ---- */

/* Small whole numbers that every dtype holds. */
static int small_number(tcgemm_dtype_t dtype, uint64_t *random) {
    const int value = (int)(tcgemm_next_random(random) >> 40);
    switch (dtype) {
    case TCGEMM_DTYPE_B1:
        return value & 1;
    case TCGEMM_DTYPE_U8:
    case TCGEMM_DTYPE_U4:
        return value & 3;
    default:
        return (value & 3) - 2;
    }
}

static void fill_small(tcgemm_dtype_t dtype, void *array, size_t bytes, uint64_t seed) {
    const int64_t count = (int64_t)bytes * 8 / tcgemm_dtype_bits(dtype);
    for (int64_t e = 0; e < count; ++e)
        store(dtype, array, e, small_number(dtype, &seed));
}

static double expected_element(const fixture_t *f, int64_t t, int64_t i, int64_t j) {
    const tcgemm_type_info_t *type = tcgemm_type_info(f->plan.problem.type);
    const int use_xor = (f->plan.problem.flags & TCGEMM_FLAG_XOR) != 0;
    int sum = 0;
    for (int64_t p = 0; p < f->plan.problem.k; ++p) {
        const int a = (int)load(type->a, f->a, place_a(f, t, i, p));
        const int b = (int)load(type->b, f->b, place_b(f, t, p, j));
        sum += use_xor ? a != b : a * b;
    }
    const int c = f->beta != 0 ? (int)load(type->d, f->c, place_c(f, t, i, j)) : 0;
    return (int)f->alpha * sum + (int)f->beta * c;
}

static void check_small_product(tcgemm_problem_t p, double alpha, double beta) {
    const tcgemm_type_info_t *type = tcgemm_type_info(p.type);
    fixture_t f;
    fixture_init(&f, p);
    f.alpha = alpha;
    f.beta = beta;
    fill_small(type->a, f.a, f.a_bytes, 1);
    fill_small(type->b, f.b, f.b_bytes, 2);
    fill_small(type->d, f.c, f.c_bytes, 3);
    memset(f.d, 0x55, f.d_bytes);
    fixture_run(&f);
    for (int64_t t = 0; t < p.batch; ++t)
        for (int64_t i = 0; i < p.m; ++i)
            for (int64_t j = 0; j < p.n; ++j)
                assert_true(load(type->d, f.d, place_d(&f, t, i, j)) ==
                            expected_element(&f, t, i, j));
    /* Overwrite what belongs to D: the rest must be as it was. */
    for (int64_t t = 0; t < p.batch; ++t)
        for (int64_t i = 0; i < p.m; ++i)
            for (int64_t j = 0; j < p.n; ++j)
                memset((char *)f.d + place_d(&f, t, i, j) * tcgemm_dtype_bits(type->d) / 8, 0x55,
                       (size_t)tcgemm_dtype_bits(type->d) / 8);
    for (size_t byte = 0; byte < f.d_bytes; ++byte)
        assert_int_equal(((unsigned char *)f.d)[byte], 0x55);
    fixture_free(&f);
}

static void every_type_and_layout(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        for (int layout = 0; layout < 16; ++layout) {
            tcgemm_problem_t p = tcgemm_problem((tcgemm_type_t)type, 5, 3, 7);
            p.op_a = layout & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.op_b = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.order = layout & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
            if (layout & 8) { /* padded, apart, and one B for all */
                p.lda = p.ldb = p.ldc = p.ldd = 9;
                p.batch = 3;
                p.stride_a = 70;
                p.stride_c = 50;
                p.stride_d = 51;
            }
            check_small_product(p, 1.0, 0.0);
            check_small_product(p, 2.0, -3.0);
            p.flags = type == TCGEMM_B1_S32 ? TCGEMM_FLAG_XOR : 0;
            check_small_product(p, -1.0, 1.0);
        }
    }
}

static void hand_computed_products(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F32_F32, 2, 2, 3));
    memcpy(f.a, (const float[]){1, 2, 3, 4, 5, 6}, 24);
    memcpy(f.b, (const float[]){1, 0, 0, 1, 1, 1}, 24);
    fixture_run(&f);
    assert_memory_equal(f.d, ((const float[]){4, 5, 10, 11}), 16);
    fixture_free(&f);

    fixture_init(&f, tcgemm_problem(TCGEMM_S4_S32, 1, 1, 3));
    memcpy(f.a, (const uint8_t[]){0x78, 0x0F}, 2); /* -8, 7, -1 */
    memcpy(f.b, (const uint8_t[]){0x28, 0x05}, 2); /* -8, 2, 5 */
    fixture_run(&f);
    assert_int_equal(*(int32_t *)f.d, 64 + 14 - 5);
    fixture_free(&f);

    fixture_init(&f, tcgemm_problem(TCGEMM_B1_S32, 1, 1, 8));
    *(uint8_t *)f.a = 0xB6;
    *(uint8_t *)f.b = 0x3C;
    fixture_run(&f);
    assert_int_equal(*(int32_t *)f.d, 3); /* 0x34 */
    f.plan.g.flags = TCGEMM_FLAG_XOR;
    fixture_run(&f);
    assert_int_equal(*(int32_t *)f.d, 3); /* 0x8A */
    *(uint8_t *)f.b = 0x49;
    fixture_run(&f);
    assert_int_equal(*(int32_t *)f.d, 8);
    fixture_free(&f);
}

/* ---- rounding ---- */

static void rounds_once(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F32_F32, 1, 1, 3));
    memcpy(f.a, (const float[]){0x1p24f, 1.0f, -0x1p24f}, 12);
    memcpy(f.b, (const float[]){1.0f, 1.0f, 1.0f}, 12);
    fixture_run(&f);
    assert_true(*(float *)f.d == 1.0f); /* sums in f32 give 0 */
    f.alpha = 1.0 / 3.0;
    memcpy(f.a, (const float[]){1.0f, 1.0f, 1.0f}, 12);
    fixture_run(&f);
    assert_true(*(float *)f.d == (float)(3.0 * (double)(float)(1.0 / 3.0)));
    memcpy(f.a, (const float[]){FLT_MAX, FLT_MAX, 0.0f}, 12);
    f.alpha = 1.0;
    fixture_run(&f);
    assert_true(*(float *)f.d == INFINITY);
    f.alpha = 0.5;
    fixture_run(&f);
    assert_true(*(float *)f.d == FLT_MAX);
    fixture_free(&f);
}

static void rounds_to_tf32(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_TF32_F32, 1, 1, 1));
    *(float *)f.a = 1.0f + 0x1p-11f; /* a tie: away from zero */
    *(float *)f.b = -(1.0f + 0x1p-12f);
    *(float *)f.c = 1.0f + 0x1p-20f; /* C is f32 */
    f.beta = 1.0;
    fixture_run(&f);
    assert_true(*(float *)f.d == -(1.0f + 0x1p-10f) + (1.0f + 0x1p-20f));
    fixture_free(&f);
}

static void integers_wrap_round(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_U8_S32, 1, 1, 4));
    memset(f.a, 255, 4);
    memset(f.b, 255, 4);
    *(int32_t *)f.c = INT32_MIN;
    f.alpha = 4294967295.0;
    f.beta = 3.0;
    fixture_run(&f);
    const uint32_t expected = (uint32_t)-260100 + 3u * 0x80000000u;
    assert_int_equal(*(uint32_t *)f.d, expected);
    f.alpha = -2147483648.0;
    f.beta = 0.0;
    ((uint8_t *)f.a)[0] = 254;
    fixture_run(&f);
    assert_int_equal(*(uint32_t *)f.d, 0x80000000u); /* times an odd sum */
    fixture_free(&f);
}

/* ---- what is read ---- */

static void scalars_of_zero_read_nothing(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const tcgemm_type_info_t *info = tcgemm_type_info((tcgemm_type_t)type);
        if (tcgemm_dtype_is_integer(info->d))
            continue;
        fixture_t f;
        fixture_init(&f, tcgemm_problem((tcgemm_type_t)type, 2, 2, 2));
        for (int e = 0; e < 4; ++e) {
            store(info->a, f.a, e, 1.0);
            store(info->b, f.b, e, 1.0);
            store(info->d, f.c, e, (double)NAN);
        }
        fixture_run(&f); /* beta = 0 with NaN in C */
        assert_true(load(info->d, f.d, 3) == 2.0);
        for (int e = 0; e < 4; ++e) {
            store(info->a, f.a, e, (double)NAN);
            store(info->d, f.c, e, 4.0);
        }
        f.alpha = 0.0; /* with NaN in A */
        f.beta = 0.5;
        fixture_run(&f);
        assert_true(load(info->d, f.d, 2) == 2.0);
        f.beta = 0.0;
        fixture_run(&f);
        assert_true(load(info->d, f.d, 1) == 0.0);
        f.alpha = 1.0;
        fixture_run(&f);
        assert_true(isnan(load(info->d, f.d, 0)));
        fixture_free(&f);
    }
}

static void null_pointers_where_nothing_is_read(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F64_F64, 1, 2, 0));
    const tcgemm_call_t no_product = {.alpha = 1.0, .beta = 2.0, .c = f.c, .d = f.d};
    ((double *)f.c)[1] = 21.0;
    assert_int_equal(tcgemm_reference_run(&f.plan, &no_product, NULL), TCGEMM_STATUS_OK);
    assert_true(((double *)f.d)[1] == 42.0);
    const tcgemm_call_t nothing = {.alpha = 1.0, .d = f.d};
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    assert_int_equal(tcgemm_reference_run(&f.plan, &nothing, &stats), TCGEMM_STATUS_OK);
    assert_true(((double *)f.d)[1] == 0.0);
    assert_true(stats.total_seconds >= 0.0);
    f.plan.g.m = 0;
    const tcgemm_call_t untouched = {.alpha = 1.0, .beta = 1.0};
    assert_int_equal(tcgemm_reference_run(&f.plan, &untouched, NULL), TCGEMM_STATUS_OK);
    fixture_free(&f);
}

static void d_may_be_c(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F16_F16, 4, 4, 4));
    fixture_fill(&f, 5);
    f.beta = -2.0;
    fixture_run(&f);
    tcgemm_call_t call = fixture_call(&f);
    call.d = f.c;
    assert_int_equal(tcgemm_reference_run(&f.plan, &call, NULL), TCGEMM_STATUS_OK);
    assert_memory_equal(f.c, f.d, 32);
    fixture_free(&f);
}

/* ---- NaN, infinity and the ends of f64 ---- */

typedef struct dot_case {
    double a[3], b[3], alpha, beta, c, expected;
} dot_case_t;

static void check_dot(tcgemm_type_t type, const dot_case_t *x) {
    const tcgemm_type_info_t *info = tcgemm_type_info(type);
    fixture_t f;
    fixture_init(&f, tcgemm_problem(type, 1, 1, 3));
    f.alpha = x->alpha;
    f.beta = x->beta;
    for (int p = 0; p < 3; ++p) {
        store(info->a, f.a, p, x->a[p]);
        store(info->b, f.b, p, x->b[p]);
    }
    store(info->d, f.c, 0, x->c);
    fixture_run(&f);
    const double got = load(info->d, f.d, 0);
    if (!(isnan(x->expected) ? isnan(got) : got == x->expected))
        fail_msg("%s: %a, but expected %a", info->name, got, x->expected);
    fixture_free(&f);
}

static void infinities_follow_the_formula(void **state) {
    (void)state;
    const double inf = (double)INFINITY;
    const double nan = (double)NAN;
    const dot_case_t cases[] = {
        {{inf, 1, 1}, {1, 1, 1}, 1, 0, 0, inf},     {{inf, 1, 1}, {-1, 1, 1}, 1, 0, 0, -inf},
        {{inf, 1, 1}, {0, 1, 1}, 1, 0, 0, nan},     {{inf, -inf, 1}, {1, 1, 1}, 1, 0, 0, nan},
        {{inf, inf, 1}, {1, 2, 1}, -1, 0, 0, -inf}, {{1, 1, 1}, {1, 1, 1}, inf, 0, 0, inf},
        {{1, -1, 0}, {1, 1, 1}, inf, 0, 0, nan},    {{1, 1, 1}, {1, 1, 1}, 1, 1, -inf, -inf},
        {{inf, 1, 1}, {1, 1, 1}, 1, 1, -inf, nan},  {{1, 1, 1}, {1, 1, 1}, 1, inf, 0, nan},
        {{1, 1, 1}, {1, nan, 1}, 1, 0, 0, nan},     {{1, 1, 1}, {1, 1, 1}, 1, 1, nan, nan},
        {{1, 1, 1}, {1, 1, 1}, nan, 0, 0, nan},     {{1, 1, 1}, {1, 1, 1}, 1, nan, 0, nan},
    };
    const tcgemm_type_t types[] = {TCGEMM_F64_F64,   TCGEMM_F32_F32,  TCGEMM_TF32_F32,
                                   TCGEMM_F16_F16,   TCGEMM_BF16_F32, TCGEMM_BF16_BF16,
                                   TCGEMM_E5M2_BF16, TCGEMM_F16_F32,  TCGEMM_E5M2_F32};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t)
        for (size_t s = 0; s < sizeof cases / sizeof cases[0]; ++s)
            check_dot(types[t], &cases[s]);
}

static void f64_has_no_spurious_overflow(void **state) {
    (void)state;
    const double max = DBL_MAX;
    const double inf = (double)INFINITY;
    const dot_case_t cases[] = {
        {{max, max, -max}, {1, 1, 1}, 1, 0, 0, max},
        {{max, max, max}, {1, 1, -1}, 1, 0, 0, max},
        {{max, max, 0}, {1, 1, 0}, 0.5, 0, 0, max},
        {{max, max, 0}, {max, max, 0}, 1e-300, 0, 0, inf},
        {{max, 0, 0}, {2, 0, 0}, 1, -1, max, max},
        {{max, 0, 0}, {max, 0, 0}, 1, -max, max, 0},
        {{max, 0, 0}, {1, 0, 0}, 1, 0, 0, max},
        {{max, max, 1}, {1, 1, 1}, 1, 0, 0, inf},
        {{max, max, -inf}, {1, 1, 1}, 1, 0, 0, -inf},
        {{max, max, 0}, {1, 0x1p-60, 0}, 1, 0, 0, max},
        {{1, 0, 0}, {1, 0, 0}, inf, 0, 0, inf},
        {{0x1p-1074, 0x1p-1074, 0}, {1, 1, 0}, 1, 0, 0, 0x1p-1073},
        {{0x1p600, 1, 1}, {0x1p600, 1, 1}, 0x1p-1000, 0, 0, 0x1p200},
    };
    for (size_t s = 0; s < sizeof cases / sizeof cases[0]; ++s)

        check_dot(TCGEMM_F64_F64, &cases[s]);
}

/* ---- f64 in two f64 ---- */

static double whole_number(uint64_t *random, int bits) {
    const int64_t value = (int64_t)(tcgemm_next_random(random) >> (64 - bits));
    return (double)(tcgemm_next_random(random) & 1 ? value : -value);
}

static void f64_against_128_bits(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 50; ++round) {
        const int64_t k = 1 + round * 20;
        fixture_t f;
        fixture_init(&f, tcgemm_problem(TCGEMM_F64_F64, 1, 1, k));
        double *a = f.a;
        double *b = f.b;
        int128 exact = 0;
        for (int64_t p = 0; p < k; ++p) {
            a[p] = whole_number(&random, 53);
            b[p] = whole_number(&random, 53);
            if (p % 2 == 1) { /* nearly cancels the one before */
                a[p] = -a[p - 1];
                b[p] = b[p - 1] + (double)(p % 5 - 2);
            }
            exact += (int128)a[p] * (int128)b[p];
        }
        const tcgemm_call_t call = fixture_call(&f);
        tcgemm_ref_value_t value;
        tcgemm_reference_element(&f.plan.g, &call, 0, 0, 0, &value);
        assert_int_equal(value.exponent, 0);
        const int128 error = exact - (int128)value.hi - (int128)value.lo;
        assert_true(fabs((double)error) <= 0x1p-90 * value.magnitude);
        assert_true(value.hi == (double)exact);
        fixture_free(&f);
    }
}

static void magnitude_is_that_of_the_bound(void **state) {
    (void)state;
    for (int type = TCGEMM_F32_F32; type <= TCGEMM_F64_F64; ++type) {
        const tcgemm_type_info_t *info = tcgemm_type_info((tcgemm_type_t)type);
        fixture_t f;
        fixture_init(&f, tcgemm_problem((tcgemm_type_t)type, 1, 1, 2));
        store(info->a, f.a, 0, 3.0);
        store(info->a, f.a, 1, -2.0);
        store(info->b, f.b, 0, 5.0);
        store(info->b, f.b, 1, 7.0);
        store(info->d, f.c, 0, -4.0);
        f.alpha = -2.0;
        f.beta = 0.5;
        const tcgemm_call_t call = fixture_call(&f);
        tcgemm_ref_value_t value;
        tcgemm_reference_element(&f.plan.g, &call, 0, 0, 0, &value);
        assert_true(value.hi == -4.0 && value.lo == 0.0);
        assert_true(value.product == 29.0);
        assert_true(value.magnitude == 60.0);
        fixture_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_layout),
        cmocka_unit_test(hand_computed_products),
        cmocka_unit_test(rounds_once),
        cmocka_unit_test(rounds_to_tf32),
        cmocka_unit_test(integers_wrap_round),
        cmocka_unit_test(scalars_of_zero_read_nothing),
        cmocka_unit_test(null_pointers_where_nothing_is_read),
        cmocka_unit_test(d_may_be_c),
        cmocka_unit_test(infinities_follow_the_formula),
        cmocka_unit_test(f64_has_no_spurious_overflow),
        cmocka_unit_test(f64_against_128_bits),
        cmocka_unit_test(magnitude_is_that_of_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
