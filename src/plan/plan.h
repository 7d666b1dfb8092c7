/* plan.h - what a plan is made of: the problem, the kernel row, and the numbers of the launch. */
#ifndef TCGEMM_PLAN_PLAN_H
#define TCGEMM_PLAN_PLAN_H

#include "device/facts.h"
#include "problem/canonical.h"
#include "table/table.h"

/* How the CPU back end cuts the problem. The loops, from the outside in:
 *
 *     columns of D in steps of nc            one packed panel of B: kc x nc
 *       k in steps of kc
 *         rows of D in steps of mt           one packed panel of A: mt x kc
 *           blocks of mc x nb                the unit of work that a thread takes
 *             register tiles of mr x nr
 */
typedef struct tcgemm_cpu_blocking {
    int64_t mc, kc, nc, mt, nb;
    bool pack_a;        /* false: A is read in place */
    bool pack_b;        /* false: B is read in place */
    bool split_batch;   /* each thread computes whole items of the batch */
    bool direct_output; /* true: tiles are stored straight into D; false: through f32 sums */
} tcgemm_cpu_blocking_t;

/* The launch of a GPU row. The planner sets the raster; tcgemm_gpu_prepare the rest. */
typedef struct tcgemm_gpu_launch {
    uint32_t raster_group; /* tile rows of D that are swept together (tile/raster.h) */
    void *function;        /* CUfunction of the row for this layout of A and B */
    void *scale;           /* CUfunction of D = beta * C */
    int64_t grid_blocks;
    int registers;     /* per thread */
    size_t smem_bytes; /* per block, static and dynamic */
    int blocks_per_sm; /* that can be resident */
} tcgemm_gpu_launch_t;

struct tcgemm_plan {
    tcgemm_problem_t problem; /* the caller's */
    tcgemm_canonical_t g;
    const tcgemm_kernel_t *kernel;
    int num_threads;
    int max_threads; /* that it was made for */
    const char *reason;
    double predicted_seconds;
    tcgemm_cpu_blocking_t cpu;
    const tcgemm_device_t *device; /* NULL: the CPU */
    tcgemm_gpu_launch_t gpu;
    size_t workspace_bytes;
};

#endif
