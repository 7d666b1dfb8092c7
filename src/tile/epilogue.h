/* epilogue.h - the way of mma-pipelined's sums from fragments to rows of D.
 *
 * Each warp sends 16 rows of its tile at a time through shared memory of its own, 16 lines of
 * `pitch` scalars; the padding spreads the lanes of a store over the banks. A lane reads pieces of
 * 16 bytes, `lanes` of them are a line, and stores each as neighbours in a row of D:
 *
 *     line 0    | piece 0 | piece 1 | ... | piece lanes-1 | padding |
 *     line 1    | ...                                                   rows = 32 / lanes at once
 */
#ifndef TCGEMM_TILE_EPILOGUE_H
#define TCGEMM_TILE_EPILOGUE_H

#include "tile/hd.h"

#define TCGEMM_EPILOGUE_LINES 16

/* Scalars from line to line, for a warp of `wn` columns. */
TCGEMM_HD uint32_t tcgemm_epilogue_pitch(uint32_t wn, uint32_t scalar_bytes) {
    return wn + (scalar_bytes == 8 ? 4u : 8u);
}

/* Bytes of shared memory that a warp needs. */
TCGEMM_HD uint32_t tcgemm_epilogue_bytes(uint32_t wn, uint32_t scalar_bytes) {
    return TCGEMM_EPILOGUE_LINES * tcgemm_epilogue_pitch(wn, scalar_bytes) * scalar_bytes;
}

/* Columns of a piece, and pieces of a line. */
TCGEMM_HD uint32_t tcgemm_epilogue_piece(uint32_t scalar_bytes) {
    return 16u / scalar_bytes;
}
TCGEMM_HD uint32_t tcgemm_epilogue_lanes(uint32_t wn, uint32_t scalar_bytes) {
    return wn / tcgemm_epilogue_piece(scalar_bytes);
}

/* The first line that a lane stores, the distance to its next one, and its first column. */
TCGEMM_HD uint32_t tcgemm_epilogue_line(uint32_t lane, uint32_t lanes) {
    return lane / lanes;
}
TCGEMM_HD uint32_t tcgemm_epilogue_line_step(uint32_t lanes) {
    return 32u / lanes;
}
TCGEMM_HD uint32_t tcgemm_epilogue_col(uint32_t lane, uint32_t lanes, uint32_t scalar_bytes) {
    return lane % lanes * tcgemm_epilogue_piece(scalar_bytes);
}

#endif
