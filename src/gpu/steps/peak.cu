/* peak.cu - how fast the units are when nothing has to be fetched: multiply-adds on registers
 * alone.
 *
 * Each warp keeps ACCUMULATORS independent sums, so that no instruction waits for the one before
 * it, and walks `steps` rounds over them. Operands are random finite numbers, since zeros would run
 * cooler than real data. The sums are stored only if they come out as something that they cannot
 * be.
 *
 * mma.sync is what mma-pipelined uses; on sm_90 it reaches about five eighths of what
 * wgmma could do in 16 and 8 bits and tf32 (docs/kernels.md). src/cuda/peak.c launches and times
 * these.
 */
#include <stdint.h>

#include "gpu/ptx/mma.cuh"

enum { ACCUMULATORS = 8 };

/* Random bits with the exponent of an f16, bf16 or f32 between 1/4 and 1. */
static __device__ uint32_t operand(uint32_t salt) {
    uint32_t x = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u + salt * 40503u + 1u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (x & 0x83FF83FFu) | 0x34003400u;
}

static __device__ double operand64(uint32_t salt) {
    return (double)(operand(salt) & 0xFFFFu) * 0x1p-16 + 0.25;
}

template <typename T> static __device__ void keep(const T *sums, int count, void *never) {
    T sum = sums[0];
    for (int i = 1; i < count; ++i)
        sum += sums[i];
    if (sum == T(-123457) && never)
        *(T *)never = sum;
}

/* An instruction: registers of A, B and C, and how it is spoken. */
struct f16_op {
    typedef float sum;
    enum { C = 4 };
    static __device__ void run(float *c, const uint32_t *a, const uint32_t *b) {
#if __CUDA_ARCH__ >= 800
        tcgemm_mma_m16n8k16_f32_f16(c, a, b);
#else
        tcgemm_mma_m16n8k8_f32_f16(c, a, b);
        tcgemm_mma_m16n8k8_f32_f16(c, a + 2, b + 1);
#endif
    }
};

struct s8_op {
    typedef uint32_t sum;
    enum { C = 4 };
    static __device__ void run(uint32_t *c, const uint32_t *a, const uint32_t *b) {
#if __CUDA_ARCH__ >= 800
        tcgemm_mma_m16n8k32_s8_s8(c, a, b);
#else
        tcgemm_mma_m8n8k16_s8_s8(c, a, b);
        tcgemm_mma_m8n8k16_s8_s8(c + 2, a + 1, b);
        tcgemm_mma_m8n8k16_s8_s8(c, a + 2, b + 1);
        tcgemm_mma_m8n8k16_s8_s8(c + 2, a + 3, b + 1);
#endif
    }
};

#if __CUDA_ARCH__ >= 800
struct bf16_op {
    typedef float sum;
    enum { C = 4 };
    static __device__ void run(float *c, const uint32_t *a, const uint32_t *b) {
        tcgemm_mma_m16n8k16_f32_bf16(c, a, b);
    }
};

struct tf32_op {
    typedef float sum;
    enum { C = 4 };
    static __device__ void run(float *c, const uint32_t *a, const uint32_t *b) {
        tcgemm_mma_m16n8k8_f32_tf32(c, a, b);
    }
};
#endif

template <typename Op> static __device__ void tensor_peak(int64_t steps, void *never) {
    typename Op::sum c[ACCUMULATORS][Op::C] = {};
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; ++i)
        a[i] = operand(i);
    for (int i = 0; i < 2; ++i)
        b[i] = operand(4 + i);
    for (int64_t step = 0; step < steps; ++step)
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; ++i)
            Op::run(c[i], a, b);
    keep(&c[0][0], ACCUMULATORS * Op::C, never);
}

extern "C" __global__ void __launch_bounds__(256) tcgemm_peak_f16(int64_t steps, void *never) {
    tensor_peak<f16_op>(steps, never);
}

extern "C" __global__ void __launch_bounds__(256) tcgemm_peak_s8(int64_t steps, void *never) {
    tensor_peak<s8_op>(steps, never);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(256) tcgemm_peak_bf16(int64_t steps, void *never) {
    tensor_peak<bf16_op>(steps, never);
}

extern "C" __global__ void __launch_bounds__(256) tcgemm_peak_tf32(int64_t steps, void *never) {
    tensor_peak<tf32_op>(steps, never);
}
#endif

/* 16 x 8 x 16 multiply-adds a warp and accumulator, on the double-precision units or tensor cores.
 */
extern "C" __global__ void __launch_bounds__(256) tcgemm_peak_f64(int64_t steps, void *never) {
    double c[ACCUMULATORS][4] = {};
    double a[8], b[4];
    for (int i = 0; i < 8; ++i)
        a[i] = operand64(i);
    for (int i = 0; i < 4; ++i)
        b[i] = operand64(8 + i);
    for (int64_t step = 0; step < steps; ++step)
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; ++i) {
#if __CUDA_ARCH__ >= 900
            tcgemm_mma_m16n8k16_f64(c[i], a, b);
#elif __CUDA_ARCH__ >= 800
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                tcgemm_mma_m8n8k4_f64(c[i], a + k, b + k);
                tcgemm_mma_m8n8k4_f64(c[i] + 2, a + 4 + k, b + k);
            }
#else
#pragma unroll
            for (int k = 0; k < 64; ++k)
                c[i][k & 3] = fma(a[k & 7], b[k >> 4], c[i][k & 3]);
#endif
        }
    keep(&c[0][0], ACCUMULATORS * 4, never);
}

/* 8 x 8 multiply-adds a thread and step. */
extern "C" __global__ void __launch_bounds__(256) tcgemm_peak_f32(int64_t steps, void *never) {
    enum { SIDE = 8 };
    float c[SIDE][SIDE] = {};
    float a[SIDE], b[SIDE];
    for (int i = 0; i < SIDE; ++i) {
        a[i] = (float)operand64(i);
        b[i] = (float)operand64(SIDE + i);
    }
    for (int64_t step = 0; step < steps; ++step)
#pragma unroll
        for (int i = 0; i < SIDE * SIDE; ++i) {
            /* A snake through the tile: one of the two operands stays for the next. */
            const int row = i / SIDE;
            const int col = row & 1 ? SIDE - 1 - i % SIDE : i % SIDE;
            c[row][col] = fmaf(a[row], b[col], c[row][col]);
        }
    keep(&c[0][0], SIDE * SIDE, never);
}
