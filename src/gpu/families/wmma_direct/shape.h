/* shape.h - what follows from the tile of a row of wmma-direct: 4 x 4 warps share a block, and
 * nothing of it is in shared memory. */
#ifndef TCGEMM_WMMA_DIRECT_SHAPE_H
#define TCGEMM_WMMA_DIRECT_SHAPE_H

#define TCGEMM_WMMA_DIRECT_WARPS   4 /* each way */
#define TCGEMM_WMMA_DIRECT_THREADS (TCGEMM_WMMA_DIRECT_WARPS * TCGEMM_WMMA_DIRECT_WARPS * 32)

#endif
