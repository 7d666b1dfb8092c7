/* stream_u8_s32.cu - stream: unsigned bytes in, 32 bits out. */
#define TCGEMM_STAMP_u8_s32 1
#include "gpu/families/stream/stamp.cuh"
