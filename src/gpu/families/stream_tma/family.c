/* family.c - stream's f32 whose large operand comes by boxes: its rows, from rows.def, two of each:
 * where D has few rows, B is the large operand; where it has few columns, A. The story is in
 * stream_tma_f32_f32.cu. */
#include "gpu/expand.h"
#include "gpu/families/stream_tma/shape.h"
#include "gpu/gpu_row.h"

#define STREAM_ROW(type, sums, min_cc, max_cc, few, lines, bm_, bn_, bk_, warps, stages_, tag,     \
                   large, gathered)                                                                \
    TCGEMM_GPU_ROW_OF("tcgemm_stream_" #type "_" #few "x" #lines "_ring", stream_tma, stream,      \
                      type, type, sums, min_cc, max_cc, bm_, bn_, bk_, tag, TCGEMM_BOUND_NEAREST,  \
                      bm_, bn_, bk_, .wm = (bm_), .wn = (bn_), .im = 1, .in = 1, .ik = 1,          \
                      .threads = TCGEMM_STREAM_TMA_THREADS(warps), .stages = (stages_),            \
                      .smem_bytes = TCGEMM_STREAM_TMA_SMEM(few, lines, bk_, warps, stages_),       \
                      .blocks_per_sm = 1, .persistent = true, .splits_k = true, .waits = true,     \
                      .tensor_maps = true, .gathered = true, .streams = TCGEMM_STREAMS_##large)

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, few, lines, bk, warps, stages)                             \
    STREAM_ROW(type, sums, min_cc, max_cc, few, lines, few, lines, bk, warps, stages, rows_ring,   \
               B, gathers_a)
#include "gpu/families/stream_tma/rows.def"
#define ROW(type, sums, min_cc, max_cc, few, lines, bk, warps, stages)                             \
    STREAM_ROW(type, sums, min_cc, max_cc, few, lines, lines, few, bk, warps, stages, cols_ring,   \
               A, gathers_b)
#include "gpu/families/stream_tma/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_stream_tma = {
    .algo = "stream",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .takes = tcgemm_gpu_takes_few,
    .takes_what = TCGEMM_GPU_TAKES_FEW_WHAT,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
