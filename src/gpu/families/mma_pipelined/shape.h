/* shape.h - what follows from the tile of a row of mma-pipelined, for the kernel table and, checked
 * there, for the kernel. */
#ifndef TCGEMM_MMA_PIPELINED_SHAPE_H
#define TCGEMM_MMA_PIPELINED_SHAPE_H

#define TCGEMM_MMA_THREADS(bm, bn, wm, wn, slices) ((bm) / (wm) * ((bn) / (wn)) * 32 * (slices))

/* A ring of `stages` slots, each a block of A and one of B, parted among the slices. */
#define TCGEMM_MMA_SMEM(bm, bn, bk, element_bytes, stages)                                         \
    (((bm) + (bn)) * (bk) * (element_bytes) * (stages))

/* Tiles that no product on sm_90 is the sooner for, since wgmma has as large ones: 1 of 2,900 of
 * 16 bit on an H200, 2 of 800 of tf32. Without them the library is 100 KB smaller. */
#define TCGEMM_MMA_NOT_ON_90(bits, bn) ((bn) == 256 && ((bits) == 16 || (bits) == 32))

#endif
