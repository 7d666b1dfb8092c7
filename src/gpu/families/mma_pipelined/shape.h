/* shape.h - what follows from the tile of a row of mma-pipelined, for the kernel table and, checked
 * there, for the kernel. */
#ifndef TCGEMM_MMA_PIPELINED_SHAPE_H
#define TCGEMM_MMA_PIPELINED_SHAPE_H

#define TCGEMM_MMA_THREADS(bm, bn, wm, wn, slices) ((bm) / (wm) * ((bn) / (wn)) * 32 * (slices))

/* A ring of `stages` slots, each a block of A and one of B, parted among the slices. */
#define TCGEMM_MMA_SMEM(bm, bn, bk, element_bytes, stages)                                         \
    (((bm) + (bn)) * (bk) * (element_bytes) * (stages))

/* Tiles that no product on sm_90 is the sooner for, since wgmma has as large ones, and since warps
 * bring what begins anywhere: of 3,300 of 16 bit on an H200 128 x 256 is the soonest of 1, 128 x
 * 128 of 5, of 1,050 of tf32 128 x 256 of 3. (Sums in f16 wgmma does not have.) */
#define TCGEMM_MMA_NOT_ON_90(bits, bn, sums_in_half)                                               \
    (((bits) == 16 && (bn) >= 128 && !(sums_in_half)) || ((bits) == 32 && (bn) == 256))

#endif
