/* shape.h - what follows from a row of stream-tma, for the kernel table and, checked there, for the
 * kernel. */
#ifndef TCGEMM_STREAM_TMA_SHAPE_H
#define TCGEMM_STREAM_TMA_SHAPE_H

enum {
    TCGEMM_STREAM_TMA_FETCHERS =
        4 /* warps: one asks for boxes, three gather what no box can bring */
};

#define TCGEMM_STREAM_TMA_THREADS(warps) (32 * ((warps) + TCGEMM_STREAM_TMA_FETCHERS))

/* A ring of `stages` slots, each bk elements of k of all lines; the sums, so many of each element
 * of D, lines one float further apart than they are many; two barriers of 8 bytes a slot, and two
 * more. A lane has 8 x 8 of D, so that a warp's 32 lanes have it several times, each of other k. */
#define TCGEMM_STREAM_TMA_SLOT(few, lines, bk) (((few) + (lines)) * (bk)*4)
#define TCGEMM_STREAM_TMA_SUMS(few, lines, warps)                                                  \
    ((warps) * (32 * 8 * 8 / ((few) * (lines))) * (few) * ((lines) + 1) * 4)
#define TCGEMM_STREAM_TMA_SMEM(few, lines, bk, warps, stages)                                      \
    ((stages) * (TCGEMM_STREAM_TMA_SLOT(few, lines, bk) + 16) +                                    \
     TCGEMM_STREAM_TMA_SUMS(few, lines, warps) + 16)

#endif
