/* reduce.cu - D = alpha * (sum of the parts of k) + beta * C: the last step of a split product.
 *
 *     parts     s0  s1  s2  s3  s4  s5 ..       each an m x n matrix of sums
 *     lane      0   1   0   1   0   1           `lanes` threads share the parts of one place
 *
 * of D, in turns; then lane 0 adds theirs up in order.
 *
 * That order depends on the number of parts alone, so the bits are the same run after run. A thread
 * holds 16 bytes of sums: their rows are on 16-byte boundaries (expand.c).
 */
#include <stdint.h>

#include "gpu/gpu_args.h"
#include "gpu/ptx/cvt.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/shared.cuh"

enum { THREADS = 256, PIECE = 16 };

struct reduce_f64 {
    typedef double sum;
    typedef double out;
    static __device__ double alpha(const tcgemm_gpu_args_t &args) {
        return args.alpha.f64;
    }
    static __device__ double beta(const tcgemm_gpu_args_t &args) {
        return args.beta.f64;
    }
    static __device__ double load(double x) {
        return x;
    }
    static __device__ double store(double x) {
        return x;
    }
};

struct reduce_f32 {
    typedef float sum;
    typedef float out;
    static __device__ float alpha(const tcgemm_gpu_args_t &args) {
        return args.alpha.f32;
    }
    static __device__ float beta(const tcgemm_gpu_args_t &args) {
        return args.beta.f32;
    }
    static __device__ float load(float x) {
        return x;
    }
    static __device__ float store(float x) {
        return x;
    }
};

struct reduce_f16 : reduce_f32 {
    typedef uint16_t out;
    static __device__ float load(uint16_t x) {
        return tcgemm_cvt_f32_f16(x);
    }
    static __device__ uint16_t store(float x) {
        return tcgemm_cvt_rn_f16_f32(x);
    }
};

struct reduce_bf16 : reduce_f32 {
    typedef uint16_t out;
    static __device__ float load(uint16_t x) {
        return tcgemm_cvt_f32_bf16(x);
    }
    static __device__ uint16_t store(float x) {
        return tcgemm_cvt_rn_bf16_f32(x);
    }
};

struct reduce_s32 {
    typedef uint32_t sum;
    typedef uint32_t out;
    static __device__ uint32_t alpha(const tcgemm_gpu_args_t &args) {
        return args.alpha.s32;
    }
    static __device__ uint32_t beta(const tcgemm_gpu_args_t &args) {
        return args.beta.s32;
    }
    static __device__ uint32_t load(uint32_t x) {
        return x;
    }
    static __device__ uint32_t store(uint32_t x) {
        return x;
    }
};

/* Threads that share the parts of one place. With 64 parts of 256 x 256 sums 32 threads are slower
 * than 8 on an H200, with 512 parts of 64 x 64 they are faster. */
static __device__ __forceinline__ uint32_t lanes_for(uint32_t splits) {
    return splits >= 128 ? 32 : splits >= 16 ? 8 : splits >= 4 ? 2 : 1;
}

template <class Type> static __device__ __forceinline__ void reduce(const tcgemm_gpu_args_t &args) {
    typedef typename Type::sum sum;
    typedef typename Type::out out;
    enum { COUNT = PIECE / sizeof(sum) };
    struct alignas(PIECE) piece_t {
        sum v[COUNT];
    };
    TCGEMM_SHARED_ARRAY(piece_t, shared, THREADS);
    const uint32_t lanes = lanes_for(args.splits), places = THREADS / lanes;
    const uint32_t lane = threadIdx.x / places, place = threadIdx.x % places;
    const int64_t in_row = (args.n + COUNT - 1) / COUNT, all = in_row * args.m * args.batch;
    const sum alpha = Type::alpha(args), beta = Type::beta(args);
    tcgemm_wait_for_grids();
    tcgemm_let_next_grid_begin();

    for (int64_t first = (int64_t)blockIdx.x * places; first < all;
         first += (int64_t)gridDim.x * places) {
        const int64_t at = first + place;
        const int64_t line = at / in_row, col = at % in_row * COUNT;
        const int64_t item = line / args.m, row = line % args.m;
        piece_t total = {};
        if (at < all) {
            const sum *from = (const sum *)args.a + (item * args.splits + lane) * args.stride_a +
                              row * args.lda + col;
#pragma unroll 8
            for (uint32_t s = lane; s < args.splits; s += lanes, from += lanes * args.stride_a) {
                const piece_t part = *(const piece_t *)from;
#pragma unroll
                for (int i = 0; i < COUNT; ++i)
                    total.v[i] += part.v[i];
            }
        }
        shared[threadIdx.x] = total;
        __syncthreads();
        if (lane == 0 && at < all) {
            for (uint32_t other = 1; other < lanes; ++other)
#pragma unroll
                for (int i = 0; i < COUNT; ++i)
                    total.v[i] += shared[other * places + place].v[i];
            out *d = (out *)args.d + item * args.stride_d + row * args.ldd + col;
            const out *c = args.c
                               ? (const out *)args.c + item * args.stride_c + row * args.ldc + col
                               : nullptr;
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                if (col + i < args.n) {
                    const sum product = alpha * total.v[i];
                    d[i] = Type::store(c ? product + beta * Type::load(c[i]) : product);
                }
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tcgemm_reduce_f64(const __grid_constant__ tcgemm_gpu_args_t args) {
    reduce<reduce_f64>(args);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tcgemm_reduce_f32(const __grid_constant__ tcgemm_gpu_args_t args) {
    reduce<reduce_f32>(args);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tcgemm_reduce_f16(const __grid_constant__ tcgemm_gpu_args_t args) {
    reduce<reduce_f16>(args);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* cvt to bf16 */
extern "C" __global__ void __launch_bounds__(THREADS)
    tcgemm_reduce_bf16(const __grid_constant__ tcgemm_gpu_args_t args) {
    reduce<reduce_bf16>(args);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    tcgemm_reduce_s32(const __grid_constant__ tcgemm_gpu_args_t args) {
    reduce<reduce_s32>(args);
}
