/* mma_u8_s32.cu - mma-pipelined: 8-bit integers, unsigned by unsigned, exact modulo 2^32. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(u8_s32, 128)
TCGEMM_MMA_MID(u8_s32, 64)
TCGEMM_MMA_SMALL(u8_s32, 128)
TCGEMM_MMA_TURING(u8_s32, 64)
