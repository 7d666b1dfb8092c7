/* choice.h - where a problem is computed: the CPU or a GPU. */
#ifndef TCGEMM_API_CHOICE_H
#define TCGEMM_API_CHOICE_H

#include "api/context.h"
#include "plan/backend.h"

/* A plan for the device of the context (NULL: the default one), ready to run. `options` may be
 * NULL. Statuses of tcgemm_plan_create. */
tcgemm_status_t tcgemm_plan_in_context(const tcgemm_context_t *context,
                                       const tcgemm_problem_t *problem,
                                       const tcgemm_plan_options_t *options,
                                       struct tcgemm_plan *plan);

/* The same for matrices that lie there: on a GPU, or with TCGEMM_PLACE_HOST wherever it is sooner
 * done. */
tcgemm_status_t tcgemm_plan_in_place(int place, const tcgemm_problem_t *problem, int threads,
                                     struct tcgemm_plan *plan);

#endif
