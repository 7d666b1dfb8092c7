/* encode.h - what a step's kernel receives: from a plan, a step and pointers to tcgemm_gpu_args_t.
 */
#ifndef TCGEMM_GPU_ENCODE_H
#define TCGEMM_GPU_ENCODE_H

#include "gpu/gpu_args.h"
#include "gpu/launch.h"
#include "gpu/tensor_map.h"
#include "plan/plan.h"

/* The arguments of a product or a reduction for matrices in GPU memory; `workspace` is NULL if the
 * plan needs none. */
tcgemm_gpu_args_t tcgemm_gpu_encode(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                    const tcgemm_call_t *call, void *workspace);

/* The same for the packing of one operand, or of `count` = 2 from `step` on in one launch
 * (tcgemm_gpu_steps_of_launch); what it is launched with. */
tcgemm_gpu_shape_t tcgemm_gpu_encode_packing(const struct tcgemm_plan *plan,
                                             const tcgemm_step_t *step, int count,
                                             const tcgemm_call_t *call, void *workspace,
                                             tcgemm_pack_args_t *args);

/* The same for D = beta * C. */
tcgemm_gpu_args_t tcgemm_gpu_encode_scale(const struct tcgemm_plan *plan,
                                          const tcgemm_call_t *call);

/* Rows [row, row + m) of items [item, item + batch) of a product or a reduction. */
tcgemm_gpu_args_t tcgemm_gpu_part(const tcgemm_step_t *step, const tcgemm_gpu_args_t *whole,
                                  int64_t item, int64_t batch, int64_t row, int64_t m);

/* A and B of a product by tensor maps, for the arguments of a launch. One that threads gather has
 * none: its base is NULL. */
void tcgemm_gpu_tensors(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x, tcgemm_tensor_t *a,
                        tcgemm_tensor_t *b);
/* D likewise, and C, if it is added (else its base is NULL); false if D cannot leave, or C come, by
 * boxes: rows do not begin and end on 16-byte boundaries. (What is left of the last 16 bytes of a
 * row would be written, too.) */
bool tcgemm_gpu_tensors_of_d(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x,
                             tcgemm_tensor_t *c, tcgemm_tensor_t *d);

/* The steps for these pointers: those for aligned ones, if A and B are. (Whatever threads gather
 * may lie anywhere.) */
const tcgemm_steps_t *tcgemm_gpu_steps_for(const struct tcgemm_plan *plan,
                                           const tcgemm_call_t *call);

#endif
