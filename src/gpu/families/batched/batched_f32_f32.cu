/* batched_f32_f32.cu - batched: single. */
#define TCGEMM_STAMP_f32_f32 1
#include "gpu/families/batched/stamp.cuh"
