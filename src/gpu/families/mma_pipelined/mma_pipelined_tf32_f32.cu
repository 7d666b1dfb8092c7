/* mma_pipelined_tf32_f32.cu - mma-pipelined: f32 rounded to tf32 in registers, single out. */
#define TCGEMM_STAMP_tf32_f32 1
#include "gpu/families/mma_pipelined/stamp.cuh"
