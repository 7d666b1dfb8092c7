/* fma.cuh - the host model of src/gpu/ptx/fma.cuh. */
#ifndef TCGEMM_PTX_FMA_CUH
#define TCGEMM_PTX_FMA_CUH

static __forceinline__ void tcgemm_fma(float *sum, float a, float b) {
    *sum = fmaf(a, b, *sum);
}

static __forceinline__ void tcgemm_fma_f64(double *sum, double a, double b) {
    tcgemm_emulate_count_fma();
    *sum = __builtin_fma(a, b, *sum);
}

static __forceinline__ void tcgemm_mad_u32(uint32_t *sum, uint32_t a, uint32_t b) {
    tcgemm_emulate_count_fma();
    *sum += a * b;
}

#endif
