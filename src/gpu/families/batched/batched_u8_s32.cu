/* batched_u8_s32.cu - batched: unsigned bytes in, 32 bits out. */
#define TCGEMM_STAMP_u8_s32 1
#include "gpu/families/batched/stamp.cuh"
