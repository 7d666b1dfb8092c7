/* fma.cuh - multiply-adds, one of which stays where it is written.
 * PTX ISA, Floating Point Instructions: "fma"; Integer Arithmetic Instructions: "mad". Volatile on
 * sm_90: the order of the products decides what the next one need not read again, and no compiler
 * shuffles them. Elsewhere the compiler may, for it needs fewer registers so.
 */
#ifndef TCGEMM_PTX_FMA_CUH
#define TCGEMM_PTX_FMA_CUH

#include <stdint.h>

/* *sum += a * b */
static __device__ __forceinline__ void tcgemm_fma(float *sum, float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(*sum) : "f"(a), "f"(b));
#else
    *sum = fmaf(a, b, *sum);
#endif
}

/* The next two as the compiler likes. */
static __device__ __forceinline__ void tcgemm_fma_f64(double *sum, double a, double b) {
    *sum = fma(a, b, *sum);
}

/* Modulo 2^32. */
static __device__ __forceinline__ void tcgemm_mad_u32(uint32_t *sum, uint32_t a, uint32_t b) {
    *sum += a * b;
}

#endif
