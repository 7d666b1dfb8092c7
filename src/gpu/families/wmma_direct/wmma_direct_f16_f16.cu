/* wmma-direct for f16_f16: half in and out, summed in float; and in half, for
 * TCGEMM_FLAG_F16_ACCUMULATE. The story is in wmma_direct.cuh. */
#include "gpu/families/wmma_direct/wmma_direct.cuh"

TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f16, tcgemm_wmma_direct_f16_f16_64x64x32_f32acc, 750, 16, 16, 1,
                   2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f16, tcgemm_wmma_direct_f16_f16_128x32x32_f32acc, 750, 32, 8, 1,
                   2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f16, tcgemm_wmma_direct_f16_f16_32x128x32_f32acc, 750, 8, 32, 1,
                   2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f16acc, tcgemm_wmma_direct_f16_f16_64x64x32_f16acc, 750, 16, 16,
                   1, 2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f16acc, tcgemm_wmma_direct_f16_f16_128x32x32_f16acc, 750, 32, 8,
                   1, 2)
TCGEMM_WMMA_DIRECT(tcgemm_wmma_f16_f16acc, tcgemm_wmma_direct_f16_f16_32x128x32_f16acc, 750, 8, 32,
                   1, 2)
