/* wmma_direct_f16_f32.cu - wmma-direct: half in, single out. */
#define TCGEMM_STAMP_f16_f32 1
#include "gpu/families/wmma_direct/stamp.cuh"
