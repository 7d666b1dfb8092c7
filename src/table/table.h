/* table.h - the kernel table: one row for each kernel, whatever its back end. A family lists its
 * rows in its own folder (rows.def); families.def strings the families together. */
#ifndef TCGEMM_TABLE_TABLE_H
#define TCGEMM_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/types.h"
#include "problem/bound.h"
#include "tcgemm/tcgemm.h"

struct tcgemm_cpu_ukernel;
struct tcgemm_gpu_row;
struct tcgemm_kernel_family;

typedef struct tcgemm_kernel {
    char name[48]; /* in place, as gpu_row.h says */
    char isa[8];
    const struct tcgemm_kernel_family *family;
    uint64_t types;       /* TCGEMM_TYPE_BIT of each type it can do */
    uint32_t features;    /* TCGEMM_CPU_* bits that it needs; 0: runs anywhere */
    int mr, nr, ku;       /* register tile, for a GPU row the block tile; k of the inner step */
    int tile[3];          /* m x n x k by which plan_options.tile names it */
    uint32_t needs;       /* TCGEMM_FLAG_* that allows its kind of sums; 0: every problem does */
    int macs_per_cycle;   /* multiply-adds a cycle and core of a CPU row */
    tcgemm_bound_t bound; /* of its error */
    const struct tcgemm_cpu_ukernel *cpu; /* NULL for the reference and for GPU rows */
    const struct tcgemm_gpu_row *gpu;     /* NULL for all but GPU rows */
} tcgemm_kernel_t;

/* The rows 0 .. tcgemm_num_kernels() - 1, family by family. */
int tcgemm_num_kernels(void);
const tcgemm_kernel_t *tcgemm_kernel_at(int index);

/* The rows that do the type, of the CPU (the reference, too) or of GPUs, in the order of the table;
 * NULL behind the last. For a planner that must not look at them all. */
const tcgemm_kernel_t *const *tcgemm_kernels_for(tcgemm_type_t type, bool gpu);
enum { TCGEMM_MOST_ROWS = 128 }; /* they are no more than that */

/* The index of a row of the table; -1 for any other. */
int tcgemm_kernel_index(const tcgemm_kernel_t *kernel);

#endif
