/* wgmma_e4m3_bf16.cu - wgmma: FP8 e4m3 to bf16, sums in 14 bits, brought to f32 block by block. */
#define TCGEMM_STAMP_e4m3_bf16 1
#define TCGEMM_WGMMA_LAYOUTS   TCGEMM_WGMMA_ONE
#include "gpu/families/wgmma/stamp.cuh"
