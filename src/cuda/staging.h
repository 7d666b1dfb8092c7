/* staging.h - blocks of host matrices to the GPU and back, through pinned buffers. */
#ifndef TCGEMM_CUDA_STAGING_H
#define TCGEMM_CUDA_STAGING_H

#include "cuda/device.h"

/* A block: `items` times `lines` contiguous runs of `length` bytes on the host. On the GPU line l
 * of item t is at device + (t * lines + l) * pitch. */
typedef struct tcgemm_block {
    char *host;
    int64_t items, lines, length;
    int64_t host_item, host_line; /* bytes from item to item, line to line */
    CUdeviceptr device;
    int64_t pitch; /* at least length */
} tcgemm_block_t;

/* Buffers, streams and events, made once. The caller holds gpu->staging_mutex. */
tcgemm_status_t tcgemm_staging_open(tcgemm_gpu_t *gpu);

/* At least `bytes` of GPU memory, kept from the last time if that suffices. */
tcgemm_status_t tcgemm_staging_reserve(tcgemm_gpu_t *gpu, size_t bytes);

/* Frees an arena too large to keep. */
void tcgemm_staging_close(tcgemm_gpu_t *gpu);

/* Queues the block in the copy stream; between its lines the GPU gets zeros. The host memory may be
 * changed on return. */
tcgemm_status_t tcgemm_staging_upload(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                      int num_threads);

/* Queues the block in the copy stream, waits, and stores it; bytes between the lines stay. */
tcgemm_status_t tcgemm_staging_download(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                        int num_threads);

#endif
