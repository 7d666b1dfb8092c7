/* family.c - simt-outer: its rows, from rows.def. The story is in simt_outer_f32_f32.cu. */
#include "gpu/expand.h"
#include "gpu/families/simt_outer/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, bm_, bn, kstep, blocks, tag)                               \
    TCGEMM_GPU_ROW(simt_outer, simt_outer, type, sums, min_cc, max_cc, bm_, bn, kstep, tag,        \
                   TCGEMM_BOUND_NEAREST, bm_, bn, kstep, .wm = (bm_), .wn = 128, .im = (bm_),      \
                   .in = 4, .ik = 1, .threads = TCGEMM_OUTER_THREADS(bn), .stages = 2,             \
                   .smem_bytes = TCGEMM_OUTER_SMEM(bm_, bn), .blocks_per_sm = (blocks))
#include "gpu/families/simt_outer/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_simt_outer = {
    .algo = "simt-outer",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
