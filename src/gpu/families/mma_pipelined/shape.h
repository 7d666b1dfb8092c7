/* shape.h - what follows from the tile of a row of mma-pipelined, for the kernel table and, checked
 * there, for the kernel. */
#ifndef TCGEMM_MMA_PIPELINED_SHAPE_H
#define TCGEMM_MMA_PIPELINED_SHAPE_H

#define TCGEMM_MMA_THREADS(bm, bn, wm, wn, slices) ((bm) / (wm) * ((bn) / (wn)) * 32 * (slices))

/* A ring of `stages` slots, each a block of A and one of B, parted among the slices. */
#define TCGEMM_MMA_SMEM(bm, bn, bk, element_bytes, stages)                                         \
    (((bm) + (bn)) * (bk) * (element_bytes) * (stages))

#endif
