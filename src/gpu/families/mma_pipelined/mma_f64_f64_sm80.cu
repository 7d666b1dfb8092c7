/* mma_f64_f64_sm80.cu - mma-pipelined: double precision on the tensor cores (DMMA). */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_PIPELINED(f64_f64, f64_f64, 128, 128, 16, 64, 32, 3, 1, 80, 999, s3)
TCGEMM_MMA_PIPELINED(f64_f64, f64_f64, 64, 64, 16, 32, 32, 3, 2, 80, 999, s3)
