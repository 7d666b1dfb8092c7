/* wgmma_f16_f16.cu - wgmma: half in and out. */
#define TCGEMM_STAMP_f16_f16 1
#define TCGEMM_WGMMA_LAYOUTS TCGEMM_WGMMA_FOUR
#include "gpu/families/wgmma/stamp.cuh"
