/* block.h - a block of reference values at once, for whole matrices and whole rows.
 *
 * The arithmetic of reference.h in another loop order: A and B are expanded to f64 (or 32-bit)
 * panels once, and a row of sums is kept while k passes, so that the compiler can use vectors.
 *
 *                  64 columns
 *               +-------------+
 *      256 of k |   panel B   |      for each row i, for each p:
 *               +-------------+          sums[i][0..63] += a[i][p] * b[p][0..63]
 *      +------+ +-------------+
 *   64 |  A   | |    sums     |
 *      +------+ +-------------+
 */
#ifndef TCGEMM_REF_BLOCK_H
#define TCGEMM_REF_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "ref/judge.h"

enum { TCGEMM_BLOCK_ROWS = 64, TCGEMM_BLOCK_COLS = 64, TCGEMM_BLOCK_DEPTH = 256 };

/* The bytes that one call needs to work in, aligned for double. */
size_t tcgemm_block_scratch_bytes(void);

/* Judges the elements (rows[0 .. num_rows), col .. col + 63, as far as D goes) of a batch item;
 * num_rows is at most TCGEMM_BLOCK_ROWS. */
void tcgemm_block_judge(const tcgemm_judge_t *judge, int64_t batch, const int64_t *rows,
                        int64_t num_rows, int64_t col, void *scratch, tcgemm_tally_t *tally);

#endif
