/* mma_u8s8_s32.cu - mma-pipelined: 8-bit integers, unsigned A, signed B, exact modulo 2^32. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(u8s8_s32, 128)
TCGEMM_MMA_MID(u8s8_s32, 64)
TCGEMM_MMA_SMALL(u8s8_s32, 128)
TCGEMM_MMA_TURING(u8s8_s32, 64)
