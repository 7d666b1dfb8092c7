/* planner.h - from a problem to a plan. */
#ifndef TCGEMM_PLAN_PLANNER_H
#define TCGEMM_PLAN_PLANNER_H

#include "plan/plan.h"

/* Fills `plan` for at most `max_threads` threads. `options` may be NULL.
 * Returns OK, any status of tcgemm_problem_check, UNKNOWN_ALGO or UNSUPPORTED. */
tcgemm_status_t tcgemm_plan_make(const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, int max_threads,
                                 struct tcgemm_plan *plan);

/* Cycles a second of this processor, measured once with a chain of dependent additions. */
double tcgemm_clock_hz(void);

#endif
