/* launch.h - the grid of a launch, how many of its blocks an SM holds, and how wide it may load. */
#ifndef TCGEMM_GPU_LAUNCH_H
#define TCGEMM_GPU_LAUNCH_H

#include "gpu/gpu_args.h"
#include "gpu/gpu_row.h"
#include "plan/plan.h"

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

/* The same of an operand, wherever it begins, that has more rows and items than one. */
uint32_t tcgemm_gpu_row_alignment(const tcgemm_operand_t *x);

/* Whether the operand that the row streams has k contiguous. */
bool tcgemm_gpu_streams_k(const tcgemm_gpu_row_t *row, const tcgemm_operand_t *a,
                          const tcgemm_operand_t *b);

/* Whether a packing step turns the operand round: rows of the copy are columns of what it reads. */
bool tcgemm_step_turns(const tcgemm_step_t *step);

/* Whether the step packs A or B. */
bool tcgemm_step_packs(const tcgemm_step_t *step);

/* How many steps, from this one on, one launch holds: 2 where the next one joins it. */
int tcgemm_gpu_steps_of_launch(const tcgemm_steps_t *steps, int first);

/* Rows of tiles that cover m rows of D: in pairs an even number. */
int64_t tcgemm_gpu_tile_rows(const tcgemm_step_t *step, int64_t m);

/* Blocks of a cluster, for whatever they are one; 1: there are none. */
int tcgemm_gpu_cluster(const tcgemm_step_t *step);

/* Tiles of D that the step computes, all items and parts of k; at most INT32_MAX. */
int64_t tcgemm_gpu_tiles(const struct tcgemm_plan *plan, const tcgemm_step_t *step);

/* Blocks of one launch of the step's kernel for so many tiles: one each, or as many as stay
 * resident. */
int64_t tcgemm_gpu_grid(const struct tcgemm_plan *plan, const tcgemm_step_t *step, int64_t tiles);

/* What a step is launched with; the product in one launch. */
typedef struct tcgemm_gpu_shape {
    int64_t grid;
    int threads;
    size_t smem_bytes;   /* dynamic */
    int ranks;           /* blocks of a cluster; 1: no clusters */
    size_t spread_bytes; /* of which to ask where blocks are to be spread over the SMs */
} tcgemm_gpu_shape_t;
tcgemm_gpu_shape_t tcgemm_gpu_shape(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                    const tcgemm_gpu_args_t *args);

/* Dynamic shared memory with which an SM holds so many blocks of the row and no more. A grid whose
 * blocks are all resident at once asks for it where it may begin before the launch ahead has ended:
 * the blocks of that one leave some SMs earlier than others, which would get more than their share
 * of this one and hold up the whole. The row's own where an SM holds no more, or cannot give so
 * much. */
size_t tcgemm_gpu_smem_for(const tcgemm_gpu_row_t *row, int64_t blocks,
                           const tcgemm_device_t *device);

/* Blocks of a kernel that reduces or scales, whose blocks take `units` of work, gridDim.x apart. */
int64_t tcgemm_gpu_move_grid(const tcgemm_device_t *device, double units);

/* The row of the same tile for another type, or NULL. */
const tcgemm_gpu_row_t *tcgemm_gpu_twin(const tcgemm_kernel_t *kernel, tcgemm_type_t type);

/* The name of the function that a step launches, and of the module that holds it; a_trans and
 * b_trans choose among the four layouts of a row. Returns false if the table has no such kernel. */
enum { TCGEMM_ENTRY_CHARS = 192 };
bool tcgemm_gpu_entry(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                      char entry[TCGEMM_ENTRY_CHARS], const char **module);

#endif
