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

/* ---- wmma-direct: what a lane loads ---- */

/* f64 whose columns (rows of A) are contiguous: lane (g, q) loads k = g, two neighbours at once, so
 * that every line of memory is looked up once; exchanges bring k = 2q, 2q + 1 of one to it. */
TCGEMM_HD int tcgemm_wmma_is_turned(uint32_t element_bytes, int k_is_contiguous) {
    return element_bytes == 8 && !k_is_contiguous;
}

/* The first k of a chunk, and the first outer index of a tile of `blocks` blocks. */
TCGEMM_HD uint32_t tcgemm_wmma_first_k(uint32_t g, uint32_t q, uint32_t element_bytes, int turned) {
    return turned ? g : q * (16 / element_bytes);
}
TCGEMM_HD uint32_t tcgemm_wmma_first_outer(uint32_t g, uint32_t q, uint32_t blocks, int turned) {
    return turned ? 2 * q : g * blocks;
}

/* The lane from which lane (g, q) receives in the first exchange; in the second it is this ^ 4. */
TCGEMM_HD uint32_t tcgemm_wmma_turn_lane(uint32_t g, uint32_t q) {
    return (2 * q + g % 2) * 4 + g / 2;
}

/* ---- fragments ---- */

/* Which of the words w[block * words + half] is word i of the fragment. Fragments of 16 and 32 rows
 * of A, and of 32 columns of B, take blocks in pairs: b0h0 b1h0 b0h1 b1h1. */
TCGEMM_HD uint32_t tcgemm_wmma_fill_word(uint32_t i, int paired, uint32_t words) {
    return paired && words == 2 ? (i / 4 * 2 + i % 2) * 2 + i % 4 / 2 : i;
}

/* The accumulator of a tile of tm x tn: a lane holds `rows` rows of `cols` neighbouring columns,
 * for the tile of 32 columns with g and q exchanged. */
TCGEMM_HD uint32_t tcgemm_wmma_sum_rows(uint32_t tm, uint32_t tn) {
    return tn == 32 ? 2 : tm / 8;
}
TCGEMM_HD uint32_t tcgemm_wmma_sum_cols(uint32_t tn) {
    return tn == 32 ? 4 : tn / 4;
}
TCGEMM_HD uint32_t tcgemm_wmma_sum_at(uint32_t tm, uint32_t tn, uint32_t row, uint32_t col) {
    if (tn == 32)
        return col * 2 + row;
    return tm == 16 ? col % 2 * 4 + row * 2 + col / 2 : row * 2 + col;
}

/* ---- wmma-shared: who copies what ---- */

/* A thread keeps its 16-byte piece of the row and moves down the rows, `hop` at a time. */
typedef struct tcgemm_wmma_copy {
    uint32_t pieces; /* in a row of shared memory */
    uint32_t rows;
    uint32_t hop, times;
} tcgemm_wmma_copy_t;

/* `outer` rows of A (columns of B) of one chunk. */
TCGEMM_HD tcgemm_wmma_copy_t tcgemm_wmma_copy(uint32_t outer, uint32_t element_bytes,
                                              int k_is_contiguous, uint32_t threads) {
    tcgemm_wmma_copy_t copy = {0, 0, 0, 0};
    copy.pieces = k_is_contiguous ? 4 : outer * element_bytes / 16;
    copy.rows = k_is_contiguous ? outer : TCGEMM_WMMA_CHUNK / element_bytes;
    copy.hop = threads / copy.pieces;
    copy.times = copy.rows / copy.hop;
    return copy;
}

/* Where a piece goes, in either form. */
TCGEMM_HD uint32_t tcgemm_wmma_copy_to(uint32_t row, uint32_t piece, uint32_t pieces,
                                       uint32_t element_bytes, uint32_t group,
                                       int k_is_contiguous) {
    return k_is_contiguous ? tcgemm_wmma_offset_k(row, piece, group)
                           : tcgemm_wmma_offset_mn(row, piece, pieces, element_bytes);
}

/* ---- wmma-shared: what a lane reads ---- */

/* The place of a lane's first element, for a warp whose rows (columns) begin at `first`. */
TCGEMM_HD uint32_t tcgemm_wmma_lane_at(uint32_t first, uint32_t g, uint32_t q, uint32_t pieces,
                                       uint32_t element_bytes, uint32_t group,
                                       int k_is_contiguous) {
    const uint32_t byte = (first + g * group) * element_bytes;
    if (k_is_contiguous)
        return tcgemm_wmma_offset_k(first + g * group, q, group);
    return tcgemm_wmma_offset_mn(q * (16 / element_bytes), byte / 16, pieces, element_bytes) +
           byte % 16;
}

/* k contiguous: the 16 bytes of a block. Rows of a lane differ in bit 0 of the block, which is bit
 * 6 of the offset. */
TCGEMM_HD uint32_t tcgemm_wmma_block_at(uint32_t lane_at, uint32_t block, uint32_t group) {
    const uint32_t row = (block / group * 8 * group + block % group) & ~1u;
    return (lane_at ^ (block & 1) << 6) + row * TCGEMM_WMMA_CHUNK;
}

/* Otherwise: the `group` elements of a segment of blocks, of the i-th k that the lane holds. */
TCGEMM_HD uint32_t tcgemm_wmma_segment_at(uint32_t lane_at, uint32_t segment, uint32_t i,
                                          uint32_t pieces, uint32_t element_bytes, uint32_t group) {
    return lane_at + i * pieces * 16 + segment * 8 * group * element_bytes;
}

/* ---- wmma-shared: D ---- */

/* The i-th of the wn / 4 columns that a lane holds: its column from the warp's first one plus
 * 2 * q * group, its block, and its place 0 or 1 in it. */
TCGEMM_HD uint32_t tcgemm_wmma_col(uint32_t i, uint32_t group) {
    return i / (2 * group) * 8 * group + i % (2 * group);
}
TCGEMM_HD uint32_t tcgemm_wmma_col_block(uint32_t i, uint32_t group) {
    return i / (2 * group) * group + i % (2 * group) % group;
}
TCGEMM_HD uint32_t tcgemm_wmma_col_place(uint32_t i, uint32_t group) {
    return i % (2 * group) / group;
}

#endif
