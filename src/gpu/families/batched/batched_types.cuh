/* batched_types.cuh - the types of batched.cuh: what an element becomes before it is multiplied,
 * and what one of D is.
 */
#ifndef TCGEMM_BATCHED_TYPES_CUH
#define TCGEMM_BATCHED_TYPES_CUH

#include "gpu/elements.cuh"
#include "gpu/ptx/cvt.cuh"
#include "gpu/ptx/fma.cuh"

struct batched_by_f32 {
    typedef float scalar;
    static __device__ __forceinline__ void add(float &sum, float a, float b) {
        sum = fmaf(a, b, sum);
    }
};
struct batched_from_f32 : batched_by_f32 {
    typedef float element;
    static __device__ __forceinline__ float widen(float x) {
        return x;
    }
};
struct batched_from_f16 : batched_by_f32 {
    typedef uint16_t element;
    static __device__ __forceinline__ float widen(uint16_t x) {
        return tcgemm_cvt_f32_f16(x);
    }
};
struct batched_from_bf16 : batched_by_f32 {
    typedef uint16_t element;
    static __device__ __forceinline__ float widen(uint16_t x) {
        return tcgemm_cvt_f32_bf16(x);
    }
};
struct batched_from_f64 {
    typedef double scalar;
    typedef double element;
    static __device__ __forceinline__ double widen(double x) {
        return x;
    }
    static __device__ __forceinline__ void add(double &sum, double a, double b) {
        tcgemm_fma_f64(&sum, a, b);
    }
};
struct batched_from_s8 {
    typedef uint32_t scalar;
    typedef int8_t element;
    static __device__ __forceinline__ uint32_t widen(int8_t x) {
        return (uint32_t)(int32_t)x;
    }
    static __device__ __forceinline__ void add(uint32_t &sum, uint32_t a, uint32_t b) {
        tcgemm_mad_u32(&sum, a, b);
    }
};

struct f32_f32 : batched_from_f32, store_f32 {};
struct f16_f32 : batched_from_f16, store_f32 {};
struct f16_f16 : batched_from_f16, store_f16 {};
struct bf16_f32 : batched_from_bf16, store_f32 {};
struct bf16_bf16 : batched_from_bf16, store_bf16 {};
struct f64_f64 : batched_from_f64, store_f64 {};
struct s8_s32 : batched_from_s8, store_s32 {};

#endif
