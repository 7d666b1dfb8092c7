/* wmma-shared for f64_f64. The story is in wmma_shared.cuh. */
#include "gpu/families/wmma_shared/wmma_shared.cuh"

TCGEMM_WMMA_SHARED(tcgemm_wmma_f64_f64, tcgemm_wmma_shared_f64_f64_128x64x8_k64, 800, 128, 64, 32,
                   32, 5, 2)
TCGEMM_WMMA_SHARED(tcgemm_wmma_f64_f64, tcgemm_wmma_shared_f64_f64_128x128x8_large, 800, 128, 128,
                   64, 32, 6, 1)
