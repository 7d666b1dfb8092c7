/* cvt.cuh - conversions of one number, one instruction each; 16-bit floats travel as their bits.
 * PTX ISA, Data Movement and Conversion: "cvt".
 */
#ifndef TCGEMM_PTX_CVT_CUH
#define TCGEMM_PTX_CVT_CUH

#include <stdint.h>

static __device__ __forceinline__ float tcgemm_cvt_f32_f16(uint16_t f16) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(f16));
    return r;
}

static __device__ __forceinline__ uint16_t tcgemm_cvt_rn_f16_f32(float f32) {
    uint16_t r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(f32));
    return r;
}

/* bfloat16 is the upper half of an f32. */
static __device__ __forceinline__ float tcgemm_cvt_f32_bf16(uint16_t bf16) {
    return __uint_as_float((uint32_t)bf16 << 16);
}

/* sm_80 */
static __device__ __forceinline__ uint16_t tcgemm_cvt_rn_bf16_f32(float f32) {
    uint16_t r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(f32));
    return r;
}

/* f32 to tf32, to nearest, ties away from zero (sm_80). */
static __device__ __forceinline__ uint32_t tcgemm_cvt_rna_tf32(uint32_t f32_bits) {
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(f32_bits)));
    return r;
}

#endif
