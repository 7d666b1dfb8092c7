/* avx512_vnni.c - 8-bit products with VPDPBUSD: four u8 x s8 products a lane, summed in 32 bits
 * without saturation. Other sign combinations come here shifted by 128, and the terms of the tile
 * undo the shift (see gemm.c). */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

/* sum += a . b, bytes in quads. Not the intrinsic: GCC 12 copies every sum to and fro around it,
 * which costs more than half of the speed (385 against 909 GOP/s on a Zen 5 core). */
static TCGEMM_ALWAYS_INLINE __m512i dot4(__m512i sum, __m512i a, __m512i b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#include "cpu/kernels/avx512_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx512_u8s8
#define TILE_STRIDED        tcgemm_tile_avx512_u8s8_strided
#define TILE_MAC(sum, a, b) dot4(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"
