/* gemm.h - the problem after it has been checked, in the one form that every kernel sees.
 *
 * D is always row-major: a column-major product is solved as D^T = op(B)^T op(A)^T, so A and B
 * trade places and m and n with them (`swapped`). Transposes are strides: element (i, p) of the m x
 * k matrix op(A) is a[i * row_stride + p * col_stride], and one of the two strides is 1.
 *
 *                    k               n                     n
 *               +---------+     +---------+           +---------+
 *     m   alpha |    A    |   k |    B    |  + beta   |    C    |  -> D, row i at d + i * ldd
 *               +---------+     +---------+         m +---------+
 */
#ifndef TCGEMM_PLAN_GEMM_H
#define TCGEMM_PLAN_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/epilogue.h"
#include "tcgemm/tcgemm.h"

typedef struct tcgemm_operand {
    tcgemm_dtype_t dtype;
    int64_t row_stride; /* elements, as all strides here */
    int64_t col_stride;
    int64_t batch_stride;
    bool in_columns;     /* as the problem says; a column alone has strides of 1 and 1 */
    size_t packed_bytes; /* not 0: it comes packed ahead, in so many bytes (cpu/prepack.h) */
    bool padded; /* contiguous rows go on with zeros up to a 16-byte boundary: a packed copy */
} tcgemm_operand_t;

typedef struct tcgemm_canonical {
    const tcgemm_type_info_t *type;
    uint32_t flags;
    bool swapped; /* a is the caller's B and b the caller's A */
    int64_t m, n, k, batch;
    tcgemm_operand_t a; /* m x k */
    tcgemm_operand_t b; /* k x n */
    int64_t ldc, ldd, stride_c, stride_d;
    uint64_t most_bytes; /* from the first to the last of the largest of the four matrices */
} tcgemm_canonical_t;

/* The data of one run, with a and b already in canonical places. Null a, b or c: not to be read.
 * alpha and beta are rounded to the scalar dtype; for integer types the low 32 bits of the whole
 * number count. */
typedef struct tcgemm_call {
    double alpha;
    const void *a;
    const void *b;
    double beta;
    const void *c;
    void *d;
    tcgemm_epilogue_t epilogue; /* of the canonical D; the same for all items */
} tcgemm_call_t;

/* Contiguous elements in a row of the operand as it lies in memory, rows x cols as the formula sees
 * it, and how many such rows there are. */
static inline int64_t tcgemm_operand_length(const tcgemm_operand_t *x, int64_t rows, int64_t cols) {
    return x->col_stride == 1 ? cols : rows;
}
static inline int64_t tcgemm_operand_lines(const tcgemm_operand_t *x, int64_t rows, int64_t cols) {
    return x->col_stride == 1 ? rows : cols;
}
/* Elements from one of these rows to the next. */
static inline int64_t tcgemm_operand_ld(const tcgemm_operand_t *x) {
    return x->col_stride == 1 ? x->row_stride : x->col_stride;
}

/* Whether A (or B) has no element: the size that only the other operand and D have does not count.
 */
static inline bool tcgemm_operand_is_empty(const tcgemm_canonical_t *g, bool is_b) {
    return (is_b ? g->n : g->m) == 0 || g->k == 0 || g->batch == 0;
}

/* The problem by which kernel, tile and cuts are chosen. It is the problem itself; for a
 * reproducible one without the caller's m, the batch and the strides, on which no bit of a row of D
 * may depend.
 */
enum { tcgemm_choice_rows = 2048 }; /* who asks for reproducible rows has many */
tcgemm_canonical_t tcgemm_choice_problem(const tcgemm_canonical_t *g);
/* The caller's problem, which may be that of another version, as ours. OK or BAD_ARGUMENT. */
tcgemm_status_t tcgemm_problem_read(const tcgemm_problem_t *problem, tcgemm_problem_t *whole);

/* The same without a copy where the caller's is of this version: *whole is `problem` or `copy`. */
tcgemm_status_t tcgemm_problem_whole(const tcgemm_problem_t *problem, tcgemm_problem_t *copy,
                                     const tcgemm_problem_t **whole);

/* Checks the caller's problem and, if canonical is not NULL, fills it in.
 * Statuses and order as tcgemm_problem_check. */
tcgemm_status_t tcgemm_canonicalize(const tcgemm_problem_t *problem, tcgemm_canonical_t *canonical);

/* Checks pointers, scalars, alignment and overlap of one run and fills in `call`, without an
 * epilogue. `d_is_written` is false for verification, where D is only compared and may overlap
 * anything. Returns OK, BAD_ARGUMENT, BAD_SCALAR, BAD_ALIGNMENT or OVERLAP. */
tcgemm_status_t tcgemm_check_call(const tcgemm_canonical_t *g, double alpha, const void *a,
                                  const void *b, double beta, const void *c, const void *d,
                                  bool d_is_written, tcgemm_call_t *call);

/* The caller's data, which may be that of another version, as ours; fields that nobody serves are
 * refused. OK, BAD_ARGUMENT or UNSUPPORTED. */
tcgemm_status_t tcgemm_data_read(const tcgemm_data_t *data, tcgemm_data_t *whole);

/* Of the calls that have no struct. */
static inline tcgemm_data_t tcgemm_data_of(double alpha, const void *a, const void *b, double beta,
                                           const void *c, void *d) {
    tcgemm_data_t x = tcgemm_data(a, b, d);
    x.alpha.re = alpha;
    x.beta.re = beta;
    x.c = c;
    return x;
}

static inline bool tcgemm_data_has_epilogue(const tcgemm_data_t *x) {
    return x->bias || x->activation != TCGEMM_ACTIVATION_NONE;
}

/* Checks the epilogue of a call that tcgemm_check_call has filled in, and fills that in, too.
 * Returns OK, BAD_ALIGNMENT, OVERLAP, and UNSUPPORTED for an activation of integers. */
tcgemm_status_t tcgemm_check_epilogue(const tcgemm_canonical_t *g, const tcgemm_data_t *x,
                                      bool d_is_written, tcgemm_call_t *call);

/* Both. Inline, so that of data which are constant nothing is left to check. */
static inline tcgemm_status_t tcgemm_check_data(const tcgemm_canonical_t *g, const tcgemm_data_t *x,
                                                bool d_is_written, tcgemm_call_t *call) {
    const tcgemm_status_t status =
        tcgemm_check_call(g, x->alpha.re, x->a, x->b, x->beta.re, x->c, x->d, d_is_written, call);
    return status == TCGEMM_STATUS_OK && tcgemm_data_has_epilogue(x)
               ? tcgemm_check_epilogue(g, x, d_is_written, call)
               : status;
}

/* Checks one run of a plan that packs an operand, A or B of the canonical problem, into `bytes` at
 * d. Returns OK, BAD_ARGUMENT, BAD_ALIGNMENT or OVERLAP. */
tcgemm_status_t tcgemm_check_packing(const tcgemm_canonical_t *g, bool is_b, const void *source,
                                     const void *d, size_t bytes);

/* The scalar of an integer type as the 32 bits that the arithmetic uses. */
static inline uint32_t tcgemm_integer_scalar(double value) {
    return (uint32_t)(int64_t)value;
}

#endif
