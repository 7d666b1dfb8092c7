/* stream_f64_f64.cu - stream: double. */
#define TCGEMM_STAMP_f64_f64 1
#include "gpu/families/stream/stamp.cuh"
