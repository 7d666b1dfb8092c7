/* scale.cu - D = beta * C: all that is left of a product when alpha or k is 0.
 *
 * A block takes rows of D, gridDim.x apart, its threads the columns; without C it writes zeros. The
 * product of two short floats is exact in f64, so D is rounded once.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gpu/gpu_args.h"

struct f64_scale {
    using element = double;
    static __device__ double of(const tcgemm_gpu_args_t &args, double c) {
        return args.beta.f64 * c;
    }
};

struct f32_scale {
    using element = float;
    static __device__ float of(const tcgemm_gpu_args_t &args, float c) {
        return args.beta.f32 * c;
    }
};

struct f16_scale {
    using element = __half;
    static __device__ __half of(const tcgemm_gpu_args_t &args, __half c) {
        return __double2half((double)args.beta.f32 * (double)__half2float(c));
    }
};

struct bf16_scale {
    using element = __nv_bfloat16;
    static __device__ __nv_bfloat16 of(const tcgemm_gpu_args_t &args, __nv_bfloat16 c) {
        return __double2bfloat16((double)args.beta.f32 * (double)__bfloat162float(c));
    }
};

struct s32_scale {
    using element = uint32_t;
    static __device__ uint32_t of(const tcgemm_gpu_args_t &args, uint32_t c) {
        return args.beta.s32 * c;
    }
};

template <typename Scale> __device__ void scale(const tcgemm_gpu_args_t &args) {
    using element = typename Scale::element;
    for (int64_t line = blockIdx.x; line < args.m * args.batch; line += gridDim.x) {
        const int64_t item = line / args.m;
        const int64_t row = line - item * args.m;
        element *const d = (element *)args.d + item * args.stride_d + row * args.ldd;
        const element *const c =
            args.c ? (const element *)args.c + item * args.stride_c + row * args.ldc : nullptr;
        for (int64_t j = threadIdx.x; j < args.n; j += blockDim.x)
            d[j] = c ? Scale::of(args, c[j]) : element(0);
    }
}

extern "C" __global__ void tcgemm_scale_f64(const __grid_constant__ tcgemm_gpu_args_t args) {
    scale<f64_scale>(args);
}

extern "C" __global__ void tcgemm_scale_f32(const __grid_constant__ tcgemm_gpu_args_t args) {
    scale<f32_scale>(args);
}

extern "C" __global__ void tcgemm_scale_f16(const __grid_constant__ tcgemm_gpu_args_t args) {
    scale<f16_scale>(args);
}

extern "C" __global__ void tcgemm_scale_bf16(const __grid_constant__ tcgemm_gpu_args_t args) {
    scale<bf16_scale>(args);
}

extern "C" __global__ void tcgemm_scale_s32(const __grid_constant__ tcgemm_gpu_args_t args) {
    scale<s32_scale>(args);
}
