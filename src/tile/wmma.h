/* wmma.h - which lane holds which element of a warp-matrix fragment, and which one it is given.
 *
 * Every fragment is made of blocks of eight rows of A (or columns of B): "outer" is the index along
 * m for A and along n for B. A warp has eight groups g = lane / 4 of four lanes q = lane % 4; in
 * each block group g holds outer index g, and in a step of the instruction lane q holds these k:
 *
 *     16-bit   k16   2q 2q+1 | 2q+8 2q+9      two words a block
 *      8-bit   k16   4q .. 4q+3               one word
 *      tf32    k8    q | q+4                  two words
 *      f64     k4    q                        one double, two words
 *
 * A product may sum over k in any order and may name its rows and columns in any order, as long as
 * A, B and D agree. So the fragments are not filled with these elements, but with those that are
 * cheap to load:
 *
 *     k       a chunk of 64 bytes of k belongs to a lane as 16 contiguous bytes: q * 16 ..+15, and
 *             step s takes the s-th 4 (2, 1) elements of them. One 16-byte load feeds all steps.
 *     outer   with `group` blocks, lane group g holds outer indices g * group .. + group - 1, one
 *             in each block; beyond 16 bytes a second segment begins.
 *
 *          16 rows, group = 2            k, 16-bit: a chunk of 32
 *          g  block 0   block 1          q     step 0        step 1
 *          0  row 0     row 1            0     0  1  2  3    4  5  6  7
 *          1  row 2     row 3            1     8  9 10 11   12 13 14 15
 *          2  row 4     row 5            2    16 17 18 19   20 21 22 23
 */
#ifndef TCGEMM_TILE_WMMA_H
#define TCGEMM_TILE_WMMA_H

#include "tile/hd.h"

#define TCGEMM_WMMA_CHUNK 64 /* bytes of k */

/* Elements of k that a lane holds in one step of the instruction. */
TCGEMM_HD uint32_t tcgemm_wmma_per_step(uint32_t element_bytes) {
    return element_bytes == 8 ? 1 : element_bytes == 4 ? 2 : 4;
}

/* Steps in a chunk. */
TCGEMM_HD uint32_t tcgemm_wmma_steps(uint32_t element_bytes) {
    return 16 / element_bytes / tcgemm_wmma_per_step(element_bytes);
}

/* Blocks whose elements are neighbours in memory: as many as there are, at most 16 bytes. */
TCGEMM_HD uint32_t tcgemm_wmma_group(uint32_t blocks, uint32_t element_bytes) {
    return blocks < 16 / element_bytes ? blocks : 16 / element_bytes;
}

/* The outer index that stands at place g of a block. */
TCGEMM_HD uint32_t tcgemm_wmma_outer(uint32_t block, uint32_t g, uint32_t group) {
    return (block / group * 8 + g) * group + block % group;
}

/* The k of a chunk that lane q holds as element i of step s. */
TCGEMM_HD uint32_t tcgemm_wmma_k(uint32_t q, uint32_t s, uint32_t i, uint32_t element_bytes) {
    return q * (16 / element_bytes) + s * tcgemm_wmma_per_step(element_bytes) + i;
}

/* Offset in shared memory of 16-byte piece c (0..3) of row `row`, in a tile whose rows are chunks
 * of k. A quarter warp reads pieces 0..3 of two rows that are `group` apart: odd multiples of
 * `group` trade places with their neighbour, so that the eight pieces lie in eight different bank
 * groups. `group` is even. */
TCGEMM_HD uint32_t tcgemm_wmma_offset_k(uint32_t row, uint32_t c, uint32_t group) {
    return ((row * 4 + c) ^ ((row / group & 1) << 2)) * 16;
}

/* The same for a tile whose rows are steps of k, with `pieces` (a multiple of 8) of m or n in a
 * row. The four lanes q of a group read rows that are 16 bytes' worth of elements apart, two
 * neighbouring pieces each: each q has its own pair of bank groups. */
TCGEMM_HD uint32_t tcgemm_wmma_offset_mn(uint32_t row, uint32_t c, uint32_t pieces,
                                         uint32_t element_bytes) {
    return (row * pieces + (c ^ ((row / (16 / element_bytes) & 3) << 1))) * 16;
}

#endif
