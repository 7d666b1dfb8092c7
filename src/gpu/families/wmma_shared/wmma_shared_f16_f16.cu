/* wmma-shared for f16_f16. The story is in wmma_shared.cuh. */
#include "gpu/families/wmma_shared/wmma_shared.cuh"

TCGEMM_WMMA_SHARED(tcgemm_wmma_f16_f16, tcgemm_wmma_shared_f16_f16_128x128x32_k64, 750, 128, 128,
                   64, 32, 4, 1)
TCGEMM_WMMA_SHARED(tcgemm_wmma_f16_f16, tcgemm_wmma_shared_f16_f16_128x256x32_large, 750, 128, 256,
                   64, 64, 4, 1)
