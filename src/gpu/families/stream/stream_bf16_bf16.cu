/* stream_bf16_bf16.cu - stream: bfloat16 in and out. */
#define TCGEMM_STAMP_bf16_bf16 1
#include "gpu/families/stream/stamp.cuh"
