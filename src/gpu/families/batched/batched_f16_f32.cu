/* batched_f16_f32.cu - batched: half in, single out. */
#define TCGEMM_STAMP_f16_f32 1
#include "gpu/families/batched/stamp.cuh"
