/* stream_e5m2_bf16.cu - stream: e5m2 in, bfloat16 out. */
#define TCGEMM_STAMP_e5m2_bf16 1
#include "gpu/families/stream/stamp.cuh"
