/* wmma-direct for f64_f64: double. The story is in wmma_direct.cuh. */
#include "gpu/families/wmma_direct/wmma_direct.cuh"

TCGEMM_WMMA_DIRECT(tcgemm_wmma_f64_f64, tcgemm_wmma_direct_f64_f64_32x32x8_f64acc, 800, 8, 8, 3, 2)
