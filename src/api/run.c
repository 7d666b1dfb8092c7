/* run.c - the calls that compute: one-call product, plans and their runs. */
#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "cpu/gemm.h"
#include "cuda/backend.h"
#include "gpu/model.h"
#include "host/memory.h"
#include "plan/planner.h"
#include "ref/reference.h"

/* ---- on the CPU ---- */

/* The steps of a plan for the CPU: a product, by the reference or by the micro-kernels. */
static tcgemm_status_t run_steps(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                 void *workspace, tcgemm_run_stats_t *stats) {
    return plan->kernel->cpu ? tcgemm_cpu_run(plan, call, workspace, stats)
                             : tcgemm_reference_run(plan, call, stats);
}

/* Nothing is empty. */
static tcgemm_status_t run_on_cpu(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                  void *workspace, size_t workspace_bytes,
                                  tcgemm_run_stats_t *stats) {
    const size_t needed = tcgemm_plan_workspace(plan);
    if (call->alpha == 0.0) {
        tcgemm_cpu_scale(&plan->g, call);
        return TCGEMM_STATUS_OK;
    }
    TCGEMM_RETURN_IF(workspace && workspace_bytes < needed, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the workspace has %zu bytes, but the plan needs %zu", workspace_bytes,
                     needed);
    if (needed == 0 || workspace)
        return run_steps(plan, call, workspace, stats);
    const tcgemm_workspace_t own = tcgemm_workspace_take(needed);
    TCGEMM_RETURN_IF(!own.data, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of workspace",
                     needed);
    const tcgemm_status_t status = run_steps(plan, call, own.data, stats);
    tcgemm_workspace_give_back(own);
    return status;
}

/* ---- wherever it is ---- */

static tcgemm_status_t run_there(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                 int place, void *workspace, size_t workspace_bytes,
                                 tcgemm_run_stats_t *stats) {
    TCGEMM_RETURN_IF(!plan->device && place != TCGEMM_PLACE_HOST, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the matrices lie on GPU %d, but the plan is for the CPU: make its context "
                     "with device %d",
                     place, place);
    if (plan->device && (call->alpha != 0.0 || place != TCGEMM_PLACE_HOST))
        return tcgemm_gpu_run(plan, call, place, workspace, workspace_bytes, stats);
    return run_on_cpu(plan, call, workspace, workspace_bytes, stats);
}

/* A plan for a GPU that is known, but not here, can only be looked at. */
static tcgemm_status_t check_is_here(const struct tcgemm_plan *plan) {
    TCGEMM_RETURN_IF(plan->device && plan->device->index == TCGEMM_DEVICE_KNOWN,
                     TCGEMM_STATUS_NO_DEVICE,
                     "the plan is for a known GPU, %s, and only describes what it would do there",
                     plan->device->name);
    return TCGEMM_STATUS_OK;
}

static bool is_empty(const tcgemm_canonical_t *g) {
    return g->m == 0 || g->n == 0 || g->batch == 0;
}

/* The GPU that matrices in managed memory go to. */
static int home_of(const struct tcgemm_plan *plan) {
    return plan->device ? plan->device->index : TCGEMM_PLACE_HOST;
}

static tcgemm_status_t run_plan(const struct tcgemm_plan *plan, double alpha, const void *a,
                                const void *b, double beta, const void *c, void *d, void *workspace,
                                size_t workspace_bytes, tcgemm_run_stats_t *stats) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_call_t call;
    const double start = stats ? now_seconds() : 0.0;
    TCGEMM_FORWARD(tcgemm_check_call(g, alpha, a, b, beta, c, d, true, &call));
    if (stats)
        stats->pack_seconds = stats->transfer_seconds = stats->product_seconds = 0.0;
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (!is_empty(g)) {
        int place;
        TCGEMM_FORWARD(tcgemm_gpu_place(g, &call, home_of(plan), &place));
        status = run_there(plan, &call, place, workspace, workspace_bytes, stats);
    }
    if (stats)
        stats->total_seconds = now_seconds() - start;
    return status;
}

/* ---- plans ---- */

/* Below this the CPU is taken without a look at GPUs: waking one takes a hundred times as long. */
static const double small_seconds = 2e-3;

/* A plan for GPU `index`, its kernel loaded. */
static tcgemm_status_t plan_on_gpu(int index, const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, int threads,
                                   struct tcgemm_plan *plan) {
    const tcgemm_device_t *device;
    TCGEMM_FORWARD(tcgemm_gpu_find(index, &device));
    TCGEMM_FORWARD(tcgemm_plan_make_on(device, problem, options, threads, plan));
    return tcgemm_gpu_prepare(plan);
}

/* The time by which a device is chosen: of the problem itself, or of the one that stands for it
 * (tcgemm_choice_problem). */
static tcgemm_problem_t choice_problem(const tcgemm_problem_t *problem) {
    tcgemm_canonical_t g;
    tcgemm_problem_t p = *problem;
    if (!(p.flags & TCGEMM_FLAG_REPRODUCIBLE) || tcgemm_canonicalize(&p, &g) != TCGEMM_STATUS_OK)
        return p;
    p.m = tcgemm_choice_rows;
    p.batch = 1;
    p.lda = p.ldb = p.ldc = p.ldd = 0;
    return p;
}

/* Whether GPU 0 is sooner done than the CPU, for which `plan` is made. */
static bool gpu_is_better(const tcgemm_problem_t *problem, const tcgemm_plan_options_t *options,
                          int threads, const struct tcgemm_plan *plan) {
    const tcgemm_problem_t asked = choice_problem(problem);
    const tcgemm_device_t *device;
    struct tcgemm_plan cpu = *plan;
    struct tcgemm_plan gpu;
    if (problem->flags & TCGEMM_FLAG_REPRODUCIBLE &&
        tcgemm_plan_make(&asked, options, threads, &cpu) != TCGEMM_STATUS_OK)
        return false;
    return cpu.steps.seconds >= small_seconds && tcgemm_gpu_count() > 0 &&
           tcgemm_gpu_takes_host_matrices() && tcgemm_gpu_find(0, &device) == TCGEMM_STATUS_OK &&
           tcgemm_plan_make_on(device, &asked, options, threads, &gpu) == TCGEMM_STATUS_OK &&
           gpu.steps.seconds + tcgemm_gpu_predict_transfer(&gpu.g) < cpu.steps.seconds;
}

/* The better of the CPU, for which `plan` is made, and GPU 0. */
static void improve_by_gpu(const tcgemm_problem_t *problem, const tcgemm_plan_options_t *options,
                           int threads, struct tcgemm_plan *plan) {
    struct tcgemm_plan other;
    if (gpu_is_better(problem, options, threads, plan) &&
        plan_on_gpu(0, problem, options, threads, &other) == TCGEMM_STATUS_OK)
        *plan = other;
}

static tcgemm_status_t plan_on_any(const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, int threads,
                                   struct tcgemm_plan *plan) {
    if (tcgemm_plan_wants_gpu(options))
        return plan_on_gpu(0, problem, options, threads, plan);
    const tcgemm_status_t status = tcgemm_plan_make(problem, options, threads, plan);
    const bool has_tile = options && options->tile;
    if (tcgemm_plan_wants_cpu(options))
        return status;
    if (status == TCGEMM_STATUS_OK)
        improve_by_gpu(problem, options, threads, plan);
    else if (status == TCGEMM_STATUS_UNSUPPORTED && has_tile)
        return plan_on_gpu(0, problem, options, threads, plan) == TCGEMM_STATUS_OK
                   ? TCGEMM_STATUS_OK
                   : tcgemm_plan_make(problem, options, threads, plan); /* its sentence again */
    return status;
}

static tcgemm_status_t make_plan(const tcgemm_context_t *context, const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, struct tcgemm_plan *plan) {
    const int device = tcgemm_context_device(context);
    const int threads = tcgemm_context_threads(context, problem);
    if (device == TCGEMM_DEVICE_AUTO)
        return plan_on_any(problem, options, threads, plan);
    if (device == TCGEMM_DEVICE_CPU)
        return tcgemm_plan_make(problem, options, threads, plan);
    if (device == TCGEMM_DEVICE_KNOWN)
        return tcgemm_plan_make_on(tcgemm_context_known(context), problem, options, threads, plan);
    return plan_on_gpu(device, problem, options, threads, plan);
}

/* ---- the calls ---- */

tcgemm_status_t tcgemm_gemm(const tcgemm_problem_t *problem, double alpha, const void *a,
                            const void *b, double beta, const void *c, void *d) {
    TCGEMM_DEFAULT_FP_MODES;
    struct tcgemm_plan plan;
    tcgemm_call_t call;
    int place;
    const int threads = tcgemm_context_threads(NULL, problem);
    TCGEMM_FORWARD(tcgemm_plan_make(problem, NULL, threads, &plan));
    TCGEMM_FORWARD(tcgemm_check_call(&plan.g, alpha, a, b, beta, c, d, true, &call));
    if (is_empty(&plan.g))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_place(&plan.g, &call, 0, &place));
    if (place != TCGEMM_PLACE_HOST)
        TCGEMM_FORWARD(plan_on_gpu(place, problem, NULL, threads, &plan));
    else if (call.alpha != 0.0)
        improve_by_gpu(problem, NULL, threads, &plan);
    return run_there(&plan, &call, place, NULL, 0, NULL);
}

tcgemm_status_t tcgemm_plan_create(tcgemm_context_t *context, const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, tcgemm_plan_t **plan) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    *plan = NULL;
    struct tcgemm_plan made;
    TCGEMM_FORWARD(make_plan(context, problem, options, &made));
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
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(check_is_here(plan));
    return run_plan(plan, alpha, a, b, beta, c, d, NULL, 0, NULL);
}

tcgemm_status_t tcgemm_run_with(const tcgemm_plan_t *plan, double alpha, const void *a,
                                const void *b, double beta, const void *c, void *d, void *workspace,
                                size_t workspace_bytes, tcgemm_run_stats_t *stats) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_RETURN_IF(stats && stats->struct_size != sizeof *stats, TCGEMM_STATUS_BAD_ARGUMENT,
                     "stats->struct_size is %zu, expected %zu", stats->struct_size, sizeof *stats);
    TCGEMM_FORWARD(check_is_here(plan));
    return run_plan(plan, alpha, a, b, beta, c, d, workspace, workspace_bytes, stats);
}

tcgemm_status_t tcgemm_run_async(const tcgemm_plan_t *plan, double alpha, const void *a,
                                 const void *b, double beta, const void *c, void *d,
                                 void *workspace, size_t workspace_bytes, void *stream) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_RETURN_IF(!plan->device, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the plan is for the CPU, which has no streams");
    TCGEMM_FORWARD(check_is_here(plan));
    tcgemm_call_t call;
    int place;
    TCGEMM_FORWARD(tcgemm_check_call(&plan->g, alpha, a, b, beta, c, d, true, &call));
    if (is_empty(&plan->g))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_place(&plan->g, &call, home_of(plan), &place));
    if (place != plan->device->index && place != TCGEMM_PLACE_HOST)
        return tcgemm_error_set(TCGEMM_STATUS_BAD_ARGUMENT,
                                "the matrices lie on GPU %d, but the plan is for GPU %d", place,
                                plan->device->index);
    TCGEMM_RETURN_IF(place == TCGEMM_PLACE_HOST && !tcgemm_gpu_is_forked(),
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "the matrices lie in host memory; tcgemm_run_async takes those on the GPU");
    return tcgemm_gpu_run_async(plan, &call, workspace, workspace_bytes, stream);
}
