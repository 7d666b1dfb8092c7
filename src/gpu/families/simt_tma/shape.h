/* shape.h - what follows from the tile of a row of simt-tma, for the kernel table and, checked
 * there, for the kernel. */
#ifndef TCGEMM_SIMT_TMA_SHAPE_H
#define TCGEMM_SIMT_TMA_SHAPE_H

#define TCGEMM_SIMT_TMA_THREADS(bm, bn, wm, wn) ((bm) / (wm) * ((bn) / (wn)) * 32)

/* A ring of `stages` slots, each bk rows of bm floats of A and of bn floats of B; a barrier of 8
 * bytes for each. */
#define TCGEMM_SIMT_TMA_SLOT(bm, bn, bk)         (((bm) + (bn)) * (bk)*4)
#define TCGEMM_SIMT_TMA_SMEM(bm, bn, bk, stages) ((stages) * (TCGEMM_SIMT_TMA_SLOT(bm, bn, bk) + 8))

#endif
