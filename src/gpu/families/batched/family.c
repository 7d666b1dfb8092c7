/* family.c - batched: its rows, from rows.def. The story is in batched.cuh. */
#include "gpu/expand.h"
#include "gpu/families/batched/shape.h"
#include "gpu/gpu_row.h"

static const tcgemm_kernel_t rows[] = {
#define ROW(type, sums, min_cc, max_cc, bk_, stage, blocks)                                        \
    TCGEMM_GPU_ROW(                                                                                \
        batched, batched, type, sums, min_cc, max_cc, 32, 32, bk_, warp, TCGEMM_BOUND_NEAREST, 32, \
        32, bk_, .wm = TCGEMM_BATCHED_SIDE, .wn = TCGEMM_BATCHED_SIDE,                             \
        .im = TCGEMM_BATCHED_LANE_M, .in = TCGEMM_BATCHED_LANE_N, .ik = 1,                         \
        .threads = TCGEMM_BATCHED_THREADS, .stages = 2, .smem_bytes = TCGEMM_BATCHED_SMEM(stage),  \
        .blocks_per_sm = (blocks), .persistent = true, .waits = true, .items_a_warp = true)
#include "gpu/families/batched/rows.def"
};

/* An item is one tile. */
static bool takes(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    return g->m <= row->gpu->bm && g->n <= row->gpu->bn && g->k < INT32_MAX - 65536 &&
           g->batch < INT32_MAX / 2 && (g->flags & TCGEMM_FLAG_REPRODUCIBLE) == 0;
}

const tcgemm_kernel_family_t tcgemm_family_batched = {
    .algo = "batched",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .takes = takes,
    .takes_what = "D of up to 32 rows and columns, without TCGEMM_FLAG_REPRODUCIBLE",
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
