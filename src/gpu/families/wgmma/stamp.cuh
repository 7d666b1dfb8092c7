/* stamp.cuh - makes the kernels of one type from rows.def: of each row
 *     tcgemm_wgmma_<type>_<bm>x<bn>x<bk>_<tag>_{nn,nt,tn,tt}     16 bit, and what warps bring
 *     tcgemm_wgmma_<type>_<bm>x<bn>x<bk>_<tag>_nt                8 bit: k contiguous
 *     tcgemm_wgmma_<type>_<bm>x<bn>x<bk>_<tag>_{nt,tt}           tf32: or one operand by registers,
 *     tcgemm_wgmma_<type>_<bm>x<bn>x<bk>_<tag>_{nt,nn}           ... of swapped tiles the other one
 * Where shape.h says that an operand is not taken so, or that threads gather it, for which there is
 * one form, the kernel is empty and nobody calls it. The including file has defined
 * TCGEMM_STAMP_<type>.
 */
#include "gpu/families/wgmma/shape.h"
#include "gpu/families/wgmma/wgmma.cuh"
#include "gpu/families/wgmma/wgmma_types.cuh"

#define TCGEMM_WANTS(type) TCGEMM_STAMP_##type

template <class TYPE, int BM, int BN, int CONSUMERS, int TURNS, int SWAP, int STAGES, int BLOCKS,
          int RANKS, int BY_WARPS, int A_FORM, int B_FORM>
static __device__ __forceinline__ void tcgemm_wgmma_run(const tcgemm_tensor_args_t &x) {
    typedef wgmma_kernel<TYPE, SWAP ? BN : BM, SWAP ? BM : BN, CONSUMERS, TURNS, STAGES, RANKS,
                         SWAP ? B_FORM : A_FORM, SWAP ? A_FORM : B_FORM, SWAP,
                         TCGEMM_WGMMA_BOX_ROWS(BM, BN, CONSUMERS, SWAP, STAGES, BLOCKS, RANKS),
                         BY_WARPS>
        kernel_t;
    static_assert(kernel_t::SMEM_BYTES ==
                      TCGEMM_WGMMA_SMEM(BM, BN, CONSUMERS, SWAP, STAGES, BLOCKS, RANKS, BY_WARPS),
                  "shape.h");
    kernel_t kernel;
    kernel.run(x);
}

/* What an operand in that form asks of its side: TAKES_LEFT, TAKES_RIGHT. */
#define TCGEMM_WGMMA_LIES(form) ((form) == TCGEMM_FORM_K ? TCGEMM_TAKES_K : TCGEMM_TAKES_MN)

#define TCGEMM_WGMMA_KERNEL(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages,          \
                            blocks_per_sm, ranks, by_warps, name, a_form, b_form)                  \
    extern "C" __global__ void __launch_bounds__(                                                  \
        TCGEMM_WGMMA_THREADS(bm, bn, consumers, by_warps), blocks_per_sm)                          \
        name(const __grid_constant__ tcgemm_tensor_args_t x) {                                     \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc,                                           \
                                         TCGEMM_WGMMA_SMEM(bm, bn, consumers, swap, stages,        \
                                                           blocks_per_sm, ranks, by_warps)) &&     \
                      (TCGEMM_WGMMA_TAKES_LEFT(8 * type::ELEMENT_BYTES, bm, bn, consumers, turns,  \
                                               swap, by_warps) &                                   \
                       TCGEMM_WGMMA_LIES((swap) ? (b_form) : (a_form))) &&                         \
                      (TCGEMM_WGMMA_TAKES_RIGHT(8 * type::ELEMENT_BYTES, (swap) ? (bm) : (bn),     \
                                                by_warps) &                                        \
                       TCGEMM_WGMMA_LIES((swap) ? (a_form) : (b_form))) &&                         \
                      (((swap) ? (a_form) : (b_form)) == TCGEMM_FORM_K ||                          \
                       !TCGEMM_WGMMA_GATHERS(8 * type::ELEMENT_BYTES, (swap) ? (bm) : (bn))))      \
            tcgemm_wgmma_run<type, bm, bn, consumers, turns, swap, stages, blocks_per_sm, ranks,   \
                             by_warps, a_form, b_form>(x);                                         \
    }

#define TCGEMM_WGMMA_NT(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name)                                                     \
    TCGEMM_WGMMA_KERNEL(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name##_nt, TCGEMM_FORM_K, TCGEMM_FORM_K)
#define TCGEMM_WGMMA_NN(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name)                                                     \
    TCGEMM_WGMMA_KERNEL(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name##_nn, TCGEMM_FORM_K, TCGEMM_FORM_MN)
#define TCGEMM_WGMMA_TN(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name)                                                     \
    TCGEMM_WGMMA_KERNEL(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name##_tn, TCGEMM_FORM_MN, TCGEMM_FORM_MN)
#define TCGEMM_WGMMA_TT(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name)                                                     \
    TCGEMM_WGMMA_KERNEL(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,      \
                        ranks, by_warps, name##_tt, TCGEMM_FORM_MN, TCGEMM_FORM_K)

/* What LAYOUTS of a type may be: k contiguous; all four; NT and the layout of the left operand by
 * registers, which of a swapped tile is B. */
#define TCGEMM_WGMMA_ONE TCGEMM_WGMMA_NT
#define TCGEMM_WGMMA_FOUR(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,    \
                          ranks, by_warps, name)                                                   \
    TCGEMM_WGMMA_NT(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, ranks,   \
                    by_warps, name)                                                                \
    TCGEMM_WGMMA_NN(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, ranks,   \
                    by_warps, name)                                                                \
    TCGEMM_WGMMA_TN(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, ranks,   \
                    by_warps, name)                                                                \
    TCGEMM_WGMMA_TT(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, ranks,   \
                    by_warps, name)
#define TCGEMM_WGMMA_LEFT_0 TCGEMM_WGMMA_TT
#define TCGEMM_WGMMA_LEFT_1 TCGEMM_WGMMA_NN
#define TCGEMM_WGMMA_LEFT(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,    \
                          ranks, by_warps, name)                                                   \
    TCGEMM_WGMMA_NT(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, ranks,   \
                    by_warps, name)                                                                \
    TCGEMM_WGMMA_LEFT_##swap(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, \
                             ranks, by_warps, name)

#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, consumers, turns, swap, stages, blocks, ranks, \
            tag)                                                                                   \
    TCGEMM_WGMMA_LAYOUTS(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks,     \
                         ranks, 0, tcgemm_wgmma_##type##_##bm##x##bn##x##bk##_##tag)
#define ROW_BY_WARPS(type, sums, min_cc, max_cc, bm, bn, bk, consumers, turns, swap, stages,       \
                     blocks, ranks, tag)                                                           \
    TCGEMM_WGMMA_FOUR(type, min_cc, max_cc, bm, bn, consumers, turns, swap, stages, blocks, ranks, \
                      1, tcgemm_wgmma_##type##_##bm##x##bn##x##bk##_##tag)
#include "gpu/families/wgmma/rows.def"
