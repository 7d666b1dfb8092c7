/* execution.h - one run of a plan, from options and data as this version has them. */
#ifndef TCGEMM_API_EXECUTION_H
#define TCGEMM_API_EXECUTION_H

#include "plan/plan.h"

/* The caller's options, which may be NULL or those of another version, as ours. */
tcgemm_status_t tcgemm_execution_options(const tcgemm_run_options_t *options,
                                         tcgemm_run_options_t *o);

/* All that a run is refused for, before anything is computed. */
tcgemm_status_t tcgemm_execution_check(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                       const tcgemm_run_options_t *o);

/* The same, then the run; who listens is told of it. */
tcgemm_status_t tcgemm_execution_run(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                     const tcgemm_run_options_t *o);

#endif
