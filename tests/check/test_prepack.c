/* Operands packed ahead: for every row of the CPU and every type, D has the very bits of the call
 * without, whichever operand was packed, by however many threads and for whatever other size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/guard.h"
#include "support/testcase.h"

/* What a plan that packs has written, between forbidden pages: nobody writes or reads beyond. */
typedef struct ahead {
    guard_t guard;
    uint8_t *data;
    size_t bytes;
} ahead_t;

static tcgemm_plan_t *packer_of(const char *kernel, const tcgemm_problem_t *p, unsigned operand,
                                int threads) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    o.kernel = kernel;
    o.pack = operand;
    if (tcgemm_plan_create(context_of(threads), p, &o, &plan) != TCGEMM_STATUS_OK)
        report_failure("plan that packs %u: %s", operand, tcgemm_last_error());
    return plan;
}

static size_t packed_bytes(const tcgemm_plan_t *packer) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    assert_int_equal(tcgemm_plan_get_info(packer, &info), TCGEMM_STATUS_OK);
    return info.packed_bytes;
}

/* Packs into bytes of `fill`; the operand that is not packed, and C, are NULL. */
static ahead_t pack(const char *kernel, const tcgemm_problem_t *p, unsigned operand, int threads,
                    const void *source, int fill) {
    ahead_t x;
    tcgemm_plan_t *packer = packer_of(kernel, p, operand, threads);
    assert_non_null(packer);
    x.bytes = packed_bytes(packer);
    assert_int_equal(x.bytes % 64, 0);
    x.guard = guard_make(x.bytes);
    x.data = guard_place(&x.guard, x.bytes, 1);
    memset(x.guard.data, fill, x.guard.bytes);
    const bool is_b = operand == TCGEMM_OPERAND_B;
    if (tcgemm_run(packer, 1, is_b ? NULL : source, is_b ? source : NULL, 0, NULL, x.data) !=
        TCGEMM_STATUS_OK)
        report_failure("packing: %s", tcgemm_last_error());
    for (const uint8_t *c = x.guard.data; c < x.data; ++c)
        if (*c != fill) {
            report_failure("packing wrote before its buffer");
            break;
        }
    tcgemm_plan_destroy(packer);
    return x;
}

static tcgemm_status_t multiply(const testcase_t *t, unsigned packed, const void *a, const void *b,
                                const operands_t *x) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    o.kernel = t->kernel;
    o.packed = packed;
    if (tcgemm_plan_create(context_of(t->num_threads), &t->p, &o, &plan) != TCGEMM_STATUS_OK)
        return TCGEMM_STATUS_INTERNAL;
    const tcgemm_status_t status = tcgemm_run(plan, t->alpha, a, b, t->beta, x->c.data, x->d.data);
    tcgemm_plan_destroy(plan);
    return status;
}

/* ---- the same bits ---- */

/* The problem with another m (for B) or n (for A): what the packed bytes must not know. */
static tcgemm_problem_t with_other_size(const tcgemm_problem_t *p, unsigned operand, int64_t size) {
    tcgemm_problem_t q = *p;
    q.ldc = q.ldd = q.stride_c = 0;
    if (operand == TCGEMM_OPERAND_B) {
        q.m = size;
        q.lda = q.stride_a = 0;
    } else {
        q.n = size;
        q.ldb = q.stride_b = 0;
    }
    q.stride_d = q.m * q.n;
    return q;
}

/* One thread, and four with another size and other bytes before: every byte is written. */
static ahead_t pack_twice(const testcase_t *t, unsigned operand, const void *source, int64_t size) {
    const tcgemm_problem_t other = with_other_size(&t->p, operand, size);
    ahead_t x = pack(t->kernel, &t->p, operand, 1, source, 0x55);
    ahead_t y = pack(t->kernel, &other, operand, 4, source, 0xAA);
    if (x.bytes != y.bytes || memcmp(x.data, y.data, x.bytes) != 0)
        testcase_fail(t, "operand %u packs to %zu and %zu bytes, or to others", operand, x.bytes,
                      y.bytes);
    guard_free(&x.guard);
    return y;
}

/* Products that may sum in another order while nothing is packed are judged by their bound then. */
static void check_case_of(const testcase_t *t, int64_t other_size, bool may_differ) {
    double ratio;
    operands_t x;
    operands_make(t, &x);
    const ahead_t a = pack_twice(t, TCGEMM_OPERAND_A, x.a.data, other_size);
    const ahead_t b = pack_twice(t, TCGEMM_OPERAND_B, x.b.data, other_size);
    uint8_t *const expected = malloc(x.d.block_bytes);
    assert_non_null(expected);
    for (unsigned packed = 0; packed <= 3; ++packed) {
        memcpy(x.d.block, x.d_was, x.d.block_bytes);
        const tcgemm_status_t status =
            multiply(t, packed, packed & TCGEMM_OPERAND_A ? a.data : x.a.data,
                     packed & TCGEMM_OPERAND_B ? b.data : x.b.data, &x);
        if (status != TCGEMM_STATUS_OK)
            testcase_fail(t, "packed %u: %s", packed, tcgemm_last_error());
        else if (packed == 0)
            memcpy(expected, x.d.block, x.d.block_bytes);
        else if (!may_differ && memcmp(expected, x.d.block, x.d.block_bytes) != 0)
            testcase_fail(t, "packed %u: other bits", packed);
        else if (may_differ && !testcase_judge(t, &x, &ratio))
            testcase_fail(t, "packed %u: wrong", packed);
    }
    guard_t guards[] = {a.guard, b.guard};
    guard_free(&guards[0]);
    guard_free(&guards[1]);
    free(expected);
    operands_free(&x);
}

/* Few rows or columns of floating types may be summed in another order, without the flag. */
static bool is_few(const tcgemm_problem_t *p) {
    enum { MOST_INNER = 16 };
    return !(p->flags & TCGEMM_FLAG_REPRODUCIBLE) && (p->m <= MOST_INNER || p->n <= MOST_INNER) &&
           tcgemm_type_info(p->type)->accumulator != TCGEMM_DTYPE_S32;
}

static void check_case(const testcase_t *t, int64_t other_size) {
    check_case_of(t, other_size, is_few(&t->p));
}

static void set_strides(uint64_t *random, tcgemm_problem_t *p) {
    const int64_t rows[] = {p->op_a ? p->k : p->m, p->op_b ? p->n : p->k, p->m, p->m};
    const int64_t cols[] = {p->op_a ? p->m : p->k, p->op_b ? p->k : p->n, p->n, p->n};
    int64_t *const lds[] = {&p->lda, &p->ldb, &p->ldc, &p->ldd};
    int64_t *const strides[] = {&p->stride_a, &p->stride_b, &p->stride_c, &p->stride_d};
    for (int i = 0; i < 4; ++i) {
        const bool by_rows = p->order == TCGEMM_ROW_MAJOR;
        *lds[i] = (by_rows ? cols[i] : rows[i]) + random_below(random, 4);
        *strides[i] = *lds[i] * (by_rows ? rows[i] : cols[i]) + random_below(random, 3);
        if (i < 2 && random_below(random, 3) == 0)
            *strides[i] = 0; /* shared by the items */
    }
}

static testcase_t random_case(uint64_t *random, const tcgemm_kernel_info_t *info,
                              tcgemm_type_t type) {
    static const int64_t deep[] = {257, 385, 769, 1537, 3100};
    const bool is_deep = random_below(random, 5) == 0;
    tcgemm_problem_t p =
        tcgemm_problem(type, 1 + random_below(random, 3 * info->tile_m + 2),
                       1 + random_below(random, 2 * info->tile_n + 2),
                       is_deep ? deep[random_below(random, 5)] + random_below(random, 40)
                               : 1 + random_below(random, 80));
    p.order = random_below(random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    p.op_a = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.batch = random_below(random, 3) ? 1 : 2 + random_below(random, 9);
    p.flags = random_below(random, 3) ? 0 : TCGEMM_FLAG_REPRODUCIBLE;
    if (type == TCGEMM_B1_S32 && random_below(random, 2))
        p.flags |= TCGEMM_FLAG_XOR;
    set_strides(random, &p);
    testcase_t t = testcase_make(info->name, p, random_next(random));
    static const double scalars[] = {1, -2, 3, 0};
    t.alpha = scalars[random_below(random, 3)];
    t.beta = scalars[random_below(random, 4)];
    t.fill = random_below(random, 2) ? FILL_WIDE : FILL_UNIFORM; /* bf16 subnormals among them */
    t.num_threads = random_below(random, 2) ? 3 : 1;
    return t;
}

static void every_row_and_type(void **state) {
    (void)state;
    tcgemm_kernel_info_t info;
    int64_t rows = 0;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type) {
            if (!kernel_does(row, (tcgemm_type_t)type, &info) || strcmp(info.algo, "cpu") != 0)
                continue;
            uint64_t random = (uint64_t)(row * 100 + type);
            rows += 1;
            for (int64_t i = 0; i < at_level(2, 12, 100); ++i) {
                const testcase_t t = random_case(&random, &info, (tcgemm_type_t)type);
                check_case(&t, 1 + random_below(&random, 200));
            }
        }
    assert_true(rows > 0);
    assert_no_failures();
}

/* Beyond the blocks of m, n and k, where the parts of a packed operand are found by their place. */
static void larger_than_all_blocks(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{2100, 5, 30}, {7, 3900, 20}, {300, 310, 2000}};
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_BF16_BF16, TCGEMM_S8_S32};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int64_t *s = sizes[i];
            testcase_t t = testcase_make(NULL, tcgemm_problem(types[j], s[0], s[1], s[2]), 7);
            t.num_threads = 2;
            t.beta = j;
            check_case(&t, 33);
        }
    assert_no_failures();
}

/* The planner's row does not know the size that an operand lacks, nor does the packed operand. */
static void one_row_of_the_other(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        testcase_t t = testcase_make(NULL, tcgemm_problem((tcgemm_type_t)type, 5, 70, 90), 3);
        t.num_threads = 1;
        check_case(&t, 0); /* B is packed with m = 0, A with n = 0 */
        check_case(&t, 1);
        check_case(&t, 1000);
    }
    assert_no_failures();
}

/* Few rows or columns beside many long lines of floating types are summed in another order where
 * nothing is packed, as the header says; never with the flag. */
static void few_beside_many(void **state) {
    (void)state;
    static const int64_t few[] = {1, 3, 8};
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int i = 0; i < 24; i += (int)at_level(5, 3, 1)) { /* odd: all layouts */
            const bool are_rows = i % 2 == 0;
            const int64_t size = few[i / 8];
            tcgemm_problem_t p = tcgemm_problem((tcgemm_type_t)type, are_rows ? size : 530,
                                                are_rows ? 530 : size, 520);
            p.op_a = i / 2 % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.op_b = i / 4 % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            testcase_t t = testcase_make(NULL, p, (uint64_t)i);
            t.num_threads = 1 + i % 2;
            check_case(&t, 50);
            t.p.flags = TCGEMM_FLAG_REPRODUCIBLE;
            check_case(&t, 50);
        }
    assert_no_failures();
}

/* ---- marks ---- */

/* A product that takes B packed, of this problem and kernel: what it says to these bytes. */
static tcgemm_status_t try_b(const tcgemm_problem_t *p, const char *kernel, const void *b) {
    testcase_t t = testcase_make(kernel, *p, 1);
    operands_t x;
    t.num_threads = 1;
    operands_make(&t, &x);
    const tcgemm_status_t status = multiply(&t, TCGEMM_OPERAND_B, x.a.data, b, &x);
    if (status != TCGEMM_STATUS_OK && memcmp(x.d.block, x.d_was, x.d.block_bytes) != 0)
        testcase_fail(&t, "D was written by a product that was refused");
    operands_free(&x);
    return status;
}

static void expect_other(const tcgemm_problem_t *p, const char *kernel, const void *b) {
    assert_int_equal(try_b(p, kernel, b), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), "packed for another"));
}

static ahead_t packed_b(const tcgemm_problem_t *p) {
    const testcase_t t = testcase_make(NULL, *p, 1);
    operands_t x;
    operands_make(&t, &x);
    const ahead_t b = pack(NULL, p, TCGEMM_OPERAND_B, 1, x.b.data, 0);
    operands_free(&x);
    return b;
}

static void what_is_not_meant_is_refused(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 40, 48, 100);
    ahead_t b = packed_b(&p);
    tcgemm_problem_t q = p;
    assert_int_equal(try_b(&q, NULL, b.data), TCGEMM_STATUS_OK);
    q.n = 47;
    expect_other(&q, NULL, b.data);
    q = p;
    q.k = 99;
    expect_other(&q, NULL, b.data);
    q = p;
    q.type = TCGEMM_TF32_F32;
    expect_other(&q, NULL, b.data);
    q = p;
    q.batch = 2;
    q.stride_a = 4000;
    q.stride_b = 4800;
    q.stride_d = 1920;
    expect_other(&q, NULL, b.data);
    q.stride_b = 0; /* shared: the same bytes */
    assert_int_equal(try_b(&q, NULL, b.data), TCGEMM_STATUS_OK);
    tcgemm_kernel_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_info_t chosen = {.struct_size = sizeof chosen};
    tcgemm_plan_t *plan = plan_of(context_of(1), &p, NULL);
    assert_int_equal(tcgemm_plan_get_info(plan, &chosen), TCGEMM_STATUS_OK);
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        if (kernel_does(row, p.type, &info) && strcmp(info.algo, "cpu") == 0 &&
            strcmp(info.name, chosen.kernel) != 0)
            expect_other(&p, info.name, b.data);
    tcgemm_plan_destroy(plan);
    assert_int_equal(try_b(&p, NULL, b.data + 4), TCGEMM_STATUS_BAD_ALIGNMENT);
    for (size_t i = 0; i < 16; ++i) { /* each byte of the mark */
        b.data[i] ^= 1;
        assert_int_equal(try_b(&p, NULL, b.data), TCGEMM_STATUS_BAD_ARGUMENT);
        b.data[i] ^= 1;
    }
    memset(b.data, 0xFF, b.bytes);
    assert_int_equal(try_b(&p, NULL, b.data), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), "not what a plan that packs has written"));
    guard_free(&b.guard);
    assert_no_failures();
}

/* Column-major products are computed as their transposes: A of the one has the place of B of the
 * other, but not its sign. */
static void mixed_signs_are_not_mixed_up(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_U8S8_S32, 48, 48, 64);
    p.order = TCGEMM_COL_MAJOR;
    const testcase_t t = testcase_make(NULL, p, 1);
    operands_t x;
    operands_make(&t, &x);
    ahead_t a = pack(NULL, &p, TCGEMM_OPERAND_A, 1, x.a.data, 0);
    p.order = TCGEMM_ROW_MAJOR;
    expect_other(&p, NULL, a.data);
    guard_free(&a.guard);
    operands_free(&x);
    assert_no_failures();
}

/* ---- what else may go wrong ---- */

static tcgemm_status_t plan_with(tcgemm_problem_t p, unsigned packs, unsigned packed,
                                 const char *kernel) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    o.pack = packs;
    o.packed = packed;
    o.kernel = kernel;
    const tcgemm_status_t status = tcgemm_plan_create(NULL, &p, &o, &plan);
    assert_true((plan != NULL) == (status == TCGEMM_STATUS_OK));
    tcgemm_plan_destroy(plan);
    return status;
}

static void options_that_make_no_sense(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 40, 48, 100);
    assert_int_equal(plan_with(p, 1, 0, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(plan_with(p, 0, 3, NULL), TCGEMM_STATUS_OK);
    assert_int_equal(plan_with(p, 3, 0, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(plan_with(p, 4, 0, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(plan_with(p, 0, 4, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(plan_with(p, 1, 2, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(plan_with(p, 1, 0, "reference"), TCGEMM_STATUS_UNSUPPORTED);
    assert_int_equal(plan_with(p, 0, 1, "reference"), TCGEMM_STATUS_UNSUPPORTED);
}

static void pointers_are_checked(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    tcgemm_plan_t *packer = packer_of(NULL, &p, TCGEMM_OPERAND_B, 1);
    const size_t bytes = packed_bytes(packer);
    float *const b = aligned_alloc(64, 64 + bytes);
    assert_non_null(b);
    memset(b, 0, 64 + bytes);
    char *const d = (char *)b + 64;
    assert_int_equal(tcgemm_run(packer, 1, b, NULL, 0, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_run(packer, 1, NULL, b, 0, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_run(packer, 1, NULL, b, 0, NULL, d + 4), TCGEMM_STATUS_BAD_ALIGNMENT);
    assert_int_equal(tcgemm_run(packer, 1, NULL, (char *)b + 2, 0, NULL, d),
                     TCGEMM_STATUS_BAD_ALIGNMENT);
    assert_int_equal(tcgemm_run(packer, 1, NULL, b, 0, NULL, b), TCGEMM_STATUS_OVERLAP);
    assert_int_equal(tcgemm_run(packer, 1, NULL, b, 0, NULL, d), TCGEMM_STATUS_OK);
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    o.packed = TCGEMM_OPERAND_B;
    assert_int_equal(tcgemm_plan_create(context_of(1), &p, &o, &plan), TCGEMM_STATUS_OK);
    const float a[16] = {0};
    assert_int_equal(tcgemm_run(plan, 1, a, d, 0, NULL, d + bytes - 64), TCGEMM_STATUS_OVERLAP);
    assert_int_equal(tcgemm_run(plan, 1, a, NULL, 0, NULL, b), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_run(plan, 0, NULL, NULL, 0, NULL, b), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(plan);
    tcgemm_plan_destroy(packer);
    free(b);
}

/* Nothing to pack: nothing is read or written, and the product needs nothing. */
static void operands_without_elements(void **state) {
    (void)state;
    const int64_t sizes[][3] = {{4, 4, 0}, {4, 0, 4}};
    for (int i = 0; i < 2; ++i) {
        const tcgemm_problem_t p =
            tcgemm_problem(TCGEMM_F32_F32, sizes[i][0], sizes[i][1], sizes[i][2]);
        tcgemm_plan_t *packer = packer_of(NULL, &p, TCGEMM_OPERAND_B, 1);
        assert_int_equal(packed_bytes(packer), 0);
        assert_int_equal(tcgemm_run(packer, 1, NULL, NULL, 0, NULL, NULL), TCGEMM_STATUS_OK);
        tcgemm_plan_destroy(packer);
        testcase_t t = testcase_make(NULL, p, 1);
        operands_t x;
        t.num_threads = 1;
        operands_make(&t, &x);
        assert_int_equal(multiply(&t, 3, NULL, NULL, &x), TCGEMM_STATUS_OK);
        operands_free(&x);
    }
}

/* A plan that packs is no product: what looks at products says so, the rest describes it. */
static void the_plan_that_packs(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 64, 64);
    tcgemm_plan_t *packer = packer_of(NULL, &p, TCGEMM_OPERAND_B, 1);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_step_info_t step = {.struct_size = sizeof step};
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    tcgemm_simulate_report_t simulated = {.struct_size = sizeof simulated};
    static float a[2 * 64];
    static float b[64 * 64];
    static char text[65536];
    assert_int_equal(tcgemm_plan_get_info(packer, &info), TCGEMM_STATUS_OK);
    assert_true(info.predicted_seconds > 0 && info.workspace_bytes == 0);
    assert_int_equal(tcgemm_plan_step_count(packer), 1);
    assert_int_equal(tcgemm_plan_get_step(packer, 0, &step), TCGEMM_STATUS_OK);
    assert_string_equal(step.name, "pack B");
    assert_string_equal(step.reads[0], "B");
    assert_null(step.kernel);
    assert_int_equal(step.written_bytes, info.packed_bytes);
    assert_true(tcgemm_plan_describe(packer, TCGEMM_FORMAT_TEXT, text, sizeof text) > 0);
    assert_true(tcgemm_plan_describe(packer, TCGEMM_FORMAT_JSON, text, sizeof text) > 0);
    void *const d = aligned_alloc(64, info.packed_bytes);
    assert_non_null(d);
    assert_int_equal(tcgemm_run_with(packer, 1, NULL, b, 0, NULL, d, NULL, 0, &stats),
                     TCGEMM_STATUS_OK);
    assert_true(stats.pack_seconds > 0 && stats.total_seconds >= stats.pack_seconds);
    assert_int_equal(tcgemm_verify(packer, 1, a, b, 0, NULL, d, TCGEMM_VERIFY_FULL, 1, &report),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_simulate(packer, TCGEMM_DEPTH_BLOCKS, 1, a, b, 0, NULL, d, NULL,
                                          NULL, &simulated),
                     TCGEMM_STATUS_UNSUPPORTED);
    free(d);
    tcgemm_plan_destroy(packer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_and_type),
        cmocka_unit_test(larger_than_all_blocks),
        cmocka_unit_test(one_row_of_the_other),
        cmocka_unit_test(few_beside_many),
        cmocka_unit_test(what_is_not_meant_is_refused),
        cmocka_unit_test(mixed_signs_are_not_mixed_up),
        cmocka_unit_test(options_that_make_no_sense),
        cmocka_unit_test(pointers_are_checked),
        cmocka_unit_test(operands_without_elements),
        cmocka_unit_test(the_plan_that_packs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
