/* mma_pipelined_u8s8_s32.cu - mma-pipelined: 8-bit integers, unsigned A, signed B, exact modulo
 * 2^32. */
#define TCGEMM_STAMP_u8s8_s32 1
#include "gpu/families/mma_pipelined/stamp.cuh"
