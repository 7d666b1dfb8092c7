/* stream_e5m2_f32.cu - stream: e5m2 in, single out. */
#define TCGEMM_STAMP_e5m2_f32 1
#include "gpu/families/stream/stamp.cuh"
