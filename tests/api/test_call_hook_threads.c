/* The hook of every call: what it is told, by which calls, in which threads, and that nobody is
 * told when there is none. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tcgemm/tcgemm.h"

enum { SIZE = 8, NUM_THREADS = 6, CALLS = 400 };

static float a[SIZE * SIZE], b[SIZE * SIZE], d[SIZE * SIZE];

/* ---- what is told ---- */

typedef struct heard {
    int count;
    tcgemm_call_info_t last;
    tcgemm_problem_t problem;
} heard_t;

static void listen_here(const tcgemm_call_info_t *call, void *data) {
    heard_t *const heard = data;
    ++heard->count;
    heard->last = *call;
    heard->problem = *call->problem;
}

static tcgemm_plan_t *plan_of(const tcgemm_problem_t *p, unsigned pack) {
    tcgemm_plan_options_t options = tcgemm_plan_options();
    tcgemm_context_options_t where = tcgemm_context_options();
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
    options.algo = "cpu";
    options.pack = pack;
    where.num_threads = 1;
    assert_int_equal(tcgemm_context_create(&where, &context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(context, p, &options, &plan), TCGEMM_STATUS_OK);
    tcgemm_context_destroy(context);
    return plan;
}

static void test_one_call(void **state) {
    (void)state;
    heard_t heard = {0};
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 5, 6, 7);
    p.op_b = TCGEMM_OP_T;
    p.ldb = 8;
    assert_int_equal(tcgemm_set_call_hook(listen_here, &heard), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_gemm(&p, 2.5, a, b, 0, NULL, d), TCGEMM_STATUS_OK);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.last.struct_size, sizeof heard.last);
    assert_int_equal(heard.problem.type, TCGEMM_F32_F32);
    assert_int_equal(heard.problem.m, 5);
    assert_int_equal(heard.problem.n, 6);
    assert_int_equal(heard.problem.k, 7);
    assert_int_equal(heard.problem.op_b, TCGEMM_OP_T);
    assert_int_equal(heard.problem.ldb, 8);
    assert_true(heard.last.alpha == 2.5);
    assert_true(heard.last.beta == 0);
    assert_string_equal(heard.last.algo, "cpu");
    assert_string_equal(heard.last.device, "cpu");
    assert_int_equal(heard.last.device_index, TCGEMM_DEVICE_CPU);
    assert_true(heard.last.num_threads >= 1);
    assert_int_equal(heard.last.is_async, 0);
    assert_int_equal(heard.last.packs, 0);
    assert_int_equal(heard.last.status, TCGEMM_STATUS_OK);
    assert_true(heard.last.seconds > 0 && heard.last.seconds < 60);
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_gemm(&p, 1, a, b, 0, NULL, d), TCGEMM_STATUS_OK);
    assert_int_equal(heard.count, 1);
}

/* A call is told by its own problem, also where a plan of one that is nearly the same is kept. */
static void test_nearly_the_same(void **state) {
    (void)state;
    heard_t heard = {0};
    float many[3 * 4];
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 2);
    assert_int_equal(tcgemm_set_call_hook(listen_here, &heard), TCGEMM_STATUS_OK);
    for (p.batch = 1; p.batch <= 3; ++p.batch) {
        p.stride_d = p.batch > 1 ? 4 : 0;
        assert_int_equal(tcgemm_gemm(&p, 1, a, b, 0, NULL, many), TCGEMM_STATUS_OK);
        assert_int_equal(heard.problem.batch, p.batch);
        assert_int_equal(heard.problem.stride_d, p.stride_d);
    }
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
}

/* Each way to run a plan tells once, of the plan's kernel; so do calls that fail, and verify does
 * not. */
static void test_calls_of_plans(void **state) {
    (void)state;
    heard_t heard = {0};
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    tcgemm_plan_t *plan = plan_of(&p, 0);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_set_call_hook(listen_here, &heard), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_run(plan, 1, a, b, 0, NULL, d), TCGEMM_STATUS_OK);
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.last.kernel, info.kernel);
    assert_int_equal(heard.last.num_threads, 1);
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    assert_int_equal(tcgemm_run_with(plan, 1, a, b, 0, NULL, d, NULL, 0, &stats), TCGEMM_STATUS_OK);
    assert_int_equal(heard.count, 2);
    assert_true(heard.last.seconds >= stats.total_seconds);
    const tcgemm_data_t data = tcgemm_data(a, b, d);
    assert_int_equal(tcgemm_execute(plan, &data, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(heard.count, 3);
    assert_int_equal(tcgemm_run(plan, 1, NULL, b, 0, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(heard.count, 4);
    assert_int_equal(heard.last.status, TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_gemm(&p, 1, a, b, 0, NULL, a), TCGEMM_STATUS_OVERLAP);
    assert_int_equal(heard.last.status, TCGEMM_STATUS_OVERLAP);
    assert_int_equal(heard.count, 5);
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    assert_int_equal(tcgemm_verify(plan, 1, a, b, 0, NULL, d, TCGEMM_VERIFY_FULL, 0, &report),
                     TCGEMM_STATUS_OK);
    tcgemm_problem_t bad = p;
    bad.lda = 1;
    assert_int_equal(tcgemm_gemm(&bad, 1, a, b, 0, NULL, d), TCGEMM_STATUS_BAD_LD);
    assert_int_equal(tcgemm_run(NULL, 1, a, b, 0, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(heard.count, 5);
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(plan);
}

/* The operand that is packed, as the caller calls it, in both orders. */
static void test_packing(void **state) {
    (void)state;
    heard_t heard = {0};
    for (int i = 0; i < 4; ++i) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
        const unsigned operand = i & 1 ? TCGEMM_OPERAND_B : TCGEMM_OPERAND_A;
        p.order = i & 2 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        tcgemm_plan_t *plan = plan_of(&p, operand);
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
        void *ahead = aligned_alloc(64, (info.packed_bytes + 63) / 64 * 64);
        assert_non_null(ahead);
        assert_int_equal(tcgemm_set_call_hook(listen_here, &heard), TCGEMM_STATUS_OK);
        assert_int_equal(tcgemm_run(plan, 1, a, b, 0, NULL, ahead), TCGEMM_STATUS_OK);
        assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
        assert_int_equal(heard.count, i + 1);
        assert_int_equal(heard.last.packs, operand);
        free(ahead);
        tcgemm_plan_destroy(plan);
    }
}

/* ---- who is told ---- */

static atomic_long told[2];

static void count_calls(const tcgemm_call_info_t *call, void *data) {
    if (call->problem->m != SIZE)
        abort();
    atomic_fetch_add((atomic_long *)data, 1);
}

static void *multiply(void *unused) {
    (void)unused;
    float mine[SIZE * SIZE];
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    for (int i = 0; i < CALLS; ++i)
        if (tcgemm_gemm(&p, 1, a, b, 0, NULL, mine) != TCGEMM_STATUS_OK)
            abort();
    return NULL;
}

static void run_threads(bool change_hooks) {
    pthread_t threads[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, multiply, NULL), 0);
    for (int i = 0; change_hooks && i < 2000; ++i)
        assert_int_equal(tcgemm_set_call_hook(i % 3 ? count_calls : NULL, &told[i % 2]),
                         TCGEMM_STATUS_OK);
    for (int i = 0; i < NUM_THREADS; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_every_thread(void **state) {
    (void)state;
    atomic_store(&told[0], 0);
    assert_int_equal(tcgemm_set_call_hook(count_calls, &told[0]), TCGEMM_STATUS_OK);
    run_threads(false);
    assert_int_equal(atomic_load(&told[0]), NUM_THREADS * CALLS);
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
    run_threads(false);
    assert_int_equal(atomic_load(&told[0]), NUM_THREADS * CALLS);
}

/* A hook never comes with another hook's data, and no call comes twice. */
static void test_hooks_that_change(void **state) {
    (void)state;
    atomic_store(&told[0], 0);
    atomic_store(&told[1], 0);
    run_threads(true);
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
    assert_true(atomic_load(&told[0]) + atomic_load(&told[1]) <= NUM_THREADS * CALLS);
}

/* A hook that multiplies is told of that, too. */
static void multiply_once_more(const tcgemm_call_info_t *call, void *data) {
    heard_t *const heard = data;
    const tcgemm_problem_t p = *call->problem;
    float mine[SIZE * SIZE];
    if (++heard->count < 5)
        assert_int_equal(tcgemm_gemm(&p, 1, a, b, 0, NULL, mine), TCGEMM_STATUS_OK);
}

static void test_calls_within_the_hook(void **state) {
    (void)state;
    heard_t heard = {0};
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    assert_int_equal(tcgemm_set_call_hook(multiply_once_more, &heard), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_gemm(&p, 1, a, b, 0, NULL, d), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(heard.count, 5);
}

int main(void) {
    (void)unsetenv("TCGEMM_VERBOSE");
    for (int i = 0; i < SIZE * SIZE; ++i)
        a[i] = b[i] = (float)(i % 5);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_call),          cmocka_unit_test(test_calls_of_plans),
        cmocka_unit_test(test_packing),           cmocka_unit_test(test_every_thread),
        cmocka_unit_test(test_hooks_that_change), cmocka_unit_test(test_calls_within_the_hook),
        cmocka_unit_test(test_nearly_the_same),
    };
    return cmocka_run_group_tests_name("call_hook", tests, NULL, NULL);
}
