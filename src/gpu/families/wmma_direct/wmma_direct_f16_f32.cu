/* wmma-direct for f16_f32: half, summed in float. The story is in wmma_direct.cuh. */
#include "gpu/families/wmma_direct/wmma_direct.cuh"

TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f32, tcgemm_wmma_direct_f16_f32_64x64x32_f32acc, 750, 16, 16, 1,
                   2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f32, tcgemm_wmma_direct_f16_f32_128x32x32_f32acc, 750, 32, 8, 1,
                   2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f32, tcgemm_wmma_direct_f16_f32_32x128x32_f32acc, 750, 8, 32, 1,
                   2)
