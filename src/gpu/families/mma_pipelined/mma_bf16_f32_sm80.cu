/* mma_bf16_f32_sm80.cu - mma-pipelined: bfloat16 in, single out. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(bf16_f32, 64)
TCGEMM_MMA_MID(bf16_f32, 32)
TCGEMM_MMA_SMALL(bf16_f32, 64)
