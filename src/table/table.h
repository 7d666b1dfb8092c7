/* table.h - the kernel table: one row for each kernel of kernels.def, whatever its back end. */
#ifndef TCGEMM_TABLE_TABLE_H
#define TCGEMM_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

struct tcgemm_plan;
struct tcgemm_call;
struct tcgemm_cpu_ukernel;
struct tcgemm_gpu_row;

#define TCGEMM_TYPE_BIT(type) (UINT64_C(1) << ((type)-1))

typedef struct tcgemm_kernel {
    const char *name;
    const char *algo;
    const char *isa;
    uint64_t types;          /* TCGEMM_TYPE_BIT of each type it can do */
    uint32_t features;       /* TCGEMM_CPU_* bits that it needs; 0: runs anywhere */
    int mr, nr, ku;          /* register tile; k per step of the inner loop */
    int macs_per_cycle;      /* multiply-adds a cycle and core; 0: see the GPU row's cost */
    const char *error_bound; /* the bound it meets, in words */
    const struct tcgemm_cpu_ukernel *cpu; /* NULL for the reference and for GPU rows */
    const struct tcgemm_gpu_row *gpu;     /* NULL for all but GPU rows */

    /* Runs a plan made for this row. `workspace` holds plan->workspace_bytes. NULL for GPU rows:
     * they run through cuda/backend.h. */
    tcgemm_status_t (*run)(const struct tcgemm_plan *plan, const struct tcgemm_call *call,
                           void *workspace, tcgemm_run_stats_t *stats);
} tcgemm_kernel_t;

/* The rows, in the order of kernels.def. */
extern const tcgemm_kernel_t tcgemm_kernels[];
extern const int tcgemm_num_kernels;

/* True if this machine (as TCGEMM_ARCH lets it appear) has what the row needs: for a GPU row, if
 * one of its GPUs has. */
bool tcgemm_kernel_is_runnable(const tcgemm_kernel_t *kernel);

#endif
