/* mma_f16_f32.cu - mma-pipelined: half in, single out. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(f16_f32, 64)
TCGEMM_MMA_MID(f16_f32, 32)
TCGEMM_MMA_SMALL(f16_f32, 64)
TCGEMM_MMA_TURING(f16_f32, 32)
