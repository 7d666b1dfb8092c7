/* stream_f16_f16.cu - stream: half in and out. */
#define TCGEMM_STAMP_f16_f16 1
#include "gpu/families/stream/stamp.cuh"
