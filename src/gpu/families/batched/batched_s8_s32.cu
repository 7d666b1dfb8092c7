/* batched_s8_s32.cu - batched: signed bytes in, 32 bits out. */
#define TCGEMM_STAMP_s8_s32 1
#include "gpu/families/batched/stamp.cuh"
