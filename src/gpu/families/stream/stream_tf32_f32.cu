/* stream_tf32_f32.cu - stream: tf32 in, single out. */
#define TCGEMM_STAMP_tf32_f32 1
#include "gpu/families/stream/stamp.cuh"
