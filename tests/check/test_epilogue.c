/* Bias and activation: every row of the CPU and every type against the judge, in all layouts and on
 * every way that a product takes; the values of the plain product are the ones that are finished;
 * the bits are the same for any number of threads; what makes no sense is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "support/oracle.h"
#include "support/testcase.h"

/* A case and what is done to its D. */
typedef struct epilogue_case {
    testcase_t t;
    tcgemm_activation_t activation;
    bool has_bias;
} epilogue_case_t;

static bool is_integer(tcgemm_type_t type) {
    return tcgemm_type_info(type)->d == TCGEMM_DTYPE_S32;
}

static void *make_bias(const epilogue_case_t *x) {
    uint64_t random = x->t.seed + 77;
    const tcgemm_dtype_t dtype = tcgemm_type_info(x->t.p.type)->d;
    const size_t bytes = (size_t)tcgemm_dtype_bits(dtype) / 8;
    uint8_t *const bias = malloc((size_t)x->t.p.n * bytes + 1);
    assert_non_null(bias);
    for (int64_t j = 0; j < x->t.p.n; ++j)
        oracle_set(dtype, bias, j,
                   is_integer(x->t.p.type) ? (double)(random_below(&random, 100001) - 50000)
                                           : 4.0 * random_unit(&random) - 2.0);
    return bias;
}

static tcgemm_data_t data_of(const epilogue_case_t *x, const operands_t *o, const void *bias) {
    tcgemm_data_t data = tcgemm_data(o->a.data, o->b.data, o->d.data);
    data.alpha.re = x->t.alpha;
    data.beta.re = x->t.beta;
    data.c = o->c.data;
    data.bias = x->has_bias ? bias : NULL;
    data.activation = x->activation;
    return data;
}

static tcgemm_plan_t *plan_of_case(const epilogue_case_t *x) {
    tcgemm_plan_t *const plan = plan_of(context_of(x->t.num_threads), &x->t.p, x->t.kernel);
    assert_non_null(plan);
    return plan;
}

/* D is right, and nothing else was written. */
static void check_case(const epilogue_case_t *x) {
    operands_t o;
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    operands_make(&x->t, &o);
    void *const bias = make_bias(x);
    tcgemm_plan_t *const plan = plan_of_case(x);
    tcgemm_data_t data = data_of(x, &o, bias);
    if (tcgemm_execute(plan, &data, NULL) != TCGEMM_STATUS_OK)
        testcase_fail(&x->t, "activation %d: %s", (int)x->activation, tcgemm_last_error());
    /* If D is C, what C was. */
    data.c = o.c_was + (o.c.data - o.c.block);
    if (tcgemm_verify_data(plan, &data, TCGEMM_VERIFY_FULL, 1, &report) != TCGEMM_STATUS_OK)
        testcase_fail(&x->t, "verify: %s", tcgemm_last_error());
    else if (report.num_wrong)
        testcase_fail(&x->t, "activation %d, bias %d: D(%lld, %lld) is %g, not %g",
                      (int)x->activation, x->has_bias, (long long)report.wrong_row,
                      (long long)report.wrong_col, report.wrong_got, report.wrong_expected);
    if (!testcase_untouched(&x->t, &o))
        testcase_fail(&x->t, "something beside D was written");
    tcgemm_plan_destroy(plan);
    operands_free(&o);
    free(bias);
}

/* ---- all rows and types ---- */

static void pad(uint64_t *random, tcgemm_problem_t *p) {
    const bool by_rows = p->order == TCGEMM_ROW_MAJOR;
    p->ldd = (by_rows ? p->n : p->m) + random_below(random, 5);
    p->ldc = p->ldd;
    p->stride_c = p->stride_d = p->ldd * (by_rows ? p->m : p->n) + random_below(random, 3);
    p->stride_a = p->m * p->k;
    p->stride_b = p->k * p->n;
}

static epilogue_case_t random_case(uint64_t *random, const char *kernel, tcgemm_type_t type,
                                   int64_t m, int64_t n, int64_t k) {
    tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    p.order = random_below(random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    p.op_a = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.batch = m * n * k < 1000000 && random_below(random, 4) == 0 ? 3 : 1;
    p.flags = random_below(random, 4) ? 0 : TCGEMM_FLAG_REPRODUCIBLE;
    pad(random, &p);
    static const double scalars[] = {1, -2, 3, 0};
    epilogue_case_t x = {.t = testcase_make(kernel, p, random_next(random))};
    x.t.alpha = scalars[random_below(random, 8) ? random_below(random, 3) : 3];
    x.t.beta = scalars[random_below(random, 4)];
    x.t.num_threads = random_below(random, 2) ? 3 : 1;
    x.t.in_place = random_below(random, 2);
    x.activation = (tcgemm_activation_t)random_below(random, is_integer(type) ? 2 : 7);
    x.has_bias = x.activation == TCGEMM_ACTIVATION_NONE || random_below(random, 3);
    return x;
}

static void every_row_and_type(void **state) {
    (void)state;
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type) {
            if (!kernel_does(row, (tcgemm_type_t)type, &info) ||
                (strcmp(info.algo, "cpu") != 0 && strcmp(info.algo, "reference") != 0))
                continue;
            uint64_t random = (uint64_t)(row * 100 + type);
            for (int64_t i = 0; i < at_level(3, 16, 120); ++i) {
                const epilogue_case_t x = random_case(
                    &random, info.name, (tcgemm_type_t)type, 1 + random_below(&random, 70),
                    1 + random_below(&random, 110), random_below(&random, i % 4 ? 60 : 600));
                check_case(&x);
            }
        }
    assert_no_failures();
}

/* Few rows or columns beside lines along and across k, units that pack for themselves, blocks of k,
 * rows and columns, k = 0. */
static void every_way_of_a_product(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {
        {1, 700, 520},   {700, 1, 520},    {7, 530, 900},  {530, 7, 900},  {20, 900, 700},
        {64, 1000, 700}, {300, 310, 1100}, {2100, 60, 40}, {90, 4000, 20}, {9, 9, 0}};
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        uint64_t random = (uint64_t)type;
        if (!is_about_type((tcgemm_type_t)type))
            continue;
        for (int i = type % (int)at_level(3, 1, 1); i < 10; i += (int)at_level(3, 1, 1))
            for (int64_t j = 0; j < at_level(1, 3, 12); ++j) {
                epilogue_case_t x = random_case(&random, NULL, (tcgemm_type_t)type, sizes[i][0],
                                                sizes[i][1], sizes[i][2]);
                if (j == 0)
                    x.t.p.flags = 0;
                check_case(&x);
            }
    }
    assert_no_failures();
}

/* A bf16 subnormal of B sends the tiles that hold it round once more: D is finished after that. */
static void tiles_that_wait_are_finished_once(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_BF16_F32, TCGEMM_BF16_BF16};
    for (int i = 0; i < 4; ++i) {
        epilogue_case_t x = {
            .t = testcase_make(NULL, tcgemm_problem(types[i / 2], 20, 500, 900), 5),
            .activation = TCGEMM_ACTIVATION_RELU,
            .has_bias = true,
        };
        x.t.fill = FILL_WIDE;
        x.t.p.op_b = i % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        x.t.beta = 1;
        x.t.in_place = true;
        check_case(&x);
    }
    assert_no_failures();
}

/* ---- bits ---- */

/* D of a case, with all that is around it. */
static void run_case(const epilogue_case_t *x, const operands_t *o, const void *bias) {
    tcgemm_plan_t *const plan = plan_of_case(x);
    const tcgemm_data_t data = data_of(x, o, bias);
    memcpy(o->d.block, o->d_was, o->d.block_bytes);
    assert_int_equal(tcgemm_execute(plan, &data, NULL), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(plan);
}

/* max(plain D + bias, 0) to the bit, of what is stored as it is summed; in columns, too, where the
 * judge, who asks the library what they mean, would believe that the bias lies along them. */
static void it_is_the_plain_product_that_is_finished(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {
        {5, 6, 7}, {40, 50, 60}, {1, 300, 600}, {300, 1, 600}, {150, 170, 900}};
    for (int i = 0; i < 20; ++i) {
        const int64_t *const s = sizes[i / 4];
        const bool is_double = i % 2, is_in_columns = i / 2 % 2;
        epilogue_case_t x = {
            .t = testcase_make(
                NULL, tcgemm_problem(is_double ? TCGEMM_F64_F64 : TCGEMM_F32_F32, s[0], s[1], s[2]),
                9)};
        x.t.p.order = is_in_columns ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        operands_t o;
        operands_make(&x.t, &o);
        void *const bias = make_bias(&x);
        run_case(&x, &o, NULL);
        double *const plain = malloc((size_t)(s[0] * s[1]) * sizeof *plain);
        assert_non_null(plain);
        for (int64_t at = 0; at < s[0] * s[1]; ++at)
            plain[at] = tcgemm_load_float(o.d.dtype, o.d.data, at);
        x.activation = TCGEMM_ACTIVATION_RELU;
        x.has_bias = true;
        run_case(&x, &o, bias);
        int64_t wrong = 0;
        for (int64_t at = 0; at < s[0] * s[1]; ++at) {
            const int64_t col = is_in_columns ? at / s[0] : at % s[1];
            const double sum = plain[at] + tcgemm_load_float(o.d.dtype, bias, col);
            const double rounded = is_double ? sum : (double)(float)sum;
            wrong += tcgemm_load_float(o.d.dtype, o.d.data, at) != (rounded < 0 ? 0 : rounded);
        }
        assert_int_equal(wrong, 0);
        free(plain);
        free(bias);
        operands_free(&o);
    }
}

static void threads_do_not_show(void **state) {
    (void)state;
    static const int threads[] = {2, 3, 4, 7, 16};
    static const int64_t sizes[][3] = {{300, 310, 700}, {3, 900, 600}, {900, 3, 600}, {20, 20, 20}};
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        if (!is_about_type((tcgemm_type_t)type))
            continue;
        for (int i = type % (int)at_level(4, 1, 1); i < 4; i += (int)at_level(4, 1, 1)) {
            epilogue_case_t x = {
                .t = testcase_make(
                    NULL,
                    tcgemm_problem((tcgemm_type_t)type, sizes[i][0], sizes[i][1], sizes[i][2]), 4),
                .activation = is_integer((tcgemm_type_t)type) ? TCGEMM_ACTIVATION_RELU
                                                              : TCGEMM_ACTIVATION_GELU,
                .has_bias = true,
            };
            operands_t o;
            operands_make(&x.t, &o);
            void *const bias = make_bias(&x);
            x.t.num_threads = 1;
            run_case(&x, &o, bias);
            const uint64_t expected = hash_bytes(o.d.block, o.d.block_bytes);
            for (int j = 0; j < (int)at_level(1, 5, 5); ++j) {
                x.t.num_threads = threads[(type + j) % 5];
                run_case(&x, &o, bias);
                if (hash_bytes(o.d.block, o.d.block_bytes) != expected)
                    testcase_fail(&x.t, "other bits than of one thread");
            }
            free(bias);
            operands_free(&o);
        }
    }
    assert_no_failures();
}

/* ---- the judge, and what is refused ---- */

static void a_wrong_bias_is_noticed(void **state) {
    (void)state;
    epilogue_case_t x = {.t = testcase_make(NULL, tcgemm_problem(TCGEMM_BF16_F32, 30, 40, 50), 2),
                         .activation = TCGEMM_ACTIVATION_SILU,
                         .has_bias = true};
    operands_t o;
    operands_make(&x.t, &o);
    float *const bias = make_bias(&x);
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    run_case(&x, &o, bias);
    tcgemm_plan_t *const plan = plan_of_case(&x);
    tcgemm_data_t data = data_of(&x, &o, bias);
    assert_int_equal(tcgemm_verify_data(plan, &data, TCGEMM_VERIFY_SAMPLE, 1, &report), 0);
    assert_true(report.num_wrong == 0 && report.num_checked > 0 && report.num_vector_rows == 0);
    assert_true(isinf(report.smallest_error_caught));
    bias[17] += 1e-3F;
    assert_int_equal(tcgemm_verify_data(plan, &data, TCGEMM_VERIFY_FULL, 1, &report), 0);
    assert_true(report.num_wrong > 0 && report.wrong_col == 17);
    bias[17] -= 1e-3F;
    data.activation = TCGEMM_ACTIVATION_GELU;
    assert_int_equal(tcgemm_verify_data(plan, &data, TCGEMM_VERIFY_FULL, 1, &report), 0);
    assert_true(report.num_wrong > 600);
    tcgemm_plan_destroy(plan);
    free(bias);
    operands_free(&o);
}

static void expect(const epilogue_case_t *x, const tcgemm_data_t *data, tcgemm_status_t status,
                   const char *words) {
    tcgemm_plan_t *const plan = plan_of_case(x);
    assert_int_equal(tcgemm_execute(plan, data, NULL), status);
    assert_non_null(strstr(tcgemm_last_error(), words));
    tcgemm_plan_destroy(plan);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    epilogue_case_t x = {.t = testcase_make(NULL, tcgemm_problem(TCGEMM_S8_S32, 3, 4, 5), 2)};
    operands_t o;
    operands_make(&x.t, &o);
    tcgemm_data_t data = data_of(&x, &o, NULL);
    data.activation = TCGEMM_ACTIVATION_GELU;
    expect(&x, &data, TCGEMM_STATUS_UNSUPPORTED, "activation gelu is for floating-point types");
    data.activation = (tcgemm_activation_t)7;
    expect(&x, &data, TCGEMM_STATUS_BAD_ARGUMENT, "activation 7 is unknown");
    data.activation = (tcgemm_activation_t)-1;
    expect(&x, &data, TCGEMM_STATUS_BAD_ARGUMENT, "activation -1 is unknown");
    data.activation = TCGEMM_ACTIVATION_NONE;
    data.bias = o.d.data + 4;
    expect(&x, &data, TCGEMM_STATUS_OVERLAP, "D overlaps the bias");
    data.bias = o.b.data + 1;
    expect(&x, &data, TCGEMM_STATUS_BAD_ALIGNMENT, "bias is not aligned to its 4-byte elements");
    assert_memory_equal(o.d.block, o.d_was, o.d.block_bytes);
    operands_free(&o);
    tcgemm_plan_options_t options = tcgemm_plan_options();
    tcgemm_plan_t *packer = NULL;
    uint8_t bytes[64] = {0};
    options.pack = TCGEMM_OPERAND_B;
    assert_int_equal(tcgemm_plan_create(context_of(1), &x.t.p, &options, &packer), 0);
    data = tcgemm_data(NULL, bytes, bytes);
    data.bias = bytes;
    assert_int_equal(tcgemm_execute(packer, &data, NULL), TCGEMM_STATUS_UNSUPPORTED);
    assert_non_null(strstr(tcgemm_last_error(), "data->bias is set, but the plan packs"));
    tcgemm_plan_destroy(packer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_and_type),
        cmocka_unit_test(every_way_of_a_product),
        cmocka_unit_test(tiles_that_wait_are_finished_once),
        cmocka_unit_test(it_is_the_plain_product_that_is_finished),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(a_wrong_bias_is_noticed),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
