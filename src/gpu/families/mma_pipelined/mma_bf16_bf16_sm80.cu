/* mma_bf16_bf16_sm80.cu - mma-pipelined: bfloat16 in and out. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(bf16_bf16, 64)
TCGEMM_MMA_MID(bf16_bf16, 32)
TCGEMM_MMA_SMALL(bf16_bf16, 64)
