/* shape.h - what follows from the tile of a row of simt-ffma, for the kernel table and, checked
 * there, for the kernel: 64 rows of D in a warp, 16 elements of k in each of two slots. */
#ifndef TCGEMM_SIMT_FFMA_SHAPE_H
#define TCGEMM_SIMT_FFMA_SHAPE_H

#define TCGEMM_FFMA_THREADS(bm, bn, wn) ((bm) / 64 * ((bn) / (wn)) * 32)

/* Rows of bm elements of A and bn of B, 4 floats further apart than they are long. */
#define TCGEMM_FFMA_SMEM(bm, bn) (2 * 16 * ((bm) + 4 + (bn) + 4) * 4)

#endif
