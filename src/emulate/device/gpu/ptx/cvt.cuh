/* cvt.cuh - the host model of src/gpu/ptx/cvt.cuh. */
#ifndef TCGEMM_PTX_CVT_CUH
#define TCGEMM_PTX_CVT_CUH

static __forceinline__ float tcgemm_cvt_f32_f16(uint16_t f16) {
    return tcgemm_emulate_f32_of_f16(f16);
}

static __forceinline__ uint16_t tcgemm_cvt_rn_f16_f32(float f32) {
    return tcgemm_emulate_f16_of_f64(f32);
}

static __forceinline__ float tcgemm_cvt_f32_bf16(uint16_t bf16) {
    return __uint_as_float((uint32_t)bf16 << 16);
}

static __forceinline__ uint16_t tcgemm_cvt_rn_bf16_f32(float f32) {
    return tcgemm_emulate_bf16_of_f64(f32);
}

static __forceinline__ uint32_t tcgemm_cvt_rna_tf32(uint32_t f32_bits) {
    return tcgemm_emulate_tf32_of_f32(f32_bits);
}

#endif
