/* machine.c - the processor, and how fast its kernels could be. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "base/struct.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/model.h"
#include "host/affinity.h"
#include "host/caches.h"
#include "host/clock.h"
#include "host/features.h"
#include "host/pool.h"
#include "plan/planner.h"

tcgemm_status_t tcgemm_machine_get_info(tcgemm_machine_info_t *info) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof *info));
    const uint32_t features = tcgemm_cpu_features();
    const tcgemm_caches_t caches = tcgemm_cpu_caches();
    tcgemm_machine_info_t found = {
        .struct_size = sizeof found,
        .num_processors = tcgemm_cpu_count(),
        .l1_bytes = caches.bytes[0],
        .l2_bytes = caches.bytes[1],
        .l3_bytes = caches.bytes[2],
        .clock_hz = tcgemm_clock_hz(),
    };
    tcgemm_cpu_brand(found.cpu, sizeof found.cpu);
    (void)tcgemm_cpu_feature_names(features, found.features, sizeof found.features);
    (void)snprintf(found.isa, sizeof found.isa, "%s", tcgemm_cpu_isa(features));
    tcgemm_struct_write(info, &found, sizeof found);
    return TCGEMM_STATUS_OK;
}

/* ---- measured peak: one register tile again and again, its panels in the L1 cache ---- */

/* 16 KiB of panels; of the tall and wide tiles of matrices 32, or their sums would count too much.
 */
enum { PEAK_STEPS = 64, PEAK_PANEL_BYTES = 32768 };
#define PEAK_SECONDS 0.02

typedef struct peak_job {
    const tcgemm_cpu_ukernel_t *u;
    _Atomic double total; /* operations a second, summed over the threads */
    tcgemm_barrier_t barrier;
} peak_job_t;

/* Random bytes with the two top exponent bits equal to 01 in each lane make finite floats of every
 * width; for integers any bits do. Zeros would run cooler than real data. */
static void fill_panel(uint32_t *panel, size_t words) {
    uint32_t x = 1;
    for (size_t i = 0; i < words; ++i) {
        x = x * 1664525u + 1013904223u;
        panel[i] = (x & 0x8FFF8FFFu) | 0x30003000u;
    }
}

static void measure_thread(void *argument, int thread, int num_threads) {
    peak_job_t *const job = argument;
    const tcgemm_cpu_ukernel_t *u = job->u;
    _Alignas(64) uint32_t panels[PEAK_PANEL_BYTES / 4];
    _Alignas(64) double out[32 * 32];
    (void)thread;
    fill_panel(panels, PEAK_PANEL_BYTES / 4);
    const int64_t steps = u->begin ? PEAK_PANEL_BYTES / ((u->mr + u->nr) * u->lane_bytes)
                                   : PEAK_STEPS * 4 / u->lane_bytes;
    tcgemm_tile_t tile = {
        .steps = steps,
        .a = panels,
        .a_row = 1,
        .a_step = u->mr,
        .b = (const char *)panels + steps * u->mr * u->lane_bytes,
        .d = out,
        .ldd = u->nr,
        .m = u->mr,
        .n = u->nr,
        .scale = 1,
    };
    if (u->family == TCGEMM_FAMILY_BF16X32 || u->family == TCGEMM_FAMILY_F16X32)
        tile.alpha.f32 = 1.0f; /* else what they store is no plain sum */
    if (u->family == TCGEMM_FAMILY_I8X64)
        tile.alpha.s32 = 1;
    tcgemm_barrier_wait(&job->barrier, num_threads);
    double best = 0.0;
    for (const double start = now_seconds(); now_seconds() - start < PEAK_SECONDS;) {
        enum { REPEATS = 500 };
        const double begin = now_seconds();
        if (u->begin)
            u->begin();
        for (int i = 0; i < REPEATS; ++i)
            u->packed(&tile);
        if (u->end)
            u->end();
        const double seconds = now_seconds() - begin;
        best = fmax(best, 2.0 * REPEATS * (double)(u->mr * u->nr * u->ku * steps) / seconds);
    }
    double total = atomic_load(&job->total);
    while (!atomic_compare_exchange_weak(&job->total, &total, total + best))
        ;
}

/* Operations a second of the micro-kernel on `num_threads` threads. */
static double measure(const tcgemm_cpu_ukernel_t *u, int num_threads) {
    peak_job_t job;
    memset(&job, 0, sizeof job);
    job.u = u;
    tcgemm_pool_run(num_threads, measure_thread, &job);
    return atomic_load(&job.total);
}

/* What the vector units would do at `hz`. */
static double theory_of(const tcgemm_kernel_t *kernel, double hz, int num_threads) {
    return 2.0 * tcgemm_cpu_theoretical_macs(kernel) * hz * num_threads;
}

/* More than the timer and the last window of the clock can be wrong by. */
static const double beyond_theory = 1.03;

tcgemm_status_t tcgemm_measure_peak(tcgemm_type_t type, int num_threads, double *theoretical,
                                    double *measured) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(num_threads < 1 || !theoretical || !measured, TCGEMM_STATUS_BAD_ARGUMENT,
                     "num_threads is %d or a result is NULL", num_threads);
    TCGEMM_RETURN_IF(!tcgemm_type_info(type), TCGEMM_STATUS_BAD_TYPE, "type %d is unknown",
                     (int)type);
    struct tcgemm_plan plan;
    const tcgemm_problem_t problem = tcgemm_problem(type, 64, 64, 64);
    TCGEMM_FORWARD(tcgemm_plan_make(&problem, NULL, 1, &plan));
    *measured = measure(plan.kernel->cpu, num_threads);
    *theoretical = theory_of(plan.kernel, tcgemm_clock_hz(), num_threads);
    if (*measured > beyond_theory * *theoretical)
        *theoretical = theory_of(plan.kernel, tcgemm_clock_again(), num_threads);
    if (*measured > beyond_theory * *theoretical)
        *theoretical = 0.0; /* these are not the units that we took them for */
    return TCGEMM_STATUS_OK;
}
