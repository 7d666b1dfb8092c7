/* planner.h - from a problem to a plan. */
#ifndef TCGEMM_PLAN_PLANNER_H
#define TCGEMM_PLAN_PLANNER_H

#include "plan/plan.h"

/* Fills `plan` for at most `max_threads` threads. `options` may be NULL.
 * Returns OK, any status of tcgemm_problem_check, UNKNOWN_ALGO or UNSUPPORTED. */
tcgemm_status_t tcgemm_plan_make(const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, int max_threads,
                                 struct tcgemm_plan *plan);

/* The same for a GPU's rows; the launch is then prepared by tcgemm_gpu_prepare (cuda/backend.h),
 * but for a known GPU, whose launch is only sketched. `threads` of the CPU copy and verify. device
 * NULL: tcgemm_plan_make. */
tcgemm_status_t tcgemm_plan_make_on(const tcgemm_device_t *device, const tcgemm_problem_t *problem,
                                    const tcgemm_plan_options_t *options, int threads,
                                    struct tcgemm_plan *plan);

/* True if the options name an algorithm or a kernel that runs on a GPU. */
bool tcgemm_plan_wants_gpu(const tcgemm_plan_options_t *options);

/* The same for one that runs on the CPU. */
bool tcgemm_plan_wants_cpu(const tcgemm_plan_options_t *options);

/* True if the row could do the plan's problem where it is to run; never for the reference. */
bool tcgemm_plan_can_use(const struct tcgemm_plan *plan, const tcgemm_kernel_t *kernel);

/* Makes the plan, otherwise complete, one for this row. */
void tcgemm_plan_with(const tcgemm_kernel_t *kernel, int max_threads, struct tcgemm_plan *plan);

#endif
