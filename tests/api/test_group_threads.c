/* tcgemm_execute_group: each product has the bits that it has alone, whatever its size and type,
 * for any number of threads; what is refused, is refused before anything is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/testcase.h"

enum { MOST = 200 };

typedef struct group {
    int count;
    testcase_t t[MOST];
    operands_t x[MOST];
    tcgemm_plan_t *plan[MOST];
    tcgemm_data_t data[MOST];
    uint64_t hash[MOST]; /* of D as tcgemm_execute makes it */
    float bias[300];
} group_t;

static void clear_d(const group_t *g) {
    for (int i = 0; i < g->count; ++i)
        memcpy(g->x[i].d.block, g->x[i].d_was, g->x[i].d.block_bytes);
}

static group_t *make_group(int count, int plan_threads) {
    group_t *const g = calloc(1, sizeof *g);
    uint64_t random = 11;
    assert_non_null(g);
    g->count = count;
    for (int j = 0; j < 300; ++j)
        g->bias[j] = (float)random_unit(&random);
    for (int i = 0; i < count; ++i) {
        const tcgemm_type_t type = (tcgemm_type_t)(1 + i % tcgemm_type_count());
        const int64_t most = i % 23 == 22 ? 280 : i % 5 == 4 ? 90 : 30;
        const tcgemm_problem_t p =
            tcgemm_problem(type, 1 + random_below(&random, most), 1 + random_below(&random, most),
                           random_below(&random, 3 * most));
        g->t[i] = testcase_make(NULL, p, random_next(&random));
        operands_make(&g->t[i], &g->x[i]);
        g->plan[i] = plan_of(context_of(plan_threads), &p, NULL);
        g->data[i] = tcgemm_data(g->x[i].a.data, g->x[i].b.data, g->x[i].d.data);
        if (type == TCGEMM_F32_F32) {
            g->data[i].bias = g->bias;
            g->data[i].activation = TCGEMM_ACTIVATION_TANH;
        }
        assert_int_equal(tcgemm_execute(g->plan[i], &g->data[i], NULL), TCGEMM_STATUS_OK);
        g->hash[i] = hash_bytes(g->x[i].d.block, g->x[i].d.block_bytes);
    }
    clear_d(g);
    return g;
}

static void free_group(group_t *g) {
    for (int i = 0; i < g->count; ++i) {
        operands_free(&g->x[i]);
        tcgemm_plan_destroy(g->plan[i]);
    }
    free(g);
}

static tcgemm_status_t execute(const group_t *g, const tcgemm_run_options_t *o) {
    return tcgemm_execute_group((const tcgemm_plan_t *const *)g->plan, g->data, g->count, o);
}

static void expect_bits(const group_t *g) {
    for (int i = 0; i < g->count; ++i)
        if (hash_bytes(g->x[i].d.block, g->x[i].d.block_bytes) != g->hash[i])
            testcase_fail(&g->t[i], "product %d of the group has other bits than alone", i);
    clear_d(g);
}

static void each_has_the_bits_that_it_has_alone(void **state) {
    (void)state;
    static const int threads[] = {0, 1, 2, 3, 7};
    for (int plan_threads = 1; plan_threads <= 4; plan_threads += 3) {
        group_t *const g = make_group((int)at_level(40, MOST, MOST), plan_threads);
        assert_int_equal(execute(g, NULL), TCGEMM_STATUS_OK);
        expect_bits(g);
        for (int i = 0; i < 5; ++i) {
            tcgemm_run_options_t o = tcgemm_run_options();
            o.num_threads = threads[i];
            assert_int_equal(execute(g, &o), TCGEMM_STATUS_OK);
            expect_bits(g);
        }
        free_group(g);
    }
    assert_no_failures();
}

static void one_plan_for_all(void **state) {
    (void)state;
    enum { COUNT = 50, SIZE = 24 };
    static float a[COUNT][SIZE * SIZE], b[SIZE * SIZE], d[COUNT][SIZE * SIZE];
    static float alone[SIZE * SIZE];
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    tcgemm_plan_t *const plan = plan_of(context_of(1), &p, NULL);
    const tcgemm_plan_t *plans[COUNT];
    tcgemm_data_t data[COUNT];
    uint64_t random = 3;
    for (int i = 0; i < SIZE * SIZE; ++i)
        b[i] = (float)random_normal(&random);
    for (int i = 0; i < COUNT; ++i) {
        for (int j = 0; j < SIZE * SIZE; ++j)
            a[i][j] = (float)random_normal(&random);
        plans[i] = plan;
        data[i] = tcgemm_data(a[i], b, d[i]);
    }
    assert_int_equal(tcgemm_execute_group(plans, data, COUNT, NULL), TCGEMM_STATUS_OK);
    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(tcgemm_run(plan, 1, a[i], b, 0, NULL, alone), TCGEMM_STATUS_OK);
        assert_memory_equal(d[i], alone, sizeof alone);
    }
    tcgemm_plan_destroy(plan);
}

/* Products that need one, side by side: sums of narrow results. */
static void each_thread_has_a_workspace_of_its_own(void **state) {
    (void)state;
    enum { COUNT = 64, M = 64, N = 96, K = 300 };
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_BF16_BF16, M, N, K);
    tcgemm_plan_t *const plan = plan_of(context_of(1), &p, NULL);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    const tcgemm_plan_t *plans[COUNT];
    tcgemm_data_t data[COUNT];
    uint16_t *const a = malloc(COUNT * M * K * sizeof *a), *const b = malloc(K * N * sizeof *b);
    uint16_t *const d = malloc((COUNT + 1) * M * N * sizeof *d), *const alone = d + COUNT * M * N;
    uint64_t random = 9;
    int num_wrong = 0;
    tcgemm_run_options_t o = tcgemm_run_options();
    assert_true(a && b && d);
    assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
    assert_true(info.workspace_bytes > 0);
    for (int i = 0; i < COUNT * M * K; ++i)
        a[i] = (uint16_t)(0x3F00 | (random_next(&random) & 0x80FF));
    for (int i = 0; i < K * N; ++i)
        b[i] = (uint16_t)(0x3F00 | (random_next(&random) & 0x80FF));
    for (int i = 0; i < COUNT; ++i) {
        plans[i] = plan;
        data[i] = tcgemm_data(a + i * M * K, b, d + i * M * N);
    }
    o.num_threads = 4;
    for (int round = 0; round < 20; ++round) {
        memset(d, 0xFF, COUNT * M * N * sizeof *d);
        assert_int_equal(tcgemm_execute_group(plans, data, COUNT, &o), TCGEMM_STATUS_OK);
        for (int i = 0; i < COUNT; ++i) {
            assert_int_equal(tcgemm_run(plan, 1, data[i].a, b, 0, NULL, alone), TCGEMM_STATUS_OK);
            num_wrong += memcmp(data[i].d, alone, M * N * sizeof *d) != 0;
        }
    }
    assert_int_equal(num_wrong, 0);
    tcgemm_plan_destroy(plan);
    free(a);
    free(b);
    free(d);
}

/* ---- what is refused ---- */

static void expect_refused(const group_t *g, const tcgemm_run_options_t *o, tcgemm_status_t status,
                           const char *words) {
    assert_int_equal(execute(g, o), status);
    assert_non_null(strstr(tcgemm_last_error(), words));
    for (int i = 0; i < g->count; ++i)
        assert_memory_equal(g->x[i].d.block, g->x[i].d_was, g->x[i].d.block_bytes);
}

static void nothing_is_written_if_one_is_wrong(void **state) {
    (void)state;
    group_t *const g = make_group(20, 2);
    tcgemm_run_options_t o = tcgemm_run_options();
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    assert_int_equal(tcgemm_execute_group(NULL, NULL, 0, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_execute_group(NULL, g->data, 1, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_execute_group((const tcgemm_plan_t *const *)g->plan, NULL, 1, NULL),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_execute_group(NULL, NULL, -1, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    o.num_threads = -1;
    expect_refused(g, &o, TCGEMM_STATUS_BAD_ARGUMENT, "num_threads is -1");
    o.num_threads = 0;
    o.workspace = &o;
    expect_refused(g, &o, TCGEMM_STATUS_BAD_ARGUMENT, "a group takes its own");
    o.workspace = NULL;
    o.stats = &stats;
    expect_refused(g, &o, TCGEMM_STATUS_BAD_ARGUMENT, "no statistics");
    const void *const kept = g->data[19].a;
    g->data[19].a = NULL;
    g->data[19].alpha.re = 1;
    if (g->t[19].p.k > 0)
        expect_refused(g, NULL, TCGEMM_STATUS_BAD_ARGUMENT, "A is NULL");
    g->data[19].a = kept;
    g->data[7].alpha.im = 1;
    expect_refused(g, NULL, TCGEMM_STATUS_UNSUPPORTED, "alpha.im");
    g->data[7].alpha.im = 0;
    tcgemm_plan_t *const plan = g->plan[11];
    g->plan[11] = NULL;
    expect_refused(g, NULL, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    g->plan[11] = plan;
    assert_int_equal(execute(g, NULL), TCGEMM_STATUS_OK);
    expect_bits(g);
    free_group(g);
    assert_no_failures();
}

static atomic_int num_calls;

static void count_call(const tcgemm_call_info_t *call, void *data) {
    (void)data;
    if (call->status == TCGEMM_STATUS_OK)
        atomic_fetch_add(&num_calls, 1);
}

static void who_listens_hears_of_each(void **state) {
    (void)state;
    group_t *const g = make_group(30, 1);
    assert_int_equal(tcgemm_set_call_hook(count_call, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(execute(g, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_set_call_hook(NULL, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(atomic_load(&num_calls), 30);
    free_group(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_the_bits_that_it_has_alone),
        cmocka_unit_test(one_plan_for_all),
        cmocka_unit_test(each_thread_has_a_workspace_of_its_own),
        cmocka_unit_test(nothing_is_written_if_one_is_wrong),
        cmocka_unit_test(who_listens_hears_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
