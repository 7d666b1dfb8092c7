/* shape.h - what follows from the block of a row of simt-outer: a thread for four columns, and a
 * block of C in shared memory. */
#ifndef TCGEMM_SIMT_OUTER_SHAPE_H
#define TCGEMM_SIMT_OUTER_SHAPE_H

#define TCGEMM_OUTER_THREADS(bn)  ((bn) / 4)
#define TCGEMM_OUTER_SMEM(bm, bn) ((bm) * (bn)*4)

#endif
