/* model.h - the blocking of a product on the CPU, and its time. */
#ifndef TCGEMM_CPU_MODEL_H
#define TCGEMM_CPU_MODEL_H

#include "plan/plan.h"

/* Where the time of one product goes, in seconds, one after the other. */
typedef struct tcgemm_cpu_time {
    double pack, multiply, store;
    double barrier; /* threads waiting for one another */
    double total;
} tcgemm_cpu_time_t;

/* Fills in plan->cpu and plan->num_threads for plan->kernel, a row of the CPU or the reference. */
tcgemm_cpu_time_t tcgemm_cpu_plan(struct tcgemm_plan *plan, int max_threads);

/* Multiply-adds that the vector units of one core start in a cycle for the kernel's instructions; 0
 * if this processor's are not known. */
double tcgemm_cpu_theoretical_macs(const tcgemm_kernel_t *kernel);

/* True if small products (plan.h) pack A as rows of lanes: lines along k that are converted. */
bool tcgemm_cpu_packs_rows(const struct tcgemm_plan *plan);

#endif
