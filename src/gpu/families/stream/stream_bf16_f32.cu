/* stream_bf16_f32.cu - stream: bfloat16 in, single out. */
#define TCGEMM_STAMP_bf16_f32 1
#include "gpu/families/stream/stamp.cuh"
