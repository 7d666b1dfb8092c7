/* wmma_direct_bf16_f32.cu - wmma-direct: bfloat16 in, single out. */
#define TCGEMM_STAMP_bf16_f32 1
#include "gpu/families/wmma_direct/stamp.cuh"
