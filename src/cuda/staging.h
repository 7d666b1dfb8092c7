/* staging.h - blocks of host matrices to the GPU and back.
 *
 * Pinned blocks are copied by the copy engines directly. Others travel through pinned buffers,
 * three each way, between which and the matrices the CPU's threads copy:
 *
 *     to_gpu 0    fill >>>>>>>>      fill >>>>>>>>         fill:  the CPU's threads
 *     to_gpu 1         fill   >>>>>>>>    fill   >>>>      >>>>:  the copy engine, stream `in`
 *     to_host 0         <<<<<<<< empty  <<<<<<<< empty     <<<<:  the other one, stream `out`
 *
 * Nobody waits for D while there is something to fill, and what has come home is emptied between
 * one filling and the next.
 */
#ifndef TCGEMM_CUDA_STAGING_H
#define TCGEMM_CUDA_STAGING_H

#include "cuda/device.h"

/* Streams and events, made once. The caller holds gpu->staging_mutex. */
tcgemm_status_t tcgemm_staging_open(tcgemm_gpu_t *gpu);

/* At least `bytes` of GPU memory, kept from the last time if that suffices. */
tcgemm_status_t tcgemm_staging_reserve(tcgemm_gpu_t *gpu, size_t bytes);

/* Frees an arena too large to keep. */
void tcgemm_staging_close(tcgemm_gpu_t *gpu);

/* The event, made when it is first needed. */
tcgemm_status_t tcgemm_staging_event(tcgemm_gpu_t *gpu, CUevent *event);

/* Queues the block in the stream `in`; between its lines, up to the next 16 bytes, the GPU gets
 * zeros. What is not pinned may be changed on return. */
tcgemm_status_t tcgemm_staging_upload(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                      int num_threads);

/* Brings the block home from buffer `slot` of D once `ready` has come, sooner or later; bytes
 * between the lines stay. At most one block of each slot is on its way. */
tcgemm_status_t tcgemm_staging_download(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                        CUevent ready, int slot, int num_threads);

/* Makes the stream wait until the slot may be written. */
tcgemm_status_t tcgemm_staging_await_slot(tcgemm_gpu_t *gpu, int slot, CUstream stream,
                                          int num_threads);

/* Returns when all blocks are home. */
tcgemm_status_t tcgemm_staging_finish(tcgemm_gpu_t *gpu, int num_threads);

/* After a failure: nothing is on its way any more, and nothing will be. */
void tcgemm_staging_abandon(tcgemm_gpu_t *gpu);

#endif
