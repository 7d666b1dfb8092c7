/* stamp.cuh - makes the kernels of one type from rows.def: of each row
 *     tcgemm_stream_<type>_<few>_nt    the large operand has k contiguous
 *     tcgemm_stream_<type>_<few>_nn    it has not
 * both for few rows and for few columns (args.streams_a); where the types of A and B differ, that
 * of A is the large one. The including file has defined TCGEMM_STAMP_<type>.
 */
#include "gpu/arch.cuh"
#include "gpu/families/stream/shape.h"
#include "gpu/families/stream/stream.cuh"
#include "gpu/families/stream/stream_types.cuh"

#define TCGEMM_WANTS(type) TCGEMM_STAMP_##type

#define TCGEMM_STREAM_KERNEL(type, min_cc, max_cc, few, bk, warps, blocks, name, is_k_form)        \
    extern "C" __global__ void __launch_bounds__(TCGEMM_STREAM_THREADS(warps), blocks)             \
        name(const __grid_constant__ tcgemm_gpu_args_t args) {                                     \
        extern __shared__ __align__(16) char tcgemm_stream_smem[];                                 \
        static_assert(128 / type::ELEMENT_BYTES == bk, "a row of " #type " says another bk");      \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc,                                           \
                                         TCGEMM_STREAM_SMEM(few, warps, sizeof(type::scalar))) &&  \
                      !(TCGEMM_IS_SM90A && TCGEMM_STREAM_NOT_ON_90(type::HOLDS_WORDS, few)))       \
            stream_kernel<type, few, warps, is_k_form>(args, tcgemm_stream_smem).run();            \
    }

#define ROW(type, sums, min_cc, max_cc, few, bk, warps, blocks)                                    \
    TCGEMM_STREAM_KERNEL(type, min_cc, max_cc, few, bk, warps, blocks,                             \
                         tcgemm_stream_##type##_##few##_nt, true)                                  \
    TCGEMM_STREAM_KERNEL(type, min_cc, max_cc, few, bk, warps, blocks,                             \
                         tcgemm_stream_##type##_##few##_nn, false)
#include "gpu/families/stream/rows.def"
