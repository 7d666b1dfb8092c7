/* mma_tf32_f32_sm80.cu - mma-pipelined: f32 rounded to tf32 in registers, single out. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(tf32_f32, 32)
TCGEMM_MMA_MID(tf32_f32, 16)
TCGEMM_MMA_SMALL(tf32_f32, 32)
