/* family.c - stream: its rows, from rows.def, two of each: where D has few rows, B is the large
 * operand; where it has few columns, A. The story is in stream.cuh. */
#include "gpu/expand.h"
#include "gpu/families/stream/shape.h"
#include "gpu/gpu_row.h"

#define STREAM_ROW(type, sums, min_cc, max_cc, few, bm_, bn_, bk_, warps, blocks, tag, large)      \
    TCGEMM_GPU_ROW_OF("tcgemm_stream_" #type "_" #few, stream, stream, type, type, sums, min_cc,   \
                      max_cc, bm_, bn_, bk_, tag, TCGEMM_TENSOR_BOUND_##type, bm_, bn_, bk_,       \
                      .wm = (bm_), .wn = (bn_), .im = (bm_) < 16 ? (bm_) : 16,                     \
                      .in = (bn_) < 16 ? (bn_) : 16, .ik = (bk_) / 4,                              \
                      .threads = TCGEMM_STREAM_THREADS(warps), .stages = 1,                        \
                      .smem_bytes = TCGEMM_STREAM_SMEM(few, warps, TCGEMM_SUM_BYTES_##type),       \
                      .blocks_per_sm = (blocks), .persistent = true, .splits_k = true,             \
                      .waits = true, .streams = TCGEMM_STREAMS_##large)

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, few, bk, warps, blocks)                                    \
    STREAM_ROW(type, sums, min_cc, max_cc, few, few, 32, bk, warps, blocks, rows, B)
#include "gpu/families/stream/rows.def"
#define ROW(type, sums, min_cc, max_cc, few, bk, warps, blocks)                                    \
    STREAM_ROW(type, sums, min_cc, max_cc, few, 32, few, bk, warps, blocks, columns, A)
#include "gpu/families/stream/rows.def"
};

/* Whether the number of rows of D that the row counts on is one that must not matter. */
static bool must_not_matter(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    const bool few_are_rows = (row->gpu->streams == TCGEMM_STREAMS_B) != g->swapped;
    return few_are_rows && (g->flags & TCGEMM_FLAG_REPRODUCIBLE) != 0;
}

/* k is counted in 32 bits, a round beyond its end. */
static bool takes(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    const bool are_few =
        row->gpu->streams == TCGEMM_STREAMS_B ? g->m <= row->gpu->bm : g->n <= row->gpu->bn;
    return are_few && g->k < INT32_MAX - 65536 && !must_not_matter(row, g);
}

const tcgemm_kernel_family_t tcgemm_family_stream = {
    .algo = "stream",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .takes = takes,
    .takes_what = "D with as few rows or columns as its tile, without TCGEMM_FLAG_REPRODUCIBLE",
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
