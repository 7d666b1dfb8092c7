/* mma_types.cuh - the types of mma_pipelined.cuh: which product, and what an element of D is. */
#ifndef TCGEMM_MMA_TYPES_CUH
#define TCGEMM_MMA_TYPES_CUH

#include "gpu/elements.cuh"
#include "gpu/families/mma/products.cuh"
#include "gpu/families/mma_pipelined/mma_pipelined.cuh"

struct f16_f32 : product_f16, store_f32 {};
struct f16_f16 : product_f16, store_f16 {};
struct f16_f16_f16acc : product_f16acc, store_f16 {};
struct bf16_f32 : product_bf16, store_f32 {};
struct bf16_bf16 : product_bf16, store_bf16 {};
struct tf32_f32 : product_tf32, store_f32 {};
struct s8_s32 : product_8bit<1, 1>, store_s32 {};
struct u8_s32 : product_8bit<0, 0>, store_s32 {};
struct u8s8_s32 : product_8bit<0, 1>, store_s32 {};
struct s8u8_s32 : product_8bit<1, 0>, store_s32 {};
struct e4m3_f32 : product_e4m3, store_f32 {};
struct e4m3_bf16 : product_e4m3, store_bf16 {};
struct e5m2_f32 : product_e5m2, store_f32 {};
struct e5m2_bf16 : product_e5m2, store_bf16 {};
struct f64_f64 : product_f64, store_f64 {};

#endif
