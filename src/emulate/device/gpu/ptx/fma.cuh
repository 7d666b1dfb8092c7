/* fma.cuh - the host model of src/gpu/ptx/fma.cuh. */
#ifndef TCGEMM_PTX_FMA_CUH
#define TCGEMM_PTX_FMA_CUH

static __forceinline__ void tcgemm_fma(float *sum, float a, float b) {
    *sum = fmaf(a, b, *sum);
}

#endif
