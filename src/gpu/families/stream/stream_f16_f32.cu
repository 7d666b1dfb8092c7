/* stream_f16_f32.cu - stream: half in, single out. */
#define TCGEMM_STAMP_f16_f32 1
#include "gpu/families/stream/stamp.cuh"
