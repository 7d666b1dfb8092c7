/* family.c - stream: its rows, from rows.def, two of each: where D has few rows, B is the large
 * operand; where it has few columns, A. The story is in stream.cuh. */
#include "gpu/expand.h"
#include "gpu/families/stream/shape.h"
#include "gpu/gpu_row.h"

#define STREAM_ROW(type, sums, min_cc, max_cc, few, bm_, bn_, bk_, warps, blocks, tag, large)      \
    TCGEMM_GPU_ROW_OF(                                                                             \
        "tcgemm_stream_" #type "_" #few, stream, stream, type, type, sums, min_cc, max_cc, bm_,    \
        bn_, bk_, tag, TCGEMM_TENSOR_BOUND_##type, bm_, bn_, bk_, .wm = (bm_), .wn = (bn_),        \
        .im = (bm_) < 16 ? (bm_) : 16, .in = (bn_) < 16 ? (bn_) : 16, .ik = (bk_) / 4,             \
        .threads = TCGEMM_STREAM_THREADS(warps), .stages = 1,                                      \
        .smem_bytes = TCGEMM_STREAM_SMEM(few, warps, TCGEMM_SUM_BYTES_##type),                     \
        .blocks_per_sm = (blocks), .persistent = true, .splits_k = true, .waits = true,            \
        .not_on_90 = TCGEMM_STREAM_NOT_ON_90(TCGEMM_ID_##type == TCGEMM_ID_f32_f32, few),          \
        .streams = TCGEMM_STREAMS_##large)

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, few, bk, warps, blocks)                                    \
    STREAM_ROW(type, sums, min_cc, max_cc, few, few, 32, bk, warps, blocks, rows, B)
#include "gpu/families/stream/rows.def"
#define ROW(type, sums, min_cc, max_cc, few, bk, warps, blocks)                                    \
    STREAM_ROW(type, sums, min_cc, max_cc, few, 32, few, bk, warps, blocks, columns, A)
#include "gpu/families/stream/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_stream = {
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
