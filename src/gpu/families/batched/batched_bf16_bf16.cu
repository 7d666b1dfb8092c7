/* batched_bf16_bf16.cu - batched: bfloat16 in and out. */
#define TCGEMM_STAMP_bf16_bf16 1
#include "gpu/families/batched/stamp.cuh"
