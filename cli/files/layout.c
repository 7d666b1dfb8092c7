/* layout.c - the arithmetic of stored operands. */
#include "files/layout.h"

/* Rows and columns as stored. */
static void stored_shape(const tcgemm_problem_t *p, char operand, int64_t *rows, int64_t *cols) {
    *rows = p->m;
    *cols = p->n;
    if (operand == 'A') {
        *rows = p->op_a == TCGEMM_OP_T ? p->k : p->m;
        *cols = p->op_a == TCGEMM_OP_T ? p->m : p->k;
    } else if (operand == 'B') {
        *rows = p->op_b == TCGEMM_OP_T ? p->n : p->k;
        *cols = p->op_b == TCGEMM_OP_T ? p->k : p->n;
    }
}

static int64_t *ld_of(tcgemm_problem_t *p, char operand) {
    return operand == 'A' ? &p->lda : operand == 'B' ? &p->ldb : operand == 'C' ? &p->ldc : &p->ldd;
}

static int64_t *stride_of(tcgemm_problem_t *p, char operand) {
    return operand == 'A'   ? &p->stride_a
           : operand == 'B' ? &p->stride_b
           : operand == 'C' ? &p->stride_c
                            : &p->stride_d;
}

layout_t layout_of(const tcgemm_problem_t *problem, char operand) {
    tcgemm_problem_t p = *problem;
    const tcgemm_type_info_t *type = tcgemm_type_info(p.type);
    layout_t x = {.dtype = operand == 'A'   ? type->a
                           : operand == 'B' ? type->b
                                            : type->d,
                  .order = p.order,
                  .batch = p.batch,
                  .stride = *stride_of(&p, operand)};
    stored_shape(&p, operand, &x.rows, &x.cols);
    x.lines = p.order == TCGEMM_ROW_MAJOR ? x.rows : x.cols;
    x.length = p.order == TCGEMM_ROW_MAJOR ? x.cols : x.rows;
    x.ld = *ld_of(&p, operand);
    if (x.ld == 0)
        x.ld = x.length > 0 ? x.length : 1;
    if (x.lines > 0 && x.length > 0 && x.batch > 0)
        x.elements = (x.batch - 1) * x.stride + (x.lines - 1) * x.ld + x.length;
    x.bytes = ((size_t)x.elements * (size_t)tcgemm_dtype_bits(x.dtype) + 7) / 8;
    return x;
}

tcgemm_status_t layout_place(tcgemm_problem_t *problem, int64_t pad) {
    static const char operands[] = "ABCD";
    const int64_t batch = problem->batch;
    for (const char *x = operands; *x; ++x) {
        int64_t rows;
        int64_t cols;
        stored_shape(problem, *x, &rows, &cols);
        const int64_t length = problem->order == TCGEMM_ROW_MAJOR ? cols : rows;
        if (length > 0 && length < INT64_MAX - pad)
            *ld_of(problem, *x) = length + pad;
        *stride_of(problem, *x) = 0;
    }
    problem->batch = batch < 1 ? batch : 1; /* one item first: its strides must not overflow */
    tcgemm_status_t status = tcgemm_problem_check(problem);
    problem->batch = batch;
    if (status != TCGEMM_STATUS_OK)
        return status;
    for (const char *x = operands; *x; ++x) {
        const layout_t one = layout_of(problem, *x);
        if (batch <= 1 || __builtin_mul_overflow(one.lines, one.ld, stride_of(problem, *x)))
            *stride_of(problem, *x) = batch > 1 ? INT64_MAX : 0; /* refused as too large below */
    }
    return tcgemm_problem_check(problem);
}
