/* family.c - mma-pipelined's f32 on FFMA, whose operands come by boxes: its rows, from rows.def.
 * The story is in simt_tma_f32_f32.cu. */
#include "gpu/expand.h"
#include "gpu/families/simt_tma/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, bm_, bn_, bk_, wm_, wn_, stages_, blocks, tag)             \
    TCGEMM_GPU_ROW(simt_tma, mma_pipelined, type, sums, min_cc, max_cc, bm_, bn_, bk_, tag,        \
                   TCGEMM_BOUND_NEAREST, bm_, bn_, bk_, .wm = (wm_), .wn = (wn_), .im = (wm_) / 8, \
                   .in = (wn_) / 4, .ik = 1,                                                       \
                   .threads = TCGEMM_SIMT_TMA_THREADS(bm_, bn_, wm_, wn_), .stages = (stages_),    \
                   .smem_bytes = TCGEMM_SIMT_TMA_SMEM(bm_, bn_, bk_, stages_),                     \
                   .blocks_per_sm = (blocks), .splits_k = true, .waits = true,                     \
                   .tensor_maps = true, .takes_a = TCGEMM_TAKES_MN, .takes_b = TCGEMM_TAKES_MN)
#include "gpu/families/simt_tma/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_simt_tma = {
    .algo = "mma-pipelined",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .takes = tcgemm_gpu_takes,
    .takes_what = TCGEMM_GPU_TAKES_WHAT,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
