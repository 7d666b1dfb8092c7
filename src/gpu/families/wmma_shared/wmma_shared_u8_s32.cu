/* wmma_shared_u8_s32.cu - wmma-shared: 8-bit integers, unsigned by unsigned, exact modulo 2^32. */
#define TCGEMM_STAMP_u8_s32 1
#include "gpu/families/wmma_shared/stamp.cuh"
