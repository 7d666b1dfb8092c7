/* Same bits: run after run (R1), for any number of threads and any alignment (R2), for a row
 * wherever it stands if REPRODUCIBLE is asked for (R3); many callers at once (T1), objects that
 * come and go (T2), more threads than processors (T3). Run under the thread sanitizer, too.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oracle.h"
#include "support/testcase.h"

/* ---- helpers ---- */

static size_t d_bytes(const operands_t *x) {
    return (size_t)(x->d.span * oracle_bits(x->d.dtype) / 8);
}

static uint64_t hash_of_run(const testcase_t *t, const operands_t *x) {
    memset(x->d.data, 0x5A, d_bytes(x));
    const tcgemm_status_t status = testcase_run_on(t, x);
    if (status != TCGEMM_STATUS_OK)
        testcase_fail(t, "%s: %s", tcgemm_status_name(status), tcgemm_last_error());
    return hash_bytes(x->d.data, d_bytes(x));
}

static testcase_t case_of(tcgemm_type_t type, const int64_t s[3], uint64_t seed) {
    testcase_t t = testcase_make(NULL, tcgemm_problem(type, s[0], s[1], s[2]), seed);
    t.p.op_a = seed & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    t.p.op_b = seed & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    t.p.order = seed & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    t.alpha = oracle_is_float(tcgemm_type_info(type)->d) ? 0.7 : -3;
    return t;
}

static void make_batch(testcase_t *t, int64_t batch) {
    t->p.batch = batch;
    t->p.stride_a = t->p.m * t->p.k;
    t->p.stride_b = t->p.k * t->p.n;
    t->p.stride_c = t->p.stride_d = t->p.m * t->p.n;
}

static const int64_t shapes[][3] = {{67, 131, 401}, {300, 250, 90},  {1, 1000, 300}, {1000, 3, 300},
                                    {24, 24, 24},   {130, 520, 801}, {4000, 20, 9}};
enum {
    NUM_SHAPES = sizeof shapes / sizeof shapes[0],
    TALL = NUM_SHAPES - 1 /* threads take A's panels, which are short, by shares */
};

/* ---- R1, R2 ---- */

static void compare_thread_counts(testcase_t *t, const operands_t *x) {
    static const int counts[] = {2, 3, 4, 7, 16};
    t->num_threads = 1;
    const uint64_t expected = hash_of_run(t, x);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        t->num_threads = counts[i];
        if (hash_of_run(t, x) != expected)
            testcase_fail(t, "other bits than with one thread");
    }
}

static void compare_thread_counts_of(testcase_t *t) {
    if (!is_about_type(t->p.type))
        return;
    operands_t x;
    operands_make(t, &x);
    compare_thread_counts(t, &x);
    operands_free(&x);
}

static void same_bits_for_any_number_of_threads(void **state) {
    (void)state;
    const int64_t num_shapes = at_level(2, NUM_SHAPES, NUM_SHAPES);
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int64_t s = 0; s < NUM_SHAPES; ++s)
            for (int batch = 0; (s < num_shapes || s == TALL) && batch < 2; ++batch) {
                testcase_t t = case_of((tcgemm_type_t)type, shapes[s], (uint64_t)(type * 7 + s));
                if (batch && s % 2 == 0)
                    make_batch(&t, s == 4 ? 40 : 3);
                compare_thread_counts_of(&t);
            }
    assert_no_failures();
}

/* Few rows: threads may pack B for themselves, some elements of k at a time, and learn of a
 * subnormal that asks for another kernel when most of the sum is done. */
static void same_bits_with_late_subnormals(void **state) {
    (void)state;
    static const int64_t shape[] = {12, 1000, 700};
    for (uint64_t layout = 0; layout < 4; ++layout) {
        testcase_t t = case_of(TCGEMM_BF16_F32, shape, layout);
        operands_t x;
        operands_make(&t, &x);
        uint16_t *const b = (uint16_t *)(void *)x.b.data;
        const int64_t k_stride = t.p.op_b == TCGEMM_OP_N ? t.p.ldb : 1;
        const int64_t n_stride = t.p.op_b == TCGEMM_OP_N ? 1 : t.p.ldb;
        b[690 * k_stride + 77 * n_stride] = 1;
        b[3 * k_stride + 500 * n_stride] = 0x8003;
        compare_thread_counts(&t, &x);
        operands_free(&x);
    }
    assert_no_failures();
}

/* Few rows, or columns, times lines along k or across it: threads pack the few, then take lines. */
static void same_bits_with_few_times_lines(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64, TCGEMM_F16_F16,
                                          TCGEMM_BF16_F32, TCGEMM_E4M3_F32};
    for (uint64_t i = 0; i < 24; ++i) {
        const int64_t few = i < 8 ? 3 : i < 16 ? 21 : 7;
        const bool is_rows = i / 4 % 2;
        const int64_t shape[] = {is_rows ? few : 601, is_rows ? 601 : few, 1203};
        const uint64_t along = is_rows ? 2 : 0, across = is_rows ? 0 : 1;
        testcase_t t = case_of(types[i % 5], shape, i < 16 ? along : across);
        compare_thread_counts_of(&t);
    }
    assert_no_failures();
}

/* A B that many threads leave in place and few pack. */
static void same_bits_where_many_leave_b_in_place(void **state) {
    (void)state;
    for (uint64_t layout = 0; layout < 2; ++layout) {
        testcase_t t = case_of(layout ? TCGEMM_F64_F64 : TCGEMM_F32_F32,
                               (const int64_t[]){70, 520, 900}, layout);
        compare_thread_counts_of(&t);
    }
    assert_no_failures();
}

/* A B whose panels one thread leaves while it multiplies the first rows, and others pack; in two
 * blocks of rows, or of k, or of both. */
static void same_bits_where_one_copies_b(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {
        {70, 208, 730}, {300, 100, 1500}, {2100, 208, 730}, {2100, 100, 1500}};
    for (uint64_t i = 0; i < 16;
         i += (uint64_t)at_level(3, 1, 1)) { /* odd: both types and layouts */
        const bool is_double = i / 2 % 2;
        const int64_t *s = sizes[i / 4];
        const int64_t shape[] = {s[0], is_double ? s[1] / 2 : s[1], s[2]};
        testcase_t t = case_of(is_double ? TCGEMM_F64_F64 : TCGEMM_F32_F32, shape, i % 2);
        compare_thread_counts_of(&t);
    }
    assert_no_failures();
}

/* Many short steps of k: who has no unit left packs for the next step while the last units of this
 * one are multiplied. */
static void same_bits_with_panels_packed_ahead(void **state) {
    (void)state;
    testcase_t t = case_of(TCGEMM_F32_F32, (const int64_t[]){90, 17 * 48, 9000}, 0);
    if (!is_about_type(t.p.type))
        return;
    operands_t x;
    operands_make(&t, &x);
    const uint64_t expected = hash_of_run(&t, &x);
    t.num_threads = 4;
    for (int64_t i = 0; i < at_level(2, 5, 100); ++i)
        if (hash_of_run(&t, &x) != expected)
            testcase_fail(&t, "other bits than with one thread");
    operands_free(&x);
    assert_no_failures();
}

static void same_bits_at_any_address(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        if (!is_about_type((tcgemm_type_t)type))
            continue;
        for (int64_t s = 0; s < at_level(1, 3, NUM_SHAPES); ++s) {
            testcase_t t = case_of((tcgemm_type_t)type, shapes[s], (uint64_t)(type + s));
            const int step = oracle_bits(tcgemm_type_info(t.p.type)->d) / 8;
            uint64_t expected = 0;
            for (int offset = 0; offset < 16; ++offset) {
                t.misalign = offset * step % 64;
                t.num_threads = 1 + offset % 2;
                operands_t x;
                operands_make(&t, &x);
                const uint64_t hash = hash_of_run(&t, &x);
                if (offset == 0)
                    expected = hash;
                if (hash != expected)
                    testcase_fail(&t, "other bits than at offset 0");
                operands_free(&x);
            }
        }
    }
    assert_no_failures();
}

static void same_bits_run_after_run(void **state) {
    (void)state;
    const int64_t runs = at_level(10, 100, 1000);
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        testcase_t t = case_of((tcgemm_type_t)type, (const int64_t[]){150, 170, 403}, 5);
        if (!is_about_type(t.p.type))
            continue;
        t.num_threads = 3;
        operands_t x;
        operands_make(&t, &x);
        const uint64_t expected = hash_of_run(&t, &x);
        for (int64_t i = 1; i < runs; ++i)
            if (hash_of_run(&t, &x) != expected) {
                testcase_fail(&t, "run %lld gives other bits", (long long)i);
                break;
            }
        operands_free(&x);
    }
    assert_no_failures();
}

/* ---- R3 ---- */

/* Rows first .. first+rows of the case as a problem of its own must have the same bits. */
static void compare_rows(const testcase_t *t, const operands_t *x, int64_t first, int64_t rows,
                         int64_t batch) {
    testcase_t part = *t;
    part.p.m = rows;
    part.p.batch = batch;
    part.p.lda = x->a.ld;
    part.p.ldb = x->b.ld;
    part.p.ldd = t->p.order == TCGEMM_ROW_MAJOR ? t->p.n : rows;
    part.p.stride_a = part.p.stride_b = 0;
    part.p.stride_d = rows * t->p.n;
    const int bytes = oracle_bits(x->d.dtype) / 8;
    const int64_t a_index =
        t->p.op_a ? matrix_index(&x->a, 0, 0, first) : matrix_index(&x->a, 0, first, 0);
    const uint8_t *a = x->a.data + a_index * oracle_bits(x->a.dtype) / 8;
    uint8_t *d = malloc((size_t)(batch * rows * t->p.n * bytes));
    assert_non_null(d);
    tcgemm_plan_t *plan = plan_of(context_of(1 + (int)(first % 3)), &part.p, part.kernel);
    assert_int_equal(tcgemm_run(plan, t->alpha, a, x->b.data, 0.0, NULL, d), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(plan);
    for (int64_t item = 0; item < batch; ++item)
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < t->p.n; ++j) {
                const int64_t at =
                    item * rows * t->p.n +
                    (t->p.order == TCGEMM_ROW_MAJOR ? i * part.p.ldd + j : j * part.p.ldd + i);
                const int64_t whole = matrix_index(&x->d, 0, first + i, j);
                if (memcmp(d + at * bytes, x->d.data + whole * bytes, (size_t)bytes) != 0) {
                    testcase_fail(&part, "row %lld (of %lld) has other bits",
                                  (long long)(first + i), (long long)t->p.m);
                    item = batch;
                    i = rows;
                    break;
                }
            }
    free(d);
}

/* A few subnormal bf16 in some rows: their neighbours take another kernel unless the flag is set.
 */
static void plant_subnormals(const testcase_t *t, operands_t *x) {
    if (x->a.dtype != TCGEMM_DTYPE_BF16)
        return;
    for (int64_t i = 3; i < t->p.m; i += 29) {
        const int64_t index = t->p.op_a ? matrix_index(&x->a, 0, t->p.k / 2, i)
                                        : matrix_index(&x->a, 0, i, t->p.k / 2);
        oracle_set_bits(x->a.dtype, x->a.data, index, 0x0041);
    }
}

static void rows_do_not_depend_on_their_place(void **state) {
    (void)state;
    const int64_t seeds = at_level(1, 8, 40);
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type) {
            if (!kernel_does(row, (tcgemm_type_t)type, &info) || info.tile_n == 1)
                continue;
            for (int64_t seed = 0; seed < seeds; ++seed) {
                uint64_t random = (uint64_t)(seed * 100 + type);
                const int64_t shape[3] = {40 + random_below(&random, 100),
                                          1 + random_below(&random, 110),
                                          8 * (1 + random_below(&random, 120))};
                testcase_t t = case_of((tcgemm_type_t)type, shape, (uint64_t)seed);
                t.kernel = info.name;
                t.p.op_a = oracle_bits(tcgemm_type_info(t.p.type)->a) < 8
                               ? (t.p.order == TCGEMM_ROW_MAJOR ? TCGEMM_OP_N : TCGEMM_OP_T)
                               : t.p.op_a; /* so that a row starts on a byte */
                t.p.flags = TCGEMM_FLAG_REPRODUCIBLE;
                operands_t x;
                operands_make(&t, &x);
                plant_subnormals(&t, &x);
                (void)hash_of_run(&t, &x);
                compare_rows(&t, &x, 0, 1, 1);
                compare_rows(&t, &x, shape[0] - 1, 1, 1);
                compare_rows(&t, &x, random_below(&random, shape[0] - 8), 8, 3);
                compare_rows(&t, &x, random_below(&random, shape[0] - 17), 17, 1);
                compare_rows(&t, &x, random_below(&random, shape[0] - 3), 3, 64);
                operands_free(&x);
            }
        }
    assert_no_failures();
}

/* ---- T1: many callers ---- */

enum { NUM_CALLERS = 16, NUM_MIXED = 24 };

static struct {
    testcase_t t[NUM_MIXED];
    operands_t x[NUM_MIXED];
    uint64_t hash[NUM_MIXED];
    tcgemm_plan_t *plan[NUM_MIXED];
    int64_t calls;
} mixed;

static void prepare_mixed(void) {
    for (int i = 0; i < NUM_MIXED; ++i) {
        uint64_t random = (uint64_t)i;
        const int64_t shape[3] = {1 + random_below(&random, 90), 1 + random_below(&random, 90),
                                  1 + random_below(&random, 300)};
        testcase_t *t = &mixed.t[i];
        *t = case_of((tcgemm_type_t)(1 + i % tcgemm_type_count()), shape, (uint64_t)i);
        t->num_threads = 1 + i % 4;
        if (i % 6 == 0)
            make_batch(t, 9);
        operands_make(t, &mixed.x[i]);
        mixed.hash[i] = hash_of_run(t, &mixed.x[i]);
        mixed.plan[i] = plan_of(context_of(t->num_threads), &t->p, NULL);
    }
}

static void finish_mixed(void) {
    for (int i = 0; i < NUM_MIXED; ++i) {
        tcgemm_plan_destroy(mixed.plan[i]);
        operands_free(&mixed.x[i]);
    }
}

/* Calls the same plans with the same inputs as the others, but into a D of its own. */
static void *call_mixed(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int64_t call = 0; call < mixed.calls; ++call) {
        const int64_t i = random_below(&random, NUM_MIXED);
        const operands_t *x = &mixed.x[i];
        const testcase_t *t = &mixed.t[i];
        uint8_t *d = malloc(d_bytes(x));
        if (!d)
            continue;
        tcgemm_status_t status;
        if (call % 3 == 0)
            status = tcgemm_gemm(&t->p, t->alpha, x->a.data, x->b.data, t->beta, x->c.data, d);
        else
            status =
                tcgemm_run(mixed.plan[i], t->alpha, x->a.data, x->b.data, t->beta, x->c.data, d);
        if (status != TCGEMM_STATUS_OK || hash_bytes(d, d_bytes(x)) != mixed.hash[i])
            testcase_fail(t, "with %d callers: %s, or other bits than alone", NUM_CALLERS,
                          tcgemm_status_name(status));
        free(d);
    }
    return NULL;
}

static void many_callers_at_once(void **state) {
    (void)state;
    pthread_t threads[NUM_CALLERS];
    prepare_mixed();
    mixed.calls = at_level(60, 1000, 5000);
    for (uintptr_t i = 0; i < NUM_CALLERS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, call_mixed, (void *)i), 0);
    for (int i = 0; i < NUM_CALLERS; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    finish_mixed();
    assert_no_failures();
}

/* ---- T2: contexts, plans, errors and descriptions come and go meanwhile ---- */

static void *make_and_destroy(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument + 1000;
    for (int64_t call = 0; call < mixed.calls; ++call) {
        tcgemm_context_options_t options = tcgemm_context_options();
        options.num_threads = 1 + (int)random_below(&random, 5);
        tcgemm_context_t *context = NULL;
        tcgemm_plan_t *plan = NULL;
        char text[2000];
        const testcase_t *t = &mixed.t[random_below(&random, NUM_MIXED)];
        tcgemm_problem_t wrong = t->p;
        wrong.lda = -(int64_t)(uintptr_t)argument - 1;
        if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK ||
            tcgemm_plan_create(context, &t->p, NULL, &plan) != TCGEMM_STATUS_OK ||
            tcgemm_plan_describe(plan, TCGEMM_FORMAT_JSON, text, sizeof text) == 0)
            testcase_fail(t, "a plan could not be made beside other threads");
        if (tcgemm_problem_check(&wrong) != TCGEMM_STATUS_BAD_LD)
            testcase_fail(t, "the wrong lda was accepted");
        /* The sentence belongs to this thread: it must name this thread's value. */
        char expected[40];
        (void)snprintf(expected, sizeof expected, "lda is %lld", (long long)wrong.lda);
        if (!strstr(tcgemm_last_error(), expected))
            testcase_fail(t, "last error is '%s'", tcgemm_last_error());
        tcgemm_plan_destroy(plan);
        tcgemm_context_destroy(context);
    }
    return NULL;
}

static void objects_come_and_go(void **state) {
    (void)state;
    pthread_t threads[8];
    prepare_mixed();
    mixed.calls = at_level(60, 1250, 5000);
    for (uintptr_t i = 0; i < 8; ++i)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i % 2 ? call_mixed : make_and_destroy, (void *)i), 0);
    for (int i = 0; i < 8; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    finish_mixed();
    assert_no_failures();
}

/* ---- T3: oversubscription ---- */

static void more_threads_than_processors(void **state) {
    (void)state;
    const double start = seconds_now();
    const int64_t rounds = at_level(2, 20, 200);
    for (int64_t i = 0; i < rounds; ++i) {
        testcase_t t = case_of(i % 2 ? TCGEMM_F32_F32 : TCGEMM_S8_S32,
                               (const int64_t[]){400, 380, 500}, (uint64_t)i);
        t.num_threads = 64;
        operands_t x;
        operands_make(&t, &x);
        const uint64_t many = hash_of_run(&t, &x);
        t.num_threads = 1;
        if (hash_of_run(&t, &x) != many)
            testcase_fail(&t, "64 threads give other bits");
        operands_free(&x);
    }
    if (!(seconds_now() - start < 60))
        report_failure("%lld products on 64 threads took %g s", (long long)rounds,
                       seconds_now() - start);
    assert_no_failures();
}

/* ---- verification and measurements run beside products ---- */

static void *verify_mixed(void *argument) {
    const int64_t i = (int64_t)(uintptr_t)argument;
    for (int64_t call = 0; call < mixed.calls / 20; ++call) {
        tcgemm_verify_report_t report = {.struct_size = sizeof report};
        const testcase_t *t = &mixed.t[i];
        const operands_t *x = &mixed.x[i];
        if (tcgemm_verify(mixed.plan[i], t->alpha, x->a.data, x->b.data, t->beta, x->c.data,
                          x->d.data, call & 1 ? TCGEMM_VERIFY_FULL : TCGEMM_VERIFY_SAMPLE, 1,
                          &report) != TCGEMM_STATUS_OK ||
            report.num_wrong != 0)
            testcase_fail(t, "verification beside products fails");
    }
    return NULL;
}

static void verification_beside_products(void **state) {
    (void)state;
    pthread_t threads[8];
    prepare_mixed();
    mixed.calls = at_level(40, 400, 2000);
    for (uintptr_t i = 0; i < 8; ++i)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i % 2 ? call_mixed : verify_mixed, (void *)i), 0);
    for (int i = 0; i < 8; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    finish_mixed();
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(same_bits_with_late_subnormals),
        cmocka_unit_test(same_bits_with_few_times_lines),
        cmocka_unit_test(same_bits_where_many_leave_b_in_place),
        cmocka_unit_test(same_bits_where_one_copies_b),
        cmocka_unit_test(same_bits_with_panels_packed_ahead),
        cmocka_unit_test(same_bits_at_any_address),
        cmocka_unit_test(same_bits_run_after_run),
        cmocka_unit_test(rows_do_not_depend_on_their_place),
        cmocka_unit_test(many_callers_at_once),
        cmocka_unit_test(objects_come_and_go),
        cmocka_unit_test(more_threads_than_processors),
        cmocka_unit_test(verification_beside_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
