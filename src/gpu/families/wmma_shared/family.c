/* family.c - wmma-shared: its rows, from rows.def. The story is in wmma_shared.cuh. */
#include "gpu/expand.h"
#include "gpu/families/wmma_shared/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, wm_, wn_, stages_, blocks, tag)                \
    TCGEMM_GPU_ROW(wmma_shared, wmma_shared, type, sums, min_cc, max_cc, bm, bn, bk, tag,          \
                   TCGEMM_TENSOR_BOUND_##type, bm, bn, bk, .wm = (wm_), .wn = (wn_),               \
                   .im = TCGEMM_INPUT_BITS_##type == 64 ? 8 : 16,                                  \
                   .in = TCGEMM_INPUT_BITS_##type == 64 ? 8 : 16,                                  \
                   .ik = TCGEMM_WMMA_K(TCGEMM_INPUT_BITS_##type),                                  \
                   .threads = TCGEMM_WMMA_SHARED_THREADS, .stages = (stages_),                     \
                   .smem_bytes = TCGEMM_WMMA_SHARED_SMEM(bm, bn, stages_),                         \
                   .blocks_per_sm = (blocks), .persistent = (blocks) == 1)
#include "gpu/families/wmma_shared/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_wmma_shared = {
    .algo = "wmma-shared",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fallback = "wmma-direct",
    .fits = tcgemm_gpu_fits,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
