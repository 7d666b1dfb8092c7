/* host_panels.h - a product whose matrices lie in host memory, of any size.
 *
 * The matrices travel in panels, whose widths and order gpu/partition.h chooses. Both ways of the
 * bus and the multiplying go on at once, in streams of their own, ordered by events. D may grow as
 * a square:
 *
 *     in       A0 B0 A1 B1 A2 B2 A3 B3            one copy engine
 *     compute        00 10 .1 2. .2 3.. ..3       two streams by turns: the tiles that are left of
 *                       |  |  |   |   |   |       one strip run beside the first of the next
 *     out               00 10 .1  2.  .2  3. .3   the other copy engine
 *     time     --------------------------------->
 *
 * or by rows, behind all of B:
 *
 *     in       A0 B.......... A1 A2 A3 A4
 *     compute                 0. 1. 2. 3. 4.
 *     out                        0. 1. 2. 3. 4.
 *
 * Of a product of bf16 matrices of 16384^3, 1 GiB comes and half a GiB leaves: with 55 GB/s each
 * way that takes 19.4 ms, in which the tensor cores have 11 ms of work. The square has 10 ms of it
 * done when the last panel comes, but panels of B are then parts of rows, which the copy engines
 * bring slowly: 32.9 ms were measured on an H200 with panels of 1024. By rows the model
 * (gpu/panel_clock.h) says 21.2. With D in f32, which is as many bytes as A and B, no order does
 * better than 1.25 times the way in: of D, a quarter at most can be done when half of A and B are
 * there.
 *
 * Pinned matrices are copied where they lie; others through pinned buffers (staging.h). The GPU
 * keeps the operands tightly, every line on a 16-byte boundary.
 *
 * Each strip is planned like a product of its own, with the kernels and the parts of k of the
 * whole, so the bits of D do not depend on the partition.
 *
 * TCGEMM_CUDA_MEMORY_LIMIT (bytes) in the environment bounds the GPU memory used this way.
 */
#ifndef TCGEMM_CUDA_HOST_PANELS_H
#define TCGEMM_CUDA_HOST_PANELS_H

#include "cuda/device.h"
#include "plan/plan.h"

/* Runs the plan. The GPU's context is current. */
tcgemm_status_t tcgemm_gpu_run_panels(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                      const tcgemm_call_t *call, tcgemm_run_stats_t *stats);

#endif
