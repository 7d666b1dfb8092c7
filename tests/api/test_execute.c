/* tcgemm_execute: each field of its structs, what is refused and by which name, structs of other
 * versions, and that the shorter calls are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "tcgemm/tcgemm.h"

enum { M = 37, N = 41, K = 43, MORE = 24 };

static float a[M * K], b[K * N], c[M * N], d[M * N], expected[M * N];
static tcgemm_plan_t *plan;

static void fill(float *x, int count, uint64_t seed) {
    for (int i = 0; i < count; ++i)
        x[i] = (float)random_unit(&seed) - 0.5F;
}

static int set_up(void **state) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    (void)state;
    fill(a, M * K, 1);
    fill(b, K * N, 2);
    fill(c, M * N, 3);
    plan = plan_of(context_of(1), &p, NULL);
    return plan ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    tcgemm_plan_destroy(plan);
    return 0;
}

static int clear_d(void **state) {
    (void)state;
    memset(d, 0xFF, sizeof d);
    return 0;
}

static bool d_is_untouched(void) {
    static uint8_t was[sizeof d];
    memset(was, 0xFF, sizeof was);
    return memcmp(d, was, sizeof d) == 0;
}

static void expect(double alpha, double beta) {
    assert_int_equal(tcgemm_run(plan, alpha, a, b, beta, c, expected), TCGEMM_STATUS_OK);
    assert_memory_equal(d, expected, sizeof d);
    memset(d, 0xFF, sizeof d);
}

static tcgemm_data_t whole_data(void) {
    tcgemm_data_t x = tcgemm_data(a, b, d);
    x.alpha.re = 2.5;
    x.beta.re = -0.75;
    x.c = c;
    return x;
}

/* ---- what it computes ---- */

static void defaults_are_the_plain_product(void **state) {
    (void)state;
    const tcgemm_data_t x = tcgemm_data(a, b, d);
    assert_true(x.struct_size == sizeof x && x.alpha.re == 1 && x.beta.re == 0 && !x.c);
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_OK);
    expect(1, 0);
    const tcgemm_run_options_t o = tcgemm_run_options();
    assert_int_equal(tcgemm_execute(plan, &x, &o), TCGEMM_STATUS_OK);
    expect(1, 0);
}

static void every_served_field_counts(void **state) {
    (void)state;
    tcgemm_data_t x = whole_data();
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_OK);
    expect(2.5, -0.75);
    x.alpha.re = 0;
    x.a = x.b = NULL;
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_OK);
    expect(0, -0.75);
    x = whole_data();
    x.beta.re = 0;
    x.c = NULL;
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_OK);
    expect(2.5, 0);
    x = whole_data();
    const void *const *const needed[] = {&x.a, &x.b, &x.c};
    for (int i = 0; i < 3; ++i) {
        const void *const kept = *needed[i];
        *(const void **)(uintptr_t)needed[i] = NULL;
        assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
        *(const void **)(uintptr_t)needed[i] = kept;
    }
    x.d = NULL;
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_true(d_is_untouched());
}

static void the_shorter_calls_are_the_same(void **state) {
    (void)state;
    const tcgemm_data_t x = whole_data();
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_OK);
    memcpy(expected, d, sizeof d);
    memset(d, 0xFF, sizeof d);
    assert_int_equal(tcgemm_run(plan, 2.5, a, b, -0.75, c, d), TCGEMM_STATUS_OK);
    assert_memory_equal(d, expected, sizeof d);
    memset(d, 0xFF, sizeof d);
    assert_int_equal(tcgemm_run_with(plan, 2.5, a, b, -0.75, c, d, NULL, 0, NULL),
                     TCGEMM_STATUS_OK);
    assert_memory_equal(d, expected, sizeof d);
    memset(d, 0xFF, sizeof d);
    assert_int_equal(tcgemm_run_async(plan, 2.5, a, b, -0.75, c, d, NULL, 0, NULL),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), "the plan is for the CPU"));
    assert_true(d_is_untouched());
}

/* ---- what is refused ---- */

static void expect_refused(const tcgemm_data_t *x, const char *name) {
    assert_int_equal(tcgemm_execute(plan, x, NULL), TCGEMM_STATUS_UNSUPPORTED);
    assert_non_null(strstr(tcgemm_last_error(), name));
    assert_true(d_is_untouched());
}

static void fields_of_the_future_are_refused_by_name(void **state) {
    (void)state;
    tcgemm_data_t x = whole_data();
    x.alpha.im = 1;
    expect_refused(&x, "data->alpha.im");
    x = whole_data();
    x.beta.im = -1e-300;
    expect_refused(&x, "data->beta.im");
    x = whole_data();
    x.row_scale = c;
    expect_refused(&x, "data->row_scale");
    x = whole_data();
    x.col_scale = c;
    expect_refused(&x, "data->col_scale");
    x = whole_data();
    x.alpha.im = -0.0;
    assert_int_equal(tcgemm_execute(plan, &x, NULL), TCGEMM_STATUS_OK);
}

static void expect_bad(const tcgemm_plan_t *of, const tcgemm_data_t *x,
                       const tcgemm_run_options_t *o, const char *word) {
    assert_int_equal(tcgemm_execute(of, x, o), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), word));
    assert_true(d_is_untouched());
}

static void options_that_make_no_sense(void **state) {
    (void)state;
    const tcgemm_data_t x = whole_data();
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    tcgemm_run_options_t o = tcgemm_run_options();
    expect_bad(NULL, &x, NULL, "plan is NULL");
    expect_bad(plan, NULL, NULL, "data is NULL");
    o.is_async = 1;
    expect_bad(plan, &x, &o, "no streams");
    o.stats = &stats;
    expect_bad(plan, &x, &o, "no streams");
    o.is_async = 0;
    o.stats = NULL;
    o.stream = &o;
    expect_bad(plan, &x, &o, "no streams");
    o.stream = NULL;
    stats.struct_size = 0;
    o.stats = &stats;
    expect_bad(plan, &x, &o, "stats->struct_size");
}

static void statistics(void **state) {
    (void)state;
    const tcgemm_data_t x = whole_data();
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats, .transfer_seconds = 5};
    tcgemm_run_options_t o = tcgemm_run_options();
    o.stats = &stats;
    assert_int_equal(tcgemm_execute(plan, &x, &o), TCGEMM_STATUS_OK);
    assert_true(stats.product_seconds > 0 && stats.transfer_seconds == 0);
    assert_true(stats.total_seconds >= stats.product_seconds + stats.pack_seconds);
    expect(2.5, -0.75);
    double older[2] = {0, -1}; /* what a struct with pack_seconds alone has */
    const size_t size = sizeof older;
    memcpy(older, &size, sizeof size);
    o.stats = (tcgemm_run_stats_t *)(void *)older;
    assert_int_equal(tcgemm_execute(plan, &x, &o), TCGEMM_STATUS_OK);
    assert_true(older[1] >= 0);
}

/* Exactly as many bytes as the plan says, at any address, and not one more. */
static void workspaces(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_BF16_BF16, 64, 96, 300);
    tcgemm_plan_t *needs = plan_of(context_of(1), &p, NULL);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    assert_int_equal(tcgemm_plan_get_info(needs, &info), TCGEMM_STATUS_OK);
    assert_true(info.workspace_bytes > 0);
    uint8_t *const memory = malloc(info.workspace_bytes + 130);
    uint16_t *const data = calloc(64 * 300 + 300 * 96 + 64 * 96, sizeof *data);
    assert_true(memory && data);
    const tcgemm_data_t x = tcgemm_data(data, data + 64 * 300, data + 64 * 300 + 300 * 96);
    tcgemm_run_options_t o = tcgemm_run_options();
    for (size_t at = 1; at < 65; at += 21) {
        memset(memory, 0xA5, info.workspace_bytes + 130);
        o.workspace = memory + at;
        o.workspace_bytes = info.workspace_bytes;
        assert_int_equal(tcgemm_execute(needs, &x, &o), TCGEMM_STATUS_OK);
        for (size_t i = 0; i < at; ++i)
            assert_int_equal(memory[i], 0xA5);
        for (size_t i = at + info.workspace_bytes; i < info.workspace_bytes + 130; ++i)
            assert_int_equal(memory[i], 0xA5);
        o.workspace_bytes -= 1;
        assert_int_equal(tcgemm_execute(needs, &x, &o), TCGEMM_STATUS_BAD_ARGUMENT);
        assert_non_null(strstr(tcgemm_last_error(), "the workspace has"));
    }
    o.workspace = NULL; /* the library takes its own, whatever the size says */
    assert_int_equal(tcgemm_execute(needs, &x, &o), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(needs);
    free(memory);
    free(data);
}

/* ---- GPUs that are not here ---- */

static void plans_for_known_gpus(void **state) {
    (void)state;
    tcgemm_context_options_t options = tcgemm_context_options();
    options.known_gpu = "h200";
    tcgemm_context_t *context = NULL;
    assert_int_equal(tcgemm_context_create(&options, &context), TCGEMM_STATUS_OK);
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    tcgemm_plan_t *there = plan_of(context, &p, NULL);
    tcgemm_data_t x = whole_data();
    tcgemm_run_options_t o = tcgemm_run_options();
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    for (int alpha = 0; alpha < 2; ++alpha)
        for (int way = 0; way < 4; ++way) {
            x.alpha.re = alpha;
            o = tcgemm_run_options();
            o.is_async = way == 1;
            o.stats = way == 2 ? &stats : NULL;
            o.stream = way == 3 ? &o : NULL;
            assert_int_equal(tcgemm_execute(there, &x, &o), TCGEMM_STATUS_NO_DEVICE);
            assert_non_null(strstr(tcgemm_last_error(), "known GPU"));
        }
    o = tcgemm_run_options();
    o.is_async = 1;
    o.stats = &stats;
    expect_bad(there, &x, &o, "no statistics");
    assert_int_equal(tcgemm_run(there, 1, a, b, 0, NULL, d), TCGEMM_STATUS_NO_DEVICE);
    assert_int_equal(tcgemm_run_with(there, 0, a, b, 0, NULL, d, NULL, 0, NULL),
                     TCGEMM_STATUS_NO_DEVICE);
    assert_int_equal(tcgemm_run_async(there, 1, a, b, 0, NULL, d, NULL, 0, NULL),
                     TCGEMM_STATUS_NO_DEVICE);
    assert_true(d_is_untouched());
    tcgemm_plan_destroy(there);
    tcgemm_context_destroy(context);
}

/* ---- structs of other versions ---- */

/* `size` bytes at the end of an allocation that begin with struct_size = size. */
static void *sized(const void *from, size_t size_of_from, size_t size) {
    char *const copy = calloc(1, size);
    assert_non_null(copy);
    memcpy(copy, from, size_of_from < size ? size_of_from : size);
    memcpy(copy, &size, sizeof size);
    return copy;
}

static void check_data_of(size_t size) {
    const tcgemm_data_t x = whole_data();
    tcgemm_data_t *const y = sized(&x, sizeof x, size);
    assert_int_equal(tcgemm_execute(plan, y, NULL), TCGEMM_STATUS_OK);
    expect(2.5, -0.75);
    if (size > sizeof x) {
        ((char *)y)[size - 1] = 1;
        expect_bad(plan, y, NULL, "is not zero");
    }
    free(y);
}

static void data_of_every_size(void **state) {
    (void)state;
    const size_t least = offsetof(tcgemm_data_t, bias);
    for (size_t size = least; size <= sizeof(tcgemm_data_t) + MORE; size += sizeof(void *))
        check_data_of(size);
    for (size_t size = sizeof size; size < least; size += sizeof size) {
        const tcgemm_data_t x = whole_data();
        tcgemm_data_t *const y = sized(&x, sizeof x, size);
        expect_bad(plan, y, NULL, "data->struct_size");
        free(y);
    }
}

static void options_of_every_size(void **state) {
    (void)state;
    const tcgemm_data_t x = whole_data();
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    tcgemm_run_options_t o = tcgemm_run_options();
    o.stats = &stats;
    for (size_t size = sizeof size; size <= sizeof o + MORE; size += sizeof size) {
        tcgemm_run_options_t *const y = sized(&o, sizeof o, size);
        stats.total_seconds = 0;
        assert_int_equal(tcgemm_execute(plan, &x, y), TCGEMM_STATUS_OK);
        const size_t end = offsetof(tcgemm_run_options_t, stats) + sizeof o.stats;
        assert_true((stats.total_seconds > 0) == (size >= end));
        expect(2.5, -0.75);
        if (size > sizeof o) {
            ((char *)y)[size - 1] = 1;
            expect_bad(plan, &x, y, "is not zero");
        }
        free(y);
    }
    const size_t none = 0;
    expect_bad(plan, &x, (const tcgemm_run_options_t *)(const void *)&none, "options->struct_size");
}

/* A problem of another version is read as far as it goes, also where a device is chosen by it. */
static void problems_of_every_size(void **state) {
    (void)state;
    for (int flags = 0; flags < 2; ++flags) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 300, 300, 300);
        p.flags = flags ? TCGEMM_FLAG_REPRODUCIBLE : 0;
        for (size_t size = offsetof(tcgemm_problem_t, lda); size <= sizeof p + MORE; size += 8) {
            tcgemm_problem_t *const y = sized(&p, sizeof p, size);
            tcgemm_plan_t *made = NULL;
            assert_int_equal(tcgemm_plan_create(NULL, y, NULL, &made), TCGEMM_STATUS_OK);
            tcgemm_plan_destroy(made);
            free(y);
        }
    }
}

/* ---- the sentence of the last error ---- */

static void calls_that_return_ok_leave_the_sentence(void **state) {
    (void)state;
    const int64_t sizes[] = {8, 300, 1024};
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 1024, 1024, 1024);
    float *const data = calloc(3 * 1024 * 1024, sizeof *data);
    assert_non_null(data);
    assert_int_equal(tcgemm_run(NULL, 1, a, b, 0, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT);
    char sentence[128];
    (void)strncpy(sentence, tcgemm_last_error(), sizeof sentence - 1);
    sentence[sizeof sentence - 1] = '\0';
    for (int i = 0; i < 3; ++i)
        for (int flags = 0; flags < 2; ++flags) {
            tcgemm_plan_t *made = NULL;
            p.m = p.n = p.k = sizes[i];
            p.flags = flags ? TCGEMM_FLAG_REPRODUCIBLE : 0;
            assert_int_equal(
                tcgemm_gemm(&p, 1, data, data + 1024 * 1024, 0, NULL, data + 2 * 1024 * 1024),
                TCGEMM_STATUS_OK);
            assert_string_equal(tcgemm_last_error(), sentence);
            assert_int_equal(tcgemm_plan_create(NULL, &p, NULL, &made), TCGEMM_STATUS_OK);
            assert_string_equal(tcgemm_last_error(), sentence);
            tcgemm_plan_destroy(made);
        }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_are_the_plain_product, clear_d),
        cmocka_unit_test_setup(every_served_field_counts, clear_d),
        cmocka_unit_test_setup(the_shorter_calls_are_the_same, clear_d),
        cmocka_unit_test_setup(fields_of_the_future_are_refused_by_name, clear_d),
        cmocka_unit_test_setup(options_that_make_no_sense, clear_d),
        cmocka_unit_test_setup(statistics, clear_d),
        cmocka_unit_test_setup(workspaces, clear_d),
        cmocka_unit_test_setup(plans_for_known_gpus, clear_d),
        cmocka_unit_test_setup(data_of_every_size, clear_d),
        cmocka_unit_test_setup(options_of_every_size, clear_d),
        cmocka_unit_test_setup(problems_of_every_size, clear_d),
        cmocka_unit_test_setup(calls_that_return_ok_leave_the_sentence, clear_d),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
