/* cuda_fp16.h - of CUDA's header of this name, what the kernels use. */
#ifndef TCGEMM_EMULATE_DEVICE_CUDA_FP16_H
#define TCGEMM_EMULATE_DEVICE_CUDA_FP16_H

struct __half {
    uint16_t bits;
    __half() = default;
    __forceinline__ __half(float x) : bits(tcgemm_emulate_f16_of_f64(x)) {
    }
    __forceinline__ __half(int x) : bits(tcgemm_emulate_f16_of_f64(x)) {
    }
};

static __forceinline__ float __half2float(__half x) {
    return tcgemm_emulate_f32_of_f16(x.bits);
}

static __forceinline__ __half __float2half_rn(float x) {
    return __half(x);
}

static __forceinline__ __half __double2half(double x) {
    __half r;
    r.bits = tcgemm_emulate_f16_of_f64(x);
    return r;
}

#endif
