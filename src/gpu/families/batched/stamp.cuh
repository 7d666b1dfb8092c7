/* stamp.cuh - makes the kernels of one type from rows.def: four layouts of its row,
 *     tcgemm_batched_<type>_32x32x<bk>_warp_{nn,nt,tn,tt}
 * The including file has defined TCGEMM_STAMP_<type>.
 */
#include "gpu/arch.cuh"
#include "gpu/families/batched/batched.cuh"
#include "gpu/families/batched/batched_types.cuh"
#include "gpu/families/batched/shape.h"

#define TCGEMM_WANTS(type) TCGEMM_STAMP_##type

#define TCGEMM_BATCHED_KERNEL(type, min_cc, max_cc, stage, blocks, name, a_k, b_k)                 \
    extern "C" __global__ void __launch_bounds__(TCGEMM_BATCHED_THREADS, blocks)                   \
        name(const __grid_constant__ tcgemm_gpu_args_t args) {                                     \
        extern __shared__ __align__(16) char tcgemm_batched_smem[];                                \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc, TCGEMM_BATCHED_SMEM(stage)))              \
            batched_kernel<type, stage, a_k, b_k>(args, tcgemm_batched_smem).run();                \
    }

#define ROW(type, sums, min_cc, max_cc, bk, stage, blocks)                                         \
    TCGEMM_BATCHED_KERNEL(type, min_cc, max_cc, stage, blocks,                                     \
                          tcgemm_batched_##type##_32x32x##bk##_warp_nn, true, false)               \
    TCGEMM_BATCHED_KERNEL(type, min_cc, max_cc, stage, blocks,                                     \
                          tcgemm_batched_##type##_32x32x##bk##_warp_nt, true, true)                \
    TCGEMM_BATCHED_KERNEL(type, min_cc, max_cc, stage, blocks,                                     \
                          tcgemm_batched_##type##_32x32x##bk##_warp_tn, false, false)              \
    TCGEMM_BATCHED_KERNEL(type, min_cc, max_cc, stage, blocks,                                     \
                          tcgemm_batched_##type##_32x32x##bk##_warp_tt, false, true)
#include "gpu/families/batched/rows.def"
