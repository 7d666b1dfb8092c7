/* family.c - wgmma: its rows, from rows.def. The story is in wgmma.cuh. */
#include "gpu/expand.h"
#include "gpu/families/wgmma/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
/* The instruction: 64 rows of the tile (columns, where it is swapped) by the other side of it, by
 * 32 bytes of k. */
#define BITS(type) TCGEMM_INPUT_BITS_##type
#define ROW(type, sums, min_cc, max_cc, bm_, bn_, bk_, consumers, turns, swap, stages_, blocks,    \
            tag)                                                                                   \
    TCGEMM_GPU_ROW(wgmma, wgmma, "wgmma", type, sums, min_cc, max_cc, bm_, bn_, bk_, tag,          \
                   TCGEMM_TENSOR_BOUND_##type, bm_, bn_, bk_,                                      \
                   .wm = TCGEMM_WGMMA_ROWS(bm_, consumers, turns, swap),                           \
                   .wn = TCGEMM_WGMMA_COLS(bn_, consumers, turns, swap),                           \
                   .im = (swap) ? (bm_) : 64, .in = (swap) ? 64 : (bn_), .ik = 256 / BITS(type),   \
                   .threads = TCGEMM_WGMMA_THREADS(consumers), .stages = (stages_),                \
                   .smem_bytes = TCGEMM_WGMMA_SMEM(bm_, bn_, consumers, stages_),                  \
                   .blocks_per_sm = (blocks), .persistent = true, .splits_k = true,                \
                   .tensor_maps = true, .k_rows = BITS(type) != 16)
#include "gpu/families/wgmma/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_wgmma = {
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .takes = tcgemm_gpu_takes,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
};
