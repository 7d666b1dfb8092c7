/* stream_s8u8_s32.cu - stream: signed by unsigned bytes in, 32 bits out. */
#define TCGEMM_STAMP_s8u8_s32 1
#include "gpu/families/stream/stamp.cuh"
