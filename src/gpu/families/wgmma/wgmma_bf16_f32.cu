/* wgmma_bf16_f32.cu - wgmma: bfloat16 in, single out. */
#define TCGEMM_STAMP_bf16_f32 1
#define TCGEMM_WGMMA_LAYOUTS  TCGEMM_WGMMA_FOUR
#include "gpu/families/wgmma/stamp.cuh"
