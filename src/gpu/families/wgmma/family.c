/* family.c - wgmma: its rows, from rows.def. The story is in wgmma.cuh. */
#include "gpu/expand.h"
#include "gpu/families/wgmma/shape.h"
#include "gpu/gpu_row.h"

/* The instruction: 64 rows of the tile (columns, where it is swapped) by the other side of it, by
 * 32 bytes of k. */
#define BITS(type)             TCGEMM_INPUT_BITS_##type
#define TAKES_LEFT(code, ...)  TCGEMM_WGMMA_TAKES_LEFT(BITS(code), __VA_ARGS__)
#define TAKES_RIGHT(code, ...) TCGEMM_WGMMA_TAKES_RIGHT(BITS(code), __VA_ARGS__)
#define GATHERS(code, x)       TCGEMM_WGMMA_GATHERS(BITS(code), x)
#define BOUND_wide(code)       TCGEMM_TENSOR_BOUND_##code
#define BOUND_short(code)      TCGEMM_BOUND_SHORT
#define WIDE_ROW(type, code, by_warps_, sums, min_cc, max_cc, bm_, bn_, bk_, consumers, turns,     \
                 swap, stages_, blocks, ranks, tag)                                                \
    TCGEMM_GPU_WIDE_ROW(                                                                           \
        wgmma, wgmma, type, code, sums, min_cc, max_cc, bm_, bn_, bk_, tag, BOUND_##sums(code),    \
        bm_, bn_, bk_, .wm = TCGEMM_WGMMA_ROWS(bm_, consumers, turns, swap),                       \
        .wn = TCGEMM_WGMMA_COLS(bn_, consumers, turns, swap), .im = (swap) ? (bm_) : 64,           \
        .in = (swap) ? 64 : (bn_), .ik = 256 / BITS(code),                                         \
        .threads = TCGEMM_WGMMA_THREADS(bm_, bn_, consumers, by_warps_), .stages = (stages_),      \
        .smem_bytes =                                                                              \
            TCGEMM_WGMMA_SMEM(bm_, bn_, consumers, swap, stages_, blocks, ranks, by_warps_),       \
        .blocks_per_sm = (blocks), .persistent = (ranks) == 1, .max_ranks = (ranks),               \
        .pairs = TCGEMM_WGMMA_PAIRED(BITS(code), bn_, consumers, swap, ranks, by_warps_),          \
        .splits_k = (ranks) == 1, .waits = true, .tensor_maps = true, .by_warps = (by_warps_),     \
        .takes_a = (swap) ? TAKES_RIGHT(code, bm_, by_warps_)                                      \
                          : TAKES_LEFT(code, bm_, bn_, consumers, turns, swap, by_warps_),         \
        .takes_b = (swap) ? TAKES_LEFT(code, bm_, bn_, consumers, turns, swap, by_warps_)          \
                          : TAKES_RIGHT(code, bn_, by_warps_),                                     \
        .gathers_a = (swap) && GATHERS(code, bm_), .gathers_b = !(swap) && GATHERS(code, bn_),     \
        .box_rows = TCGEMM_WGMMA_BOX_ROWS(bm_, bn_, consumers, swap, stages_, blocks, ranks),      \
        .boxes_of_c =                                                                              \
            TCGEMM_WGMMA_BOX_ROWS(bm_, bn_, consumers, swap, stages_, blocks, ranks) > 0 &&        \
            TCGEMM_WGMMA_C_BOXES(TCGEMM_WGMMA_PROMOTES_##sums,                                     \
                                 TCGEMM_WGMMA_SUMS(bm_, bn_, consumers, turns)))

/* Of each row of bf16 one of fp8, whose operands are bf16 once they are packed: sums in f32. */
static const tcgemm_kernel_t rows[] = {
#define ROW(type, ...)          WIDE_ROW(type, type, false, __VA_ARGS__)
#define ROW_BY_WARPS(type, ...) WIDE_ROW(type, type, true, __VA_ARGS__)
#include "gpu/families/wgmma/rows.def"
#undef TCGEMM_WANTS
#define TCGEMM_WANTS(code) TCGEMM_WIDENS_##code
#define ROW_BY_K(...)
#define ROW(code, ...) WIDE_ROW(TCGEMM_E4M3_OF_##code, code, false, __VA_ARGS__)
#include "gpu/families/wgmma/rows.def"
#define ROW_BY_K(...)
#define ROW(code, ...) WIDE_ROW(TCGEMM_E5M2_OF_##code, code, false, __VA_ARGS__)
#include "gpu/families/wgmma/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_wgmma = {
    .algo = "wgmma",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .takes = tcgemm_gpu_takes,
    .takes_what = TCGEMM_GPU_TAKES_WHAT,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
