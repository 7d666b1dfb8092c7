/* wmma-shared for bf16_f32. The story is in wmma_shared.cuh. */
#include "gpu/families/wmma_shared/wmma_shared.cuh"

TCGEMM_WMMA_SHARED(tcgemm_wmma_bf16_f32, tcgemm_wmma_shared_bf16_f32_128x128x32_k64, 800, 128, 128,
                   64, 32, 4, 1)
TCGEMM_WMMA_SHARED(tcgemm_wmma_bf16_f32, tcgemm_wmma_shared_bf16_f32_128x256x32_large, 800, 128,
                   256, 64, 64, 4, 1)
