/* mma_pipelined_e4m3_bf16.cu - mma-pipelined: FP8 e4m3 to bf16, sums in 14 bits, brought to f32
 * product by product. */
#define TCGEMM_STAMP_e4m3_bf16 1
#include "gpu/families/mma_pipelined/stamp.cuh"
