/* swizzle.h - where a 16-byte chunk of an operand tile lies in shared memory.
 *
 * A tile of A or B is kept as it comes from global memory, in one of two forms:
 *
 *     TCGEMM_FORM_K    k is contiguous     a row of shared memory = one row of A (column of B)
 *     TCGEMM_FORM_MN   m or n contiguous   a row of shared memory = one step of k
 *
 * so that the copy needs no shuffling. Rows are `pitch` bytes, a power of two >= 64, without
 * padding; chunk c of row r goes to chunk c ^ key(r) of the same row. The key is chosen so that the
 * eight chunks which the hardware reads in one cycle (the rows of one 8x8 matrix of ldmatrix, or a
 * quarter warp of 16-byte loads, half a warp of 8-byte loads) lie in eight different groups of four
 * banks, out of the eight that exist:
 *
 *     pitch 128, rows read at chunk 2                  pitch 64: two rows share the banks
 *        row 0   . . 2 . . . . .                          rows 0,1   . . 2 . | . . 2 .
 *        row 1   . . . 2 . . . .     c ^ (r & 7)          rows 2,3   . . . 2 | . . . 2
 *        row 2   2 . . . . . . .                          rows 4,5   2 . . . | 2 . . .
 *        row 3   . 2 . . . . . .     ...                  rows 6,7   . 2 . . | . 2 . .
 *
 * Which rows are read together follows from fragment.h:
 *
 *     form  bytes   read together                                          key at pitch >= 128
 *     K     1,2,4   rows r .. r+7, one chunk                               r & 7
 *     K     8       rows r, r+1, chunks c .. c+3; or r .. r+3, c, c+1      4 * (r & 1) | (r & 2)
 *     MN    1       rows r + {0,1,4,5,8,9,12,13} or 2 more, one chunk      (r & 1) | (r >> 1 & 6)
 *     MN    2       rows r .. r+7, one chunk                               r & 7
 *     MN    4       rows r .. r+3, 32 bytes                                2 * (r & 3)
 *     MN    8       rows r + {0,2,4,6}, chunks c, c+1                      r & 6
 *
 * Writes fill rows from chunk to chunk, which no permutation inside a row can disturb.
 */
#ifndef TCGEMM_TILE_SWIZZLE_H
#define TCGEMM_TILE_SWIZZLE_H

#include "tile/hd.h"

#define TCGEMM_FORM_K  0
#define TCGEMM_FORM_MN 1

/* What the chunks of row `row` are XORed with. Linear: key(x ^ y) = key(x) ^ key(y). */
TCGEMM_HD uint32_t tcgemm_swizzle_key(int form, uint32_t element_bytes, uint32_t pitch,
                                      uint32_t row) {
    if (pitch < 128) {
        if (element_bytes == 8)
            return form == TCGEMM_FORM_K ? 0u : row >> 1 & 3u;
        return form == TCGEMM_FORM_MN && element_bytes == 1 ? row >> 2 & 3u : row >> 1 & 3u;
    }
    if (element_bytes == 8)
        return form == TCGEMM_FORM_K ? (row & 1u) << 2 | (row & 2u) : row & 6u;
    if (form == TCGEMM_FORM_MN && element_bytes == 1)
        return (row & 1u) | (row >> 1 & 6u);
    if (form == TCGEMM_FORM_MN && element_bytes == 4)
        return (row & 3u) << 1;
    return row & 7u;
}

/* Offset in bytes of a chunk from the start of its tile. */
TCGEMM_HD uint32_t tcgemm_swizzle(int form, uint32_t element_bytes, uint32_t pitch, uint32_t row,
                                  uint32_t chunk) {
    return row * pitch + ((chunk ^ tcgemm_swizzle_key(form, element_bytes, pitch, row)) << 4);
}

#endif
