/* family.c - mma-pipelined: its rows, from rows.def. The story is in mma_pipelined.cuh. */
#include "gpu/expand.h"
#include "gpu/families/mma_pipelined/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
/* The instruction: 16 x 8 by 32 bytes of k, f64 by 16 elements; sm_75 has half of k, 8-bit types 8
 * x 8 by 16. */
#define BITS(type) TCGEMM_INPUT_BITS_##type
#define ROW(type, sums, min_cc, max_cc_, bm, bn, bk, wm_, wn_, slices, stages_, blocks, tag)       \
    TCGEMM_GPU_ROW(mma_pipelined, mma_pipelined, "mma-pipelined", type, sums, min_cc, max_cc_, bm, \
                   bn, bk, tag, TCGEMM_TENSOR_BOUND_##type, bm, bn, bk, .wm = (wm_), .wn = (wn_),  \
                   .im = (max_cc_) == 75 && BITS(type) == 8 ? 8 : 16, .in = 8,                     \
                   .ik = (max_cc_) == 75    ? 128 / BITS(type)                                     \
                         : BITS(type) == 64 ? 16                                                   \
                                            : 256 / BITS(type),                                    \
                   .threads = TCGEMM_MMA_THREADS(bm, bn, wm_, wn_, slices), .stages = (stages_),   \
                   .smem_bytes = TCGEMM_MMA_SMEM(bm, bn, bk, BITS(type) / 8, stages_),             \
                   .blocks_per_sm = (blocks), .splits_k = true, .pads_rows = true)
#include "gpu/families/mma_pipelined/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_mma_pipelined = {
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
};
