/* mma_pipelined_e5m2_bf16.cu - mma-pipelined: FP8 e5m2 to bf16, sums in 14 bits, brought to f32
 * product by product. */
#define TCGEMM_STAMP_e5m2_bf16 1
#include "gpu/families/mma_pipelined/stamp.cuh"
