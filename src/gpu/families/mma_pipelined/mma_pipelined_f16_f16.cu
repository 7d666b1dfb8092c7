/* mma_pipelined_f16_f16.cu - mma-pipelined: half in and out; summed in single, or in half on
 * request. */
#define TCGEMM_STAMP_f16_f16 1
#include "gpu/families/mma_pipelined/stamp.cuh"
