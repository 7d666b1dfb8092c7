/* mma_pipelined_bf16_f32.cu - mma-pipelined: bfloat16 in, single out. */
#define TCGEMM_STAMP_bf16_f32 1
#include "gpu/families/mma_pipelined/stamp.cuh"
