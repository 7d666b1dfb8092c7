/* family.c - mma-pipelined's f32, on FFMA: its rows, from rows.def. The story is in
 * simt_ffma_f32_f32.cu. */
#include "gpu/expand.h"
#include "gpu/families/simt_ffma/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, bm_, bn_, bk_, wm_, wn_, slices, blocks, tag)              \
    TCGEMM_GPU_ROW(simt_ffma, mma_pipelined, type, sums, min_cc, max_cc, bm_, bn_, bk_, tag,       \
                   TCGEMM_BOUND_NEAREST, bm_, bn_, bk_, .wm = (wm_), .wn = (wn_), .im = (wm_) / 8, \
                   .in = (wn_) / 4, .ik = 1,                                                       \
                   .threads = TCGEMM_FFMA_THREADS(bm_, bn_, wm_, wn_, slices), .stages = 2,        \
                   .smem_bytes = TCGEMM_FFMA_SMEM(bm_, bn_, slices), .blocks_per_sm = (blocks),    \
                   .splits_k = true, .pads_rows = true, .waits = true)
#include "gpu/families/simt_ffma/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_simt_ffma = {
    .algo = "mma-pipelined",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
