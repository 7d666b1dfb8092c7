/* cvt_fp8.cuh - the host model of src/gpu/ptx/cvt_fp8.cuh. */
#ifndef TCGEMM_PTX_CVT_FP8_CUH
#define TCGEMM_PTX_CVT_FP8_CUH

static __forceinline__ uint32_t tcgemm_cvt_rn_f16x2_e4m3x2(uint16_t e4m3x2) {
    return tcgemm_emulate_f16_of_e4m3((uint8_t)e4m3x2) |
           (uint32_t)tcgemm_emulate_f16_of_e4m3((uint8_t)(e4m3x2 >> 8)) << 16;
}

#endif
