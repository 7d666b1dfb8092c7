/* family.c - mma-pipelined: its rows, from rows.def. The story is in mma_pipelined.cuh. */
#include "gpu/expand.h"
#include "gpu/families/mma_pipelined/shape.h"
#include "gpu/gpu_row.h"

/* The instruction: 16 x 8 by 32 bytes of k, f64 by 16 elements; sm_75 has half of k, 8-bit types 8
 * x 8 by 16. */
#define BITS(type) TCGEMM_INPUT_BITS_##type

/* Short sums are those of FP8. Its kernels have no loop but that of whole rows with k contiguous,
 * for room: what lies otherwise is packed. */
#define BOUND_wide(code)  TCGEMM_TENSOR_BOUND_##code
#define BOUND_half(code)  TCGEMM_TENSOR_BOUND_##code
#define BOUND_short(code) TCGEMM_BOUND_SHORT
#define IS_FP8_wide       0
#define IS_FP8_half       0
#define IS_FP8_short      1
#define IS_HALF_wide      0
#define IS_HALF_half      1
#define IS_HALF_short     0
#define TAKES(sums)       (tcgemm_takes_t)(IS_FP8_##sums ? TCGEMM_TAKES_K : 0)

#define WIDE_ROW(type, code, sums, min_cc, max_cc_, bm_, bn_, bk_, wm_, wn_, slices, stages_,      \
                 blocks, tag)                                                                      \
    TCGEMM_GPU_WIDE_ROW(mma_pipelined, mma_pipelined, type, code, sums, min_cc, max_cc_, bm_, bn_, \
                        bk_, tag, BOUND_##sums(code), bm_, bn_, bk_, .wm = (wm_), .wn = (wn_),     \
                        .im = (max_cc_) == 75 && BITS(code) == 8 ? 8 : 16, .in = 8,                \
                        .ik = (max_cc_) == 75    ? 128 / BITS(code)                                \
                              : BITS(code) == 64 ? 16                                              \
                                                 : 256 / BITS(code),                               \
                        .threads = TCGEMM_MMA_THREADS(bm_, bn_, wm_, wn_, slices),                 \
                        .stages = (stages_),                                                       \
                        .smem_bytes = TCGEMM_MMA_SMEM(bm_, bn_, bk_, BITS(code) / 8, stages_),     \
                        .blocks_per_sm = (blocks), .splits_k = true, .pads_rows = true,            \
                        .not_on_90 = TCGEMM_MMA_NOT_ON_90(BITS(code), bn_, IS_HALF_##sums),        \
                        .waits = true, .fp8_mma = IS_FP8_##sums, .whole_rows = IS_FP8_##sums,      \
                        .takes_a = TAKES(sums), .takes_b = TAKES(sums))

/* Of each row of bf16 one of fp8, whose operands are bf16 once they are packed: sums in f32. */
static const tcgemm_kernel_t rows[] = {
#define ROW(type, ...) WIDE_ROW(type, type, __VA_ARGS__)
#include "gpu/families/mma_pipelined/rows.def"
#undef TCGEMM_WANTS
#define TCGEMM_WANTS(code) TCGEMM_WIDENS_##code
#define ROW(code, ...)     WIDE_ROW(TCGEMM_E4M3_OF_##code, code, __VA_ARGS__)
#include "gpu/families/mma_pipelined/rows.def"
#define ROW(code, ...) WIDE_ROW(TCGEMM_E5M2_OF_##code, code, __VA_ARGS__)
#include "gpu/families/mma_pipelined/rows.def"
};

const tcgemm_kernel_family_t tcgemm_family_mma_pipelined = {
    .algo = "mma-pipelined",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = tcgemm_gpu_fits,
    .expand = tcgemm_gpu_expand,
    .predict = tcgemm_gpu_predict,
    .bound = tcgemm_gpu_bound,
};
