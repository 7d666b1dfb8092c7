/* mma_pipelined_s8u8_s32.cu - mma-pipelined: 8-bit integers, signed A, unsigned B, exact modulo
 * 2^32. */
#define TCGEMM_STAMP_s8u8_s32 1
#include "gpu/families/mma_pipelined/stamp.cuh"
