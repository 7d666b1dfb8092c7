/* expand.h - from a GPU row to the steps of a plan, for families whose kernels take
 * tcgemm_gpu_args_t. */
#ifndef TCGEMM_GPU_EXPAND_H
#define TCGEMM_GPU_EXPAND_H

#include "plan/plan.h"

bool tcgemm_gpu_fits(const tcgemm_kernel_t *row, const tcgemm_device_t *device);
/* Tensor maps count to 2^32 and address rows less than 2^40 bytes apart; boxes begin at 32-bit
 * signed places. */
bool tcgemm_gpu_takes(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g);
#define TCGEMM_GPU_TAKES_WHAT "sizes below 2^31 and rows below 2^40 bytes"
/* The same of rows that stream an operand, for D with as few rows or columns as their tile. */
bool tcgemm_gpu_takes_few(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g);
#define TCGEMM_GPU_TAKES_FEW_WHAT                                                                  \
    "D with as few rows or columns as its tile, without TCGEMM_FLAG_REPRODUCIBLE"
void tcgemm_gpu_expand(const tcgemm_kernel_t *row, struct tcgemm_plan *plan);
double tcgemm_gpu_predict(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan);
double tcgemm_gpu_bound(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan);

/* Makes `panel`, a part of the problem of a plan for the same device with other m, n, strides and
 * items, which lies `at` that place of its D, into a plan with the same kernels and the same parts
 * of k: its bits are those of the whole. panel->g is filled in. */
void tcgemm_gpu_expand_like(const struct tcgemm_plan *whole, const tcgemm_area_t *at,
                            struct tcgemm_plan *panel);

/* What the product step of a row sees: parts of k as items of the batch. For the model's figures.
 */
tcgemm_canonical_t tcgemm_gpu_step_problem(const struct tcgemm_plan *plan,
                                           const tcgemm_step_t *product);

#endif
