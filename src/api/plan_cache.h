/* plan_cache.h - the plans that the one-call path made last, so that a small product does not wait
 * for the planner. Each thread has its own: no locks, no lifetimes to share. */
#ifndef TCGEMM_API_PLAN_CACHE_H
#define TCGEMM_API_PLAN_CACHE_H

#include "plan/plan.h"

/* What a plan of the default context depends on. */
typedef struct tcgemm_plan_key {
    const tcgemm_problem_t *problem; /* of this version: tcgemm_problem_whole */
    int threads;
    int place; /* of the matrices */
} tcgemm_plan_key_t;

/* The plan, or NULL: then *slot is where to make it, or NULL if there is no memory for a cache. A
 * slot is good once tcgemm_plan_cache_keep has been called; until then it holds nothing. A plan
 * stays valid until the same thread looks for another. */
const struct tcgemm_plan *tcgemm_plan_cache_find(const tcgemm_plan_key_t *key,
                                                 struct tcgemm_plan **slot);
void tcgemm_plan_cache_keep(const tcgemm_plan_key_t *key);

/* The plan that was found is no longer good. */
void tcgemm_plan_cache_forget(const tcgemm_plan_key_t *key);

#endif
