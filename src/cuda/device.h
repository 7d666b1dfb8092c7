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

enum {
    TCGEMM_MAX_GPUS = 64,
    TCGEMM_MAX_MODULES = 96,
    TCGEMM_STAGING_BUFFERS = 3, /* each way */
    TCGEMM_STAGING_STRIPS = 6,  /* of D that are on their way home */
    TCGEMM_STAGING_STEPS = 16   /* products that are told apart */
};

/* Pinned buffers of one way, used in turn. */
typedef struct tcgemm_buffers {
    void *at[TCGEMM_STAGING_BUFFERS];
    CUevent copied[TCGEMM_STAGING_BUFFERS]; /* by the stream: it may be filled or read */
    int64_t used; /* buffers so far: the next is this one modulo their number */
} tcgemm_buffers_t;

/* A block: `items` times `lines` contiguous runs of `length` bytes on the host. On the GPU line l
 * of item t is at device + (t * lines + l) * pitch. */
typedef struct tcgemm_block {
    char *host;
    int64_t items, lines, length;
    int64_t host_item, host_line; /* bytes from item to item, line to line */
    CUdeviceptr device;
    int64_t pitch;  /* at least length, and a multiple of 16 */
    bool is_pinned; /* the copy engine may read and write all of the host's bytes */
} tcgemm_block_t;

/* Lines [line, line + lines) of a block, of each `bytes` from `offset` on. */
typedef struct tcgemm_chunk {
    int64_t line, lines, offset, bytes;
} tcgemm_chunk_t;

/* A block of D that comes home through the buffers. */
typedef struct tcgemm_return {
    tcgemm_block_t block;
    CUevent ready; /* when it is computed */
    int slot;
    tcgemm_chunk_t next; /* the first that is not requested yet */
} tcgemm_return_t;

/* What the way of host matrices keeps from call to call (staging.c, host_panels.c). */
typedef struct tcgemm_staging {
    CUstream in, out, compute[2];
    tcgemm_buffers_t to_gpu, to_host;
    CUevent arrived; /* what the next product needs */
    CUevent begin;   /* of the run */
    CUevent start[TCGEMM_STAGING_STEPS], end[TCGEMM_STAGING_STEPS]; /* of products, by turns */
    CUevent left[TCGEMM_STAGING_STRIPS];                            /* a buffer of D is free */
    CUdeviceptr arena;
    size_t arena_bytes;
    tcgemm_return_t returns[TCGEMM_STAGING_STRIPS]; /* the first of them leaves first */
    int num_returns;
    struct {
        tcgemm_block_t block;
        tcgemm_chunk_t chunk;
    } requested[TCGEMM_STAGING_BUFFERS]; /* by the buffer that it comes into */
    int64_t emptied;                     /* buffers of D so far */
    bool leaves_direct;                  /* D, or parts of it, by copies that nobody waited for */
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
