/* wgmma_f16_f32.cu - wgmma: half in, single out. */
#define TCGEMM_STAMP_f16_f32 1
#define TCGEMM_WGMMA_LAYOUTS TCGEMM_WGMMA_FOUR
#include "gpu/families/wgmma/stamp.cuh"
