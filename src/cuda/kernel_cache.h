/* kernel_cache.h - functions of the driver with what it says of them, asked once a process and GPU.
 */
#ifndef TCGEMM_CUDA_KERNEL_CACHE_H
#define TCGEMM_CUDA_KERNEL_CACHE_H

#include "cuda/device.h"
#include "gpu/gpu_row.h"

typedef struct tcgemm_gpu_kernel {
    CUfunction function;
    int registers;     /* per thread */
    size_t smem_bytes; /* per block, static and dynamic */
    int blocks_per_sm; /* that can be resident */
} tcgemm_gpu_kernel_t;

/* The function `entry` of a module, its module loaded if need be. `row` is the row whose kernel it
 * is, or NULL for a kernel without dynamic shared memory, of which only the function is asked for.
 * The GPU's context is current. Returns OK, UNSUPPORTED, OUT_OF_MEMORY, or what the driver says. */
tcgemm_status_t tcgemm_gpu_kernel(tcgemm_gpu_t *gpu, const char *module, const char *entry,
                                  const tcgemm_gpu_row_t *row, int registers,
                                  tcgemm_gpu_kernel_t *kernel);

#endif
