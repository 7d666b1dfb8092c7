/* avx512.c - kernels for AVX-512 F, BW, DQ, VL (Skylake-X, Zen 4 and later).
 *
 * f32 8 x 48, f64 8 x 24, s16 8 x 48: 24 of the 32 registers hold sums, three hold B, one the
 * broadcast of A. Per step 24 multiply-adds stand against 11 loads, so two multiply-adds a cycle
 * need less than one load a cycle. Wider tiles (6 x 64) load less of A but make the panel of B too
 * large for the first-level cache; taller ones (12 x 32) load more.
 */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

/* ---- f32 ---- */
#include "cpu/kernels/avx512_f32_output.h"
#define TILE_PACKED  tcgemm_tile_avx512_f32
#define TILE_STRIDED tcgemm_tile_avx512_f32_strided
#define TILE_FETCHES
#define TILE_STEPS                2
#define TILE_LANE                 float
#define TILE_BVEC                 __m512
#define TILE_LOAD(p)              _mm512_loadu_ps(p)
#define TILE_STORE(p, x)          _mm512_store_ps(p, x)
#define TILE_LOAD_MASKED(p, mask) _mm512_maskz_loadu_ps(mask, p)
#define TILE_BROADCAST(p)         _mm512_set1_ps(*(p))
#define TILE_MAC(sum, a, b)       _mm512_fmadd_ps(a, b, sum)
#include "cpu/kernels/tile_tmpl.h"

/* ---- f64 ---- */
#define TILE_PACKED  tcgemm_tile_avx512_f64
#define TILE_STRIDED tcgemm_tile_avx512_f64_strided
#define TILE_FETCHES
#define TILE_STEPS                2
#define TILE_MR                   8
#define TILE_NV                   3
#define TILE_LANES                8
#define TILE_LANE                 double
#define TILE_VEC                  __m512d
#define TILE_BVEC                 __m512d
#define TILE_ZERO()               _mm512_setzero_pd()
#define TILE_LOAD(p)              _mm512_loadu_pd(p)
#define TILE_STORE(p, x)          _mm512_store_pd(p, x)
#define TILE_LOAD_MASKED(p, mask) _mm512_maskz_loadu_pd(mask, p)
#define TILE_BROADCAST(p)         _mm512_set1_pd(*(p))
#define TILE_MAC(sum, a, b)       _mm512_fmadd_pd(a, b, sum)
#define TILE_MASK                 __mmask8
#define TILE_TAIL(n)              ((__mmask8)((1u << (n)) - 1u))
#define TILE_SCALAR               double
#define TILE_GET(p, mask)         _mm512_maskz_loadu_pd(mask, p)
#define TILE_PUT(p, mask, x)      _mm512_mask_storeu_pd(p, mask, x)
#define TILE_SET1(x)              _mm512_set1_pd(x)
#define TILE_MUL(x, y)            _mm512_mul_pd(x, y)
#define TILE_ADD(x, y)            _mm512_add_pd(x, y)
#define TILE_FMA(x, y, z)         _mm512_fmadd_pd(x, y, z)
#define TILE_FIELD                f64
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- s16: pairs of 16-bit integers, for 8-bit products without VNNI ---- */
#include "cpu/kernels/avx512_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx512_s16
#define TILE_STRIDED        tcgemm_tile_avx512_s16_strided
#define TILE_MAC(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#include "cpu/kernels/tile_tmpl.h"

#define PACK_ISA avx512
#include "cpu/kernels/pack_tmpl.h"
