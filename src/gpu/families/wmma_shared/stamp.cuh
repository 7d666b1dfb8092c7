/* stamp.cuh - makes the kernels of one type from rows.def: four layouts of each row,
 *     tcgemm_wmma_shared_<type>_<bm>x<bn>x<bk>_<tag>_{nn,nt,tn,tt}
 * The including file has defined TCGEMM_STAMP_<type>.
 */
#include "gpu/families/wmma_shared/wmma_shared.cuh"

#define TCGEMM_WANTS(type)     TCGEMM_STAMP_##type
#define TCGEMM_PAIR_wide(type) tcgemm_wmma_##type

#define TCGEMM_WMMA_SHARED_KERNEL(pair, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, name,  \
                                  ta, tb)                                                          \
    extern "C" __global__ void __launch_bounds__(TCGEMM_WMMA_SHARED_THREADS, blocks)               \
        name(const __grid_constant__ tcgemm_gpu_args_t args) {                                     \
        extern __shared__ __align__(1024) char tcgemm_wmma_smem[];                                 \
        static_assert(pair::CHUNK == bk, "a row of " #pair " says another bk");                    \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc, TCGEMM_WMMA_SHARED_SMEM(bm, bn, stages))) \
            tcgemm_wmma_shared<pair, bm, bn, wm, wn, stages, ta, tb>(args, tcgemm_wmma_smem);      \
    }

#define TCGEMM_WMMA_SHARED_LAYOUTS(pair, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, name) \
    TCGEMM_WMMA_SHARED_KERNEL(pair, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, name##_nn, \
                              0, 0)                                                                \
    TCGEMM_WMMA_SHARED_KERNEL(pair, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, name##_nt, \
                              0, 1)                                                                \
    TCGEMM_WMMA_SHARED_KERNEL(pair, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, name##_tn, \
                              1, 0)                                                                \
    TCGEMM_WMMA_SHARED_KERNEL(pair, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, name##_tt, \
                              1, 1)

#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, tag)                   \
    TCGEMM_WMMA_SHARED_LAYOUTS(TCGEMM_PAIR_##sums(type), min_cc, max_cc, bm, bn, bk, wm, wn,       \
                               stages, blocks,                                                     \
                               tcgemm_wmma_shared_##type##_##bm##x##bn##x##bk##_##tag)
#include "gpu/families/wmma_shared/rows.def"
