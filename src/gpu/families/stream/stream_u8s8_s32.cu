/* stream_u8s8_s32.cu - stream: unsigned by signed bytes in, 32 bits out. */
#define TCGEMM_STAMP_u8s8_s32 1
#include "gpu/families/stream/stamp.cuh"
