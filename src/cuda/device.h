/* device.h - the GPUs of this machine, and the rules for calling the driver.
 *
 *     TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));     our context on top of the caller's
 *     status = tcgemm_gpu_check(gpu, driver->launch(...), "launching the kernel");
 *     tcgemm_gpu_leave();                        the caller's context again
 *
 * TCGEMM_CUDA_ARCH=80 in the environment makes every GPU appear as compute capability 8.0 and run
 * its kernels from the PTX for that architecture, so that old paths are tested on new devices.
 * (Ignored in set-user-id programs.)
 */
#ifndef TCGEMM_CUDA_DEVICE_H
#define TCGEMM_CUDA_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cuda/driver.h"
#include "device/facts.h"

enum { TCGEMM_MAX_GPUS = 64, TCGEMM_MAX_MODULES = 64, TCGEMM_STAGING_BUFFERS = 2 };

/* What the way of host matrices keeps from call to call (host_panels.c). */
typedef struct tcgemm_staging {
    bool is_ready;
    void *buffer[TCGEMM_STAGING_BUFFERS]; /* pinned */
    CUevent is_free[TCGEMM_STAGING_BUFFERS];
    CUstream copy; /* to and from the GPU */
    CUstream compute;
    CUevent arrived;          /* what the next product needs */
    CUevent start[2], end[2]; /* of the products, by turns */
    CUdeviceptr arena;
    size_t arena_bytes;
} tcgemm_staging_t;

typedef struct tcgemm_gpu {
    tcgemm_device_t facts;
    bool plays_older; /* TCGEMM_CUDA_ARCH */
    CUdevice device;
    CUcontext context; /* the primary one, retained when first needed, for ever */
    atomic_bool is_lost;
    pthread_mutex_t mutex; /* guards context, pool, modules and kernels */
    CUmemoryPool pool;     /* of the workspaces that callers do not give; NULL at first */
    CUmodule modules[TCGEMM_MAX_MODULES];
    struct tcgemm_gpu_kernel_entry *kernels; /* kernel_cache.c */
    pthread_mutex_t staging_mutex;           /* one product with host matrices at a time */
    tcgemm_staging_t staging;
} tcgemm_gpu_t;

/* GPU `index`, or NULL. */
tcgemm_gpu_t *tcgemm_gpu(int index);

/* Makes the GPU's context current. Returns OK, DEVICE_LOST, AFTER_FORK, OUT_OF_MEMORY,
 * DEVICE_ERROR; unless OK there is nothing to leave. */
tcgemm_status_t tcgemm_gpu_enter(tcgemm_gpu_t *gpu);
void tcgemm_gpu_leave(void);

/* The status of a driver call; an error that stays marks the GPU as lost. */
tcgemm_status_t tcgemm_gpu_check(tcgemm_gpu_t *gpu, CUresult result, const char *what);

#endif
