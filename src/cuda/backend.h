/* backend.h - what the rest of the library may ask of the CUDA back end, in plain C. In a build
 * without it (TCGEMM_HAVE_CUDA undefined) the answers are "no GPU".
 *
 *     device.c   which GPUs there are; contexts; lost devices; forks
 *     module.c   the kernels in this library, loaded when a plan first needs them
 *     kernel_cache.c  their functions, and what the driver says of them
 *     launch.c   the steps of a plan whose matrices are on the GPU
 *     host_panels.c   one product whose matrices are on the host
 *     place.c    where matrices lie
 *     peak.c     how fast the units are on registers alone
 *     driver.c   libcuda, opened at run time
 */
#ifndef TCGEMM_CUDA_BACKEND_H
#define TCGEMM_CUDA_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "device/facts.h"
#include "plan/backend.h"

#ifdef TCGEMM_HAVE_CUDA

/* The GPU's facts. `*device` is NULL unless OK. Returns OK, NO_DEVICE, DEVICE_LOST or AFTER_FORK.
 */
tcgemm_status_t tcgemm_gpu_find(int index, const tcgemm_device_t **device);

/* How many GPUs there are, and why there is none ("" if there is one). */
int tcgemm_gpu_count(void);
const char *tcgemm_gpu_reason(void);

/* True in a child forked from a process that used its GPU. */
bool tcgemm_gpu_is_forked(void);

/* False if the driver lacks what host matrices need: GPUs serve matrices in their own memory then.
 */
bool tcgemm_gpu_takes_host_matrices(void);

/* Memory on a GPU, for callers without CUDA; `copy` goes from and to anywhere and waits.
 * Statuses of tcgemm_gpu_find, OUT_OF_MEMORY, DEVICE_ERROR. */
tcgemm_status_t tcgemm_gpu_alloc(int index, size_t bytes, void **memory);
tcgemm_status_t tcgemm_gpu_free(int index, void *memory);
tcgemm_status_t tcgemm_gpu_copy(int index, void *to, const void *from, size_t bytes);

/* Where the matrices of a call lie: *place is TCGEMM_PLACE_HOST or the number of a GPU. Managed
 * memory goes with the others; all of it managed is on GPU `home`. A process that has not loaded
 * the driver has nothing on a GPU, and asking does not load it. Returns OK or BAD_ARGUMENT (some
 * here, some there). */
tcgemm_status_t tcgemm_gpu_place(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int home,
                                 int *place);

/* Loads the kernels of a plan and fills in the launches of its steps. Returns OK, UNSUPPORTED,
 * OUT_OF_MEMORY, DEVICE_ERROR, DEVICE_LOST or AFTER_FORK. */
tcgemm_status_t tcgemm_gpu_prepare(struct tcgemm_plan *plan);

/* Prepares and runs plans for GPUs. A run returns OK, OUT_OF_MEMORY, DEVICE_ERROR, DEVICE_LOST or
 * AFTER_FORK. */
extern const tcgemm_backend_t tcgemm_gpu_backend;

/* Operations a second of the units for the type, nothing fetched; 0 if no kernel measures it.
 * Statuses of tcgemm_gpu_find, UNSUPPORTED, DEVICE_ERROR. */
tcgemm_status_t tcgemm_gpu_measure_peak(int index, tcgemm_type_t type, double *measured);

#else

static inline tcgemm_status_t tcgemm_gpu_find(int index, const tcgemm_device_t **device) {
    *device = NULL;
    return tcgemm_error_set(
        TCGEMM_STATUS_NO_DEVICE,
        "GPU %d was asked for, but this library was built without a GPU back end", index);
}

static inline int tcgemm_gpu_count(void) {
    return 0;
}

static inline const char *tcgemm_gpu_reason(void) {
    return "this library was built without a GPU back end";
}

static inline bool tcgemm_gpu_is_forked(void) {
    return false;
}

static inline bool tcgemm_gpu_takes_host_matrices(void) {
    return false;
}

static inline tcgemm_status_t tcgemm_gpu_alloc(int index, size_t bytes, void **memory) {
    const tcgemm_device_t *device;
    (void)bytes;
    *memory = NULL;
    return tcgemm_gpu_find(index, &device);
}

static inline tcgemm_status_t tcgemm_gpu_measure_peak(int index, tcgemm_type_t type,
                                                      double *measured) {
    const tcgemm_device_t *device;
    (void)type;
    *measured = 0.0;
    return tcgemm_gpu_find(index, &device);
}

static inline tcgemm_status_t tcgemm_gpu_free(int index, void *memory) {
    const tcgemm_device_t *device;
    return memory ? tcgemm_gpu_find(index, &device) : TCGEMM_STATUS_OK;
}

static inline tcgemm_status_t tcgemm_gpu_copy(int index, void *to, const void *from, size_t bytes) {
    const tcgemm_device_t *device;
    (void)to;
    (void)from;
    (void)bytes;
    return tcgemm_gpu_find(index, &device);
}

static inline tcgemm_status_t tcgemm_gpu_place(const tcgemm_canonical_t *g,
                                               const tcgemm_call_t *call, int home, int *place) {
    (void)g;
    (void)call;
    (void)home;
    *place = TCGEMM_PLACE_HOST;
    return TCGEMM_STATUS_OK;
}

/* Never reached: without a GPU there is no plan for one. */
static inline tcgemm_status_t tcgemm_gpu_no_plan(struct tcgemm_plan *plan) {
    (void)plan;
    return tcgemm_error_set(TCGEMM_STATUS_INTERNAL, "a GPU plan in a build without GPUs");
}

static inline tcgemm_status_t tcgemm_gpu_no_run(const struct tcgemm_plan *plan,
                                                const tcgemm_run_t *run) {
    (void)plan;
    (void)run;
    return tcgemm_error_set(TCGEMM_STATUS_INTERNAL, "a GPU plan in a build without GPUs");
}

static const tcgemm_backend_t tcgemm_gpu_backend = {.prepare = tcgemm_gpu_no_plan,
                                                    .run = tcgemm_gpu_no_run};

#endif
#endif
