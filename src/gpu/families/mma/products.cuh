/* products.cuh - what a product of mma.sync is: 16 x 8 sums of one step of k, for kernels that hold
 * fragments in registers. Words are those of the instruction: a[0], a[1] rows g and g + 8 of the
 * first half of the step, a[2], a[3] of the second; b[0], b[1] its halves (tile/fragment.h).
 */
#ifndef TCGEMM_MMA_PRODUCTS_CUH
#define TCGEMM_MMA_PRODUCTS_CUH

#include "gpu/arch.cuh"
#include "gpu/ptx/cvt.cuh"
#include "gpu/ptx/mma.cuh"

struct product_f32 { /* the frame of those that sum in f32 */
    typedef uint32_t word;
    typedef float sum;
    typedef float scalar;
    enum { SUMS = 4, LONG = 0, WHOLE = 0 };
    static __device__ __forceinline__ uint32_t prepare(uint32_t w) {
        return w;
    }
    static __device__ __forceinline__ float value(const float c[4], int i) {
        return c[i];
    }
};

struct product_f16 : product_f32 {
    enum { ELEMENT_BYTES = 2 };
    static __device__ __forceinline__ void mma(float c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_mma_m16n8k16_f32_f16(c, a, b);
#else
        tcgemm_mma_m16n8k8_f32_f16(c, a, b);
        tcgemm_mma_m16n8k8_f32_f16(c, a + 2, b + 1);
#endif
    }
};

/* Sums in half precision, on request. */
struct product_f16acc {
    typedef uint32_t word;
    typedef uint32_t sum; /* two halves */
    typedef float scalar;
    enum { ELEMENT_BYTES = 2, SUMS = 2, LONG = 0, WHOLE = 0 };
    static __device__ __forceinline__ uint32_t prepare(uint32_t w) {
        return w;
    }
    static __device__ __forceinline__ float value(const uint32_t c[2], int i) {
        return tcgemm_cvt_f32_f16((uint16_t)(c[i / 2] >> 16 * (i % 2)));
    }
    static __device__ __forceinline__ void mma(uint32_t c[2], const uint32_t a[4],
                                               const uint32_t b[2]) {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_mma_m16n8k16_f16_f16(c, a, b);
#else
        tcgemm_mma_m16n8k8_f16_f16(c, a, b);
        tcgemm_mma_m16n8k8_f16_f16(c, a + 2, b + 1);
#endif
    }
};

struct product_bf16 : product_f32 {
    enum { ELEMENT_BYTES = 2 };
    static __device__ __forceinline__ void mma(float c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
        tcgemm_mma_m16n8k16_f32_bf16(c, a, b);
    }
};

struct product_tf32 : product_f32 {
    enum { ELEMENT_BYTES = 4 };
    static __device__ __forceinline__ uint32_t prepare(uint32_t w) {
        return tcgemm_cvt_rna_tf32(w);
    }
    static __device__ __forceinline__ void mma(float c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
        tcgemm_mma_m16n8k8_f32_tf32(c, a, b);
    }
};

/* 8 bit; A and B signed or not. sm_75 has m8n8k16 alone: four of them. */
template <int A_SIGNED, int B_SIGNED> struct product_8bit {
    typedef uint32_t word;
    typedef uint32_t sum;
    typedef uint32_t scalar;
    enum { ELEMENT_BYTES = 1, SUMS = 4, LONG = 0, WHOLE = 0 };
    static __device__ __forceinline__ uint32_t prepare(uint32_t w) {
        return w;
    }
    static __device__ __forceinline__ uint32_t value(const uint32_t c[4], int i) {
        return c[i];
    }
#if TCGEMM_HAVE_CP_ASYNC
    static __device__ __forceinline__ void mma(uint32_t c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
        if (A_SIGNED && B_SIGNED)
            tcgemm_mma_m16n8k32_s8_s8(c, a, b);
        else if (A_SIGNED)
            tcgemm_mma_m16n8k32_s8_u8(c, a, b);
        else if (B_SIGNED)
            tcgemm_mma_m16n8k32_u8_s8(c, a, b);
        else
            tcgemm_mma_m16n8k32_u8_u8(c, a, b);
    }
#else
    static __device__ __forceinline__ void mma8(uint32_t c[2], const uint32_t a[1],
                                                const uint32_t b[1]) {
        if (A_SIGNED && B_SIGNED)
            tcgemm_mma_m8n8k16_s8_s8(c, a, b);
        else if (A_SIGNED)
            tcgemm_mma_m8n8k16_s8_u8(c, a, b);
        else if (B_SIGNED)
            tcgemm_mma_m8n8k16_u8_s8(c, a, b);
        else
            tcgemm_mma_m8n8k16_u8_u8(c, a, b);
    }
    static __device__ __forceinline__ void mma(uint32_t c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
        mma8(c, a, b);
        mma8(c + 2, a + 1, b);
        mma8(c, a + 2, b + 1);
        mma8(c + 2, a + 3, b + 1);
    }
#endif
};

/* FP8. Its tensor cores sum in 14 bits: the sums of each instruction begin anew, and are added in
 * f32. */
struct product_fp8 : product_f32 {
    enum { ELEMENT_BYTES = 1, WHOLE = 1 };
    static __device__ __forceinline__ void promote(float c[4], const float part[4]) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            c[i] += part[i];
    }
};

struct product_e4m3 : product_fp8 {
    static __device__ __forceinline__ void mma(float c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
        float part[4] = {0, 0, 0, 0};
        tcgemm_mma_m16n8k32_f32_e4m3(part, a, b);
        promote(c, part);
    }
};

struct product_e5m2 : product_fp8 {
    static __device__ __forceinline__ void mma(float c[4], const uint32_t a[4],
                                               const uint32_t b[2]) {
        float part[4] = {0, 0, 0, 0};
        tcgemm_mma_m16n8k32_f32_e5m2(part, a, b);
        promote(c, part);
    }
};

struct product_f64 {
    typedef double word;
    typedef double sum;
    typedef double scalar;
    enum { ELEMENT_BYTES = 8, SUMS = 4, WHOLE = 0 };
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    enum { LONG = 1 };
#else
    enum { LONG = 0 };
#endif
    static __device__ __forceinline__ double prepare(double w) {
        return w;
    }
    static __device__ __forceinline__ double value(const double c[4], int i) {
        return c[i];
    }
    static __device__ __forceinline__ void mma(double c[4], const double a[4], const double b[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        tcgemm_mma_m16n8k8_f64(c, a, b);
#else
        tcgemm_mma_m8n8k4_f64(c, a, b);
        tcgemm_mma_m8n8k4_f64(c + 2, a + 1, b);
        tcgemm_mma_m8n8k4_f64(c, a + 2, b + 1);
        tcgemm_mma_m8n8k4_f64(c + 2, a + 3, b + 1);
#endif
    }
};

#endif
