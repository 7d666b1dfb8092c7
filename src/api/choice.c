/* choice.c - see choice.h. */
#include "api/choice.h"

#include <string.h>

#include "base/error.h"
#include "cuda/backend.h"
#include "gpu/model.h"
#include "plan/planner.h"

/* Below this the CPU is taken without a look at GPUs: waking one takes a hundred times as long. */
static const double small_seconds = 2e-3;

/* A plan for GPU `index`, its kernel loaded. */
static tcgemm_status_t plan_on_gpu(int index, const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, int threads,
                                   struct tcgemm_plan *plan) {
    const tcgemm_device_t *device;
    TCGEMM_FORWARD(tcgemm_gpu_find(index, &device));
    TCGEMM_FORWARD(tcgemm_plan_make_on(device, problem, options, threads, plan));
    return tcgemm_gpu_backend.prepare(plan);
}

/* The problem by whose time a device is chosen: `p` itself, or the one that stands for it
 * (tcgemm_choice_problem). */
static tcgemm_problem_t choice_problem(tcgemm_problem_t p) {
    if (!(p.flags & TCGEMM_FLAG_REPRODUCIBLE))
        return p;
    p.m = tcgemm_choice_rows;
    p.batch = 1;
    p.lda = p.ldb = p.ldc = p.ldd = 0;
    p.stride_a = p.stride_b = p.stride_c = p.stride_d = 0;
    return p;
}

/* Whether GPU 0 is sooner done than the CPU, for which `plan` is made. */
static bool gpu_is_better(const tcgemm_plan_options_t *options, int threads,
                          const struct tcgemm_plan *plan) {
    const tcgemm_problem_t asked = choice_problem(plan->problem);
    const tcgemm_device_t *device;
    struct tcgemm_plan other;
    double cpu_seconds = plan->steps.seconds;
    if (asked.flags & TCGEMM_FLAG_REPRODUCIBLE) {
        if (tcgemm_plan_make(&asked, options, threads, &other) != TCGEMM_STATUS_OK)
            return false;
        cpu_seconds = other.steps.seconds;
    }
    return cpu_seconds >= small_seconds && tcgemm_gpu_count() > 0 &&
           tcgemm_gpu_takes_host_matrices() && tcgemm_gpu_find(0, &device) == TCGEMM_STATUS_OK &&
           tcgemm_plan_make_on(device, &asked, options, threads, &other) == TCGEMM_STATUS_OK &&
           other.steps.seconds + tcgemm_gpu_predict_transfer(&other.g) < cpu_seconds;
}

/* The better of the CPU, for which `plan` is made, and GPU 0. The plan has the whole problem, of
 * which an older caller's is the beginning. */
static void improve_by_gpu(const tcgemm_plan_options_t *options, int threads,
                           struct tcgemm_plan *plan) {
    struct tcgemm_plan other;
    tcgemm_error_hush(); /* without a GPU the plan is as good */
    if (gpu_is_better(options, threads, plan) &&
        plan_on_gpu(0, &plan->problem, options, threads, &other) == TCGEMM_STATUS_OK)
        *plan = other;
    tcgemm_error_speak();
}

static tcgemm_status_t plan_on_any(const tcgemm_problem_t *problem,
                                   const tcgemm_plan_options_t *options, int threads,
                                   struct tcgemm_plan *plan) {
    if (tcgemm_plan_wants_gpu(options))
        return plan_on_gpu(0, problem, options, threads, plan);
    if (tcgemm_plan_wants_cpu(options) || (options && (options->pack || options->packed)))
        return tcgemm_plan_make(problem, options, threads, plan);
    tcgemm_error_hush(); /* the GPU may do what the CPU cannot: a tile that it alone has */
    const tcgemm_status_t status = tcgemm_plan_make(problem, options, threads, plan);
    const bool has_tile = options && options->tile;
    const bool gpu_may = status == TCGEMM_STATUS_UNSUPPORTED && has_tile &&
                         plan_on_gpu(0, problem, options, threads, plan) == TCGEMM_STATUS_OK;
    tcgemm_error_speak();
    if (gpu_may)
        return TCGEMM_STATUS_OK;
    if (status != TCGEMM_STATUS_OK)
        return tcgemm_plan_make(problem, options, threads, plan); /* its sentence */
    improve_by_gpu(options, threads, plan);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_in_context(const tcgemm_context_t *context,
                                       const tcgemm_problem_t *problem,
                                       const tcgemm_plan_options_t *options,
                                       struct tcgemm_plan *plan) {
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

tcgemm_status_t tcgemm_plan_in_place(int place, const tcgemm_problem_t *problem, int threads,
                                     struct tcgemm_plan *plan) {
    return place == TCGEMM_PLACE_HOST ? plan_on_any(problem, NULL, threads, plan)
                                      : plan_on_gpu(place, problem, NULL, threads, plan);
}
