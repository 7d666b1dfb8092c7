/* ref_fixture.h - a plan made by hand, with data, for the tests of src/ref. */
#ifndef TCGEMM_TESTS_UNIT_REF_FIXTURE_H
#define TCGEMM_TESTS_UNIT_REF_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "plan/plan.h"
#include "ref/reference.h"
#include "ref/vectors.h"
#include "tcgemm/tcgemm.h"

typedef struct fixture {
    tcgemm_kernel_t kernel;
    struct tcgemm_plan plan;
    double alpha, beta;
    void *a, *b, *c, *d; /* the caller's, not canonical */
    size_t a_bytes, b_bytes, c_bytes, d_bytes;
} fixture_t;

/* The bytes of one stored matrix and its batch; `ld` and `stride` in elements. */
static inline size_t matrix_bytes(tcgemm_dtype_t dtype, int64_t lines, int64_t ld, int64_t batch,
                                  int64_t stride) {
    const int64_t elements = lines * ld + (batch > 0 ? batch - 1 : 0) * stride;
    return (size_t)(elements * tcgemm_dtype_bits(dtype) / 8 + 16);
}

/* Lines as stored: rows in row-major order, columns in column-major. */
static inline int64_t stored_lines(const tcgemm_problem_t *p, int64_t rows, int64_t cols,
                                   tcgemm_op_t op) {
    return (p->order == TCGEMM_ROW_MAJOR) == (op == TCGEMM_OP_N) ? rows : cols;
}

static inline void default_ld(const tcgemm_problem_t *p, int64_t rows, int64_t cols, tcgemm_op_t op,
                              int64_t *ld) {
    if (*ld == 0)
        *ld = (p->order == TCGEMM_ROW_MAJOR) == (op == TCGEMM_OP_N) ? cols : rows;
    if (*ld == 0)
        *ld = 1;
}

/* Strides of 0 in a batch become those of items one after the other. */
static inline void fixture_init(fixture_t *f, tcgemm_problem_t p) {
    const tcgemm_type_info_t *type = tcgemm_type_info(p.type);
    memset(f, 0, sizeof *f);
    default_ld(&p, p.m, p.k, p.op_a, &p.lda);
    default_ld(&p, p.k, p.n, p.op_b, &p.ldb);
    default_ld(&p, p.m, p.n, TCGEMM_OP_N, &p.ldc);
    default_ld(&p, p.m, p.n, TCGEMM_OP_N, &p.ldd);
    const int64_t lines_a = stored_lines(&p, p.m, p.k, p.op_a);
    const int64_t lines_b = stored_lines(&p, p.k, p.n, p.op_b);
    const int64_t lines_d = stored_lines(&p, p.m, p.n, TCGEMM_OP_N);
    if (p.batch > 1 && p.stride_d == 0) {
        p.stride_a = lines_a * p.lda;
        p.stride_b = lines_b * p.ldb;
        p.stride_c = lines_d * p.ldc;
        p.stride_d = lines_d * p.ldd;
    }
    f->plan.problem = p;
    assert_int_equal(tcgemm_canonicalize(&p, &f->plan.g), TCGEMM_STATUS_OK);
    f->kernel = (tcgemm_kernel_t){.name = "reference", .bound = TCGEMM_BOUND_NEAREST};
    f->plan.kernel = &f->kernel;
    f->plan.num_threads = 2;
    f->alpha = 1.0;
    f->a_bytes = matrix_bytes(type->a, lines_a, p.lda, p.batch, p.stride_a);
    f->b_bytes = matrix_bytes(type->b, lines_b, p.ldb, p.batch, p.stride_b);
    f->c_bytes = matrix_bytes(type->d, lines_d, p.ldc, p.batch, p.stride_c);
    f->d_bytes = matrix_bytes(type->d, lines_d, p.ldd, p.batch, p.stride_d);
    f->a = calloc(1, f->a_bytes);
    f->b = calloc(1, f->b_bytes);
    f->c = calloc(1, f->c_bytes);
    f->d = calloc(1, f->d_bytes);
    assert_true(f->a && f->b && f->c && f->d);
}

static inline void fixture_free(fixture_t *f) {
    free(f->a);
    free(f->b);
    free(f->c);
    free(f->d);
}

static inline tcgemm_call_t fixture_call(const fixture_t *f) {
    tcgemm_call_t call;
    assert_int_equal(
        tcgemm_check_call(&f->plan.g, f->alpha, f->a, f->b, f->beta, f->c, f->d, true, &call),
        TCGEMM_STATUS_OK);
    return call;
}

static inline void fixture_run(fixture_t *f) {
    const tcgemm_call_t call = fixture_call(f);
    assert_int_equal(tcgemm_reference_run(&f->plan, &call, NULL), TCGEMM_STATUS_OK);
}

/* Where an element of a stored matrix is: (i, j) of op(X). */
static inline int64_t place(const fixture_t *f, tcgemm_op_t op, int64_t ld, int64_t i, int64_t j) {
    const int is_row_major = f->plan.problem.order == TCGEMM_ROW_MAJOR;
    return is_row_major == (op == TCGEMM_OP_N) ? i * ld + j : j * ld + i;
}

static inline int64_t place_a(const fixture_t *f, int64_t t, int64_t i, int64_t p) {
    const tcgemm_problem_t *q = &f->plan.problem;
    return t * q->stride_a + place(f, q->op_a, q->lda, i, p);
}

static inline int64_t place_b(const fixture_t *f, int64_t t, int64_t p, int64_t j) {
    const tcgemm_problem_t *q = &f->plan.problem;
    return t * q->stride_b + place(f, q->op_b, q->ldb, p, j);
}

static inline int64_t place_c(const fixture_t *f, int64_t t, int64_t i, int64_t j) {
    const tcgemm_problem_t *q = &f->plan.problem;
    return t * q->stride_c + place(f, TCGEMM_OP_N, q->ldc, i, j);
}

static inline int64_t place_d(const fixture_t *f, int64_t t, int64_t i, int64_t j) {
    const tcgemm_problem_t *q = &f->plan.problem;
    return t * q->stride_d + place(f, TCGEMM_OP_N, q->ldd, i, j);
}

static inline double load(tcgemm_dtype_t dtype, const void *array, int64_t index) {
    return tcgemm_load_float(dtype, array, index);
}

static inline void store(tcgemm_dtype_t dtype, void *array, int64_t index, double value) {
    if (tcgemm_dtype_is_integer(dtype))
        tcgemm_store_integer(dtype, array, index, (int32_t)value);
    else
        tcgemm_store_float(dtype, array, index, value);
}

/* `bytes` bytes of elements: floats in -1 .. 1, integers of all values. */
static inline void fill(tcgemm_dtype_t dtype, void *array, size_t bytes, uint64_t seed) {
    const int64_t count = (int64_t)bytes * 8 / tcgemm_dtype_bits(dtype);
    for (int64_t e = 0; e < count; ++e) {
        const uint64_t random = tcgemm_next_random(&seed);
        if (tcgemm_dtype_is_integer(dtype))
            tcgemm_store_integer(dtype, array, e, (int32_t)(uint32_t)random);
        else
            tcgemm_store_float(dtype, array, e, 0x1p-63 * (double)random - 1.0);
    }
}

static inline void fixture_fill(fixture_t *f, uint64_t seed) {
    const tcgemm_type_info_t *type = tcgemm_type_info(f->plan.problem.type);
    fill(type->a, f->a, f->a_bytes, seed);
    fill(type->b, f->b, f->b_bytes, seed + 1000);
    fill(type->d, f->c, f->c_bytes, seed + 2000);
}

#endif
