/* reduce.cu - D = alpha * (sum of the parts of k) + beta * C: the last step of a split product.
 *
 *     parts     s0  s1  s2  s3  s4  s5 ..       each an m x n matrix of sums
 *     lane      0   1   0   1   0   1           `lanes` threads share the parts of one place
 *
 * of D, in turns; then lane 0 adds theirs up in order.
 *
 * That order depends on the number of parts alone, so the bits are the same run after run. A thread
 * holds 16 bytes of sums, and has as many pieces under way at once as AT_ONCE says: what a launch
 * of some us takes is how long the last of them is on its way. A part is one run of pieces
 * (gpu_args.h), so that no place has to be divided into row and column before they are asked for.
 */
#include <stdint.h>

#include "gpu/gpu_args.h"
#include "gpu/ptx/cvt.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/shared.cuh"
#include "gpu/words.cuh"

enum { PIECE = 16, AT_ONCE = 8 };

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

/* 16 bytes of sums. */
template <class Type> struct alignas(PIECE) reduce_piece {
    enum { COUNT = PIECE / sizeof(typename Type::sum) };
    typename Type::sum v[COUNT];
    __device__ void add(const reduce_piece &other) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            v[i] += other.v[i];
    }
};

/* The sum of parts lane, lane + lanes .. of one place, pieces of which are `in_part` apart. */
template <class Piece>
static __device__ __forceinline__ Piece sum_of_parts(const Piece *place, int64_t in_part,
                                                     uint32_t lane, uint32_t lanes,
                                                     uint32_t parts) {
    Piece total = {};
    for (uint32_t s = lane; s < parts; s += AT_ONCE * lanes) {
        Piece piece[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            const uint32_t part = s + i * lanes;
            piece[i] = part < parts ? place[part * in_part] : Piece{};
        }
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; ++i)
            total.add(piece[i]);
    }
    return total;
}

/* alpha * total + beta * C, to columns of D from `col` on, in one store where it may be. */
template <class Type>
static __device__ __forceinline__ void finish(const tcgemm_gpu_args_t &args, int64_t item,
                                              int64_t row, int64_t col,
                                              const reduce_piece<Type> &total) {
    typedef typename Type::sum sum;
    typedef typename Type::out out;
    enum { COUNT = reduce_piece<Type>::COUNT };
    struct alignas(COUNT * sizeof(out)) result_t {
        out v[COUNT];
    } result;
    const sum alpha = Type::alpha(args), beta = Type::beta(args);
    const out *c =
        args.c ? (const out *)args.c + item * args.stride_c + row * args.ldc + col : nullptr;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const sum product = alpha * total.v[i];
        result.v[i] =
            Type::store(c && col + i < args.n ? product + beta * Type::load(c[i]) : product);
    }
    out *d = (out *)args.d + item * args.stride_d + row * args.ldd + col;
    if (col + COUNT <= args.n && args.vector_d >= sizeof result) {
        tcgemm_store_piece(d, result);
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        if (col + i < args.n)
            d[i] = result.v[i];
}

template <class Type> static __device__ __forceinline__ void reduce(const tcgemm_gpu_args_t &args) {
    typedef reduce_piece<Type> piece_t;
    TCGEMM_SHARED_ARRAY(piece_t, shared, TCGEMM_MOVE_THREADS);
    const uint32_t lanes = TCGEMM_REDUCE_LANES(args.splits.by),
                   places = TCGEMM_MOVE_THREADS / lanes;
    const uint32_t lane = threadIdx.x / places, place = threadIdx.x % places;
    const int64_t in_row = args.lda / piece_t::COUNT, in_part = args.stride_a / piece_t::COUNT;
    const int64_t all = in_part * args.batch;
    tcgemm_wait_for_grids();
    tcgemm_let_next_grid_begin();

    for (int64_t first = (int64_t)blockIdx.x * places; first < all;
         first += (int64_t)gridDim.x * places) {
        const int64_t at = first + place;
        const int64_t item = args.batch > 1 ? at / in_part : 0;
        const int64_t in_item = at - item * in_part;
        piece_t total = {};
        if (at < all)
            total =
                sum_of_parts((const piece_t *)args.a + item * args.splits.by * in_part + in_item,
                             in_part, lane, lanes, args.splits.by);
        shared[threadIdx.x] = total;
        __syncthreads();
        if (lane == 0 && at < all) {
            for (uint32_t other = 1; other < lanes; ++other)
                total.add(shared[other * places + place]);
            const int64_t row = in_item / in_row, col = in_item - row * in_row;
            finish<Type>(args, item, row, col * piece_t::COUNT, total);
        }
        __syncthreads();
    }
}

/* One block an SM is asked for, so that ptxas has registers for all pieces that are under way; with
 * the 40 that it takes unasked it loads some behind others. */
#define TCGEMM_REDUCE(type)                                                                        \
    extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, 1)                           \
        tcgemm_reduce_##type(const __grid_constant__ tcgemm_gpu_args_t args) {                     \
        reduce<reduce_##type>(args);                                                               \
    }

TCGEMM_REDUCE(f64)
TCGEMM_REDUCE(f32)
TCGEMM_REDUCE(f16)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* cvt to bf16 */
TCGEMM_REDUCE(bf16)
#endif
TCGEMM_REDUCE(s32)
