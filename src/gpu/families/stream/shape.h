/* shape.h - what follows from a row of stream: the small operand and the sums of the warps are in
 * shared memory. */
#ifndef TCGEMM_STREAM_SHAPE_H
#define TCGEMM_STREAM_SHAPE_H

enum {
    TCGEMM_STREAM_LINES = 32,   /* of the large operand in a block */
    TCGEMM_STREAM_HELD = 132096 /* bytes for the small operand: 16 lines of 8 KB and 64 more */
};

#define TCGEMM_STREAM_THREADS(warps) (32 * (warps))

/* Bytes of the warps' sums: lines 36 apart. */
#define TCGEMM_STREAM_SUMS(few, warps, sum_bytes) ((warps) * (few)*36 * (sum_bytes))

#define TCGEMM_STREAM_SMEM(few, warps, sum_bytes)                                                  \
    (TCGEMM_STREAM_HELD + TCGEMM_STREAM_SUMS(few, warps, sum_bytes))

#endif
