/* backend.c - runs a plan: matrices on the GPU or on the host, now or in a stream. */
#include "cuda/backend.h"

#include "base/clock.h"
#include "cuda/device.h"
#include "cuda/host_panels.h"
#include "cuda/launch.h"
#include "plan/plan.h"

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

tcgemm_status_t tcgemm_gpu_run_async(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                     void *workspace, size_t workspace_bytes, void *stream) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status =
        tcgemm_gpu_queue(gpu, plan, call, workspace, workspace_bytes, (CUstream)stream);
    tcgemm_gpu_leave();
    return status;
}

/* ---- the synchronous run ---- */

/* Queues the call between two events and waits; the GPU's own time goes to the statistics. */
static tcgemm_status_t run_timed(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                 const tcgemm_call_t *call, void *workspace, size_t workspace_bytes,
                                 double *seconds) {
    CUevent events[2] = {NULL, NULL};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 2 && status == TCGEMM_STATUS_OK; ++i)
        status = tcgemm_gpu_check(gpu, driver()->event_create(&events[i], CU_EVENT_DEFAULT),
                                  "making an event");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_record(events[0], NULL), "timing");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_queue(gpu, plan, call, workspace, workspace_bytes, NULL);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_record(events[1], NULL), "timing");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_synchronize(events[1]),
                                  "waiting for the product");
    if (status != TCGEMM_STATUS_OK) /* nothing may still be on its way into D */
        (void)driver()->stream_synchronize(NULL);
    float milliseconds = 0.0F;
    if (status == TCGEMM_STATUS_OK &&
        driver()->event_elapsed(&milliseconds, events[0], events[1]) == CUDA_SUCCESS)
        *seconds = 1e-3 * (double)milliseconds;
    for (int i = 0; i < 2; ++i)
        if (events[i])
            (void)driver()->event_destroy(events[i]);
    return status;
}

static tcgemm_status_t run_here(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                const tcgemm_call_t *call, void *workspace, size_t workspace_bytes,
                                tcgemm_run_stats_t *stats) {
    if (stats && tcgemm_driver_has(TCGEMM_DRIVER_STAGING) &&
        tcgemm_driver_has(TCGEMM_DRIVER_TIMING))
        return run_timed(gpu, plan, call, workspace, workspace_bytes, &stats->product_seconds);
    const double start = stats ? now_seconds() : 0.0;
    const tcgemm_status_t status =
        tcgemm_gpu_queue(gpu, plan, call, workspace, workspace_bytes, NULL);
    const tcgemm_status_t waited =
        tcgemm_gpu_check(gpu, driver()->stream_synchronize(NULL), "waiting for the product");
    if (stats)
        stats->product_seconds = now_seconds() - start;
    return status != TCGEMM_STATUS_OK ? status : waited;
}

/* With a driver that has no memory in streams, a workspace of our own comes before the run and goes
 * after it. */
static tcgemm_status_t run_on_gpu(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                  const tcgemm_call_t *call, void *workspace,
                                  size_t workspace_bytes, tcgemm_run_stats_t *stats) {
    const size_t needed = call->alpha == 0.0 ? 0 : tcgemm_plan_workspace(plan);
    if (workspace || needed == 0 || tcgemm_driver_has(TCGEMM_DRIVER_STREAM_MEMORY))
        return run_here(gpu, plan, call, workspace, workspace_bytes, stats);
    CUdeviceptr own = 0;
    TCGEMM_FORWARD(
        tcgemm_gpu_check(gpu, driver()->alloc(&own, needed), "allocating the workspace"));
    const tcgemm_status_t status = run_here(gpu, plan, call, (void *)(uintptr_t)own, needed, stats);
    const tcgemm_status_t freed =
        tcgemm_gpu_check(gpu, driver()->release(own), "freeing the workspace");
    return status != TCGEMM_STATUS_OK ? status : freed;
}

tcgemm_status_t tcgemm_gpu_run(const struct tcgemm_plan *plan, const tcgemm_call_t *call, int place,
                               void *workspace, size_t workspace_bytes, tcgemm_run_stats_t *stats) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_RETURN_IF(
        place != TCGEMM_PLACE_HOST && place != plan->device->index, TCGEMM_STATUS_BAD_ARGUMENT,
        "the matrices lie on GPU %d, but the plan is for GPU %d", place, plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status =
        place == TCGEMM_PLACE_HOST ? tcgemm_gpu_run_panels(gpu, plan, call, stats)
                                   : run_on_gpu(gpu, plan, call, workspace, workspace_bytes, stats);
    tcgemm_gpu_leave();
    return status;
}
