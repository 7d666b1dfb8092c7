/* wmma_direct_u8_s32.cu - wmma-direct: 8-bit integers, unsigned by unsigned, exact modulo 2^32. */
#define TCGEMM_STAMP_u8_s32 1
#include "gpu/families/wmma_direct/stamp.cuh"
