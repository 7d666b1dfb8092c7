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

/* Sums of 16 lines of f32, which leave registers for few loads: sm_90 has boxes for them
 * (stream_tma), and where no box can bring the large operand the tile 32 x 32 of mma-pipelined is
 * sooner. */
#define TCGEMM_STREAM_NOT_ON_90(is_f32, few) ((is_f32) && (few) == 16)

#endif
