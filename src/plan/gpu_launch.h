/* gpu_launch.h - the grid of a launch, and how many of its blocks an SM holds. */
#ifndef TCGEMM_PLAN_GPU_LAUNCH_H
#define TCGEMM_PLAN_GPU_LAUNCH_H

#include "plan/plan.h"
#include "table/gpu_row.h"

/* Blocks that one SM can hold by each of its limits (CUDA C++ Programming Guide, "Compute
 * Capabilities"), for `registers` a thread. */
typedef struct tcgemm_occupancy {
    int by_threads, by_registers, by_smem, by_slots;
    int blocks; /* the least of them */
} tcgemm_occupancy_t;

tcgemm_occupancy_t tcgemm_gpu_occupancy(const tcgemm_gpu_row_t *row, int registers,
                                        const tcgemm_device_t *device);

/* Bytes, a power of two up to 16, that divide the address of each of `lines` rows of `ld` elements
 * in each of `batch` items: how wide a kernel may load them. */
uint32_t tcgemm_gpu_alignment(const void *data, tcgemm_dtype_t dtype, int64_t lines, int64_t ld,
                              int64_t batch, int64_t stride);

/* Blocks of one launch for so many tiles: one each, or as many as stay resident. */
int64_t tcgemm_gpu_grid(const struct tcgemm_plan *plan, int64_t tiles);

/* Tiles of D in the whole batch, at most INT32_MAX, which is what one launch takes. */
int64_t tcgemm_gpu_tiles(const struct tcgemm_plan *plan);

/* Fills in plan->gpu for a GPU that is not here, from the row and the device's limits. */
void tcgemm_gpu_sketch(struct tcgemm_plan *plan);

#endif
