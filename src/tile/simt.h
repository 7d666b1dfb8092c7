/* simt.h - who copies and who reads what in mma-pipelined's f32 kernel, which has no tensor cores.
 *
 * Both operands lie in shared memory with m (or n) contiguous, bk lines of mn + 4 floats:
 *
 *     line k    | 0 1 2 3 ...                       mn-1 | 4 floats of padding |
 *
 * An operand that global memory has that way (`turn` 0) is copied line by line. One with k
 * contiguous (`turn` 1) is turned round on the way; in the second half of a block of 16 k its rows
 * lie 8 further or nearer, so that the 32 stores of a warp meet 32 banks. `wide`: four elements at
 * once, which must be aligned and whole; otherwise one.
 *
 * A warp has 64 x wn of D, its lanes 8 x 4: each 4 rows in both halves of the 64, 32 rows apart,
 * and 4 columns in each 16 of the wn.
 */
#ifndef TCGEMM_TILE_SIMT_H
#define TCGEMM_TILE_SIMT_H

#include "tile/hd.h"

#define TCGEMM_SIMT_BK      16 /* k of a block */
#define TCGEMM_SIMT_WARP_M  64
#define TCGEMM_SIMT_PADDING 4 /* floats */

typedef struct tcgemm_simt_copy {
    uint32_t pitch;  /* floats from line to line */
    uint32_t run;    /* elements that are copied at once */
    uint32_t across; /* threads side by side along what is contiguous in global memory */
    uint32_t down;   /* rows (turn) or k of a pass */
    uint32_t passes;
    uint32_t pass_floats; /* from pass to pass in shared memory */
} tcgemm_simt_copy_t;

TCGEMM_HD tcgemm_simt_copy_t tcgemm_simt_copy(uint32_t mn, int turn, int wide, uint32_t threads) {
    tcgemm_simt_copy_t copy = {0, 0, 0, 0, 0, 0};
    copy.pitch = mn + TCGEMM_SIMT_PADDING;
    copy.run = wide ? 4 : 1;
    copy.across = (turn ? TCGEMM_SIMT_BK : mn) / copy.run;
    copy.down = threads / copy.across;
    copy.passes = (turn ? mn : TCGEMM_SIMT_BK) / copy.down;
    copy.pass_floats = copy.down * (turn ? 1 : copy.pitch);
    return copy;
}

/* The row of A (column of B) and the k with which a thread's first pass begins. */
TCGEMM_HD uint32_t tcgemm_simt_copy_row(const tcgemm_simt_copy_t *copy, int turn, uint32_t thread) {
    if (turn && copy->run == 4)
        return thread / 4;
    if (turn) /* a warp: 8 k by 4 rows */
        return thread / 8 % 4 + thread / 64 * 4;
    return thread % copy->across * copy->run;
}
TCGEMM_HD uint32_t tcgemm_simt_copy_k(const tcgemm_simt_copy_t *copy, int turn, uint32_t thread) {
    if (turn && copy->run == 4)
        return thread % 4 * 4;
    if (turn)
        return thread % 8 + thread / 32 % 2 * 8;
    return thread / copy->across;
}

/* Where in a line of shared memory a row lies. */
TCGEMM_HD uint32_t tcgemm_simt_place(int turn, uint32_t row, uint32_t k) {
    return turn ? row ^ (k & 8) : row;
}

/* The first row of A and column of B, within the block's tile, of a lane of a warp. */
TCGEMM_HD uint32_t tcgemm_simt_row(uint32_t warp, uint32_t warps_n, uint32_t lane) {
    return warp / warps_n * TCGEMM_SIMT_WARP_M + lane / 4 * 4;
}
TCGEMM_HD uint32_t tcgemm_simt_col(uint32_t warp, uint32_t warps_n, uint32_t wn, uint32_t lane) {
    return warp % warps_n * wn + lane % 4 * 4;
}

/* How much further its i-th row and j-th column are: fours, 32 and 16 apart. */
TCGEMM_HD uint32_t tcgemm_simt_row_step(uint32_t i) {
    return i / 4 * 32 + i % 4;
}
TCGEMM_HD uint32_t tcgemm_simt_col_step(uint32_t j) {
    return j / 4 * 16 + j % 4;
}

#endif
