/* wgmma_tf32_f32.cu - wgmma: single, rounded to tf32, in; single out. */
#define TCGEMM_STAMP_tf32_f32 1
#define TCGEMM_WGMMA_LAYOUTS  TCGEMM_WGMMA_LEFT
#include "gpu/families/wgmma/stamp.cuh"
