/* wgmma_u8_s32.cu - wgmma: unsigned 8-bit integers. */
#define TCGEMM_STAMP_u8_s32  1
#define TCGEMM_WGMMA_LAYOUTS TCGEMM_WGMMA_ONE
#include "gpu/families/wgmma/stamp.cuh"
