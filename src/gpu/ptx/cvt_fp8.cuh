/* cvt_fp8.cuh - two numbers of fp8 at once to two of f16, which holds them all; they travel as
 * their bits, the first in the low half. PTX ISA, Data Movement and Conversion: "cvt" (sm_89).
 */
#ifndef TCGEMM_PTX_CVT_FP8_CUH
#define TCGEMM_PTX_CVT_FP8_CUH

#include <stdint.h>

static __device__ __forceinline__ uint32_t tcgemm_cvt_rn_f16x2_e4m3x2(uint16_t e4m3x2) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    uint32_t r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(e4m3x2));
    return r;
#else
    return 0; /* rows of fp8 are stamped empty before */
#endif
}

#endif
