/* mma_pipelined_f64_f64.cu - mma-pipelined: double precision on the tensor cores (DMMA). */
#define TCGEMM_STAMP_f64_f64 1
#include "gpu/families/mma_pipelined/stamp.cuh"
