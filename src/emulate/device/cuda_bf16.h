/* cuda_bf16.h - of CUDA's header of this name, what the kernels use. */
#ifndef TCGEMM_EMULATE_DEVICE_CUDA_BF16_H
#define TCGEMM_EMULATE_DEVICE_CUDA_BF16_H

struct __nv_bfloat16 {
    uint16_t bits;
    __nv_bfloat16() = default;
    __forceinline__ __nv_bfloat16(float x) : bits(tcgemm_emulate_bf16_of_f64(x)) {
    }
    __forceinline__ __nv_bfloat16(int x) : bits(tcgemm_emulate_bf16_of_f64(x)) {
    }
};

static __forceinline__ float __bfloat162float(__nv_bfloat16 x) {
    return __uint_as_float((uint32_t)x.bits << 16);
}

static __forceinline__ __nv_bfloat16 __double2bfloat16(double x) {
    __nv_bfloat16 r;
    r.bits = tcgemm_emulate_bf16_of_f64(x);
    return r;
}

#endif
