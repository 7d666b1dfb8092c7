/* wmma_shared_tf32_f32.cu - wmma-shared: f32 rounded to tf32 in registers, single out. */
#define TCGEMM_STAMP_tf32_f32 1
#include "gpu/families/wmma_shared/stamp.cuh"
