/* wmma_shared_bf16_f32.cu - wmma-shared: bfloat16 in, single out. */
#define TCGEMM_STAMP_bf16_f32 1
#include "gpu/families/wmma_shared/stamp.cuh"
