/* stamp.cuh - makes the kernels of one type from rows.def: four layouts of each row,
 *     tcgemm_mma_pipelined_<type>_<bm>x<bn>x<bk>_<tag>_{nn,nt,tn,tt}
 * of FP8 the one with k contiguous, _nt. The including file has defined TCGEMM_STAMP_<type>.
 */
#include "gpu/families/mma_pipelined/mma_types.cuh"
#include "gpu/families/mma_pipelined/shape.h"

#define TCGEMM_WANTS(type)          TCGEMM_STAMP_##type
#define TCGEMM_TRAITS_wide(traits)  traits
#define TCGEMM_TRAITS_half(traits)  traits##_f16acc
#define TCGEMM_TRAITS_short(traits) traits

/* The transposed product where fragments come out of shared memory better that way round. */
template <class TRAITS, int BM, int BN, int BK, int WM, int WN, int SLICES, int STAGES, int A_FORM,
          int B_FORM>
static __device__ __forceinline__ void tcgemm_mma_run(const tcgemm_gpu_args_t &args) {
    constexpr bool SWAP = tcgemm_fragment_swaps(TRAITS::ELEMENT_BYTES, A_FORM, B_FORM, TCGEMM_ARCH);
    typedef mma_pipelined<TRAITS, SWAP ? BN : BM, SWAP ? BM : BN, BK / SLICES, WM, WN, SLICES,
                          STAGES, SWAP ? B_FORM : A_FORM, SWAP ? A_FORM : B_FORM, SWAP>
        tile_t;
    static_assert(tile_t::THREADS * SLICES == TCGEMM_MMA_THREADS(BM, BN, WM, WN, SLICES),
                  "shape.h");
    static_assert(tile_t::STAGE_BYTES * STAGES * SLICES ==
                      TCGEMM_MMA_SMEM(BM, BN, BK, TRAITS::ELEMENT_BYTES, STAGES),
                  "shape.h");
    tile_t tile;
    tile.run(args);
}

#define TCGEMM_MMA_KERNEL(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages,              \
                          blocks_per_sm, name, a_form, b_form)                                     \
    extern "C" __global__ void __launch_bounds__(TCGEMM_MMA_THREADS(bm, bn, wm, wn, slices),       \
                                                 blocks_per_sm)                                    \
        name(const __grid_constant__ tcgemm_gpu_args_t args) {                                     \
        if constexpr (TCGEMM_IS_FOR_ARCH(                                                          \
                          min_cc, max_cc,                                                          \
                          TCGEMM_MMA_SMEM(bm, bn, bk, traits::ELEMENT_BYTES, stages)) &&           \
                      !(TCGEMM_IS_SM90A &&                                                         \
                        TCGEMM_MMA_NOT_ON_90(8 * traits::ELEMENT_BYTES, bn, traits::SUMS == 2)))   \
            tcgemm_mma_run<traits, bm, bn, bk, wm, wn, slices, stages, a_form, b_form>(args);      \
    }

#define TCGEMM_MMA_NT(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks, name)    \
    TCGEMM_MMA_KERNEL(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks,          \
                      name##_nt, TCGEMM_FORM_K, TCGEMM_FORM_K)
#define TCGEMM_MMA_OTHERS(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks,      \
                          name)                                                                    \
    TCGEMM_MMA_KERNEL(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks,          \
                      name##_nn, TCGEMM_FORM_K, TCGEMM_FORM_MN)                                    \
    TCGEMM_MMA_KERNEL(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks,          \
                      name##_tn, TCGEMM_FORM_MN, TCGEMM_FORM_MN)                                   \
    TCGEMM_MMA_KERNEL(traits, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks,          \
                      name##_tt, TCGEMM_FORM_MN, TCGEMM_FORM_K)

/* Sums that are short, of FP8: k contiguous alone (family.c); all others: four layouts. */
#define TCGEMM_MMA_LAYOUTS_wide(...)                                                               \
    TCGEMM_MMA_NT(__VA_ARGS__)                                                                     \
    TCGEMM_MMA_OTHERS(__VA_ARGS__)
#define TCGEMM_MMA_LAYOUTS_half(...)  TCGEMM_MMA_LAYOUTS_wide(__VA_ARGS__)
#define TCGEMM_MMA_LAYOUTS_short(...) TCGEMM_MMA_NT(__VA_ARGS__)

#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, wm, wn, slices, stages, blocks, tag)           \
    TCGEMM_MMA_LAYOUTS_##sums(TCGEMM_TRAITS_##sums(type), min_cc, max_cc, bm, bn, bk, wm, wn,      \
                              slices, stages, blocks,                                              \
                              tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag)
#include "gpu/families/mma_pipelined/rows.def"
