/* family.c - wmma-direct: its rows, from rows.def. The story is in wmma_direct.cuh. */
#include "gpu/expand.h"
#include "gpu/families/wmma_direct/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, bm, bn, bk_, depth, blocks, tag)                           \
    TCGEMM_GPU_ROW(wmma_direct, wmma_direct, type, sums, min_cc, max_cc, bm, bn, bk_, tag,         \
                   TCGEMM_TENSOR_BOUND_##type, (bm) / TCGEMM_WMMA_DIRECT_WARPS,                    \
                   (bn) / TCGEMM_WMMA_DIRECT_WARPS, TCGEMM_WMMA_K(TCGEMM_INPUT_BITS_##type),       \
                   .wm = (bm) / TCGEMM_WMMA_DIRECT_WARPS, .wn = (bn) / TCGEMM_WMMA_DIRECT_WARPS,   \
                   .im = (bm) / TCGEMM_WMMA_DIRECT_WARPS, .in = (bn) / TCGEMM_WMMA_DIRECT_WARPS,   \
                   .ik = TCGEMM_WMMA_K(TCGEMM_INPUT_BITS_##type),                                  \
                   .threads = TCGEMM_WMMA_DIRECT_THREADS, .stages = (depth),                       \
                   .blocks_per_sm = (blocks))
#include "gpu/families/wmma_direct/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_wmma_direct = {
    .algo = "wmma-direct",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
