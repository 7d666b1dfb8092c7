/* shape.h - what follows from the tile of a row of wmma-shared, for the kernel table and, checked
 * there, for the kernel. */
#ifndef TCGEMM_WMMA_SHARED_SHAPE_H
#define TCGEMM_WMMA_SHARED_SHAPE_H

#define TCGEMM_WMMA_SHARED_THREADS 256

/* A stage holds 64 bytes of k of each row of A and column of B. */
#define TCGEMM_WMMA_SHARED_SMEM(bm, bn, stages) (((bm) + (bn)) * 64 * (stages))

#endif
