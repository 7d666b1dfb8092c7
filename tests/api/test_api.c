/* The public header, promise by promise: every status in the order it documents, D untouched,
 * sentences that name the argument and its value, sizes that wrap, overlap, descriptions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "support/support.h"
#include "tcgemm/tcgemm.h"

/* Fails with a line that shows the sentence; `part` must be in it. */
static void expect(tcgemm_status_t got, tcgemm_status_t expected, const char *part,
                   const char *what) {
    if (got != expected)
        report_failure("%s: %s ('%s'), expected %s", what, tcgemm_status_name(got),
                       tcgemm_last_error(), tcgemm_status_name(expected));
    else if (got != TCGEMM_STATUS_OK && !strstr(tcgemm_last_error(), part))
        report_failure("%s: the sentence '%s' lacks '%s'", what, tcgemm_last_error(), part);
}

/* ---- small facts ---- */

static void versions_and_names(void **state) {
    (void)state;
    char text[40];
    (void)snprintf(text, sizeof text, "%d.%d.%d", TCGEMM_VERSION_MAJOR, TCGEMM_VERSION_MINOR,
                   TCGEMM_VERSION_PATCH);
    assert_string_equal(tcgemm_version_string(), text);
    assert_int_equal(tcgemm_version(), 10000 * TCGEMM_VERSION_MAJOR + 100 * TCGEMM_VERSION_MINOR +
                                           TCGEMM_VERSION_PATCH);
    assert_non_null(strstr(tcgemm_build_info(), "compiler"));
    for (int row = 0; row < tcgemm_kernel_count();
         ++row) { /* every kernel set of the CPU is named */
        tcgemm_kernel_info_t info = {.struct_size = sizeof info};
        assert_int_equal(tcgemm_kernel_get_info(row, &info), TCGEMM_STATUS_OK);
        assert_true(strcmp(info.device, "cpu") != 0 || strstr(tcgemm_build_info(), info.isa));
    }
    assert_string_equal(tcgemm_status_name(TCGEMM_STATUS_OK), "OK");
    assert_string_equal(tcgemm_status_name(TCGEMM_STATUS_BAD_LD), "BAD_LD");
    assert_string_equal(tcgemm_status_name((tcgemm_status_t)12345), "UNKNOWN_STATUS");
    static const int statuses[] = {0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 30, 31, 32, 50, 90};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i) {
        assert_string_not_equal(tcgemm_status_name((tcgemm_status_t)statuses[i]), "UNKNOWN_STATUS");
        assert_true(strlen(tcgemm_status_text((tcgemm_status_t)statuses[i])) > 4);
    }
    assert_non_null(tcgemm_status_text((tcgemm_status_t)-1));
}

static void types_and_dtypes(void **state) {
    (void)state;
    static const int bits[] = {64, 32, 16, 16, 8, 8, 32, 8, 8, 4, 4, 1};
    for (int d = 1; d <= 12; ++d)
        assert_int_equal(tcgemm_dtype_bits((tcgemm_dtype_t)d), bits[d - 1]);
    assert_int_equal(tcgemm_dtype_bits((tcgemm_dtype_t)0), 0);
    assert_int_equal(tcgemm_dtype_bits((tcgemm_dtype_t)13), 0);
    assert_string_equal(tcgemm_dtype_name((tcgemm_dtype_t)13), "unknown");
    assert_string_equal(tcgemm_dtype_name(TCGEMM_DTYPE_E4M3), "e4m3");
    assert_int_equal(tcgemm_type_count(), 18);
    assert_null(tcgemm_type_info((tcgemm_type_t)0));
    assert_null(tcgemm_type_info((tcgemm_type_t)19));
    assert_null(tcgemm_type_info((tcgemm_type_t)-1));
    for (int i = 1; i <= tcgemm_type_count(); ++i) {
        const tcgemm_type_info_t *info = tcgemm_type_info((tcgemm_type_t)i);
        tcgemm_type_t found = (tcgemm_type_t)0;
        assert_int_equal(info->type, i);
        assert_int_equal(tcgemm_type_from_name(info->name, &found), TCGEMM_STATUS_OK);
        assert_int_equal(found, i);
    }
    tcgemm_type_t type;
    expect(tcgemm_type_from_name(NULL, &type), TCGEMM_STATUS_BAD_ARGUMENT, "name", "NULL name");
    expect(tcgemm_type_from_name("f32_f32", NULL), TCGEMM_STATUS_BAD_ARGUMENT, "type", "NULL type");
    expect(tcgemm_type_from_name("f31_f32", &type), TCGEMM_STATUS_BAD_TYPE, "f31_f32", "bad name");
    expect(tcgemm_type_from_name("", &type), TCGEMM_STATUS_BAD_TYPE, "b1_s32", "empty name");
    assert_no_failures();
}

/* ---- the problem, one fault at a time ---- */

typedef struct fault {
    const char *what;
    void (*make)(tcgemm_problem_t *);
    tcgemm_status_t status;
    const char *part; /* of the sentence */
} fault_t;

#define FAULT(name, assignment)                                                                    \
    static void fault_##name(tcgemm_problem_t *p) {                                                \
        assignment;                                                                                \
    }
FAULT(size, p->struct_size = 7)
FAULT(type, p->type = (tcgemm_type_t)99)
FAULT(order, p->order = (tcgemm_order_t)2)
FAULT(op_a, p->op_a = (tcgemm_op_t)3)
FAULT(op_b, p->op_b = (tcgemm_op_t)-1)
FAULT(flags, p->flags = 1024)
FAULT(xor, p->flags = TCGEMM_FLAG_XOR)
FAULT(f16, p->flags = TCGEMM_FLAG_F16_ACCUMULATE)
FAULT(fast, p->flags = TCGEMM_FLAG_FAST_ACCUMULATE)
FAULT(m, p->m = -2)
FAULT(n, p->n = -3)
FAULT(k, p->k = -4)
FAULT(batch, p->batch = -5)
FAULT(lda, p->lda = 10)
FAULT(ldb, p->ldb = 6)
FAULT(ldc, p->ldc = 6)
FAULT(ldd, p->ldd = 6)
FAULT(negative_ld, p->lda = -11)
FAULT(stride_a, p->stride_a = -1)
FAULT(stride_b, p->stride_b = -12)
FAULT(stride_c, p->stride_c = -13)
FAULT(stride_d, p->stride_d = -14)
FAULT(too_large, p->lda = INT64_MAX)
FAULT(too_far, (p->batch = 3, p->stride_d = INT64_MAX / 2))
FAULT(overlapping_d, (p->batch = 2, p->stride_d = 34))

/* In the order in which they must be found: 5 x 7 with k = 11. */
static const fault_t faults[] = {
    {"struct_size", fault_size, TCGEMM_STATUS_BAD_ARGUMENT, "struct_size is 7"},
    {"type", fault_type, TCGEMM_STATUS_BAD_TYPE, "type 99"},
    {"order", fault_order, TCGEMM_STATUS_BAD_ARGUMENT, "order is 2"},
    {"op_a", fault_op_a, TCGEMM_STATUS_BAD_ARGUMENT, "op_a is 3"},
    {"op_b", fault_op_b, TCGEMM_STATUS_BAD_ARGUMENT, "op_b is -1"},
    {"flags", fault_flags, TCGEMM_STATUS_BAD_ARGUMENT, "0x400"},
    {"xor flag", fault_xor, TCGEMM_STATUS_BAD_ARGUMENT, "XOR"},
    {"f16 flag", fault_f16, TCGEMM_STATUS_BAD_ARGUMENT, "F16"},
    {"fast flag", fault_fast, TCGEMM_STATUS_BAD_ARGUMENT, "e4m3_"},
    {"m", fault_m, TCGEMM_STATUS_BAD_SHAPE, "m is -2"},
    {"n", fault_n, TCGEMM_STATUS_BAD_SHAPE, "n is -3"},
    {"k", fault_k, TCGEMM_STATUS_BAD_SHAPE, "k is -4"},
    {"batch", fault_batch, TCGEMM_STATUS_BAD_SHAPE, "batch is -5"},
    {"lda", fault_lda, TCGEMM_STATUS_BAD_LD, "lda is 10, but a stored row of A has 11"},
    {"negative lda", fault_negative_ld, TCGEMM_STATUS_BAD_LD, "lda is -11"},
    {"ldb", fault_ldb, TCGEMM_STATUS_BAD_LD, "ldb is 6"},
    {"ldc", fault_ldc, TCGEMM_STATUS_BAD_LD, "ldc is 6"},
    {"ldd", fault_ldd, TCGEMM_STATUS_BAD_LD, "ldd is 6"},
    {"stride_a", fault_stride_a, TCGEMM_STATUS_BAD_STRIDE, "stride_a is -1"},
    {"stride_b", fault_stride_b, TCGEMM_STATUS_BAD_STRIDE, "stride_b is -12"},
    {"stride_c", fault_stride_c, TCGEMM_STATUS_BAD_STRIDE, "stride_c is -13"},
    {"stride_d", fault_stride_d, TCGEMM_STATUS_BAD_STRIDE, "stride_d is -14"},
    {"too large", fault_too_large, TCGEMM_STATUS_TOO_LARGE, "lda"},
    {"too far", fault_too_far, TCGEMM_STATUS_TOO_LARGE, "batch 3 and stride_d 4611686018427387903"},
    {"D in D", fault_overlapping_d, TCGEMM_STATUS_BAD_STRIDE, "stride_d is 34"},
};
enum { NUM_FAULTS = sizeof faults / sizeof faults[0] };

static tcgemm_problem_t sound(void) {
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 5, 7, 11);
    p.lda = 11;
    p.ldb = p.ldc = p.ldd = 7;
    return p;
}

/* Check, plan and gemm must agree, and gemm must leave D alone. */
static void check_fault(const tcgemm_problem_t *p, const fault_t *fault, const char *second) {
    float a[80] = {0};
    float b[80] = {0};
    float d[80];
    char what[100];
    memset(d, 0x5A, sizeof d);
    (void)snprintf(what, sizeof what, "%s%s%s", fault->what, second ? " with " : "",
                   second ? second : "");
    expect(tcgemm_problem_check(p), fault->status, fault->part, what);
    expect(tcgemm_gemm(p, 1.0, a, b, 0.0, NULL, d), fault->status, fault->part, what);
    tcgemm_plan_t *plan = (tcgemm_plan_t *)d;
    expect(tcgemm_plan_create(NULL, p, NULL, &plan), fault->status, fault->part, what);
    if (plan)
        report_failure("%s: the plan is not NULL", what);
    for (size_t i = 0; i < sizeof d; ++i)
        if (((const unsigned char *)d)[i] != 0x5A) {
            report_failure("%s: D was written", what);
            break;
        }
}

static void problems_with_a_fault(void **state) {
    (void)state;
    const tcgemm_problem_t good = sound();
    assert_int_equal(tcgemm_problem_check(&good), TCGEMM_STATUS_OK);
    for (int i = 0; i < NUM_FAULTS; ++i) {
        tcgemm_problem_t p = sound();
        faults[i].make(&p);
        check_fault(&p, &faults[i], NULL);
    }
    expect(tcgemm_problem_check(NULL), TCGEMM_STATUS_BAD_ARGUMENT, "problem is NULL", "NULL");
    expect(tcgemm_gemm(NULL, 1, NULL, NULL, 0, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT,
           "problem is NULL", "NULL");
    assert_no_failures();
}

/* Of two faults the first in the list is found. (Pairs that touch the same field are one fault.) */
static void the_first_of_two_faults_is_reported(void **state) {
    (void)state;
    for (int i = 0; i < NUM_FAULTS; ++i)
        for (int j = i + 1; j < NUM_FAULTS; ++j) {
            tcgemm_problem_t p = sound();
            faults[j].make(&p);
            tcgemm_problem_t both = p;
            faults[i].make(&both);
            tcgemm_problem_t reversed = sound();
            faults[i].make(&reversed);
            faults[j].make(&reversed);
            /* A negative size changes what a row is, batch -5 what overlaps: not both at once. */
            const bool same_field = memcmp(&both, &reversed, sizeof both) != 0;
            const bool is_size = faults[i].status == TCGEMM_STATUS_BAD_LD &&
                                 faults[j].status == TCGEMM_STATUS_TOO_LARGE;
            if (!same_field && !is_size)
                check_fault(&both, &faults[i], faults[j].what);
        }
    assert_no_failures();
}

/* In column-major order the sentence speaks of columns and of the caller's own A. */
static void sentences_in_column_major_order(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 5, 7, 11);
    p.order = TCGEMM_COL_MAJOR;
    p.lda = 4;
    expect(tcgemm_problem_check(&p), TCGEMM_STATUS_BAD_LD,
           "lda is 4, but a stored column of A has 5", "column-major lda");
    p.lda = 0;
    p.op_b = TCGEMM_OP_T;
    p.ldb = 6;
    expect(tcgemm_problem_check(&p), TCGEMM_STATUS_BAD_LD,
           "ldb is 6, but a stored column of B has 7", "column-major ldb");
    p.ldb = 0;
    float x[100];
    expect(tcgemm_gemm(&p, 1, NULL, x, 0, NULL, x), TCGEMM_STATUS_BAD_ARGUMENT, "A is NULL",
           "column-major A");
    expect(tcgemm_gemm(&p, 1, x, NULL, 0, NULL, x), TCGEMM_STATUS_BAD_ARGUMENT, "B is NULL",
           "column-major B");
    assert_no_failures();
}

/* ---- S7: sizes that wrap, all with NULL data ---- */

static void expect_too_large(const tcgemm_problem_t *p, const char *what) {
    expect(tcgemm_problem_check(p), TCGEMM_STATUS_TOO_LARGE, "more bytes", what);
    expect(tcgemm_gemm(p, 1.0, NULL, NULL, 1.0, NULL, NULL), TCGEMM_STATUS_TOO_LARGE, "more bytes",
           what);
}

static void sizes_that_wrap(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const tcgemm_type_t t = (tcgemm_type_t)type;
        for (int shift = 0; shift < 3; ++shift) { /* 2^62 elements, 2^63, 2^64 */
            const int64_t x = INT64_C(1) << (31 + shift);
            const int64_t y = INT64_C(1) << 31;
            tcgemm_problem_t p = tcgemm_problem(t, x, y, 1);
            expect_too_large(&p, "m * n");
            p = tcgemm_problem(t, x << 3, 1, y);
            expect_too_large(&p, "m * k");
            p = tcgemm_problem(t, 1, x << 3, y);
            expect_too_large(&p, "k * n");
        }
        tcgemm_problem_t p = tcgemm_problem(t, 3, 3, 3);
        p.lda = INT64_MAX;
        expect_too_large(&p, "lda");
        p = tcgemm_problem(t, 2, 2, 2);
        p.ldd = INT64_MAX / 4;
        expect_too_large(&p, "ldd times the element size");
        p = tcgemm_problem(t, 2, 2, 2);
        p.ldc = INT64_MAX - 1;
        expect_too_large(&p, "ldc");
        p = tcgemm_problem(t, 2, 2, 2);
        p.batch = INT64_C(1) << 33;
        p.stride_a = INT64_C(1) << 33;
        p.stride_d = 4;
        expect_too_large(&p, "batch * stride_a");
        p.stride_a = 0;
        p.batch = INT64_MAX;
        expect_too_large(&p, "batch * stride_d");
    }
    assert_no_failures();
}

/* A matrix without elements may have any other size: nothing to do, and no arithmetic wraps. */
static void enormous_and_empty(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{INT64_MAX, 0, 0},
                                       {0, INT64_MAX, 0},
                                       {0, 0, INT64_MAX},
                                       {INT64_MAX - 3, 0, 0},
                                       {1000, 0, INT64_MAX / 100000}};
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            const tcgemm_problem_t p =
                tcgemm_problem((tcgemm_type_t)type, sizes[s][0], sizes[s][1], sizes[s][2]);
            tcgemm_plan_t *plan = NULL;
            expect(tcgemm_gemm(&p, 1, NULL, NULL, 1, NULL, NULL), TCGEMM_STATUS_OK, "", "empty");
            expect(tcgemm_plan_create(NULL, &p, NULL, &plan), TCGEMM_STATUS_OK, "", "empty plan");
            assert_true(tcgemm_plan_describe(plan, TCGEMM_FORMAT_TEXT, NULL, 0) > 0);
            tcgemm_plan_destroy(plan);
        }
    /* The largest that fits can be planned, and described. */
    const tcgemm_problem_t p =
        tcgemm_problem(TCGEMM_S8_S32, INT64_C(1) << 29, INT64_C(1) << 28, INT64_C(1) << 28);
    tcgemm_plan_t *plan = NULL;
    expect(tcgemm_plan_create(NULL, &p, NULL, &plan), TCGEMM_STATUS_OK, "", "large plan");
    assert_true(tcgemm_plan_describe(plan, TCGEMM_FORMAT_JSON, NULL, 0) > 0);
    tcgemm_plan_destroy(plan);
    assert_no_failures();
}

/* However many threads there are, nothing is shared out among them. */
static void empty_on_many_threads(void **state) {
    static const int64_t sizes[][3] = {{3000, 0, 500}, {0, 3000, 500}, {3000, 500, 0}, {0, 0, 0}};
    static const int threads[] = {2, 4, 16, 100};
    (void)state;
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; ++t) {
        tcgemm_context_options_t options = tcgemm_context_options();
        tcgemm_context_t *context = NULL;
        options.device = TCGEMM_DEVICE_CPU;
        options.num_threads = threads[t];
        expect(tcgemm_context_create(&options, &context), TCGEMM_STATUS_OK, "", "context");
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
                const tcgemm_problem_t p =
                    tcgemm_problem((tcgemm_type_t)type, sizes[s][0], sizes[s][1], sizes[s][2]);
                tcgemm_plan_t *plan = NULL;
                expect(tcgemm_plan_create(context, &p, NULL, &plan), TCGEMM_STATUS_OK, "", "plan");
                assert_true(tcgemm_plan_describe(plan, TCGEMM_FORMAT_TEXT, NULL, 0) > 0);
                tcgemm_plan_destroy(plan);
            }
        tcgemm_context_destroy(context);
    }
    assert_no_failures();
}

/* ---- pointers and scalars ---- */

static void pointers_and_scalars(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 2);
    const tcgemm_problem_t q = tcgemm_problem(TCGEMM_S8_S32, 2, 2, 2);
    _Alignas(16) float a[5] = {1, 2, 3, 4, 5};
    _Alignas(16) float d[5] = {9, 9, 9, 9, 9};
    _Alignas(16) float c[5] = {1, 1, 1, 1, 1};
    char *const odd = (char *)a + 2;
    expect(tcgemm_gemm(&p, 1, NULL, a, 0, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT, "A is NULL", "A");
    expect(tcgemm_gemm(&p, 1, a, NULL, 0, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT, "B is NULL", "B");
    expect(tcgemm_gemm(&p, 1, a, a, 1, NULL, d), TCGEMM_STATUS_BAD_ARGUMENT, "C is NULL", "C");
    expect(tcgemm_gemm(&p, 1, a, a, 0, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT, "D is NULL", "D");
    expect(tcgemm_gemm(&p, 0, NULL, NULL, 0, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT, "D is NULL",
           "D with alpha 0");
    expect(tcgemm_gemm(&p, 1, odd, a, 0, NULL, d), TCGEMM_STATUS_BAD_ALIGNMENT, "A is not aligned",
           "odd A");
    expect(tcgemm_gemm(&p, 1, a, odd, 0, NULL, d), TCGEMM_STATUS_BAD_ALIGNMENT, "B is not aligned",
           "odd B");
    expect(tcgemm_gemm(&p, 1, a, a, 1, odd, d), TCGEMM_STATUS_BAD_ALIGNMENT, "C is not aligned",
           "odd C");
    expect(tcgemm_gemm(&p, 1, a, a, 0, NULL, (char *)d + 1), TCGEMM_STATUS_BAD_ALIGNMENT,
           "D is not aligned", "odd D");
    static const double bad[] = {0.5, 4294967296.0, -2147483649.0, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        expect(tcgemm_gemm(&q, bad[i], a, a, 0, NULL, d), TCGEMM_STATUS_BAD_SCALAR, "alpha is",
               "alpha");
        expect(tcgemm_gemm(&q, 1, a, a, bad[i], c, d), TCGEMM_STATUS_BAD_SCALAR, "beta is", "beta");
        if (bad[i] == 4294967296.0)
            assert_non_null(strstr(tcgemm_last_error(), "beta is 4294967296, but"));
        /* BAD_SCALAR comes before the pointers. */
        expect(tcgemm_gemm(&q, bad[i], NULL, NULL, 0, NULL, NULL), TCGEMM_STATUS_BAD_SCALAR,
               "alpha is", "alpha before A");
    }
    for (int i = 0; i < 5; ++i)
        assert_true(d[i] == 9.0f);
    /* Not read, so not checked. */
    expect(tcgemm_gemm(&p, 1, a, a, 0, odd, d), TCGEMM_STATUS_OK, "", "C unread");
    expect(tcgemm_gemm(&p, 0, odd, NULL, 1, c, d), TCGEMM_STATUS_OK, "", "A unread");
    assert_no_failures();
}

/* ---- overlap ---- */

static void overlap(void **state) {
    (void)state;
    static float m[400];
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    expect(tcgemm_gemm(&p, 1, m, m, 0, NULL, m + 15), TCGEMM_STATUS_OVERLAP, "D overlaps A", "A");
    expect(tcgemm_gemm(&p, 1, m + 40, m, 0, NULL, m + 15), TCGEMM_STATUS_OVERLAP, "D overlaps B",
           "B");
    expect(tcgemm_gemm(&p, 1, m + 40, m + 60, 1, m + 1, m), TCGEMM_STATUS_OVERLAP, "D overlaps C",
           "C");
    expect(tcgemm_gemm(&p, 1, m, m, 0, NULL, m + 16), TCGEMM_STATUS_OK, "", "A next to D, A is B");
    expect(tcgemm_gemm(&p, 1, m + 40, m + 60, 1, m, m), TCGEMM_STATUS_OK, "", "D is C");
    expect(tcgemm_gemm(&p, 1, m + 40, m + 60, 0, m + 1, m), TCGEMM_STATUS_OK, "", "C not read");
    expect(tcgemm_gemm(&p, 0, m, m + 1, 1, m + 100, m), TCGEMM_STATUS_OK, "", "A, B not read");

    /* Blocks of one 20 x 20 matrix: rows interleave, elements do not. */
    p.lda = p.ldb = p.ldc = p.ldd = 20;
    expect(tcgemm_gemm(&p, 1, m, m + 80, 0, NULL, m + 4), TCGEMM_STATUS_OK, "", "beside A");
    expect(tcgemm_gemm(&p, 1, m + 4, m + 8, 1, m + 12, m), TCGEMM_STATUS_OK, "", "four blocks");
    expect(tcgemm_gemm(&p, 1, m, m + 80, 0, NULL, m + 3), TCGEMM_STATUS_OVERLAP, "D overlaps A",
           "one column shared");
    expect(tcgemm_gemm(&p, 1, m, m + 160, 0, NULL, m + 63), TCGEMM_STATUS_OVERLAP, "D overlaps A",
           "one element shared");
    expect(tcgemm_gemm(&p, 1, m + 17, m + 160, 0, NULL, m + 20), TCGEMM_STATUS_OVERLAP,
           "D overlaps A", "rows wrap into the next");
    expect(tcgemm_gemm(&p, 1, m + 200, m + 300, 1, m, m), TCGEMM_STATUS_OK, "", "in place");
    p.ldc = 21;
    expect(tcgemm_gemm(&p, 1, m + 200, m + 300, 1, m, m), TCGEMM_STATUS_OVERLAP, "D overlaps C",
           "in place with another ldc");
    p.ldc = 20;
    p.order = TCGEMM_COL_MAJOR;
    expect(tcgemm_gemm(&p, 1, m, m + 200, 0, NULL, m + 2), TCGEMM_STATUS_OVERLAP, "D overlaps A",
           "column-major names");
    p.order = TCGEMM_ROW_MAJOR;
    p.batch = 2;
    p.stride_c = 100;
    p.stride_d = 101;
    expect(tcgemm_gemm(&p, 1, m + 300, m + 320, 1, m, m), TCGEMM_STATUS_OVERLAP, "D overlaps C",
           "in place with another stride");
    assert_no_failures();
}

/* Rows of D a gigabyte apart, more of them than one register tile has: an offset that is cut to 32
 * bits lands elsewhere. */
static void rows_far_apart(void **state) {
    (void)state;
    enum { ROWS = 17 };
    const int64_t ld = (INT64_C(1) << 28) + 3;
    const size_t bytes = (size_t)((ROWS - 1) * ld + 2) * sizeof(float);
    float *d = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (d == MAP_FAILED)
        skip();
    const float b[2] = {5, 7};
    float a[ROWS];
    for (int i = 0; i < ROWS; ++i)
        a[i] = (float)(i + 1);
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, ROWS, 2, 1);
    p.ldd = ld;
    expect(tcgemm_gemm(&p, 1, a, b, 0, NULL, d), TCGEMM_STATUS_OK, "", "wide D");
    for (int64_t i = 0; i < ROWS; ++i)
        for (int64_t j = 0; j < 2; ++j)
            if (d[i * ld + j] != a[i] * b[j])
                report_failure("D(%d, %d) is %g, expected %g", (int)i, (int)j,
                               (double)d[i * ld + j], (double)(a[i] * b[j]));
    (void)munmap(d, bytes);
    assert_no_failures();
}

/* ---- context, plan, run, describe ---- */

static void contexts(void **state) {
    (void)state;
    tcgemm_context_options_t o = tcgemm_context_options();
    tcgemm_context_t *context = (tcgemm_context_t *)&o;
    expect(tcgemm_context_create(NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT, "context is NULL",
           "NULL");
    o.struct_size = 1;
    expect(tcgemm_context_create(&o, &context), TCGEMM_STATUS_BAD_ARGUMENT, "struct_size is 1",
           "size");
    assert_null(context);
    o = tcgemm_context_options();
    o.device = -3;
    expect(tcgemm_context_create(&o, &context), TCGEMM_STATUS_BAD_ARGUMENT, "device is -3",
           "device");
    o = tcgemm_context_options();
    o.num_threads = -1;
    expect(tcgemm_context_create(&o, &context), TCGEMM_STATUS_BAD_ARGUMENT, "num_threads is -1",
           "threads");
    o.num_threads = 5000;
    expect(tcgemm_context_create(&o, &context), TCGEMM_STATUS_BAD_ARGUMENT, "num_threads is 5000",
           "threads");
    o = tcgemm_context_options();
    o.device = 99;
    context = (tcgemm_context_t *)&o;
    expect(tcgemm_context_create(&o, &context), TCGEMM_STATUS_NO_DEVICE, "99", "no device");
    assert_null(context);
    o.device = TCGEMM_DEVICE_CPU;
    o.num_threads = 4095;
    expect(tcgemm_context_create(&o, &context), TCGEMM_STATUS_OK, "", "most threads");
    tcgemm_context_destroy(context);
    tcgemm_context_destroy(NULL);
    assert_no_failures();
}

static void plans(void **state) {
    (void)state;
    const tcgemm_problem_t p = sound();
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = (tcgemm_plan_t *)&o;
    expect(tcgemm_plan_create(NULL, &p, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL",
           "NULL");
    o.struct_size = 3;
    expect(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_BAD_ARGUMENT, "struct_size is 3",
           "size");
    assert_null(plan);
    o = tcgemm_plan_options();
    o.algo = "nonsense";
    expect(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_UNKNOWN_ALGO, "nonsense", "algo");
    o.algo = NULL;
    o.kernel = "cpu_none_f32";
    expect(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_UNKNOWN_ALGO, "cpu_none_f32",
           "kernel");
    o.kernel = "cpu_any_f64_4x6";
    expect(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_UNSUPPORTED, "f32_f32",
           "kernel of another type");
    assert_null(plan);
    static const char *const algos[] = {NULL, "auto", "cpu", "reference"};
    for (int i = 0; i < 4; ++i) {
        o = tcgemm_plan_options();
        o.algo = algos[i];
        expect(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_OK, "", "algo");
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
        if (i >= 2)
            assert_string_equal(info.algo, algos[i]);
        assert_int_equal(info.a_bytes, 5 * 11 * 4);
        assert_int_equal(info.d_bytes, 5 * 7 * 4);
        assert_true(info.padded_m >= 5 && info.padded_n >= 7 && info.padded_k >= 11);
        assert_true(info.num_threads >= 1 && info.predicted_seconds >= 0.0);
        tcgemm_plan_destroy(plan);
    }
    tcgemm_plan_destroy(NULL);
    tcgemm_plan_info_t info = {.struct_size = 1};
    expect(tcgemm_plan_get_info(NULL, &info), TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL", "info");
    expect(tcgemm_run(NULL, 1, NULL, NULL, 0, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT,
           "plan is NULL", "run");
    expect(tcgemm_run_with(NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, 0, NULL),
           TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL", "run_with");
    assert_int_equal(tcgemm_plan_describe(NULL, TCGEMM_FORMAT_TEXT, NULL, 0), 0);
    assert_no_failures();
}

static void structs_without_their_size(void **state) {
    (void)state;
    const tcgemm_problem_t p = sound();
    static float a[100];
    tcgemm_plan_t *plan = NULL;
    assert_int_equal(tcgemm_plan_create(NULL, &p, NULL, &plan), TCGEMM_STATUS_OK);
    tcgemm_plan_info_t info = {0};
    tcgemm_kernel_info_t kernel = {0};
    tcgemm_machine_info_t machine = {0};
    tcgemm_verify_report_t report = {0};
    tcgemm_run_stats_t stats = {0};
    const tcgemm_status_t bad = TCGEMM_STATUS_BAD_ARGUMENT;
    expect(tcgemm_plan_get_info(plan, &info), bad, "struct_size", "plan_info");
    expect(tcgemm_plan_get_info(plan, NULL), bad, "info", "plan_info NULL");
    expect(tcgemm_kernel_get_info(0, &kernel), bad, "struct_size", "kernel_info");
    expect(tcgemm_machine_get_info(&machine), bad, "struct_size", "machine_info");
    expect(tcgemm_machine_get_info(NULL), bad, "NULL", "machine_info NULL");
    expect(tcgemm_verify(plan, 1, a, a, 0, NULL, a, TCGEMM_VERIFY_FULL, 0, &report), bad,
           "struct_size", "report");
    expect(tcgemm_verify(plan, 1, a, a, 0, NULL, a, TCGEMM_VERIFY_FULL, 0, NULL), bad, "report",
           "report NULL");
    report.struct_size = sizeof report;
    expect(tcgemm_verify(plan, 1, a, a, 0, NULL, a, (tcgemm_verify_mode_t)7, 0, &report), bad, "7",
           "verify mode");
    expect(tcgemm_verify(NULL, 1, a, a, 0, NULL, a, TCGEMM_VERIFY_FULL, 0, &report), bad, "plan",
           "verify plan");
    static float d[100];
    expect(tcgemm_run_with(plan, 1, a, a, 0, NULL, d, NULL, 0, &stats), bad, "struct_size",
           "stats");
    stats.struct_size = sizeof stats;
    expect(tcgemm_run_with(plan, 1, a, a, 0, NULL, d, NULL, 0, &stats), TCGEMM_STATUS_OK, "",
           "stats");
    assert_true(stats.total_seconds > 0.0 && stats.product_seconds >= 0.0);
    tcgemm_plan_destroy(plan);
    assert_no_failures();
}

static void kernels_and_machine(void **state) {
    (void)state;
    tcgemm_kernel_info_t info = {.struct_size = sizeof info};
    const int count = tcgemm_kernel_count();
    expect(tcgemm_kernel_get_info(-1, &info), TCGEMM_STATUS_BAD_ARGUMENT, "-1", "kernel -1");
    expect(tcgemm_kernel_get_info(count, &info), TCGEMM_STATUS_BAD_ARGUMENT, "kernel", "kernel n");
    uint64_t covered = 0;
    for (int i = 0; i < count; ++i) {
        assert_int_equal(tcgemm_kernel_get_info(i, &info), TCGEMM_STATUS_OK);
        assert_true(info.name[0] && info.algo[0] && info.isa[0]);
        if (info.runnable && strcmp(info.algo, "cpu") == 0)
            covered |= info.types;
    }
    assert_int_equal(covered, (UINT64_C(1) << tcgemm_type_count()) - 1);
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    assert_int_equal(tcgemm_machine_get_info(&machine), TCGEMM_STATUS_OK);
    assert_true(machine.num_processors >= 1 && machine.clock_hz > 1e6);
    double theoretical;
    double measured = 0;
    const tcgemm_status_t bad = TCGEMM_STATUS_BAD_ARGUMENT;
    expect(tcgemm_measure_peak(TCGEMM_F32_F32, 0, &theoretical, &measured), bad, "num_threads is 0",
           "peak");
    expect(tcgemm_measure_peak(TCGEMM_F32_F32, 1, NULL, &measured), bad, "NULL", "peak");
    expect(tcgemm_measure_peak((tcgemm_type_t)0, 1, &theoretical, &measured),
           TCGEMM_STATUS_BAD_TYPE, "type 0", "peak");
    expect(tcgemm_measure_peak(TCGEMM_S8_S32, 1, &theoretical, &measured), TCGEMM_STATUS_OK, "",
           "peak");
    assert_true(measured > 1e6);
    expect(tcgemm_device_measure_peak(0, TCGEMM_F16_F32, NULL), bad, "NULL", "peak of a GPU");
    expect(tcgemm_device_measure_peak(0, (tcgemm_type_t)0, &measured), TCGEMM_STATUS_BAD_TYPE,
           "type 0", "peak of a GPU");
    assert_no_failures();
}

/* ---- descriptions ---- */

/* A reader of JSON just large enough to say whether a text is well-formed. Returns the end of the
 * value at `s`, or NULL. */
static const char *skip_json(const char *s);

static const char *skip_string(const char *s) {
    if (!s || *s != '"')
        return NULL;
    for (++s; *s && *s != '"'; ++s)
        if (*s == '\\' && *++s == '\0')
            return NULL;
    return *s == '"' ? s + 1 : NULL;
}

static const char *skip_members(const char *s, char end, bool is_object) {
    if (*++s == end)
        return s + 1;
    for (;;) {
        if (is_object) {
            s = skip_string(s);
            if (!s || *s++ != ':')
                return NULL;
        }
        s = skip_json(s);
        if (!s)
            return NULL;
        if (*s == end)
            return s + 1;
        if (*s++ != ',')
            return NULL;
    }
}

static const char *skip_json(const char *s) {
    if (*s == '{')
        return skip_members(s, '}', true);
    if (*s == '[')
        return skip_members(s, ']', false);
    if (*s == '"')
        return skip_string(s);
    if (strncmp(s, "true", 4) == 0)
        return s + 4;
    if (strncmp(s, "false", 5) == 0)
        return s + 5;
    char *end;
    const double value = strtod(s, &end);
    return end != s && isfinite(value) && (*s == '-' || (*s >= '0' && *s <= '9')) ? end : NULL;
}

static void check_description(const tcgemm_plan_t *plan, tcgemm_format_t format) {
    static char whole[8192];
    static char cut[8192];
    const size_t length = tcgemm_plan_describe(plan, format, whole, sizeof whole);
    assert_true(length > 100 && length < sizeof whole);
    assert_int_equal(strlen(whole), length);
    assert_int_equal(tcgemm_plan_describe(plan, format, NULL, 0), length);
    for (size_t size = 1; size <= length + 2; size += size < 40 || size + 40 > length ? 1 : 37) {
        memset(cut, 0x5A, sizeof cut);
        assert_int_equal(tcgemm_plan_describe(plan, format, cut, size), length);
        const size_t kept = size - 1 < length ? size - 1 : length;
        assert_int_equal(strlen(cut), kept);
        assert_memory_equal(cut, whole, kept);
        assert_int_equal(cut[size], 0x5A);
    }
    if (format != TCGEMM_FORMAT_JSON)
        return;
    const char *end = skip_json(whole);
    if (!end || *end != '\0')
        report_failure("not JSON: %s", whole);
    static const char *const keys[] = {
        "schema", "type",        "order",           "trans_a",    "m",
        "n",      "k",           "batch",           "kernel",     "levels",
        "reason", "num_threads", "workspace_bytes", "error_bound"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        char quoted[40];
        (void)snprintf(quoted, sizeof quoted, "\"%s\":", keys[i]);
        if (!strstr(whole, quoted))
            report_failure("no key %s in %s", keys[i], whole);
    }
}

static void descriptions(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{100, 200, 300}, {0, 5, 5}, {5, 5, 0}, {3, 2000, 900}};
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int s = 0; s < 4; ++s)
            for (int reference = 0; reference < 2; ++reference) {
                tcgemm_problem_t p =
                    tcgemm_problem((tcgemm_type_t)type, sizes[s][0], sizes[s][1], sizes[s][2]);
                p.order = s & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
                p.op_a = s & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
                tcgemm_plan_options_t o = tcgemm_plan_options();
                o.algo = reference ? "reference" : "cpu";
                tcgemm_plan_t *plan = NULL;
                assert_int_equal(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_OK);
                check_description(plan, TCGEMM_FORMAT_TEXT);
                check_description(plan, TCGEMM_FORMAT_JSON);
                tcgemm_plan_destroy(plan);
            }
    assert_no_failures();
}

/* The names given to a plan may be gone afterwards. */
static void options_are_copied(void **state) {
    (void)state;
    char name[40] = "cpu_any_f32_4x12";
    tcgemm_problem_t p = sound();
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    o.kernel = name;
    assert_int_equal(tcgemm_plan_create(NULL, &p, &o, &plan), TCGEMM_STATUS_OK);
    memset(name, 'x', sizeof name - 1);
    memset(&p, 0x5A, sizeof p);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
    assert_string_equal(info.kernel, "cpu_any_f32_4x12");
    float a[60] = {0};
    float b[80] = {0};
    float d[40];
    assert_int_equal(tcgemm_run(plan, 1, a, b, 0, NULL, d), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(plan);
}

/* 1 * 1 in f32: the bound is 3 units of 2^-24, and a NaN is never right. */
static void verify_has_its_bound(void **state) {
    (void)state;
    const float one = 1.0F;
    const float results[] = {1.0F, 1.0F + 0x1p-23F, 1.0F + 0x1p-22F, 0.0F / 0.0F * one};
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 1, 1, 1);
    tcgemm_plan_t *plan;
    assert_int_equal(tcgemm_plan_create(NULL, &p, NULL, &plan), TCGEMM_STATUS_OK);
    for (int i = 0; i < 4; ++i) {
        tcgemm_verify_report_t report = {.struct_size = sizeof report};
        assert_int_equal(tcgemm_verify(plan, 1.0, &one, &one, 0.0, NULL, &results[i],
                                       TCGEMM_VERIFY_FULL, 0, &report),
                         TCGEMM_STATUS_OK);
        assert_int_equal(report.num_wrong, i >= 2);
    }
    tcgemm_plan_destroy(plan);
}

/* Two problems that differ in their batch alone, one after the other. */
static void batches_are_not_mixed_up(void **state) {
    (void)state;
    const float one[4] = {1.0F, 0.0F, 0.0F, 1.0F};
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 2);
    float d[12];
    for (p.batch = 1; p.batch <= 3; ++p.batch) {
        memset(d, 0xFF, sizeof d);
        p.stride_d = 4;
        assert_int_equal(tcgemm_gemm(&p, 1.0, one, one, 0.0, NULL, d), TCGEMM_STATUS_OK);
        for (int i = 0; i < 12; ++i)
            assert_true(i < 4 * p.batch ? d[i] == one[i % 4] : d[i] != d[i]);
    }
}

/* Of the CPU's kernels for these types the one with the largest register tile is the fastest. */
static void the_plan_takes_the_largest_register_tile(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        const tcgemm_problem_t p = tcgemm_problem(types[t], 1000, 1000, 1000);
        tcgemm_plan_t *const plan = plan_of(context_of(1), &p, NULL);
        tcgemm_plan_info_t taken = {.struct_size = sizeof taken};
        assert_int_equal(tcgemm_plan_get_info(plan, &taken), TCGEMM_STATUS_OK);
        int64_t tile = 0;
        int64_t largest = 0;
        for (int i = 0; i < tcgemm_kernel_count(); ++i) {
            tcgemm_kernel_info_t row;
            if (!kernel_does(i, types[t], &row))
                continue;
            if (strcmp(row.name, taken.kernel) == 0)
                tile = row.tile_m * row.tile_n;
            largest = row.tile_m * row.tile_n > largest ? row.tile_m * row.tile_n : largest;
        }
        if (tile != largest)
            report_failure("%s: %s has %lld sums in registers, another kernel %lld",
                           tcgemm_type_info(types[t])->name, taken.kernel, (long long)tile,
                           (long long)largest);
        tcgemm_plan_destroy(plan);
    }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_names),
        cmocka_unit_test(types_and_dtypes),
        cmocka_unit_test(problems_with_a_fault),
        cmocka_unit_test(the_first_of_two_faults_is_reported),
        cmocka_unit_test(sentences_in_column_major_order),
        cmocka_unit_test(sizes_that_wrap),
        cmocka_unit_test(enormous_and_empty),
        cmocka_unit_test(empty_on_many_threads),
        cmocka_unit_test(pointers_and_scalars),
        cmocka_unit_test(overlap),
        cmocka_unit_test(rows_far_apart),
        cmocka_unit_test(contexts),
        cmocka_unit_test(plans),
        cmocka_unit_test(structs_without_their_size),
        cmocka_unit_test(kernels_and_machine),
        cmocka_unit_test(descriptions),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(verify_has_its_bound),
        cmocka_unit_test(batches_are_not_mixed_up),
        cmocka_unit_test(the_plan_takes_the_largest_register_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
