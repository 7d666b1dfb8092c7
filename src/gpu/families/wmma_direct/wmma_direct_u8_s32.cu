/* wmma-direct for u8_s32: unsigned 8-bit, exact modulo 2^32. The story is in wmma_direct.cuh. */
#include "gpu/families/wmma_direct/wmma_direct.cuh"

TCGEMM_WMMA_DIRECT(tcgemm_wmma_u8_s32, tcgemm_wmma_direct_u8_s32_64x64x64_s32acc, 750, 16, 16, 1, 2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_u8_s32, tcgemm_wmma_direct_u8_s32_128x32x64_s32acc, 750, 32, 8, 1, 1)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_u8_s32, tcgemm_wmma_direct_u8_s32_32x128x64_s32acc, 750, 8, 32, 1, 1)
