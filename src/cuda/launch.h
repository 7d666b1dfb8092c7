/* launch.h - a plan's kernel on matrices that lie on the GPU. */
#ifndef TCGEMM_CUDA_LAUNCH_H
#define TCGEMM_CUDA_LAUNCH_H

#include "cuda/device.h"
#include "gpu/gpu_args.h"
#include "plan/plan.h"

/* The arguments of the whole problem; pointers and alignment from the call. */
tcgemm_gpu_args_t tcgemm_gpu_args(const struct tcgemm_plan *plan, const tcgemm_call_t *call);

/* Works out vector_a .. vector_d of the arguments from pointers, leading dimensions and strides. */
void tcgemm_gpu_set_alignment(const struct tcgemm_plan *plan, tcgemm_gpu_args_t *x);

/* Queues the product, in several launches where one grid cannot hold its tiles. */
tcgemm_status_t tcgemm_gpu_launch(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                  const tcgemm_gpu_args_t *args, CUstream stream);

#endif
