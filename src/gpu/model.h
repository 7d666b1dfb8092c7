/* model.h - how long a GPU row takes, and in which order it should visit its tiles. */
#ifndef TCGEMM_GPU_MODEL_H
#define TCGEMM_GPU_MODEL_H

#include "device/facts.h"
#include "gpu/gpu_row.h"
#include "problem/canonical.h"
#include "table/table.h"

/* Tile rows of D that are swept together, so that what the resident blocks read stays in the L2. */
uint32_t tcgemm_gpu_raster_group(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                 const tcgemm_device_t *device);

/* Where the time of one product goes, in seconds; matrices on the GPU. */
typedef struct tcgemm_gpu_time {
    double launch, start, wait, multiply, finish, cluster; /* one after the other; see model.c */
    double memory;  /* beside all but the launch and the sum of a cluster ... */
    double exposed; /* ... but for what neither hides of the other */
    double total;
    double rounds; /* of resident blocks */
} tcgemm_gpu_time_t;

/* Of the product step: `g` is what the kernel sees, parts of k, and shares of so many ranks of a
 * cluster (1: there are no clusters), as items of a batch; or its blocks work in pairs. */
tcgemm_gpu_time_t tcgemm_gpu_time(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                  int ranks, bool in_pairs, const tcgemm_device_t *device);

/* Whether blocks wait for boxes, so that pairs may be worth it: boxes of operands that begin inside
 * lines of the L2 take longer than the products, or two blocks have the same B from the memory. */
bool tcgemm_gpu_waits_for_boxes(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                const tcgemm_device_t *device);

/* What the product takes at least, both if there is a tail, for less than tcgemm_gpu_time costs.
 * `g` has the operands as they must be packed; m, n and batch are not 0. */
typedef struct tcgemm_gpu_floors {
    double whole;  /* each tile of D by one block */
    double shared; /* k, or that of a tail, in parts, without what adds them up; or by clusters */
    double copied, copied_shared; /* the same, if others are packed, too: may_copy */
    bool may_have_tail;           /* else all that is shared is k of the whole */
} tcgemm_gpu_floors_t;

tcgemm_gpu_floors_t tcgemm_gpu_floors(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                      bool may_copy, const tcgemm_device_t *device);

/* No product with its launch takes less, items of a batch that warps share out excepted. */
double tcgemm_gpu_least_seconds(void);

/* Blocks that the device holds at a time, in clusters of so many. */
double tcgemm_gpu_resident_blocks(const tcgemm_gpu_row_t *row, int ranks,
                                  const tcgemm_device_t *device);

/* Seconds of a launch that reads and writes so many bytes of GPU memory and computes nothing. */
double tcgemm_gpu_move_seconds(double bytes, const tcgemm_device_t *device);

/* Without the launch, where another step brings it. */
double tcgemm_gpu_copy_seconds(double bytes, const tcgemm_device_t *device);

/* Seconds of a launch that adds up so many parts of k, which lie in the L2 for the most part. */
double tcgemm_gpu_reduce_seconds(double bytes, int64_t parts, const tcgemm_device_t *device);

/* Seconds that host matrices need to the GPU and back, beside those of the product. */
double tcgemm_gpu_predict_transfer(const tcgemm_canonical_t *g);

#endif
