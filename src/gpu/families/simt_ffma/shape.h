/* shape.h - what follows from the tile of a row of simt-ffma, for the kernel table and, checked
 * there, for the kernel: 16 elements of k in each of two slots of a slice. */
#ifndef TCGEMM_SIMT_FFMA_SHAPE_H
#define TCGEMM_SIMT_FFMA_SHAPE_H

#define TCGEMM_FFMA_THREADS(bm, bn, wm, wn, slices) ((bm) / (wm) * ((bn) / (wn)) * 32 * (slices))

/* Rows of bm elements of A and bn of B, 4 floats further apart than they are long. */
#define TCGEMM_FFMA_SMEM(bm, bn, slices) ((slices)*2 * 16 * ((bm) + 4 + (bn) + 4) * 4)

#endif
