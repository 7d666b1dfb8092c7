/* avx512_vpopcnt.c - single-bit products with VPOPCNTD: 32 ANDs a lane, counted in 32 bits. */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

#include "cpu/kernels/avx512_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx512_b1
#define TILE_MAC(sum, a, b) _mm512_add_epi32(sum, _mm512_popcnt_epi32(_mm512_and_si512(a, b)))
#include "cpu/kernels/tile_tmpl.h"
