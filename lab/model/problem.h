/* problem.h - a problem as the tables of this folder name one: types, ops ("NT") and sizes, its
 * matrices row-major, one after the other and without gaps. */
#ifndef LAB_MODEL_PROBLEM_H
#define LAB_MODEL_PROBLEM_H

#include "tcgemm/tcgemm.h"

static tcgemm_problem_t tight_problem(tcgemm_type_t type, const char *ops, int64_t m, int64_t n,
                                      int64_t k, int64_t batch) {
    tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    p.op_a = ops[0] == 'T' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = ops[1] == 'T' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.lda = p.op_a == TCGEMM_OP_T ? m : k;
    p.ldb = p.op_b == TCGEMM_OP_T ? k : n;
    p.batch = batch;
    p.stride_a = m * k;
    p.stride_b = k * n;
    p.stride_c = p.stride_d = m * n;
    return p;
}

#endif
