/* wgmma_bf16_bf16.cu - wgmma: bfloat16 in and out. */
#define TCGEMM_STAMP_bf16_bf16 1
#define TCGEMM_WGMMA_LAYOUTS   TCGEMM_WGMMA_FOUR
#include "gpu/families/wgmma/stamp.cuh"
