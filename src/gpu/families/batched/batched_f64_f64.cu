/* batched_f64_f64.cu - batched: double. */
#define TCGEMM_STAMP_f64_f64 1
#include "gpu/families/batched/stamp.cuh"
