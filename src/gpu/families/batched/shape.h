/* shape.h - what follows from a row of batched, for the kernel table and for the kernel. */
#ifndef TCGEMM_BATCHED_SHAPE_H
#define TCGEMM_BATCHED_SHAPE_H

enum {
    TCGEMM_BATCHED_SIDE = 32,  /* rows and columns of an item, at most */
    TCGEMM_BATCHED_LANE_M = 4, /* of D in a lane */
    TCGEMM_BATCHED_LANE_N = 8,
    TCGEMM_BATCHED_WARPS = 4,
    TCGEMM_BATCHED_THREADS = 32 * TCGEMM_BATCHED_WARPS
};

/* Two stages a warp. */
#define TCGEMM_BATCHED_SMEM(stage) (2 * TCGEMM_BATCHED_WARPS * (stage))

#endif
