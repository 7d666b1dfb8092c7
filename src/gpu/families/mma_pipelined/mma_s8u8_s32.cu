/* mma_s8u8_s32.cu - mma-pipelined: 8-bit integers, signed A, unsigned B, exact modulo 2^32. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(s8u8_s32, 128)
TCGEMM_MMA_MID(s8u8_s32, 64)
TCGEMM_MMA_SMALL(s8u8_s32, 128)
TCGEMM_MMA_TURING(s8u8_s32, 64)
