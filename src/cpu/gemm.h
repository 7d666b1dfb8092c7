/* gemm.h - the CPU back end's three entries: the driver, its workspace, and D without a product. */
#ifndef TCGEMM_CPU_GEMM_H
#define TCGEMM_CPU_GEMM_H

#include "plan/backend.h"

/* Runs a plan whose row is a CPU micro-kernel; alpha != 0, nothing empty. */
tcgemm_status_t tcgemm_cpu_run(const struct tcgemm_plan *plan, const struct tcgemm_call *call,
                               void *workspace, tcgemm_run_stats_t *stats);

/* Bytes of workspace that tcgemm_cpu_run needs for the plan's blocking, and of its two panels. */
typedef struct tcgemm_cpu_sizes {
    size_t workspace_bytes, packed_a_bytes, packed_b_bytes;
} tcgemm_cpu_sizes_t;
tcgemm_cpu_sizes_t tcgemm_cpu_sizes(const struct tcgemm_plan *plan);

/* Runs plans of micro-kernels; they need no preparation. */
extern const tcgemm_backend_t tcgemm_cpu_backend;

/* D = epilogue(beta * C) for the whole batch: what is left of a product when alpha or k is 0. */
void tcgemm_cpu_scale(const tcgemm_canonical_t *g, const tcgemm_call_t *call);

#endif
