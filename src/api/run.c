/* run.c - the calls that compute: the one-call product, plans and their runs. */
#include <stdlib.h>
#include <string.h>

#include "api/call_log.h"
#include "api/choice.h"
#include "api/execution.h"
#include "api/plan_cache.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "base/struct.h"
#include "cpu/gemm.h"
#include "cuda/backend.h"
#include "ref/reference.h"

/* tcgemm_run has its own copy of what a run goes through. The options and the data that it has no
 * argument for are constant there, and cost nothing: 8 x 8 x 8 takes two thirds of the time. */
#define IN_LINE static inline __attribute__((always_inline))

/* ---- a run ---- */

static const tcgemm_backend_t *backend_of(const struct tcgemm_plan *plan) {
    return plan->device        ? &tcgemm_gpu_backend
           : plan->kernel->cpu ? &tcgemm_cpu_backend
                               : &tcgemm_reference_backend;
}

/* A plan for a GPU that is known, but not here, can only be looked at. */
static tcgemm_status_t check_is_here(const struct tcgemm_plan *plan) {
    TCGEMM_RETURN_IF(plan->device && plan->device->index == TCGEMM_DEVICE_KNOWN,
                     TCGEMM_STATUS_NO_DEVICE,
                     "the plan is for a known GPU, %s, and only describes what it would do there",
                     plan->device->name);
    return TCGEMM_STATUS_OK;
}

/* Whether the plan can reach matrices in this place. */
static tcgemm_status_t check_place(const struct tcgemm_plan *plan, int place, bool is_async) {
    TCGEMM_RETURN_IF(!plan->device && place != TCGEMM_PLACE_HOST, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the matrices lie on GPU %d, but the plan is for the CPU: make its context "
                     "with device %d",
                     place, place);
    TCGEMM_RETURN_IF(plan->device && place != TCGEMM_PLACE_HOST && place != plan->device->index,
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "the matrices lie on GPU %d, but the plan is for GPU %d", place,
                     plan->device->index);
    TCGEMM_RETURN_IF(is_async && place == TCGEMM_PLACE_HOST && !tcgemm_gpu_is_forked(),
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "the matrices lie in host memory; an asynchronous run takes those on the GPU");
    return TCGEMM_STATUS_OK;
}

static bool is_empty(const tcgemm_canonical_t *g) {
    return g->m == 0 || g->n == 0 || g->batch == 0;
}

/* The GPU that matrices in managed memory go to. */
static int home_of(const struct tcgemm_plan *plan) {
    return plan->device ? plan->device->index : TCGEMM_PLACE_HOST;
}

/* A checked call. The way of host matrices to a GPU is not worth it for D = beta * C. */
static tcgemm_status_t run_call(const struct tcgemm_plan *plan, const tcgemm_run_t *run) {
    if (run->call.alpha == 0.0 && run->place == TCGEMM_PLACE_HOST && !run->is_async) {
        tcgemm_cpu_scale(&plan->g, &run->call);
        return TCGEMM_STATUS_OK;
    }
    return backend_of(plan)->run(plan, run);
}

/* A plan that packs an operand, from A or B to D, checked. */
static tcgemm_status_t check_packing(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                     tcgemm_run_t *run) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_b = plan->packs == TCGEMM_OPERAND_B;
    const void *const source = is_b != g->swapped ? x->b : x->a;
    run->call = (tcgemm_call_t){
        .alpha = 1.0, .a = is_b ? NULL : source, .b = is_b ? source : NULL, .d = x->d};
    if (tcgemm_operand_is_empty(g, is_b))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_check_packing(g, is_b, source, x->d, plan->steps.step[0].written_bytes));
    TCGEMM_FORWARD(tcgemm_gpu_place(g, &run->call, home_of(plan), &run->place));
    return check_place(plan, run->place, false);
}

static tcgemm_status_t check_epilogue_is_served(const struct tcgemm_plan *plan,
                                                const tcgemm_data_t *x) {
    const char *const field = x->bias ? "bias" : "activation";
    TCGEMM_RETURN_IF(plan->packs, TCGEMM_STATUS_UNSUPPORTED,
                     "data->%s is set, but the plan packs an operand", field);
    TCGEMM_RETURN_IF(plan->device, TCGEMM_STATUS_UNSUPPORTED,
                     "data->%s is set, but no kernel of a GPU serves it yet: make the plan's "
                     "context with device TCGEMM_DEVICE_CPU",
                     field);
    return TCGEMM_STATUS_OK;
}

/* Fills in the call, and where its matrices lie. */
IN_LINE tcgemm_status_t check_data(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                   tcgemm_run_t *run) {
    const tcgemm_canonical_t *g = &plan->g;
    if (tcgemm_data_has_epilogue(x))
        TCGEMM_FORWARD(check_epilogue_is_served(plan, x));
    if (plan->packs)
        return check_packing(plan, x, run);
    TCGEMM_FORWARD(tcgemm_check_data(g, x, true, &run->call));
    if (is_empty(g))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_place(g, &run->call, home_of(plan), &run->place));
    return check_place(plan, run->place, run->is_async);
}

IN_LINE tcgemm_status_t run_plan(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                 tcgemm_run_t *run) {
    const tcgemm_canonical_t *g = &plan->g;
    TCGEMM_FORWARD(check_data(plan, x, run));
    if (plan->packs)
        return tcgemm_operand_is_empty(g, plan->packs == TCGEMM_OPERAND_B)
                   ? TCGEMM_STATUS_OK
                   : backend_of(plan)->run(plan, run);
    return is_empty(g) ? TCGEMM_STATUS_OK : run_call(plan, run);
}

/* ---- what the caller gives ---- */

static tcgemm_status_t check_workspace(const struct tcgemm_plan *plan,
                                       const tcgemm_run_options_t *o) {
    const size_t needed = tcgemm_plan_workspace(plan);
    TCGEMM_RETURN_IF(o->workspace && o->workspace_bytes < needed, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the workspace has %zu bytes, but the plan needs %zu", o->workspace_bytes,
                     needed);
    return TCGEMM_STATUS_OK;
}

IN_LINE tcgemm_status_t check_options(const struct tcgemm_plan *plan,
                                      const tcgemm_run_options_t *o) {
    TCGEMM_RETURN_IF((o->is_async || o->stream) && !plan->device, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the plan is for the CPU, which has no streams");
    TCGEMM_RETURN_IF(o->is_async && o->stats, TCGEMM_STATUS_BAD_ARGUMENT,
                     "an asynchronous run has no statistics");
    TCGEMM_FORWARD(check_is_here(plan));
    return check_workspace(plan, o);
}

static void set_up_run(const tcgemm_run_options_t *o, tcgemm_run_t *run) {
    run->place = TCGEMM_PLACE_HOST;
    run->workspace = o->workspace;
    run->stream = o->stream;
    run->is_async = o->is_async != 0;
    run->stats = NULL;
}

static tcgemm_status_t run_for_stats(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                     const tcgemm_run_options_t *o) {
    tcgemm_run_stats_t filled = {.struct_size = sizeof filled};
    tcgemm_run_t run;
    const double start = now_seconds();
    TCGEMM_FORWARD(tcgemm_struct_check("stats", o->stats, sizeof *o->stats));
    set_up_run(o, &run);
    run.stats = &filled;
    const tcgemm_status_t status = run_plan(plan, x, &run);
    filled.total_seconds = now_seconds() - start;
    tcgemm_struct_write(o->stats, &filled, sizeof filled);
    return status;
}

IN_LINE tcgemm_status_t execute_plan(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                     const tcgemm_run_options_t *o) {
    tcgemm_run_t run;
    TCGEMM_FORWARD(check_options(plan, o));
    if (o->stats)
        return run_for_stats(plan, x, o);
    set_up_run(o, &run);
    return run_plan(plan, x, &run);
}

tcgemm_status_t tcgemm_execution_check(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                       const tcgemm_run_options_t *o) {
    tcgemm_run_t run;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(check_options(plan, o));
    set_up_run(o, &run);
    return check_data(plan, x, &run);
}

IN_LINE tcgemm_status_t execute(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                const tcgemm_run_options_t *o) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    const double start = tcgemm_call_begin();
    const tcgemm_status_t status = execute_plan(plan, x, o);
    if (tcgemm_call_is_told())
        tcgemm_call_tell(plan, start, x->alpha.re, x->beta.re, o->is_async != 0, status);
    return status;
}

tcgemm_status_t tcgemm_execution_run(const struct tcgemm_plan *plan, const tcgemm_data_t *x,
                                     const tcgemm_run_options_t *o) {
    return execute(plan, x, o);
}

tcgemm_status_t tcgemm_execution_options(const tcgemm_run_options_t *options,
                                         tcgemm_run_options_t *o) {
    *o = tcgemm_run_options();
    if (!options)
        return TCGEMM_STATUS_OK;
    return tcgemm_struct_read("options", options,
                              TCGEMM_STRUCT_END(tcgemm_run_options_t, struct_size), o, sizeof *o);
}

/* ---- the calls ---- */

tcgemm_status_t tcgemm_execute(const tcgemm_plan_t *plan, const tcgemm_data_t *data,
                               const tcgemm_run_options_t *options) {
    TCGEMM_DEFAULT_FP_MODES;
    tcgemm_data_t x;
    tcgemm_run_options_t o;
    TCGEMM_FORWARD(tcgemm_data_read(data, &x));
    TCGEMM_FORWARD(tcgemm_execution_options(options, &o));
    return tcgemm_execution_run(plan, &x, &o);
}

tcgemm_status_t tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a, const void *b,
                           double beta, const void *c, void *d) {
    TCGEMM_DEFAULT_FP_MODES;
    const tcgemm_data_t x = tcgemm_data_of(alpha, a, b, beta, c, d);
    const tcgemm_run_options_t o = tcgemm_run_options();
    return execute(plan, &x, &o);
}

tcgemm_status_t tcgemm_run_with(const tcgemm_plan_t *plan, double alpha, const void *a,
                                const void *b, double beta, const void *c, void *d, void *workspace,
                                size_t workspace_bytes, tcgemm_run_stats_t *stats) {
    TCGEMM_DEFAULT_FP_MODES;
    const tcgemm_data_t x = tcgemm_data_of(alpha, a, b, beta, c, d);
    tcgemm_run_options_t o = tcgemm_run_options();
    o.workspace = workspace;
    o.workspace_bytes = workspace_bytes;
    o.stats = stats;
    return tcgemm_execution_run(plan, &x, &o);
}

tcgemm_status_t tcgemm_run_async(const tcgemm_plan_t *plan, double alpha, const void *a,
                                 const void *b, double beta, const void *c, void *d,
                                 void *workspace, size_t workspace_bytes, void *stream) {
    TCGEMM_DEFAULT_FP_MODES;
    const tcgemm_data_t x = tcgemm_data_of(alpha, a, b, beta, c, d);
    tcgemm_run_options_t o = tcgemm_run_options();
    o.workspace = workspace;
    o.workspace_bytes = workspace_bytes;
    o.stream = stream;
    o.is_async = 1;
    return tcgemm_execution_run(plan, &x, &o);
}

tcgemm_status_t tcgemm_plan_create(tcgemm_context_t *context, const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, tcgemm_plan_t **plan) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    *plan = NULL;
    tcgemm_plan_options_t o = tcgemm_plan_options();
    struct tcgemm_plan made;
    if (options)
        TCGEMM_FORWARD(tcgemm_struct_read("options", options,
                                          TCGEMM_STRUCT_END(tcgemm_plan_options_t, struct_size), &o,
                                          sizeof o));
    TCGEMM_FORWARD(tcgemm_plan_in_context(context, problem, &o, &made));
    *plan = malloc(sizeof made);
    TCGEMM_RETURN_IF(!*plan, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a plan");
    memcpy(*plan, &made, sizeof made);
    return TCGEMM_STATUS_OK;
}

void tcgemm_plan_destroy(tcgemm_plan_t *plan) {
    free(plan);
}

/* ---- the one call ---- */

/* A GPU may have been lost since the plan was made, or left behind by a fork. */
static bool is_still_good(const struct tcgemm_plan *plan) {
    const struct tcgemm_device *device;
    if (!plan->device)
        return true;
    tcgemm_error_hush();
    const tcgemm_status_t status = tcgemm_gpu_find(plan->device->index, &device);
    tcgemm_error_speak();
    return status == TCGEMM_STATUS_OK;
}

/* The plan of the default context for matrices in this place: the one that was made last time, or
 * made now, in the cache if it has room, else in *own. */
static tcgemm_status_t find_plan(const tcgemm_plan_key_t *key, struct tcgemm_plan *own,
                                 const struct tcgemm_plan **plan) {
    struct tcgemm_plan *slot;
    *plan = tcgemm_plan_cache_find(key, &slot);
    if (*plan && is_still_good(*plan))
        return TCGEMM_STATUS_OK;
    if (*plan) {
        tcgemm_plan_cache_forget(key);
        *plan = tcgemm_plan_cache_find(key, &slot);
    }
    *plan = slot ? slot : own;
    TCGEMM_FORWARD(tcgemm_plan_in_place(key->place, key->problem, key->threads, slot ? slot : own));
    if (slot)
        tcgemm_plan_cache_keep(key);
    return TCGEMM_STATUS_OK;
}

/* The product by a plan, of which *plan tells: in the cache, or *own; NULL if none could be made.
 */
static tcgemm_status_t multiply(const tcgemm_problem_t *problem, double alpha, const void *a,
                                const void *b, double beta, const void *c, void *d,
                                struct tcgemm_plan *own, const struct tcgemm_plan **plan) {
    const tcgemm_run_options_t o = tcgemm_run_options();
    tcgemm_run_t run;
    tcgemm_plan_key_t key = {.place = TCGEMM_PLACE_HOST};
    tcgemm_problem_t copy;
    const struct tcgemm_plan *found;
    TCGEMM_FORWARD(tcgemm_problem_whole(problem, &copy, &key.problem));
    key.threads = tcgemm_context_threads(NULL, key.problem);
    TCGEMM_FORWARD(find_plan(&key, own, &found));
    *plan = found;
    set_up_run(&o, &run);
    TCGEMM_FORWARD(tcgemm_check_call(&found->g, alpha, a, b, beta, c, d, true, &run.call));
    if (is_empty(&found->g))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_place(&found->g, &run.call, 0, &run.place));
    if (run.place != TCGEMM_PLACE_HOST) {
        if (run.call.beta != 0.0) {
            copy = *key.problem;
            copy.flags |= TCGEMM_FLAG_ADDS_C;
            key.problem = &copy;
        }
        *plan = NULL;
        key.place = run.place;
        TCGEMM_FORWARD(find_plan(&key, own, &found));
        *plan = found;
    }
    return run_call(found, &run);
}

tcgemm_status_t tcgemm_gemm(const tcgemm_problem_t *problem, double alpha, const void *a,
                            const void *b, double beta, const void *c, void *d) {
    TCGEMM_DEFAULT_FP_MODES;
    struct tcgemm_plan own;
    const struct tcgemm_plan *plan = NULL;
    const double start = tcgemm_call_begin();
    const tcgemm_status_t status = multiply(problem, alpha, a, b, beta, c, d, &own, &plan);
    if (tcgemm_call_is_told() && plan)
        tcgemm_call_tell(plan, start, alpha, beta, false, status);
    return status;
}
