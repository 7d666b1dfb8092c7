/* avx512_vnni.c - 8-bit products with VPDPBUSD: four u8 x s8 products a lane, summed in 32 bits
 * without saturation. Other sign combinations come here shifted by 128, and the terms of the tile
 * undo the shift (see gemm.c). */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

#include "cpu/kernels/avx512_s32_output.h"
#define TILE_PACKED tcgemm_tile_avx512_u8s8
#define TILE_MAC(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"
