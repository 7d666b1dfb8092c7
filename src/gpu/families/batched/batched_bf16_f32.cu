/* batched_bf16_f32.cu - batched: bfloat16 in, single out. */
#define TCGEMM_STAMP_bf16_f32 1
#include "gpu/families/batched/stamp.cuh"
