/* The report's screen and data for results that the library does not give on demand: wrong ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"

static const settings_t settings = {.alpha = -2, .beta = -3, .trans_b = true, .repeat = 5};

static run_facts_t wrong_facts(void) {
    run_facts_t f = {.settings = &settings,
                     .type = tcgemm_type_info(TCGEMM_F32_F32),
                     .problem = tcgemm_problem(TCGEMM_F32_F32, 10, 20, 30),
                     .c_is_read = true,
                     .verified = true,
                     .extraction_seconds = -1};
    f.plan.algo = "cpu";
    f.plan.kernel = "cpu_test";
    f.plan.device = "cpu";
    f.plan.reason = "of a test";
    f.plan.error_unit = 0x1p-24;
    f.plan.a_bytes = 1200;
    f.plan.b_bytes = 2400;
    f.plan.c_bytes = f.plan.d_bytes = 800;
    f.stats.product_seconds = f.stats.total_seconds = 1e-6;
    f.check.mode = TCGEMM_VERIFY_SAMPLE;
    f.check.num_checked = 100;
    f.check.num_wrong = 7;
    f.check.wrong_row = 3;
    f.check.wrong_col = 4;
    f.check.wrong_got = 1.5;
    f.check.wrong_expected = 2.5;
    f.check.max_ratio = 1e6;
    f.check.num_vector_rows = 10;
    f.check.smallest_error_caught = 0.25;
    f.check.miss_probability = 1e-9;
    return f;
}

static char *text_of(const run_facts_t *facts) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    report_text(facts, out);
    (void)fclose(out);
    return text;
}

static void test_operations(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 10, 20, 30);
    assert_true(report_eops(&p) == 10 * 30 + 59 * 200 + 2 * 200);
    assert_true(report_flop(&p) == 12000);
    p.batch = 3;
    assert_true(report_eops(&p) == 3 * (10 * 30 + 59 * 200 + 2 * 200));
    p = tcgemm_problem(TCGEMM_F32_F32, 10, 20, 0);
    assert_true(report_eops(&p) == 400);
}

static void test_wrong_on_screen(void **state) {
    (void)state;
    const run_facts_t facts = wrong_facts();
    char *text = text_of(&facts);
    assert_non_null(strstr(text, "D = -2 * A * B^T - 3 * C\n"));
    assert_non_null(strstr(text, "\nWRONG\n"));
    assert_non_null(strstr(text, "7 wrong; the first is D[3][4]: got 1.5, expected 2.5"));
    assert_non_null(strstr(text, "one element off by 0.25"));
    assert_non_null(strstr(text, "missed with probability 1e-09"));
    assert_non_null(strstr(text, "largest error: 1e+06 of its bound"));
    assert_non_null(strstr(text, "12 500 eOPS"));
    assert_non_null(strstr(text, "median of 5 runs"));
    assert_null(strstr(text, "CORRECT"));
    free(text);
}

static void test_not_verified(void **state) {
    (void)state;
    run_facts_t facts = wrong_facts();
    facts.verified = false;
    char *text = text_of(&facts);
    assert_non_null(strstr(text, "\nNOT VERIFIED\n"));
    assert_null(strstr(text, "WRONG\n"));
    free(text);
}

/* The report as JSON, read back. */
static json_t *data_of(const run_facts_t *facts) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(report_data(facts, TABLE_FORMAT_JSON, out));
    (void)fclose(out);
    json_t *data = json_loads(text, 0, NULL);
    assert_non_null(data);
    free(text);
    return data;
}

static void test_wrong_as_data(void **state) {
    (void)state;
    const run_facts_t facts = wrong_facts();
    json_t *data = data_of(&facts);
    const json_t *check = json_object_get(data, "verification");
    assert_string_equal(json_string_value(json_object_get(check, "verdict")), "WRONG");
    const json_t *first = json_object_get(check, "first_wrong");
    assert_int_equal(json_integer_value(json_object_get(first, "row")), 3);
    assert_true(json_real_value(json_object_get(first, "expected")) == 2.5);
    json_decref(data);
}

/* What JSON has no number for is said in a word, so that a case can be told from its report. */
static void test_no_numbers_as_data(void **state) {
    (void)state;
    settings_t odd = settings;
    odd.alpha = -INFINITY;
    odd.beta = NAN;
    run_facts_t facts = wrong_facts();
    facts.settings = &odd;
    facts.check.wrong_got = NAN;
    facts.check.wrong_expected = INFINITY;
    json_t *data = data_of(&facts);
    const json_t *problem = json_object_get(data, "problem");
    const json_t *first = json_object_get(json_object_get(data, "verification"), "first_wrong");
    assert_string_equal(json_string_value(json_object_get(problem, "alpha")), "-inf");
    assert_string_equal(json_string_value(json_object_get(problem, "beta")), "nan");
    assert_string_equal(json_string_value(json_object_get(first, "got")), "nan");
    assert_string_equal(json_string_value(json_object_get(first, "expected")), "inf");
    json_decref(data);
}

static run_facts_t gpu_facts(void) {
    run_facts_t f = wrong_facts();
    f.plan.device = "A GPU of a test";
    f.plan.device_index = 2;
    f.plan.grid_blocks = 132;
    f.plan.num_blocks = 132;
    f.plan.threads_per_block = 256;
    f.plan.registers_per_thread = 200;
    f.plan.smem_bytes = 147456;
    f.plan.blocks_per_sm = 1;
    f.stats.transfer_seconds = 0.25;
    return f;
}

static void test_gpu_on_screen(void **state) {
    (void)state;
    const run_facts_t facts = gpu_facts();
    char *text = text_of(&facts);
    assert_non_null(strstr(text, "number 2, A GPU of a test\n"));
    assert_non_null(strstr(text, "132 blocks of 256 threads"));
    assert_non_null(strstr(text, "200 registers per thread, 147 456 bytes of shared memory"));
    assert_non_null(strstr(text, "transfer     250.000 ms\n"));
    assert_null(strstr(text, "none (CPU)"));
    free(text);
}

static void test_gpu_as_data(void **state) {
    (void)state;
    const run_facts_t facts = gpu_facts();
    json_t *data = data_of(&facts);
    const json_t *gpu = json_object_get(json_object_get(data, "plan"), "gpu");
    assert_int_equal(json_integer_value(json_object_get(gpu, "index")), 2);
    assert_int_equal(json_integer_value(json_object_get(gpu, "registers_per_thread")), 200);
    const json_t *time = json_object_get(data, "time");
    assert_true(json_real_value(json_object_get(time, "transfer_seconds")) == 0.25);
    json_decref(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),         cmocka_unit_test(test_wrong_on_screen),
        cmocka_unit_test(test_not_verified),       cmocka_unit_test(test_wrong_as_data),
        cmocka_unit_test(test_gpu_on_screen),      cmocka_unit_test(test_gpu_as_data),
        cmocka_unit_test(test_no_numbers_as_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
