/* bench_plans.h - whom `bench` lets compete for one problem. */
#ifndef CLI_BENCH_PLANS_H
#define CLI_BENCH_PLANS_H

#include <stdbool.h>

#include "options/options.h"
#include "tcgemm/tcgemm.h"

enum { BENCH_MAX_PLANS = 64 };

/* A plan for each family of --algo, kernel of --kernel and tile of --tile, as far as they go
 * together. Returns an exit status; the caller destroys the *count plans anyway. */
int bench_plans(const settings_t *settings, tcgemm_context_t *context, bool on_gpu,
                const tcgemm_problem_t *problem, tcgemm_plan_t *plans[BENCH_MAX_PLANS], int *count);

#endif
