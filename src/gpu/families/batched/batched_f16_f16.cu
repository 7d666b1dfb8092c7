/* batched_f16_f16.cu - batched: half in and out. */
#define TCGEMM_STAMP_f16_f16 1
#include "gpu/families/batched/stamp.cuh"
