/* wmma_shared_f16_f32.cu - wmma-shared: half in, single out. */
#define TCGEMM_STAMP_f16_f32 1
#include "gpu/families/wmma_shared/stamp.cuh"
