/* backend.c - runs a plan: matrices on the GPU or on the host, now or in a stream. */
#include "cuda/backend.h"

#include "base/clock.h"
#include "cuda/device.h"
#include "cuda/host_panels.h"
#include "cuda/launch.h"
#include "gpu/encode.h"
#include "plan/plan.h"

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

/* Queues the call between two events and waits; the GPU's own time goes to the statistics. */
static tcgemm_status_t run_timed(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                 const tcgemm_run_t *run) {
    CUstream const stream = run->stream;
    CUevent events[2] = {NULL, NULL};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 2 && status == TCGEMM_STATUS_OK; ++i)
        status = tcgemm_gpu_check(gpu, driver()->event_create(&events[i], CU_EVENT_DEFAULT),
                                  "making an event");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_record(events[0], stream), "timing");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_queue(gpu, plan, &run->call, run->workspace, stream);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_record(events[1], stream), "timing");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_synchronize(events[1]),
                                  "waiting for the product");
    if (status != TCGEMM_STATUS_OK) /* nothing may still be on its way into D */
        (void)driver()->stream_synchronize(stream);
    float milliseconds = 0.0F;
    if (status == TCGEMM_STATUS_OK &&
        driver()->event_elapsed(&milliseconds, events[0], events[1]) == CUDA_SUCCESS)
        run->stats->product_seconds = 1e-3 * (double)milliseconds;
    for (int i = 0; i < 2; ++i)
        if (events[i])
            (void)driver()->event_destroy(events[i]);
    return status;
}

/* ... by the GPU's clock where the driver has it, else by ours. */
static tcgemm_status_t run_here(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                const tcgemm_run_t *run) {
    CUstream const stream = run->stream;
    if (run->stats && tcgemm_driver_has(TCGEMM_DRIVER_STAGING) &&
        tcgemm_driver_has(TCGEMM_DRIVER_TIMING))
        return run_timed(gpu, plan, run);
    const double start = run->stats ? now_seconds() : 0.0;
    const tcgemm_status_t status = tcgemm_gpu_queue(gpu, plan, &run->call, run->workspace, stream);
    if (run->is_async)
        return status;
    const tcgemm_status_t waited =
        tcgemm_gpu_check(gpu, driver()->stream_synchronize(stream), "waiting for the product");
    if (run->stats)
        run->stats->product_seconds = now_seconds() - start;
    return status != TCGEMM_STATUS_OK ? status : waited;
}

/* With a driver that has no memory in streams, a workspace of our own comes before the run and goes
 * after it. */
static tcgemm_status_t run_with_workspace(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                          const tcgemm_run_t *run) {
    const size_t needed =
        run->call.alpha == 0.0 ? 0 : tcgemm_gpu_steps_for(plan, &run->call)->workspace_bytes;
    if (run->workspace || needed == 0 || run->is_async ||
        tcgemm_driver_has(TCGEMM_DRIVER_STREAM_MEMORY))
        return run_here(gpu, plan, run);
    CUdeviceptr own = 0;
    tcgemm_run_t with = *run;
    TCGEMM_FORWARD(
        tcgemm_gpu_check(gpu, driver()->alloc(&own, needed), "allocating the workspace"));
    with.workspace = (void *)(uintptr_t)own;
    const tcgemm_status_t status = run_here(gpu, plan, &with);
    const tcgemm_status_t freed =
        tcgemm_gpu_check(gpu, driver()->release(own), "freeing the workspace");
    return status != TCGEMM_STATUS_OK ? status : freed;
}

static tcgemm_status_t run_on_gpu(const struct tcgemm_plan *plan, const tcgemm_run_t *run) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status = run->place == TCGEMM_PLACE_HOST && !run->is_async
                                       ? tcgemm_gpu_run_panels(gpu, plan, &run->call, run->stats)
                                       : run_with_workspace(gpu, plan, run);
    tcgemm_gpu_leave();
    return status;
}

const tcgemm_backend_t tcgemm_gpu_backend = {.prepare = tcgemm_gpu_prepare, .run = run_on_gpu};
