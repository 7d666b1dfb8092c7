/* wmma-direct for tf32_f32: float rounded to tf32, summed in float. The story is in
 * wmma_direct.cuh. */
#include "gpu/families/wmma_direct/wmma_direct.cuh"

TCGEMM_WMMA_DIRECT(tcgemm_wmma_tf32_f32, tcgemm_wmma_direct_tf32_f32_64x64x16_f32acc, 800, 16, 16,
                   1, 2)
