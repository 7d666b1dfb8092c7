/* launch.h - the steps of a plan on matrices that lie on the GPU. The GPU's context is current. */
#ifndef TCGEMM_CUDA_LAUNCH_H
#define TCGEMM_CUDA_LAUNCH_H

#include "cuda/device.h"
#include "plan/plan.h"

/* tcgemm_gpu_prepare (backend.h) of a plan for this GPU. */
tcgemm_status_t tcgemm_gpu_prepare_here(tcgemm_gpu_t *gpu, struct tcgemm_plan *plan);

/* Queues the steps; `workspace` holds what they need. */
tcgemm_status_t tcgemm_gpu_queue_steps(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                       const tcgemm_call_t *call, void *workspace, CUstream stream);

/* Queues the call: D = beta * C if alpha is 0, else the steps, with a workspace of their own if
 * none is given. */
tcgemm_status_t tcgemm_gpu_queue(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                 const tcgemm_call_t *call, void *workspace, CUstream stream);

#endif
