/* stream_e4m3_bf16.cu - stream: e4m3 in, bfloat16 out. */
#define TCGEMM_STAMP_e4m3_bf16 1
#include "gpu/families/stream/stamp.cuh"
