/* wmma_shared_s8_s32.cu - wmma-shared: 8-bit integers, signed by signed, exact modulo 2^32. */
#define TCGEMM_STAMP_s8_s32 1
#include "gpu/families/wmma_shared/stamp.cuh"
