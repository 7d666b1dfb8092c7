/* peak.c - launches the kernels of peak.cu and times them. */
#include <math.h>

#include "cuda/backend.h"
#include "cuda/device.h"
#include "cuda/module.h"

enum { THREADS = 256, BLOCKS_PER_SM = 2, ROUNDS = 3, FIRST_STEPS = 2000 };
static const double long_enough = 0.02; /* seconds: the clock has settled */

typedef struct peak {
    const char *entry;
    int min_cc;  /* 10 x compute capability */
    double macs; /* of one warp and step */
} peak_t;

/* NULL entry: no kernel measures it. */
static const peak_t peaks[TCGEMM_NUM_RATES] = {
    [TCGEMM_RATE_F16] = {"tcgemm_peak_f16", 75, 8.0 * 16 * 8 * 16},
    [TCGEMM_RATE_BF16] = {"tcgemm_peak_bf16", 80, 8.0 * 16 * 8 * 16},
    [TCGEMM_RATE_TF32] = {"tcgemm_peak_tf32", 80, 8.0 * 16 * 8 * 8},
    [TCGEMM_RATE_S8] = {"tcgemm_peak_s8", 75, 8.0 * 16 * 8 * 32},
    [TCGEMM_RATE_F64] = {"tcgemm_peak_f64", 75, 8.0 * 16 * 8 * 16},
    [TCGEMM_RATE_F32] = {"tcgemm_peak_f32", 75, 64.0 * 32},
};

static tcgemm_status_t time_steps(tcgemm_gpu_t *gpu, CUfunction function, int64_t steps,
                                  const CUevent events[2], double *seconds) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    void *never = NULL;
    void *parameters[] = {&steps, &never};
    const unsigned blocks = (unsigned)(gpu->facts.num_sms * BLOCKS_PER_SM);
    float milliseconds = 0.0F;
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver->event_record(events[0], NULL), "timing"));
    TCGEMM_FORWARD(tcgemm_gpu_check(
        gpu, driver->launch(function, blocks, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL),
        "launching the measurement of a peak"));
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver->event_record(events[1], NULL), "timing"));
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver->event_synchronize(events[1]), "timing"));
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver->event_elapsed(&milliseconds, events[0], events[1]),
                                    "timing"));
    *seconds = 1e-3 * (double)milliseconds;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t measure(tcgemm_gpu_t *gpu, const peak_t *peak, const CUevent events[2],
                               double *measured) {
    CUfunction function = NULL;
    double seconds = 0.0;
    TCGEMM_FORWARD(tcgemm_gpu_function(gpu, "peak", peak->entry, &function));
    TCGEMM_FORWARD(time_steps(gpu, function, FIRST_STEPS, events, &seconds));
    TCGEMM_FORWARD(time_steps(gpu, function, FIRST_STEPS, events, &seconds));
    const int64_t steps = 1 + (int64_t)(FIRST_STEPS * long_enough / fmax(seconds, 1e-6));
    const double warps = (double)gpu->facts.num_sms * BLOCKS_PER_SM * THREADS / 32;
    for (int round = 0; round < ROUNDS; ++round) {
        TCGEMM_FORWARD(time_steps(gpu, function, steps, events, &seconds));
        *measured = fmax(*measured, 2.0 * warps * (double)steps * peak->macs / seconds);
    }
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_gpu_measure_peak(int index, tcgemm_type_t type, double *measured) {
    const tcgemm_device_t *device;
    *measured = 0.0;
    TCGEMM_FORWARD(tcgemm_gpu_find(index, &device));
    const peak_t *peak = &peaks[tcgemm_rate_of(type)];
    if (!peak->entry || device->cc < peak->min_cc)
        return TCGEMM_STATUS_OK;
    tcgemm_gpu_t *const gpu = tcgemm_gpu(index);
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    TCGEMM_FORWARD(tcgemm_driver_need(TCGEMM_DRIVER_STAGING, "the measurement of a peak"));
    TCGEMM_FORWARD(tcgemm_driver_need(TCGEMM_DRIVER_TIMING, "the measurement of a peak"));
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    CUevent events[2] = {NULL, NULL};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 2 && status == TCGEMM_STATUS_OK; ++i)
        status = tcgemm_gpu_check(gpu, driver->event_create(&events[i], CU_EVENT_DEFAULT),
                                  "making an event");
    if (status == TCGEMM_STATUS_OK)
        status = measure(gpu, peak, events, measured);
    for (int i = 0; i < 2; ++i)
        if (events[i])
            (void)driver->event_destroy(events[i]);
    tcgemm_gpu_leave();
    return status;
}
