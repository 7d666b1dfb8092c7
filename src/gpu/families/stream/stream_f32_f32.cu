/* stream_f32_f32.cu - stream: single. */
#define TCGEMM_STAMP_f32_f32 1
#include "gpu/families/stream/stamp.cuh"
