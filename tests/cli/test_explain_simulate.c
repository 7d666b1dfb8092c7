/* The simulation as the tool shows it: the table, the trace and its end, the data, the exit status.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#include "explain/explain_simulate.h"
#include "support/exit_status.h"
#include "support/message.h"

typedef struct fixture {
    tcgemm_context_t *context;
    tcgemm_problem_t problem;
    tcgemm_plan_t *plan;
} fixture_t;

static fixture_t fixture_make(const char *gpu, const char *algo, tcgemm_type_t type, int64_t m,
                              int64_t n, int64_t k) {
    fixture_t f = {.problem = tcgemm_problem(type, m, n, k)};
    tcgemm_context_options_t o = tcgemm_context_options();
    o.known_gpu = gpu;
    if (!gpu)
        o.device = TCGEMM_DEVICE_CPU;
    tcgemm_plan_options_t p = tcgemm_plan_options();
    p.algo = algo;
    assert_int_equal(tcgemm_context_create(&o, &f.context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(f.context, &f.problem, &p, &f.plan), TCGEMM_STATUS_OK);
    return f;
}

static void fixture_free(fixture_t *f) {
    tcgemm_plan_destroy(f->plan);
    tcgemm_context_destroy(f->context);
}

/* What the simulation prints; the caller frees it. */
static char *print(const fixture_t *f, explain_simulate_options_t o, int expected) {
    char *text = NULL;
    size_t size = 0;
    o.out = open_memstream(&text, &size);
    assert_non_null(o.out);
    assert_int_equal(explain_simulate(f->plan, &f->problem, &o), expected);
    (void)fclose(o.out);
    return text;
}

static int count(const char *text, const char *what) {
    int found = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        ++found;
    return found;
}

static void a_table_of_four_nests(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    const char *const algos[] = {"wmma-direct", "wmma-shared", "mma-pipelined"};
    for (int i = 0; i < 3; ++i) {
        fixture_t f = fixture_make("orin", algos[i], TCGEMM_F16_F32, 40, 50, 60);
        explain_simulate_options_t o = explain_simulate_options();
        o.beta = 2.0;
        char *text = print(&f, o, CLI_OK);
        assert_int_equal(count(text, "  right\n"), 4);
        assert_int_equal(count(text, "FAULT") + count(text, "WRONG"), 0);
        free(text);
        fixture_free(&f);
    }
}

static void the_cpu_has_other_names(void **state) {
    (void)state;
    fixture_t f = fixture_make(NULL, "cpu", TCGEMM_S8_S32, 33, 44, 55);
    char *text = print(&f, explain_simulate_options(), CLI_OK);
    assert_non_null(strstr(text, "register tiles"));
    assert_int_equal(count(text, "  right\n"), 4);
    free(text);
    fixture_free(&f);
}

static void a_trace_says_who_does_what(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    fixture_t f = fixture_make("h200", "mma-pipelined", TCGEMM_BF16_F32, 20, 20, 40);
    explain_simulate_options_t o = explain_simulate_options();
    o.trace = true;
    char *text = print(&f, o, CLI_OK);
    assert_non_null(strstr(text, "block 0"));
    assert_non_null(strstr(text, "warp 0 asks cp.async for A rows 0..19, k 0..39"));
    assert_non_null(strstr(text, "warp 0 waits until 1 of its 2 groups are in flight"));
    assert_non_null(strstr(text, "warp 3 is at __syncthreads"));
    assert_non_null(strstr(text, "lane 5 has of A, as (rows, k): word 0 (1, 2) word 1 (9, 2)"));
    assert_non_null(strstr(text, "lane 5 has of B, as (k, columns): word 0 (2, 1)"));
    assert_non_null(strstr(text, "warp 0 reads B k 16..31, columns 0..19"));
    assert_non_null(strstr(text, "warp 0 multiplies: 8 x mma m16n8k16"));
    assert_non_null(strstr(text, "warp 0 stores D rows 0..15, columns 0..19"));
    assert_null(strstr(text, "The trace is cut"));
    free(text);
    o.trace_lines = 5;
    text = print(&f, o, CLI_OK);
    assert_non_null(strstr(text, "The trace is cut after 5 lines"));
    assert_int_equal(count(text, "\n"), 5 + 1 + 1 + 2 + 4 + 1);
    free(text);
    fixture_free(&f);
}

static void the_same_as_data(void **state) {
    (void)state;
    if (!has_emulator())
        skip();
    fixture_t f = fixture_make("t4", "wmma-shared", TCGEMM_S8_S32, 20, 30, 70);
    explain_simulate_options_t o = explain_simulate_options();
    o.json = o.trace = true;
    o.trace_lines = 3;
    char *text = print(&f, o, CLI_OK);
    json_t *data = json_loads(text, 0, NULL);
    assert_non_null(data);
    assert_string_equal(json_string_value(json_object_get(data, "verdict")), "RIGHT");
    assert_int_equal(json_array_size(json_object_get(data, "nests")), 4);
    assert_int_equal(json_array_size(json_object_get(data, "trace")), 3);
    assert_true(json_is_true(json_object_get(data, "trace_is_cut")));
    json_t *nest = json_array_get(json_object_get(data, "nests"), 0);
    assert_int_equal(json_integer_value(json_object_get(nest, "memory_loads")), (20 + 30) * 70);
    json_decref(data);
    free(text);
    fixture_free(&f);
}

static void what_is_too_large_is_refused(void **state) {
    (void)state;
    fixture_t f = fixture_make("h200", NULL, TCGEMM_F16_F32, 1000, 1000, 1000);
    char *text = print(&f, explain_simulate_options(), CLI_USAGE);
    assert_string_equal(text, "");
    free(text);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_of_four_nests),        cmocka_unit_test(the_cpu_has_other_names),
        cmocka_unit_test(a_trace_says_who_does_what),   cmocka_unit_test(the_same_as_data),
        cmocka_unit_test(what_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
