/* batched_tf32_f32.cu - batched: tf32 in, single out. */
#define TCGEMM_STAMP_tf32_f32 1
#include "gpu/families/batched/stamp.cuh"
