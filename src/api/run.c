/* run.c - the calls that compute: one-call product, plans and their runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/context.h"
#include "base/error.h"
#include "cpu/gemm.h"
#include "cpu/memory.h"
#include "plan/planner.h"

static double now_seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tcgemm_status_t run_in(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                              void *workspace, size_t workspace_bytes,
                              tcgemm_run_stats_t *stats) {
    if (plan->workspace_bytes == 0)
        return plan->kernel->run(plan, call, NULL, stats);
    if (workspace) {
        TCGEMM_RETURN_IF(workspace_bytes < plan->workspace_bytes, TCGEMM_STATUS_BAD_ARGUMENT,
                         "the workspace has %zu bytes, but the plan needs %zu", workspace_bytes,
                         plan->workspace_bytes);
        return plan->kernel->run(plan, call, workspace, stats);
    }
    const tcgemm_workspace_t own = tcgemm_workspace_take(plan->workspace_bytes);
    TCGEMM_RETURN_IF(!own.data, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of workspace",
                     plan->workspace_bytes);
    const tcgemm_status_t status = plan->kernel->run(plan, call, own.data, stats);
    tcgemm_workspace_give_back(own);
    return status;
}

static tcgemm_status_t run_plan(const struct tcgemm_plan *plan, double alpha, const void *a,
                                const void *b, double beta, const void *c, void *d,
                                void *workspace, size_t workspace_bytes,
                                tcgemm_run_stats_t *stats) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_call_t call;
    const double start = stats ? now_seconds() : 0.0;
    TCGEMM_FORWARD(tcgemm_check_call(g, alpha, a, b, beta, c, d, true, &call));
    if (stats)
        stats->pack_seconds = stats->product_seconds = 0.0;
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (g->m > 0 && g->n > 0 && g->batch > 0) {
        if (call.alpha == 0.0)
            tcgemm_cpu_scale(g, &call);
        else
            status = run_in(plan, &call, workspace, workspace_bytes, stats);
    }
    if (stats)
        stats->total_seconds = now_seconds() - start;
    return status;
}

tcgemm_status_t tcgemm_gemm(const tcgemm_problem_t *problem, double alpha, const void *a,
                            const void *b, double beta, const void *c, void *d) {
    struct tcgemm_plan plan;
    TCGEMM_FORWARD(tcgemm_plan_make(problem, NULL, tcgemm_context_threads(NULL), &plan));
    return run_plan(&plan, alpha, a, b, beta, c, d, NULL, 0, NULL);
}

tcgemm_status_t tcgemm_plan_create(tcgemm_context_t *context, const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, tcgemm_plan_t **plan) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    *plan = NULL;
    struct tcgemm_plan made;
    TCGEMM_FORWARD(tcgemm_plan_make(problem, options, tcgemm_context_threads(context), &made));
    *plan = malloc(sizeof made);
    TCGEMM_RETURN_IF(!*plan, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a plan");
    memcpy(*plan, &made, sizeof made);
    return TCGEMM_STATUS_OK;
}

void tcgemm_plan_destroy(tcgemm_plan_t *plan) {
    free(plan);
}

tcgemm_status_t tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a, const void *b,
                           double beta, const void *c, void *d) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    return run_plan(plan, alpha, a, b, beta, c, d, NULL, 0, NULL);
}

tcgemm_status_t tcgemm_run_with(const tcgemm_plan_t *plan, double alpha, const void *a,
                                const void *b, double beta, const void *c, void *d,
                                void *workspace, size_t workspace_bytes,
                                tcgemm_run_stats_t *stats) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_RETURN_IF(stats && stats->struct_size != sizeof *stats, TCGEMM_STATUS_BAD_ARGUMENT,
                     "stats->struct_size is %zu, expected %zu", stats->struct_size, sizeof *stats);
    return run_plan(plan, alpha, a, b, beta, c, d, workspace, workspace_bytes, stats);
}
