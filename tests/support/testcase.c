#include "support/testcase.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oracle.h"

enum { CANARY = 192 }; /* bytes on each side: three vectors */

testcase_t testcase_make(const char *kernel, tcgemm_problem_t p, uint64_t seed) {
    return (testcase_t){.kernel = kernel, .p = p, .alpha = 1.0, .seed = seed};
}

void testcase_draw(testcase_t *t, uint64_t *random) {
    const tcgemm_dtype_t d = tcgemm_type_info(t->p.type)->d;
    t->p.op_a = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    t->p.op_b = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    t->p.order = random_below(random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    t->fill = random_below(random, 3) ? FILL_UNIFORM : FILL_SMALL_INT;
    const bool is_whole = t->fill == FILL_SMALL_INT || !oracle_is_float(d);
    t->alpha = random_below(random, 2) ? 1 : is_whole ? -2 : 0.7;
    t->beta = random_below(random, 2) ? 0 : is_whole ? 3 : -1.3;
    t->misalign = (int)random_below(random, 3) * oracle_bits(d) / 8;
}

void testcase_print(const testcase_t *t, char *line, size_t size) {
    const tcgemm_problem_t *p = &t->p;
    (void)snprintf(
        line, size,
        "kernel=%s type=%s m=%lld n=%lld k=%lld ops=%c%c order=%s flags=%u ld=%lld,%lld,%lld,%lld "
        "alpha=%.17g beta=%.17g batch=%lld stride=%lld,%lld,%lld,%lld fill=%s seed=%llu threads=%d "
        "misalign=%d%s",
        t->kernel ? t->kernel : "auto", tcgemm_type_info(p->type)->name, (long long)p->m,
        (long long)p->n, (long long)p->k, p->op_a ? 'T' : 'N', p->op_b ? 'T' : 'N',
        p->order ? "col" : "row", p->flags, (long long)p->lda, (long long)p->ldb, (long long)p->ldc,
        (long long)p->ldd, t->alpha, t->beta, (long long)p->batch, (long long)p->stride_a,
        (long long)p->stride_b, (long long)p->stride_c, (long long)p->stride_d, fill_name(t->fill),
        (unsigned long long)t->seed, t->num_threads > 0 ? t->num_threads : 1, t->misalign,
        t->in_place ? " in-place" : "");
}

void testcase_fail(const testcase_t *t, const char *format, ...) {
    char line[512];
    char reason[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    testcase_print(t, line, sizeof line);
    report_failure("%s: %s", line, reason);
}

/* ---- operands ---- */

int64_t matrix_index(const matrix_t *x, int64_t t, int64_t i, int64_t j) {
    return t * x->stride + (x->row_major ? i * x->ld + j : j * x->ld + i);
}

static void describe(matrix_t *x, const tcgemm_problem_t *p, tcgemm_dtype_t dtype, int64_t rows,
                     int64_t cols, int64_t ld, int64_t stride) {
    x->dtype = dtype;
    x->rows = rows;
    x->cols = cols;
    x->row_major = p->order == TCGEMM_ROW_MAJOR;
    const int64_t lines = x->row_major ? rows : cols;
    const int64_t length = x->row_major ? cols : rows;
    x->ld = ld ? ld : length > 1 ? length : 1;
    x->stride = stride;
    x->span = lines > 0 && length > 0 && p->batch > 0
                  ? (p->batch - 1) * stride + (lines - 1) * x->ld + length
                  : 0;
}

static void allocate(matrix_t *x, int misalign) {
    const size_t bytes = (size_t)(x->span * oracle_bits(x->dtype) + 7) / 8;
    x->block_bytes = (bytes + 2 * CANARY + 64 + 63) / 64 * 64;
    x->block = aligned_alloc(64, x->block_bytes);
    assert_non_null(x->block);
    memset(x->block, 0xFF, x->block_bytes);
    x->data = x->block + CANARY + misalign;
}

static void fill_matrix(const testcase_t *t, matrix_t *x, uint64_t seed) {
    uint64_t random = t->seed * 4 + seed;
    /* Items that share memory (stride 0) are filled once. */
    const int64_t items = x->stride == 0 && t->p.batch > 1 ? 1 : t->p.batch;
    int64_t position = (int64_t)seed * 83;
    for (int64_t item = 0; item < items; ++item)
        for (int64_t i = 0; i < x->rows; ++i)
            for (int64_t j = 0; j < x->cols; ++j)
                oracle_set(x->dtype, x->data, matrix_index(x, item, i, j),
                           fill_value(t->fill, x->dtype, t->p.k, position++, &random));
}

static uint8_t *copy_of(const matrix_t *x) {
    uint8_t *copy = malloc(x->block_bytes);
    assert_non_null(copy);
    memcpy(copy, x->block, x->block_bytes);
    return copy;
}

void operands_make(const testcase_t *t, operands_t *x) {
    const tcgemm_problem_t *p = &t->p;
    const tcgemm_type_info_t *type = tcgemm_type_info(p->type);
    memset(x, 0, sizeof *x);
    describe(&x->a, p, type->a, p->op_a ? p->k : p->m, p->op_a ? p->m : p->k, p->lda, p->stride_a);
    describe(&x->b, p, type->b, p->op_b ? p->n : p->k, p->op_b ? p->k : p->n, p->ldb, p->stride_b);
    describe(&x->c, p, type->d, p->m, p->n, p->ldc, p->stride_c);
    describe(&x->d, p, type->d, p->m, p->n, p->ldd, p->stride_d);
    allocate(&x->a, t->misalign);
    allocate(&x->b, t->misalign);
    allocate(&x->c, t->misalign);
    if (t->in_place)
        x->d = x->c;
    else
        allocate(&x->d, t->misalign);
    fill_matrix(t, &x->a, 1);
    fill_matrix(t, &x->b, 2);
    if (t->beta != 0)
        fill_matrix(t, &x->c, 3);
    operands_save(x);
}

void operands_save(operands_t *x) {
    free(x->a_was);
    free(x->b_was);
    free(x->c_was);
    free(x->d_was);
    x->a_was = copy_of(&x->a);
    x->b_was = copy_of(&x->b);
    x->c_was = copy_of(&x->c);
    x->d_was = copy_of(&x->d);
}

void operands_free(operands_t *x) {
    free(x->a_was);
    free(x->b_was);
    free(x->c_was);
    free(x->d_was);
    free(x->a.block);
    free(x->b.block);
    if (x->d.block != x->c.block)
        free(x->d.block);
    free(x->c.block);
    memset(x, 0, sizeof *x);
}

/* ---- the run ---- */

static tcgemm_plan_t *plan_for(const testcase_t *t) {
    return plan_of(context_of(t->num_threads > 0 ? t->num_threads : 1), &t->p, t->kernel);
}

tcgemm_status_t testcase_run_on(const testcase_t *t, const operands_t *x) {
    tcgemm_plan_t *plan = plan_for(t);
    if (!plan)
        return TCGEMM_STATUS_INTERNAL;
    const tcgemm_status_t status =
        tcgemm_run(plan, t->alpha, x->a.data, x->b.data, t->beta, x->c.data, x->d.data);
    tcgemm_plan_destroy(plan);
    return status;
}

bool testcase_judge(const testcase_t *t, const operands_t *x, double *ratio) {
    tcgemm_plan_t *plan = plan_for(t);
    if (!plan)
        return false;
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    const uint8_t *c = x->c_was + (x->c.data - x->c.block);
    const tcgemm_status_t status = tcgemm_verify(plan, t->alpha, x->a.data, x->b.data, t->beta, c,
                                                 x->d.data, TCGEMM_VERIFY_FULL, t->seed, &report);
    tcgemm_plan_destroy(plan);
    if (ratio)
        *ratio = report.max_ratio;
    if (status == TCGEMM_STATUS_OK && report.num_wrong == 0 && report.max_ratio <= 1.0)
        return true;
    testcase_fail(t, "%s, %lld wrong, first (%lld; %lld, %lld): %.17g, expected %.17g, ratio %g",
                  tcgemm_status_name(status), (long long)report.num_wrong,
                  (long long)report.wrong_batch, (long long)report.wrong_row,
                  (long long)report.wrong_col, report.wrong_got, report.wrong_expected,
                  report.max_ratio);
    return false;
}

/* ---- exact products ---- */

static bool is_small_whole(double x) {
    return x == floor(x) && fabs(x) <= 4.0;
}

bool testcase_is_exact(const testcase_t *t) {
    const tcgemm_type_info_t *type = tcgemm_type_info(t->p.type);
    if (!oracle_is_float(type->d))
        return true;
    return (t->fill == FILL_SMALL_INT || t->fill == FILL_CYCLE) && is_small_whole(t->alpha) &&
           is_small_whole(t->beta);
}

/* op(X) of one item as integers, row after row. */
static int64_t *integers_of(const matrix_t *x, bool transposed, int64_t item) {
    const int64_t rows = transposed ? x->cols : x->rows;
    const int64_t cols = transposed ? x->rows : x->cols;
    int64_t *values = malloc((size_t)(rows * cols + 1) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j)
            values[i * cols + j] = (int64_t)oracle_get(
                x->dtype, x->data, matrix_index(x, item, transposed ? j : i, transposed ? i : j));
    return values;
}

/* Four rows of B at a time: the sums come and go less often. */
static void add_row(int64_t *sums, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                    bool use_xor) {
    memset(sums, 0, (size_t)n * sizeof *sums);
    int64_t p = 0;
    for (; !use_xor && p + 4 <= k; p += 4, b += 4 * n)
        for (int64_t j = 0; j < n; ++j)
            sums[j] += a[p] * b[j] + a[p + 1] * b[j + n] + a[p + 2] * b[j + 2 * n] +
                       a[p + 3] * b[j + 3 * n];
    for (; p < k; ++p, b += n)
        for (int64_t j = 0; j < n; ++j)
            sums[j] += use_xor ? a[p] ^ b[j] : a[p] * b[j];
}

/* Compares one element; integers modulo 2^32, zeros of either sign are the same. */
static bool element_is(const testcase_t *t, const operands_t *x, int64_t item, int64_t i, int64_t j,
                       int64_t sum) {
    const matrix_t *d = &x->d;
    const uint8_t *c = x->c_was + (x->c.data - x->c.block);
    const int64_t beta = (int64_t)t->beta;
    const int64_t old =
        beta ? (int64_t)oracle_get(x->c.dtype, c, matrix_index(&x->c, item, i, j)) : 0;
    const uint64_t exact =
        (uint64_t)(int64_t)t->alpha * (uint64_t)sum + (uint64_t)beta * (uint64_t)old;
    const uint64_t got = oracle_get_bits(d->dtype, d->data, matrix_index(d, item, i, j));
    if (!oracle_is_float(d->dtype)) {
        if ((uint32_t)got == (uint32_t)exact)
            return true;
        testcase_fail(t, "(%lld; %lld, %lld) is %d, expected %d", (long long)item, (long long)i,
                      (long long)j, (int)(int32_t)got, (int)(int32_t)exact);
        return false;
    }
    const double expected =
        oracle_decode(d->dtype, oracle_encode(d->dtype, (double)(int64_t)exact));
    const double value = oracle_decode(d->dtype, got);
    if (value == expected)
        return true;
    testcase_fail(t, "(%lld; %lld, %lld) is %.17g, expected exactly %.17g", (long long)item,
                  (long long)i, (long long)j, value, expected);
    return false;
}

static bool compare_item(const testcase_t *t, const operands_t *x, int64_t item) {
    const tcgemm_problem_t *p = &t->p;
    const bool reads = p->k > 0 && t->alpha != 0;
    int64_t *a = reads ? integers_of(&x->a, p->op_a == TCGEMM_OP_T, item) : NULL;
    int64_t *b = reads ? integers_of(&x->b, p->op_b == TCGEMM_OP_T, item) : NULL;
    int64_t *sums = calloc((size_t)p->n + 1, sizeof *sums);
    assert_non_null(sums);
    bool right = true;
    for (int64_t i = 0; right && i < p->m; ++i) {
        if (reads)
            add_row(sums, a + i * p->k, b, p->n, p->k, p->flags & TCGEMM_FLAG_XOR);
        for (int64_t j = 0; right && j < p->n; ++j)
            right = element_is(t, x, item, i, j, sums[j]);
    }
    free(a);
    free(b);
    free(sums);
    return right;
}

bool testcase_compare_exact(const testcase_t *t, const operands_t *x) {
    for (int64_t item = 0; item < t->p.batch; ++item)
        if (!compare_item(t, x, item))
            return false;
    return true;
}

/* ---- what must not change ---- */

static bool same_block(const testcase_t *t, const char *name, const matrix_t *x,
                       const uint8_t *was) {
    if (memcmp(x->block, was, x->block_bytes) == 0)
        return true;
    size_t at = 0;
    while (x->block[at] == was[at])
        ++at;
    testcase_fail(t, "%s changed at byte %lld of its %lld", name,
                  (long long)at - (long long)(x->data - x->block),
                  (long long)((x->span * oracle_bits(x->dtype) + 7) / 8));
    return false;
}

bool testcase_untouched(const testcase_t *t, const operands_t *x) {
    /* D's own elements may differ: bring them over, then the blocks must be the same. */
    uint8_t *expected = malloc(x->d.block_bytes);
    assert_non_null(expected);
    memcpy(expected, x->d_was, x->d.block_bytes);
    uint8_t *data = expected + (x->d.data - x->d.block);
    for (int64_t item = 0; item < t->p.batch; ++item)
        for (int64_t i = 0; i < t->p.m; ++i)
            for (int64_t j = 0; j < t->p.n; ++j) {
                const int64_t index = matrix_index(&x->d, item, i, j);
                oracle_set_bits(x->d.dtype, data, index,
                                oracle_get_bits(x->d.dtype, x->d.data, index));
            }
    const bool same = same_block(t, "the surroundings of D", &x->d, expected) &&
                      same_block(t, "A", &x->a, x->a_was) && same_block(t, "B", &x->b, x->b_was) &&
                      (t->in_place || same_block(t, "C", &x->c, x->c_was));
    free(expected);
    return same;
}

bool testcase_check(const testcase_t *t) {
    operands_t x;
    operands_make(t, &x);
    const tcgemm_status_t status = testcase_run_on(t, &x);
    bool right = status == TCGEMM_STATUS_OK;
    if (!right)
        testcase_fail(t, "%s: %s", tcgemm_status_name(status), tcgemm_last_error());
    right = right && testcase_untouched(t, &x);
    right = right &&
            (testcase_is_exact(t) ? testcase_compare_exact(t, &x) : testcase_judge(t, &x, NULL));
    operands_free(&x);
    return right;
}
