/* problem.h - a problem as the tables of this folder name one, and a line of those of choices.c:
 * types, ops ("NT") and sizes, its matrices row-major, one after the other and without gaps. */
#ifndef LAB_MODEL_PROBLEM_H
#define LAB_MODEL_PROBLEM_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tcgemm/tcgemm.h"

static inline tcgemm_problem_t tight_problem(tcgemm_type_t type, const char *ops, int64_t m,
                                             int64_t n, int64_t k, int64_t batch) {
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

/* What kind of a product it is, as choices.py tells them apart, too. */
typedef enum kind { GENERAL, BATCH, FEW_ROWS, FEW_COLUMNS, DEEP_K } kind_t;

static inline kind_t kind_of(const tcgemm_problem_t *p) {
    enum { FEW = 64, LEAST_DEEP = 8192, MOST_BESIDE_DEEP = 640 };
    const int64_t most = p->m > p->n ? p->m : p->n;
    if (p->batch > 1)
        return BATCH;
    if (p->k >= LEAST_DEEP && most <= MOST_BESIDE_DEEP)
        return DEEP_K;
    return p->m <= FEW ? FEW_ROWS : p->n <= FEW ? FEW_COLUMNS : GENERAL;
}

/* For qsort. */
static inline int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The known GPU that a table is of (run.sh). */
static inline const char *gpu_of_tables(void) {
    const char *const gpu = getenv("GPU");
    return gpu ? gpu : "h200";
}

/* A line of a table of choices.c: a row that was timed for a problem. */
enum { CHOICE_LINE = 512, CHOICE_NAME = 96 };
typedef struct choice_line {
    long long number, m, n, k, batch, splits;
    unsigned flags;
    char type[CHOICE_NAME], ops[8], kernel[CHOICE_NAME], steps[8];
    int chosen;
    double seconds, predicted;
} choice_line_t;

static inline bool read_choice_line(const char *text, choice_line_t *x) {
    return sscanf(text, "%lld,%95[^,],%7[^,],%lld,%lld,%lld,%lld,%u,%95[^,],%7[^,],%lld,%d,%lf,%lf",
                  &x->number, x->type, x->ops, &x->m, &x->n, &x->k, &x->batch, &x->flags, x->kernel,
                  x->steps, &x->splits, &x->chosen, &x->seconds, &x->predicted) == 14;
}

/* False for a type that is no more. */
static inline bool problem_of_choice(const choice_line_t *x, tcgemm_problem_t *p) {
    tcgemm_type_t type;
    if (tcgemm_type_from_name(x->type, &type) != TCGEMM_STATUS_OK)
        return false;
    *p = tight_problem(type, x->ops, x->m, x->n, x->k, x->batch);
    p->flags = x->flags;
    return true;
}

#endif
