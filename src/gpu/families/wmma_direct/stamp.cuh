/* stamp.cuh - makes the kernels of one type from rows.def: four layouts of each row,
 *     tcgemm_wmma_direct_<type>_<bm>x<bn>x<bk>_<tag>_{nn,nt,tn,tt}
 * The including file has defined TCGEMM_STAMP_<type>.
 */
#include "gpu/families/wmma_direct/wmma_direct.cuh"

#define TCGEMM_WANTS(type)     TCGEMM_STAMP_##type
#define TCGEMM_PAIR_wide(type) tcgemm_wmma_##type
#define TCGEMM_PAIR_half(type) tcgemm_wmma_##type##acc

#define TCGEMM_WMMA_DIRECT_KERNEL(pair, min_cc, max_cc, bm, bn, bk, depth, blocks, name, ta, tb)   \
    extern "C" __global__ void __launch_bounds__(TCGEMM_WMMA_DIRECT_THREADS, blocks)               \
        name(const __grid_constant__ tcgemm_gpu_args_t args) {                                     \
        static_assert(pair::CHUNK == bk, "a row of " #pair " says another bk");                    \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc, 0))                                       \
            tcgemm_wmma_direct<pair, bm / TCGEMM_WMMA_DIRECT_WARPS, bn / TCGEMM_WMMA_DIRECT_WARPS, \
                               depth, ta, tb>(args);                                               \
    }

#define TCGEMM_WMMA_DIRECT_LAYOUTS(pair, min_cc, max_cc, bm, bn, bk, depth, blocks, name)          \
    TCGEMM_WMMA_DIRECT_KERNEL(pair, min_cc, max_cc, bm, bn, bk, depth, blocks, name##_nn, 0, 0)    \
    TCGEMM_WMMA_DIRECT_KERNEL(pair, min_cc, max_cc, bm, bn, bk, depth, blocks, name##_nt, 0, 1)    \
    TCGEMM_WMMA_DIRECT_KERNEL(pair, min_cc, max_cc, bm, bn, bk, depth, blocks, name##_tn, 1, 0)    \
    TCGEMM_WMMA_DIRECT_KERNEL(pair, min_cc, max_cc, bm, bn, bk, depth, blocks, name##_tt, 1, 1)

#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, depth, blocks, tag)                            \
    TCGEMM_WMMA_DIRECT_LAYOUTS(TCGEMM_PAIR_##sums(type), min_cc, max_cc, bm, bn, bk, depth,        \
                               blocks, tcgemm_wmma_direct_##type##_##bm##x##bn##x##bk##_##tag)
#include "gpu/families/wmma_direct/rows.def"
