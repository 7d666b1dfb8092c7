/* The judge: honest products pass, each wrong element is found. */
#include "ref_fixture.h"

#include <float.h>
#include <math.h>

#include "ref/judge.h"

/* ---- an honest product in the accumulator's own precision ---- */

static double honest_sum(const fixture_t *f, int64_t t, int64_t i, int64_t j, int64_t skip) {
    const tcgemm_canonical_t *g = &f->plan.g;
    const tcgemm_type_info_t *type = g->type;
    float narrow = 0.0f;
    double wide = 0.0;
    for (int64_t p = 0; p < g->k; ++p) {
        const double a = tcgemm_reference_load(g, &(tcgemm_operand_t){.dtype = type->a}, f->a,
                                               place_a(f, t, i, p));
        const double b = tcgemm_reference_load(g, &(tcgemm_operand_t){.dtype = type->b}, f->b,
                                               place_b(f, t, p, j));
        if (p == skip)
            continue;
        narrow += (float)a * (float)b;
        wide += a * b;
    }
    return type->accumulator == TCGEMM_DTYPE_F64 ? wide : (double)narrow;
}

/* Element (i, j) of the caller's D as a plain loop gives it, without product `skip` (-1: all). */
static void honest_element(fixture_t *f, int64_t t, int64_t i, int64_t j, int64_t skip) {
    const tcgemm_type_info_t *type = f->plan.g.type;
    const double sum = honest_sum(f, t, i, j, skip);
    const double c = f->beta != 0 ? load(type->d, f->c, place_c(f, t, i, j)) : 0.0;
    const int is_f64 = type->accumulator == TCGEMM_DTYPE_F64;
    const float narrow =
        (float)f->alpha * (float)sum + (f->beta != 0 ? (float)f->beta * (float)c : 0);
    const double wide = f->alpha * sum + (f->beta != 0 ? f->beta * c : 0);
    store(type->d, f->d, place_d(f, t, i, j), is_f64 ? wide : (double)narrow);
}

static void honest_product(fixture_t *f) {
    const tcgemm_problem_t *p = &f->plan.problem;
    if (tcgemm_dtype_is_integer(f->plan.g.type->d)) {
        fixture_run(f);
        return;
    }
    for (int64_t t = 0; t < p->batch; ++t)
        for (int64_t i = 0; i < p->m; ++i)
            for (int64_t j = 0; j < p->n; ++j)
                honest_element(f, t, i, j, -1);
}

static tcgemm_verify_report_t verify(const fixture_t *f, tcgemm_verify_mode_t mode, uint64_t seed) {
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    assert_int_equal(
        tcgemm_verify(&f->plan, f->alpha, f->a, f->b, f->beta, f->c, f->d, mode, seed, &report),
        TCGEMM_STATUS_OK);
    return report;
}

static int is_right(const fixture_t *f, tcgemm_verify_mode_t mode, uint64_t seed) {
    const tcgemm_verify_report_t report = verify(f, mode, seed);
    const int is_clean = report.num_wrong == 0 && report.wrong_row == -1 &&
                         report.wrong_col == -1 && report.wrong_batch == -1;
    assert_int_equal(report.num_wrong == 0, report.max_ratio <= 1.0);
    assert_int_equal(report.num_wrong == 0, is_clean);
    return is_clean;
}

static void honest_fixture(fixture_t *f, tcgemm_problem_t p, double alpha, double beta,
                           uint64_t seed) {
    fixture_init(f, p);
    fixture_fill(f, seed);
    f->alpha = alpha;
    f->beta = beta;
    honest_product(f);
}

/* ---- no false alarm ---- */

static void honest_products_pass(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1},     {1, 70, 3},  {70, 1, 64},  {65, 63, 300},
                                       {64, 64, 256}, {5, 130, 0}, {33, 200, 17}};
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            tcgemm_problem_t p =
                tcgemm_problem((tcgemm_type_t)type, sizes[s][0], sizes[s][1], sizes[s][2]);
            p.order = s & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
            p.op_a = s & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.op_b = s & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.batch = 1 + (int64_t)(s % 3);
            p.flags = type == TCGEMM_B1_S32 && (s & 1) ? TCGEMM_FLAG_XOR : 0;
            fixture_t f;
            honest_fixture(&f, p, s & 1 ? 1.0 : -2.0, s & 2 ? 3.0 : 0.0, s);
            assert_true(is_right(&f, TCGEMM_VERIFY_AUTO, s));
            for (uint64_t seed = 0; seed < 5; ++seed)
                assert_true(is_right(&f, TCGEMM_VERIFY_SAMPLE, seed));
            const tcgemm_verify_report_t report = verify(&f, TCGEMM_VERIFY_FULL, 0);
            assert_int_equal(report.num_checked, p.m * p.n * p.batch);
            assert_int_equal(report.mode, TCGEMM_VERIFY_FULL);
            assert_true(report.miss_probability == 0.0);
            fixture_free(&f);
        }
    }
}

/* Rows and columns whose sizes differ by many orders of magnitude. */
static void wide_ranges_pass(void **state) {
    (void)state;
    for (int type = TCGEMM_BF16_F32; type <= TCGEMM_F64_F64; ++type) {
        const tcgemm_type_info_t *info = tcgemm_type_info((tcgemm_type_t)type);
        fixture_t f;
        fixture_init(&f, tcgemm_problem((tcgemm_type_t)type, 90, 80, 70));
        fixture_fill(&f, 3);
        for (int64_t e = 0; e < 90 * 70; ++e)
            store(info->a, f.a, e, ldexp(load(info->a, f.a, e), (int)(e * 7 % 41) - 20));
        for (int64_t e = 0; e < 70 * 80; ++e)
            store(info->b, f.b, e, ldexp(load(info->b, f.b, e), (int)(e * 5 % 23) - 11));
        honest_product(&f);
        assert_true(is_right(&f, TCGEMM_VERIFY_FULL, 0));
        for (uint64_t seed = 0; seed < 20; ++seed)
            assert_true(is_right(&f, TCGEMM_VERIFY_SAMPLE, seed));
        fixture_free(&f);
    }
}

/* FULL takes another way to the reference values; they must be those of the reference. */
static void full_agrees_with_the_reference(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        tcgemm_problem_t p = tcgemm_problem((tcgemm_type_t)type, 67, 70, 300);
        p.op_b = TCGEMM_OP_T;
        p.batch = 2;
        fixture_t f;
        honest_fixture(&f, p, 0.75 * (type < TCGEMM_S8_S32) + 3 * (type >= TCGEMM_S8_S32), -1.0,
                       11);
        const tcgemm_call_t call = fixture_call(&f);
        tcgemm_judge_t judge;
        tcgemm_tally_t tally;
        tcgemm_judge_init(&judge, &f.plan, &call);
        tcgemm_tally_init(&tally);
        for (int64_t t = 0; t < 2; ++t) {
            for (int64_t i = 0; i < p.m; ++i) {
                for (int64_t j = 0; j < p.n; ++j) {
                    tcgemm_ref_value_t ref;
                    tcgemm_reference_element(&f.plan.g, &call, t, i, j, &ref);
                    tcgemm_judge_element(&judge, t, i, j, &ref, &tally);
                }
            }
        }
        const tcgemm_verify_report_t report = verify(&f, TCGEMM_VERIFY_FULL, 0);
        assert_int_equal(report.num_checked, tally.num_checked);
        assert_int_equal(report.num_wrong, 0);
        assert_true(report.max_ratio == tally.max_ratio);
        fixture_free(&f);
    }
}

/* ---- FULL finds each wrong element ---- */

static double planted_error(const fixture_t *f) {
    const tcgemm_dtype_t d = f->plan.g.type->d;
    return tcgemm_dtype_is_integer(d) ? 1.0 : d == TCGEMM_DTYPE_F64 ? 1e-10 : 1.0;
}

static void plant_and_find(fixture_t *f, int64_t t, int64_t i, int64_t j) {
    const tcgemm_dtype_t dtype = f->plan.g.type->d;
    const int64_t index = place_d(f, t, i, j);
    const double right = load(dtype, f->d, index);
    store(dtype, f->d, index, right + planted_error(f));
    const double planted = load(dtype, f->d, index);
    const tcgemm_verify_report_t report = verify(f, TCGEMM_VERIFY_FULL, 0);
    assert_int_equal(report.num_wrong, 1);
    assert_int_equal(report.wrong_batch, t);
    assert_int_equal(report.wrong_row, i);
    assert_int_equal(report.wrong_col, j);
    assert_true(report.wrong_got == planted);
    assert_true(fabs(report.wrong_expected - right) <= 0.5);
    assert_false(report.max_ratio <= 1.0);
    store(dtype, f->d, index, right);
}

static void full_finds_every_place(void **state) {
    (void)state;
    static const int64_t rows[] = {0, 1, 31, 63, 64, 65, 127, 128, 129};
    static const int64_t cols[] = {0, 62, 63, 64, 66, 69};
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32,  TCGEMM_F64_F64, TCGEMM_BF16_BF16,
                                          TCGEMM_E4M3_F32, TCGEMM_S8_S32,  TCGEMM_B1_S32};
    for (size_t s = 0; s < sizeof types / sizeof types[0]; ++s) {
        for (int order = 0; order < 2; ++order) {
            tcgemm_problem_t p = tcgemm_problem(types[s], 130, 70, 9);
            p.order = (tcgemm_order_t)order;
            p.batch = 2;
            fixture_t f;
            honest_fixture(&f, p, 1.0, 0.0, s);
            for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
                for (size_t j = 0; j < sizeof cols / sizeof cols[0]; ++j)
                    plant_and_find(&f, (int64_t)(i + j) % 2, rows[i], cols[j]);
            fixture_free(&f);
        }
    }
}

static void the_first_wrong_element_is_named(void **state) {
    (void)state;
    fixture_t f;
    honest_fixture(&f, tcgemm_problem(TCGEMM_F32_F32, 200, 100, 8), 1.0, 0.0, 1);
    float *d = f.d;
    d[170 * 100 + 3] = 99.0f;
    d[90 * 100 + 99] = 98.0f;
    d[90 * 100 + 7] = 97.0f;
    const tcgemm_verify_report_t report = verify(&f, TCGEMM_VERIFY_FULL, 0);
    assert_int_equal(report.num_wrong, 3);
    assert_int_equal(report.wrong_row, 90);
    assert_int_equal(report.wrong_col, 7);
    assert_true(report.wrong_got == 97.0);
    fixture_free(&f);
}

static void small_errors_are_weighed(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F32_F32, 1, 1, 16));
    for (int p = 0; p < 16; ++p)
        ((float *)f.a)[p] = ((float *)f.b)[p] = 1.0f;
    float *d = f.d; /* T(16) = 16, s = 16: the bound is 16 * 2^-24 * 16 = 2^-16 */
    *d = 16.0f;
    assert_true(verify(&f, TCGEMM_VERIFY_FULL, 0).max_ratio == 0.0);
    *d = nextafterf(16.0f, 17.0f);
    assert_true(is_right(&f, TCGEMM_VERIFY_FULL, 0));
    *d = 16.0f - 0x1p-16f;
    assert_true(is_right(&f, TCGEMM_VERIFY_FULL, 0));
    *d = 16.0f - 0x1p-16f - 0x1p-19f;
    assert_false(is_right(&f, TCGEMM_VERIFY_FULL, 0));
    fixture_free(&f);

    fixture_init(&f, tcgemm_problem(TCGEMM_BF16_BF16, 1, 1, 1));
    store(TCGEMM_DTYPE_BF16, f.a, 0, 1.0 + 0x1p-7);
    store(TCGEMM_DTYPE_BF16, f.b, 0, 1.0 + 0x1p-7); /* 1 + 2^-6 + 2^-14 */
    store(TCGEMM_DTYPE_BF16, f.d, 0, 1.0 + 0x1p-6);
    assert_true(is_right(&f, TCGEMM_VERIFY_FULL, 0));
    store(TCGEMM_DTYPE_BF16, f.d, 0, 1.0 + 0x1p-6 + 0x1p-7);
    assert_false(is_right(&f, TCGEMM_VERIFY_FULL, 0));
    fixture_free(&f);
}

static void a_lost_product_is_found(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64, TCGEMM_TF32_F32,
                                          TCGEMM_F16_F32, TCGEMM_BF16_F32};
    for (size_t s = 0; s < sizeof types / sizeof types[0]; ++s) {
        fixture_t f;
        honest_fixture(&f, tcgemm_problem(types[s], 20, 20, 500), 1.0, 1.0, s);
        honest_element(&f, 0, 17, 19, 499);
        const tcgemm_verify_report_t report = verify(&f, TCGEMM_VERIFY_FULL, 0);
        assert_int_equal(report.num_wrong, 1);
        assert_int_equal(report.wrong_row, 17);
        fixture_free(&f);
    }
}

/* ---- NaN, infinity, overflow, underflow ---- */

static int is_right_with(fixture_t *f, int64_t index, double d) {
    const tcgemm_dtype_t dtype = f->plan.g.type->d;
    const double before = load(dtype, f->d, index);
    store(dtype, f->d, index, d);
    const int full = is_right(f, TCGEMM_VERIFY_FULL, 1);
    const int sample = is_right(f, TCGEMM_VERIFY_SAMPLE, 1);
    assert_int_equal(full, sample);
    store(dtype, f->d, index, before);
    return full;
}

static void special_values_stand_where_they_belong(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64, TCGEMM_F16_F16,
                                          TCGEMM_BF16_BF16, TCGEMM_E5M2_F32};
    for (size_t s = 0; s < sizeof types / sizeof types[0]; ++s) {
        const tcgemm_type_info_t *info = tcgemm_type_info(types[s]);
        fixture_t f;
        fixture_init(&f, tcgemm_problem(types[s], 10, 12, 8));
        fixture_fill(&f, s);
        store(info->a, f.a, 3 * 8 + 2, (double)NAN);  /* row 3 is NaN */
        store(info->a, f.a, 5 * 8, (double)INFINITY); /* row 5 is +-Inf */
        store(info->b, f.b, 0, 1.0);
        honest_product(&f);
        assert_true(is_right(&f, TCGEMM_VERIFY_FULL, 0));
        assert_true(is_right(&f, TCGEMM_VERIFY_SAMPLE, 0));
        assert_true(is_right_with(&f, 5 * 12, (double)INFINITY));
        assert_false(is_right_with(&f, 5 * 12, -(double)INFINITY));
        assert_false(is_right_with(&f, 5 * 12, 1000.0));
        assert_false(is_right_with(&f, 5 * 12, (double)NAN));
        assert_false(is_right_with(&f, 3 * 12 + 11, 0.0));
        assert_false(is_right_with(&f, 3 * 12 + 11, (double)INFINITY));
        assert_false(is_right_with(&f, 9 * 12 + 11, (double)NAN));
        assert_false(is_right_with(&f, 0, (double)NAN));
        assert_false(is_right_with(&f, 0, (double)INFINITY));
        fixture_free(&f);
    }
}

static void overflow_is_allowed_where_the_terms_are_large(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F32_F32, 1, 1, 3));
    memcpy(f.a, (const float[]){FLT_MAX, FLT_MAX, -FLT_MAX}, 12);
    memcpy(f.b, (const float[]){1, 1, 1}, 12); /* exactly FLT_MAX */
    assert_true(is_right_with(&f, 0, (double)FLT_MAX));
    assert_true(is_right_with(&f, 0, (double)INFINITY));
    assert_true(is_right_with(&f, 0, (double)NAN));
    assert_false(is_right_with(&f, 0, 1.0));
    fixture_free(&f);

    fixture_init(&f, tcgemm_problem(TCGEMM_F64_F64, 1, 1, 3));
    memcpy(f.a, (const double[]){DBL_MAX, DBL_MAX, -DBL_MAX}, 24);
    memcpy(f.b, (const double[]){1, 1, 1}, 24);
    assert_true(is_right_with(&f, 0, DBL_MAX));
    assert_true(is_right_with(&f, 0, (double)INFINITY));
    assert_false(is_right_with(&f, 0, 1.0));
    ((double *)f.b)[2] = -1.0;
    assert_true(is_right_with(&f, 0, (double)INFINITY));
    assert_false(is_right_with(&f, 0, DBL_MAX));
    fixture_free(&f);

    fixture_init(&f, tcgemm_problem(TCGEMM_F16_F16, 1, 1, 1));
    store(TCGEMM_DTYPE_F16, f.a, 0, 1000.0);
    store(TCGEMM_DTYPE_F16, f.b, 0, 70.0);
    assert_true(is_right_with(&f, 0, (double)INFINITY));
    assert_false(is_right_with(&f, 0, -(double)INFINITY));
    assert_false(is_right_with(&f, 0, 65504.0));
    store(TCGEMM_DTYPE_F16, f.b, 0, 65.0); /* 65000 is a finite f16 */
    assert_false(is_right_with(&f, 0, (double)INFINITY));
    assert_true(is_right_with(&f, 0, 64992.0));
    fixture_free(&f);
}

/* k = 2: -x * x and infinity * 1, both finite or both in the exact sum. */
static void infinity_beside(fixture_t *f, tcgemm_type_t id, double x, double c, double beta) {
    const tcgemm_type_info_t *type = tcgemm_type_info(id);
    fixture_init(f, tcgemm_problem(id, 1, 1, 2));
    store(type->a, f->a, 0, -x);
    store(type->a, f->a, 1, (double)INFINITY);
    store(type->b, f->b, 0, x);
    store(type->b, f->b, 1, 1.0);
    store(type->d, f->c, 0, c);
    f->beta = beta;
}

/* Where the finite terms may overflow, a kernel may find -infinity + infinity on its way. */
static void an_infinity_may_meet_an_overflow(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_BF16_F32, TCGEMM_BF16_BF16,
                                          TCGEMM_TF32_F32};
    static const struct {
        double x, c, beta;
        bool may_be_nan;
    } cases[] = {
        {1e30, 0, 0, true},   {1e18, 0, 0, false},      {0, -3e38, 2, true},
        {0, -3e38, 1, false}, {1e19, -2.9e38, 1, true}, {1e18, -3e38, 0, false},
    };
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
            fixture_t f;
            infinity_beside(&f, types[t], cases[i].x, cases[i].c, cases[i].beta);
            assert_true(is_right_with(&f, 0, (double)INFINITY));
            assert_int_equal(is_right_with(&f, 0, (double)NAN), cases[i].may_be_nan);
            assert_false(is_right_with(&f, 0, -(double)INFINITY));
            assert_false(is_right_with(&f, 0, 1e38));
            fixture_free(&f);
        }
    }
    fixture_t f; /* f64 overflows later */
    infinity_beside(&f, TCGEMM_F64_F64, 1e30, 0, 0);
    assert_false(is_right_with(&f, 0, (double)NAN));
    fixture_free(&f);
    infinity_beside(&f, TCGEMM_F64_F64, 1e200, 0, 0);
    assert_true(is_right_with(&f, 0, (double)NAN));
    fixture_free(&f);
}

static void underflow_is_allowed_for(void **state) {
    (void)state;
    fixture_t f;
    fixture_init(&f, tcgemm_problem(TCGEMM_F32_F32, 1, 1, 2));
    memcpy(f.a, (const float[]){0x1p-80f, 0x1p-80f}, 8);
    memcpy(f.b, (const float[]){0x1.8p-70f, 0x1.8p-69f}, 8);
    assert_true(is_right_with(&f, 0, 0.0));
    assert_true(is_right_with(&f, 0, 0x1p-149));
    assert_false(is_right_with(&f, 0, 0x1p-140));
    fixture_free(&f);

    /* This kernel's instruction flushes subnormal sums, but its subnormal inputs count. */
    fixture_init(&f, tcgemm_problem(TCGEMM_BF16_F32, 1, 1, 2));
    store(TCGEMM_DTYPE_BF16, f.a, 0, 0x1p-70);
    store(TCGEMM_DTYPE_BF16, f.b, 0, 0x1p-60);
    assert_false(is_right_with(&f, 0, 0.0));
    f.kernel.bound = TCGEMM_BOUND_ODD;
    assert_true(is_right_with(&f, 0, 0.0));
    f.kernel.bound = TCGEMM_BOUND_FLUSHED;
    assert_true(is_right_with(&f, 0, 0.0));
    store(TCGEMM_DTYPE_BF16, f.a, 1, 0x1p-130);
    store(TCGEMM_DTYPE_BF16, f.b, 1, 0x1p100);
    assert_false(is_right_with(&f, 0, 0.0));
    assert_true(is_right_with(&f, 0, 0x1p-30));
    fixture_free(&f);
}

/* However small an element is, an infinity times it is one. */
static void infinity_beside_tiny_numbers(void **state) {
    (void)state;
    static const double sizes[] = {0x1p-400, 0x1p-600, 0x1p-1040, 0x1p-1074};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
        for (int flip = 0; flip < 2; ++flip) {
            fixture_t f;
            fixture_init(&f, tcgemm_problem(TCGEMM_F64_F64, 1, 1, 1));
            *(double *)(flip ? f.b : f.a) = -sizes[s];
            *(double *)(flip ? f.a : f.b) = (double)INFINITY;
            assert_true(is_right_with(&f, 0, -(double)INFINITY));
            assert_false(is_right_with(&f, 0, (double)NAN));
            fixture_free(&f);
        }
}

/* Dekker's product overflows and underflows where fma() does not. */
static void f64_at_its_ends(void **state) {
    (void)state;
    static const double scales[] = {0x1p-1060, 0x1p-520, 0x1p-480, 0x1p-450, 0x1p500, 0x1p1010};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; ++s) {
        fixture_t f;
        fixture_init(&f, tcgemm_problem(TCGEMM_F64_F64, 9, 11, 30));
        fixture_fill(&f, s);
        for (int e = 0; e < 9 * 30; ++e)
            ((double *)f.a)[e] *= scales[s];
        for (int e = 0; e < 11 * 30; ++e)
            ((double *)f.b)[e] *= fabs(log2(scales[s])) > 1000 ? 1.0 : scales[s];
        honest_product(&f);
        assert_true(is_right(&f, TCGEMM_VERIFY_FULL, 0));
        assert_true(is_right(&f, TCGEMM_VERIFY_SAMPLE, 0));
        ((double *)f.d)[98] = ((double *)f.d)[98] * 1.0001 + 0x1p-1060;
        assert_false(is_right(&f, TCGEMM_VERIFY_FULL, 0));
        fixture_free(&f);
    }
}

/* ---- SAMPLE ---- */

static void sample_finds_one_wrong_element(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64,  TCGEMM_BF16_BF16,
                                          TCGEMM_F16_F16, TCGEMM_U8S8_S32, TCGEMM_B1_S32};
    uint64_t random = 99;
    for (size_t s = 0; s < sizeof types / sizeof types[0]; ++s) {
        /* Long rows and a short k make the vectors the weaker part, else it is the bound. */
        const int64_t n = s == 0 ? 3000 : 300;
        tcgemm_problem_t p = tcgemm_problem(types[s], 300, n, s == 0 ? 4 : 100);
        p.order = s & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        p.flags = types[s] == TCGEMM_B1_S32 ? TCGEMM_FLAG_XOR : 0;
        fixture_t f;
        honest_fixture(&f, p, 1.0, s & 2 ? -1.0 : 0.0, s);
        const tcgemm_dtype_t dtype = f.plan.g.type->d;
        const tcgemm_verify_report_t clean = verify(&f, TCGEMM_VERIFY_SAMPLE, 0);
        assert_int_equal(clean.num_wrong, 0);
        assert_int_equal(clean.num_vector_rows, p.order == TCGEMM_ROW_MAJOR ? 300 : n);
        assert_true(clean.num_checked >= 4000 && clean.num_checked < 20000);
        assert_true(clean.miss_probability < 1e-4);
        for (uint64_t place = 0; place < 30; ++place) {
            const int64_t i = (int64_t)(tcgemm_next_random(&random) % 300);
            const int64_t j = (int64_t)(tcgemm_next_random(&random) % (uint64_t)n);
            const double right = load(dtype, f.d, place_d(&f, 0, i, j));
            const double sign = right < 0 ? -1.0 : 1.0;
            store(dtype, f.d, place_d(&f, 0, i, j), right + sign * clean.smallest_error_caught);
            const tcgemm_verify_report_t report = verify(&f, TCGEMM_VERIFY_SAMPLE, place);
            assert_int_equal(report.num_wrong, 1);
            assert_int_equal(report.wrong_row, i);
            assert_int_equal(report.wrong_col, j);
            store(dtype, f.d, place_d(&f, 0, i, j), right);
        }
        fixture_free(&f);
    }
}

static void sample_finds_wrong_items_of_a_batch(void **state) {
    (void)state;
    for (int order = 0; order < 2; ++order) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_F16_F32, 20, 30, 40);
        p.order = (tcgemm_order_t)order;
        p.batch = 100;
        fixture_t f;
        honest_fixture(&f, p, 2.0, 1.0, 4);
        assert_true(is_right(&f, TCGEMM_VERIFY_SAMPLE, 0));
        for (int64_t t = 0; t < 100; t += 9) {
            float *d = (float *)f.d + place_d(&f, t, t % 20, t % 30);
            const float right = *d;
            *d = right + 1.0f;
            const tcgemm_verify_report_t report = verify(&f, TCGEMM_VERIFY_SAMPLE, (uint64_t)t);
            assert_int_equal(report.num_wrong, 1);
            assert_int_equal(report.wrong_batch, t);
            assert_int_equal(report.wrong_row, t % 20);
            assert_int_equal(report.wrong_col, t % 30);
            *d = right;
        }
        fixture_free(&f);
    }
}

static void sample_sees_integer_errors_that_cancel(void **state) {
    (void)state;
    fixture_t f;
    honest_fixture(&f, tcgemm_problem(TCGEMM_S8_S32, 300, 300, 20), 1.0, 0.0, 4);
    uint32_t *d = f.d;
    d[100 * 300 + 7] += 5;
    d[100 * 300 + 8] -= 5;
    assert_int_equal(verify(&f, TCGEMM_VERIFY_SAMPLE, 3).num_wrong, 2);
    fixture_free(&f);
}

static void a_wrong_matrix_is_wrong(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        fixture_t f;
        fixture_init(&f, tcgemm_problem((tcgemm_type_t)type, 150, 150, 33));
        fixture_fill(&f, 1); /* D stays 0 */
        assert_false(is_right(&f, TCGEMM_VERIFY_SAMPLE, 1));
        assert_false(is_right(&f, TCGEMM_VERIFY_FULL, 1));
        fixture_free(&f);
    }
}

/* ---- arguments ---- */

static void data_that_is_not_read_may_be_null(void **state) {
    (void)state;
    fixture_t f;
    honest_fixture(&f, tcgemm_problem(TCGEMM_F32_F32, 70, 80, 20), 0.0, -1.0, 1);
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    for (int mode = TCGEMM_VERIFY_AUTO; mode <= TCGEMM_VERIFY_FULL; ++mode) {
        assert_int_equal(tcgemm_verify(&f.plan, 0.0, NULL, NULL, -1.0, f.c, f.d,
                                       (tcgemm_verify_mode_t)mode, 0, &report),
                         TCGEMM_STATUS_OK);
        assert_int_equal(report.num_wrong, 0);
        assert_true(report.num_checked > 0);
    }
    memset(f.d, 0, f.d_bytes);
    assert_int_equal(
        tcgemm_verify(&f.plan, 0.0, NULL, NULL, 0.0, NULL, f.d, TCGEMM_VERIFY_SAMPLE, 0, &report),
        TCGEMM_STATUS_OK);
    assert_int_equal(report.num_wrong, 0);
    f.plan.g.n = 0;
    assert_int_equal(
        tcgemm_verify(&f.plan, 1.0, NULL, NULL, 1.0, NULL, NULL, TCGEMM_VERIFY_SAMPLE, 0, &report),
        TCGEMM_STATUS_OK);
    assert_int_equal(report.num_checked, 0);
    assert_int_equal(report.wrong_row, -1);
    fixture_free(&f);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    fixture_t f;
    honest_fixture(&f, tcgemm_problem(TCGEMM_F32_F32, 2, 2, 2), 1.0, 0.0, 1);
    tcgemm_verify_report_t report = {.struct_size = sizeof report, .num_checked = 77};
    assert_int_equal(tcgemm_verify(NULL, 1, f.a, f.b, 0, NULL, f.d, TCGEMM_VERIFY_FULL, 0, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_verify(&f.plan, 1, f.a, f.b, 0, NULL, f.d, TCGEMM_VERIFY_FULL, 0, NULL),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(
        tcgemm_verify(&f.plan, 1, f.a, f.b, 0, NULL, f.d, (tcgemm_verify_mode_t)9, 0, &report),
        TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(
        tcgemm_verify(&f.plan, 1, f.a, f.b, 0, NULL, NULL, TCGEMM_VERIFY_FULL, 0, &report),
        TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(report.num_checked, 77);
    report.struct_size = 8;
    assert_int_equal(
        tcgemm_verify(&f.plan, 1, f.a, f.b, 0, NULL, f.d, TCGEMM_VERIFY_FULL, 0, &report),
        TCGEMM_STATUS_BAD_ARGUMENT);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_products_pass),
        cmocka_unit_test(wide_ranges_pass),
        cmocka_unit_test(full_agrees_with_the_reference),
        cmocka_unit_test(full_finds_every_place),
        cmocka_unit_test(the_first_wrong_element_is_named),
        cmocka_unit_test(small_errors_are_weighed),
        cmocka_unit_test(a_lost_product_is_found),
        cmocka_unit_test(special_values_stand_where_they_belong),
        cmocka_unit_test(overflow_is_allowed_where_the_terms_are_large),
        cmocka_unit_test(an_infinity_may_meet_an_overflow),
        cmocka_unit_test(infinity_beside_tiny_numbers),
        cmocka_unit_test(underflow_is_allowed_for),
        cmocka_unit_test(f64_at_its_ends),
        cmocka_unit_test(sample_finds_one_wrong_element),
        cmocka_unit_test(sample_finds_wrong_items_of_a_batch),
        cmocka_unit_test(sample_sees_integer_errors_that_cancel),
        cmocka_unit_test(a_wrong_matrix_is_wrong),
        cmocka_unit_test(data_that_is_not_read_may_be_null),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
