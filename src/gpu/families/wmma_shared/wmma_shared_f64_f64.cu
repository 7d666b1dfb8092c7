/* wmma_shared_f64_f64.cu - wmma-shared: double precision on the tensor cores (DMMA). */
#define TCGEMM_STAMP_f64_f64 1
#include "gpu/families/wmma_shared/stamp.cuh"
