/* elements.cuh - elements of C and D, and alpha and beta, as kernels compute with them. */
#ifndef TCGEMM_GPU_ELEMENTS_CUH
#define TCGEMM_GPU_ELEMENTS_CUH

#include "gpu/gpu_args.h"
#include "gpu/ptx/cvt.cuh"

static __device__ __forceinline__ void scalars(const tcgemm_gpu_args_t &args, float *alpha,
                                               float *beta) {
    *alpha = args.alpha.f32;
    *beta = args.beta.f32;
}
static __device__ __forceinline__ void scalars(const tcgemm_gpu_args_t &args, double *alpha,
                                               double *beta) {
    *alpha = args.alpha.f64;
    *beta = args.beta.f64;
}
static __device__ __forceinline__ void scalars(const tcgemm_gpu_args_t &args, uint32_t *alpha,
                                               uint32_t *beta) {
    *alpha = args.alpha.s32;
    *beta = args.beta.s32;
}

struct store_f32 {
    typedef float out;
    static __device__ __forceinline__ float load(float x) {
        return x;
    }
    static __device__ __forceinline__ float store(float x) {
        return x;
    }
};

struct store_f16 {
    typedef uint16_t out;
    static __device__ __forceinline__ float load(uint16_t x) {
        return tcgemm_cvt_f32_f16(x);
    }
    static __device__ __forceinline__ uint16_t store(float x) {
        return tcgemm_cvt_rn_f16_f32(x);
    }
};

struct store_bf16 {
    typedef uint16_t out;
    static __device__ __forceinline__ float load(uint16_t x) {
        return tcgemm_cvt_f32_bf16(x);
    }
    static __device__ __forceinline__ uint16_t store(float x) {
        return tcgemm_cvt_rn_bf16_f32(x);
    }
};

struct store_s32 {
    typedef uint32_t out;
    static __device__ __forceinline__ uint32_t load(uint32_t x) {
        return x;
    }
    static __device__ __forceinline__ uint32_t store(uint32_t x) {
        return x;
    }
};

struct store_f64 {
    typedef double out;
    static __device__ __forceinline__ double load(double x) {
        return x;
    }
    static __device__ __forceinline__ double store(double x) {
        return x;
    }
};

#endif
