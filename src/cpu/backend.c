/* backend.c - runs a plan of the CPU, with a workspace of its own if none is given. */
#include "base/error.h"
#include "cpu/gemm.h"
#include "cpu/prepack.h"
#include "host/memory.h"

enum { SMALL_WORKSPACE = 4096 }; /* that the stack holds: less than taking one costs */

static tcgemm_status_t prepare(struct tcgemm_plan *plan) {
    (void)plan;
    return TCGEMM_STATUS_OK;
}

/* A function of its own, lest larger products take so much of the stack. */
static __attribute__((noinline)) tcgemm_status_t run_on_stack(const struct tcgemm_plan *plan,
                                                              const tcgemm_run_t *run) {
    char workspace[SMALL_WORKSPACE];
    return tcgemm_cpu_run(plan, &run->call, workspace, run->stats);
}

static tcgemm_status_t run(const struct tcgemm_plan *plan, const tcgemm_run_t *run) {
    const size_t needed = tcgemm_plan_workspace(plan);
    if (plan->steps.step[0].kind != TCGEMM_STEP_PRODUCT)
        return tcgemm_cpu_prepack(plan, &run->call, run->stats);
    TCGEMM_FORWARD(tcgemm_cpu_check_packed(plan, &run->call));
    if (needed == 0 || run->workspace)
        return tcgemm_cpu_run(plan, &run->call, run->workspace, run->stats);
    if (needed <= SMALL_WORKSPACE && plan->num_threads == 1)
        return run_on_stack(plan, run);
    const tcgemm_workspace_t own = tcgemm_workspace_take(needed);
    TCGEMM_RETURN_IF(!own.data, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of workspace",
                     needed);
    const tcgemm_status_t status = tcgemm_cpu_run(plan, &run->call, own.data, run->stats);
    tcgemm_workspace_give_back(own);
    return status;
}

const tcgemm_backend_t tcgemm_cpu_backend = {.prepare = prepare, .run = run};
