/* mma_pipelined_bf16_bf16.cu - mma-pipelined: bfloat16 in and out. */
#define TCGEMM_STAMP_bf16_bf16 1
#include "gpu/families/mma_pipelined/stamp.cuh"
