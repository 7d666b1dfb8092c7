/* timing.h - plans timed on GPU 0, by its own clock: matrices and workspace on the GPU, random
 * data, launches one after the other. */
#ifndef LAB_MODEL_TIMING_H
#define LAB_MODEL_TIMING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_clock.h"
#include "gpu_random.h"
#include "tcgemm/tcgemm.h"

enum { TIMING_ROUNDS = 3 };
static const size_t timing_most_elements = (size_t)16384 * 16384; /* of A, B or D */

static tcgemm_context_t *timing_context;
static gpu_clock_t *timing_clock;

/* False, having said why, where there is no GPU. */
static bool timing_start(void) {
    const char *why;
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    timing_clock = gpu_clock_open(0, &why);
    if (timing_clock && tcgemm_context_create(&options, &timing_context) == TCGEMM_STATUS_OK)
        return true;
    (void)fprintf(stderr, "skipped: no GPU\n");
    return false;
}

/* One pool of random elements for each dtype serves A and B of all shapes, another every D. */
static void *timing_pool(tcgemm_dtype_t dtype) {
    static void *pools[64];
    if (!pools[dtype])
        pools[dtype] = random_matrix(dtype, timing_most_elements);
    if (!pools[dtype])
        exit(1);
    return pools[dtype];
}

static void *timing_pool_of_d(void) {
    static void *memory;
    if (!memory && tcgemm_device_alloc(0, timing_most_elements * 8, &memory) != TCGEMM_STATUS_OK)
        exit(1);
    return memory;
}

/* One workspace for all plans; NULL, and the plan takes one by itself, if it wants more. */
static void *timing_workspace(const tcgemm_plan_t *plan, size_t *bytes) {
    enum { MOST = 1 << 30 };
    static void *memory;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    if (!memory && tcgemm_device_alloc(0, MOST, &memory) != TCGEMM_STATUS_OK)
        exit(1);
    const bool fits =
        tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK && info.workspace_bytes <= MOST;
    *bytes = fits ? MOST : 0;
    return fits ? memory : NULL;
}

static int timing_by_value(const void *x, const void *y) {
    const double a = *(const double *)x;
    const double b = *(const double *)y;
    return (a > b) - (a < b);
}

static bool timing_calls(const tcgemm_plan_t *plan, const void *a, const void *b, void *d,
                         int calls, double *seconds) {
    size_t bytes;
    void *const workspace = timing_workspace(plan, &bytes);
    bool good = gpu_clock_start(timing_clock);
    for (int i = 0; i < calls && good; ++i)
        good = tcgemm_run_async(plan, 1, a, b, 0, NULL, d, workspace, bytes,
                                gpu_clock_stream(timing_clock)) == TCGEMM_STATUS_OK;
    return gpu_clock_stop(timing_clock, seconds) && good;
}

/* The median of three rounds of `sample_seconds` each, of one run; 0 if it fails. */
static double timing_of(const tcgemm_plan_t *plan, tcgemm_type_t type, double sample_seconds) {
    const tcgemm_type_info_t *t = tcgemm_type_info(type);
    const void *const a = timing_pool(t->a);
    const void *const b = (const char *)timing_pool(t->b) + 4096;
    void *const d = timing_pool_of_d();
    double seconds[TIMING_ROUNDS] = {0};
    double once = 0;
    bool good = timing_calls(plan, a, b, d, 1, &once) && timing_calls(plan, a, b, d, 2, &once);
    const double wanted = sample_seconds / (once / 2);
    const int calls = wanted < 1 ? 1 : wanted > 4000 ? 4000 : (int)wanted;
    for (int i = 0; i < TIMING_ROUNDS && good; ++i) {
        good = timing_calls(plan, a, b, d, calls, &seconds[i]);
        seconds[i] /= calls;
    }
    qsort(seconds, TIMING_ROUNDS, sizeof *seconds, timing_by_value);
    return good ? seconds[TIMING_ROUNDS / 2] : 0;
}

#endif
