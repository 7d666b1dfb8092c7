/* mma_f16_f16.cu - mma-pipelined: half in and out; tag f16acc sums in half too. */
#include "gpu/families/mma_pipelined/mma_types.cuh"

TCGEMM_MMA_WIDE(f16_f16, 64)
TCGEMM_MMA_MID(f16_f16, 32)
TCGEMM_MMA_SMALL(f16_f16, 64)
TCGEMM_MMA_TURING(f16_f16, 32)
TCGEMM_MMA_PIPELINED(f16_f16_f16acc, f16_f16, 128, 128, 32, 64, 64, 3, 2, 80, 999, f16acc)
TCGEMM_MMA_PIPELINED(f16_f16_f16acc, f16_f16, 128, 64, 32, 64, 32, 2, 2, 75, 75, f16acc)
