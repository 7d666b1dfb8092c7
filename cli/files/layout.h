/* layout.h - where the elements of one stored operand of a problem lie. */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

/* Element (i, j) as stored, of batch item t, is at t*stride + i*ld + j (column-major: i + j*ld). */
typedef struct layout {
    tcgemm_dtype_t dtype;
    tcgemm_order_t order;
    int64_t rows, cols;        /* as stored: those of X, not of op(X) */
    int64_t lines, length, ld; /* contiguous runs: how many, how long, how far apart */
    int64_t batch, stride;
    int64_t elements; /* from the first to the last of the whole batch */
    size_t bytes;
} layout_t;

/* Of operand 'A', 'B', 'C' or 'D' of a problem that tcgemm_problem_check accepts. */
layout_t layout_of(const tcgemm_problem_t *problem, char operand);

/* Gives every operand a leading dimension `pad` beyond tight, and batch items that follow each
 * other, then checks the problem. */
tcgemm_status_t layout_place(tcgemm_problem_t *problem, int64_t pad);

#endif
