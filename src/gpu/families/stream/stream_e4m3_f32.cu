/* stream_e4m3_f32.cu - stream: e4m3 in, single out. */
#define TCGEMM_STAMP_e4m3_f32 1
#include "gpu/families/stream/stamp.cuh"
