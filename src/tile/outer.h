/* outer.h - which block of C a thread block of simt-outer keeps in shared memory.
 *
 * The reasoning, after FastGeMM. A block of C stays in shared memory for all of k, and every step
 * of k adds the outer product of a column of A and a row of B to it:
 *
 *             n = threads * 4                 a thread: one float4 of the row of B, all m of the
 *          +--+--+--+--  --+--+              column of A in turn: m x 4 elements of C, its own,
 *       A  |  |  |  |  ..  |  |  m           so that no barrier is ever needed
 *       |  +--+--+--+--  --+--+
 *
 *   1. Every scheduler needs a warp: threads = 32 * schedulers * (1, 2, ..), n = 4 * threads.
 *   2. What is left of shared memory decides m = bytes / (4 * n), down to a whole float4 of A.
 *   3. The original keeps two steps of the column of A in registers, 2 * m, beside what a thread
 *      needs anyway (4 of B, 4 of C, addresses: 40). If that is too much, take twice the threads.
 *
 * 48 KiB, four schedulers: n = 512, m = 24, C = 49,152 bytes to the last one. 227 KiB: n = 512
 * would ask for m = 112 and 264 registers, so n = 1024, m = 56, C = 229,376 bytes.
 */
#ifndef TCGEMM_TILE_OUTER_H
#define TCGEMM_TILE_OUTER_H

#include "tile/hd.h"

typedef struct tcgemm_outer_shape {
    uint32_t m, n;    /* block of C; 0, 0: none fits */
    uint32_t threads; /* n / 4 */
    uint32_t bytes;   /* of shared memory */
} tcgemm_outer_shape_t;

/* `shared_bytes` a block may have, `registers` a thread may have at most, `schedulers` of an SM. */
TCGEMM_HD tcgemm_outer_shape_t tcgemm_outer_shape(uint32_t shared_bytes, uint32_t registers,
                                                  uint32_t schedulers) {
    tcgemm_outer_shape_t shape = {0, 0, 0, 0};
    for (uint32_t threads = 32 * schedulers; threads > 0 && threads <= 1024; threads *= 2) {
        const uint32_t m = shared_bytes / (16 * threads) / 4 * 4;
        if (m > 0 && 2 * m + 40 <= registers) {
            shape.m = m;
            shape.n = 4 * threads;
            shape.threads = threads;
            shape.bytes = m * shape.n * 4;
            return shape;
        }
    }
    return shape;
}

/* Where thread t keeps its four elements of row i: a row is `threads` float4, so the lanes of a
 * quarter warp read 128 consecutive bytes. Index of the float4. */
TCGEMM_HD uint32_t tcgemm_outer_index(uint32_t row, uint32_t thread, uint32_t threads) {
    return row * threads + thread;
}

#endif
