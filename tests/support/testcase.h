/* testcase.h - one product to be tested: what it is, its operands, and whether D is right. */
#ifndef TCGEMM_TESTS_SUPPORT_TESTCASE_H
#define TCGEMM_TESTS_SUPPORT_TESTCASE_H

#include "support/support.h"

typedef struct testcase {
    const char *kernel; /* NULL: the planner's choice */
    tcgemm_problem_t p;
    double alpha, beta;
    fill_t fill;
    uint64_t seed;
    int num_threads; /* 0 means 1 */
    int misalign;    /* bytes that A, B, C and D start beyond a 64-byte line */
    bool in_place;   /* D is C */
} testcase_t;

/* A case of uniform data with alpha 1, beta 0. */
testcase_t testcase_make(const char *kernel, tcgemm_problem_t p, uint64_t seed);

/* Any layout and order, data, factors that are whole where data or D are, and alignment. */
void testcase_draw(testcase_t *t, uint64_t *random);

/* The one line that reproduces it. */
void testcase_print(const testcase_t *t, char *line, size_t size);

/* A matrix of the case: the allocation has canaries before and after what the problem spans. */
typedef struct matrix {
    tcgemm_dtype_t dtype;
    int64_t rows, cols, ld, stride; /* as stored, before op */
    bool row_major;
    int64_t span;   /* elements, of the whole batch */
    uint8_t *block; /* what was allocated ... */
    size_t block_bytes;
    uint8_t *data; /* ... and element 0 in it */
} matrix_t;

typedef struct operands {
    matrix_t a, b, c, d;    /* d.block == c.block if in place */
    uint8_t *a_was, *b_was; /* copies of the blocks before the run */
    uint8_t *c_was, *d_was;
} operands_t;

/* Index of element (i, j), before op, of batch item t. */
int64_t matrix_index(const matrix_t *x, int64_t t, int64_t i, int64_t j);

/* Allocates and fills: A, B and C (if beta != 0) by the case's fill, all else with 0xFF, which is
 * NaN in every float format. */
void operands_make(const testcase_t *t, operands_t *x);
void operands_save(operands_t *x); /* again, after a test has changed an operand */
void operands_free(operands_t *x);

/* Runs the case on these operands. */
tcgemm_status_t testcase_run_on(const testcase_t *t, const operands_t *x);

/* Everything at once: makes operands, runs, checks, and reports a failure in one line.
 *   - the library's judge, every element (skipped for exact fills)
 *   - exact fills: every element against 64-bit integers
 *   - A, B, C and all bytes around D's elements are as they were
 * Returns true if all is well. */
bool testcase_check(const testcase_t *t);

/* The parts of it. */
bool testcase_judge(const testcase_t *t, const operands_t *x, double *ratio);
bool testcase_is_exact(const testcase_t *t);
bool testcase_compare_exact(const testcase_t *t, const operands_t *x);
bool testcase_untouched(const testcase_t *t, const operands_t *x);
void testcase_fail(const testcase_t *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
