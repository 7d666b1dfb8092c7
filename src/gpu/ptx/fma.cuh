/* fma.cuh - a multiply-add that stays where it is written.
 * PTX ISA, Floating Point Instructions: "fma". Volatile on sm_90: the order of the products decides
 * what the next one need not read again, and no compiler shuffles them. Elsewhere the compiler may,
 * for it needs fewer registers so.
 */
#ifndef TCGEMM_PTX_FMA_CUH
#define TCGEMM_PTX_FMA_CUH

/* *sum += a * b */
static __device__ __forceinline__ void tcgemm_fma(float *sum, float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(*sum) : "f"(a), "f"(b));
#else
    *sum = fmaf(a, b, *sum);
#endif
}

#endif
