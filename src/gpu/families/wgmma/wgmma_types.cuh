/* wgmma_types.cuh - the types of wgmma.cuh: which instruction, and what an element of D is. */
#ifndef TCGEMM_WGMMA_TYPES_CUH
#define TCGEMM_WGMMA_TYPES_CUH

#include "gpu/elements.cuh"
#include "gpu/ptx/wgmma.cuh"

template <int KIND_, int BYTES> struct wgmma_of_floats {
    typedef float sum;
    typedef float scalar;
    enum { KIND = KIND_, SWAPPED_KIND = KIND_, ELEMENT_BYTES = BYTES, PROMOTES = 0 };
};
/* FP8 tensor cores sum in 14 bits. */
template <int KIND_> struct wgmma_of_fp8 : wgmma_of_floats<KIND_, 1> {
    enum { PROMOTES = 1 };
};
template <int KIND_, int SWAPPED_KIND_ = KIND_> struct wgmma_of_bytes {
    typedef uint32_t sum;
    typedef uint32_t scalar;
    enum { KIND = KIND_, SWAPPED_KIND = SWAPPED_KIND_, ELEMENT_BYTES = 1, PROMOTES = 0 };
};

struct f16_f32 : wgmma_of_floats<TCGEMM_WGMMA_F16, 2>, store_f32 {};
struct f16_f16 : wgmma_of_floats<TCGEMM_WGMMA_F16, 2>, store_f16 {};
struct bf16_f32 : wgmma_of_floats<TCGEMM_WGMMA_BF16, 2>, store_f32 {};
struct bf16_bf16 : wgmma_of_floats<TCGEMM_WGMMA_BF16, 2>, store_bf16 {};
struct tf32_f32 : wgmma_of_floats<TCGEMM_WGMMA_TF32, 4>, store_f32 {};
struct e4m3_f32 : wgmma_of_fp8<TCGEMM_WGMMA_E4M3>, store_f32 {};
struct e4m3_bf16 : wgmma_of_fp8<TCGEMM_WGMMA_E4M3>, store_bf16 {};
struct e5m2_f32 : wgmma_of_fp8<TCGEMM_WGMMA_E5M2>, store_f32 {};
struct e5m2_bf16 : wgmma_of_fp8<TCGEMM_WGMMA_E5M2>, store_bf16 {};
struct s8_s32 : wgmma_of_bytes<TCGEMM_WGMMA_S8>, store_s32 {};
struct u8_s32 : wgmma_of_bytes<TCGEMM_WGMMA_U8>, store_s32 {};
struct u8s8_s32 : wgmma_of_bytes<TCGEMM_WGMMA_U8S8, TCGEMM_WGMMA_S8U8>, store_s32 {};
struct s8u8_s32 : wgmma_of_bytes<TCGEMM_WGMMA_S8U8, TCGEMM_WGMMA_U8S8>, store_s32 {};

#endif
