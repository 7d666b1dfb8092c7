/* avx512_bf16.c - bf16 products with VDPBF16PS: two products a lane, summed in f32.
 *
 * The instruction takes bf16 subnormals for zero and flushes tiny sums to zero (Intel SDM,
 * VDPBF16PS). Packing reports the panels that hold a subnormal; the driver sends their tiles to the
 * second kernel here, which forms the same products with f32 multiply-adds at half the speed.
 */
#include <immintrin.h>

#include "cpu/kernels/avx512_halves.h"
#include "cpu/kernels/kernels.h"

#include "cpu/kernels/avx512_f32_output.h"
#define TILE_PACKED               tcgemm_tile_avx512_bf16
#define TILE_STRIDED              tcgemm_tile_avx512_bf16_strided
#define TILE_LANE                 uint32_t
#define TILE_BVEC                 __m512i
#define TILE_LOAD(p)              _mm512_loadu_si512(p)
#define TILE_LOAD_MASKED(p, mask) _mm512_maskz_loadu_epi32(mask, p)
#define TILE_BROADCAST(p)         _mm512_set1_epi32((int)*(p))
#define TILE_MAC(sum, a, b)       _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#include "cpu/kernels/tile_tmpl.h"

#include "cpu/kernels/avx512_f32_output.h"
#define TILE_PACKED               tcgemm_tile_avx512_bf16_exact
#define TILE_IS_PACKED            false
#define TILE_LANE                 uint32_t
#define TILE_BVEC                 __m512i
#define TILE_LOAD(p)              _mm512_loadu_si512(p)
#define TILE_LOAD_MASKED(p, mask) _mm512_maskz_loadu_epi32(mask, p)
#define TILE_BROADCAST(p)         _mm512_set1_epi32((int)*(p))
#define TILE_MAC(sum, a, b)                                                                        \
    _mm512_fmadd_ps(high_halves(a), high_halves(b),                                                \
                    _mm512_fmadd_ps(low_halves(a), low_halves(b), sum))
#include "cpu/kernels/tile_tmpl.h"
