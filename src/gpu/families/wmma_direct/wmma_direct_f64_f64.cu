/* wmma_direct_f64_f64.cu - wmma-direct: double precision on the tensor cores (DMMA). */
#define TCGEMM_STAMP_f64_f64 1
#include "gpu/families/wmma_direct/stamp.cuh"
