/* copy.h - which thread copies which 16-byte chunk of an operand tile, and to where.
 *
 * A tile of mn rows of A (columns of B) by bk elements of k lies in shared memory as swizzle.h
 * says: rows of `pitch` bytes, `chunks` chunks each. The threads of a block share it in passes; a
 * thread keeps its chunk of the row and moves down the rows:
 *
 *     threads = 8, chunks = 4      pass 0   row 0   t0 t1 t2 t3
 *                                           row 1   t4 t5 t6 t7
 *                                  pass 1   row 2   t0 t1 t2 t3     rows_a_pass = 2 further down
 *                                           row 3   t4 t5 t6 t7
 *
 * The passes of a block of k are spread over `parts` parts of its time (mma-pipelined: the steps of
 * k but the last).
 */
#ifndef TCGEMM_TILE_COPY_H
#define TCGEMM_TILE_COPY_H

#include "tile/swizzle.h"

typedef struct tcgemm_copy_shape {
    uint32_t pitch;       /* bytes of a row of shared memory */
    uint32_t rows;        /* of shared memory */
    uint32_t chunks;      /* of 16 bytes in a row */
    uint32_t rows_a_pass; /* that the threads cover at once */
    uint32_t passes;
    uint32_t bytes; /* of the tile */
} tcgemm_copy_shape_t;

TCGEMM_HD tcgemm_copy_shape_t tcgemm_copy_shape(int form, uint32_t element_bytes, uint32_t mn,
                                                uint32_t bk, uint32_t threads) {
    tcgemm_copy_shape_t shape = {0, 0, 0, 0, 0, 0};
    shape.pitch = (form == TCGEMM_FORM_K ? bk : mn) * element_bytes;
    shape.rows = form == TCGEMM_FORM_K ? mn : bk;
    shape.chunks = shape.pitch / 16;
    shape.rows_a_pass = threads / shape.chunks;
    shape.passes = shape.rows / shape.rows_a_pass;
    shape.bytes = shape.rows * shape.pitch;
    return shape;
}

TCGEMM_HD uint32_t tcgemm_copy_row(const tcgemm_copy_shape_t *shape, uint32_t thread,
                                   uint32_t pass) {
    return thread / shape->chunks + pass * shape->rows_a_pass;
}

TCGEMM_HD uint32_t tcgemm_copy_chunk(const tcgemm_copy_shape_t *shape, uint32_t thread) {
    return thread % shape->chunks;
}

/* Offset in the tile. The swizzle is linear, so that what a pass adds to it is a constant. */
TCGEMM_HD uint32_t tcgemm_copy_to(int form, uint32_t element_bytes,
                                  const tcgemm_copy_shape_t *shape, uint32_t thread,
                                  uint32_t pass) {
    const uint32_t first =
        tcgemm_swizzle(form, element_bytes, shape->pitch, tcgemm_copy_row(shape, thread, 0),
                       tcgemm_copy_chunk(shape, thread));
    const uint32_t down = pass * shape->rows_a_pass;
    const uint32_t key = tcgemm_swizzle_key(form, element_bytes, shape->pitch, down);
    return (first ^ key << 4) + down * shape->pitch;
}

/* Bytes of the chunk that lie inside the matrix; the rest is filled with zeros. mn_left, k_left:
 * rows of A (columns of B) and elements of k inside the matrix from the tile's first on. */
TCGEMM_HD uint32_t tcgemm_copy_bytes(int form, uint32_t element_bytes, uint32_t row, uint32_t chunk,
                                     int64_t mn_left, int64_t k_left) {
    const int64_t rows = form == TCGEMM_FORM_K ? mn_left : k_left;
    const int64_t along = form == TCGEMM_FORM_K ? k_left : mn_left;
    const int64_t bytes = along * element_bytes - (int64_t)chunk * 16;
    if ((int64_t)row >= rows || bytes <= 0)
        return 0;
    return bytes > 16 ? 16 : (uint32_t)bytes;
}

/* The first pass of part `part` of `parts`; that of part `parts` is the number of passes. */
TCGEMM_HD uint32_t tcgemm_copy_first_pass(uint32_t passes, uint32_t part, uint32_t parts) {
    return part * passes / parts;
}

#endif
