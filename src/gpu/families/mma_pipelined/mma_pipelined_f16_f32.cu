/* mma_pipelined_f16_f32.cu - mma-pipelined: half in, single out. */
#define TCGEMM_STAMP_f16_f32 1
#include "gpu/families/mma_pipelined/stamp.cuh"
