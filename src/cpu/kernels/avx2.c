/* avx2.c - kernels for AVX2 with FMA and F16C (Haswell, Zen 1 and later).
 *
 * f32 4 x 24, f64 4 x 12, s16, u8s8 and b1 4 x 24: 12 of the 16 registers hold sums, three hold B,
 * one the broadcast of A; per step 12 multiply-adds stand against 7 loads (6 x 16 needs 8).
 */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

/* The first lanes of a vector, of 32 bits; a double is two of them: all-ones in them for what takes
 * a mask, and how they are stored.
 *
 * A masked store takes a Zen 4 13 cycles, a plain one 2 at most; there it is two or three of 4, 2
 * and 1 lanes, and a tile of 4 x 12 by four steps of k takes 0.4 of the time. On a Xeon tiles take
 * 1.1 times as long so.
 */
typedef struct mask {
    __m256i lanes;
    int stored; /* ones for lanes that are stored piece by piece, or all; 0: by a masked store */
} mask_t;

enum { ALL_LANES = 0xff };

static TCGEMM_ALWAYS_INLINE mask_t tail32(int lanes, bool in_parts) {
    const int first = (1 << lanes) - 1;
    return (mask_t){
        _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
        first == ALL_LANES || in_parts ? first : 0};
}

/* The first lanes, 1 to 7: bit i of `left` for lane i. Doubles are pairs of them. */
static TCGEMM_ALWAYS_INLINE void put_parts(float *p, int left, __m256 x, const bool are_pairs) {
    __m128 part = _mm256_castps256_ps128(x);
    if (left & 8) {
        _mm_storeu_ps(p, part);
        part = _mm256_extractf128_ps(x, 1);
        p += 4;
        left >>= 4;
    }
    if (left & 2) {
        _mm_storel_pi((__m64 *)p, part);
        part = _mm_movehl_ps(part, part);
        p += 2;
        left >>= 2;
    }
    if (!are_pairs && left & 1) {
        const float last = _mm_cvtss_f32(part);
        memcpy(p, &last, sizeof last); /* to an integer, perhaps */
    }
}

static TCGEMM_ALWAYS_INLINE void put_lanes(float *p, mask_t mask, __m256 x, const bool are_pairs) {
    if (mask.stored == ALL_LANES)
        _mm256_storeu_ps(p, x);
    else if (mask.stored == 0)
        _mm256_maskstore_ps(p, mask.lanes, x);
    else
        put_parts(p, mask.stored, x, are_pairs);
}

static TCGEMM_ALWAYS_INLINE void put_ps(float *p, mask_t mask, __m256 x) {
    put_lanes(p, mask, x, false);
}

static TCGEMM_ALWAYS_INLINE void put_pd(double *p, mask_t mask, __m256d x) {
    put_lanes((float *)p, mask, _mm256_castpd_ps(x), true);
}

static TCGEMM_ALWAYS_INLINE void put_epi32(uint32_t *p, mask_t mask, __m256i x) {
    put_lanes((float *)p, mask, _mm256_castsi256_ps(x), false);
}

/* Ones in each 32-bit lane, by a table of nibbles in VPSHUFB (W. Mula, "Faster population counts
 * using AVX2 instructions", 2016). */
static TCGEMM_ALWAYS_INLINE __m256i popcount_epi32(__m256i x) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(x, nibble));
    const __m256i high =
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32(x, 4), nibble));
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* ---- f32 ---- */
#define TILE_PACKED  tcgemm_tile_avx2_f32
#define TILE_STRIDED tcgemm_tile_avx2_f32_strided
#define TILE_FETCHES
#define TILE_MR                   4
#define TILE_NV                   3
#define TILE_LANES                8
#define TILE_LANE                 float
#define TILE_VEC                  __m256
#define TILE_BVEC                 __m256
#define TILE_ZERO()               _mm256_setzero_ps()
#define TILE_LOAD(p)              _mm256_loadu_ps(p)
#define TILE_LOAD_MASKED(p, mask) _mm256_maskload_ps(p, (mask).lanes)
#define TILE_BROADCAST(p)         _mm256_broadcast_ss(p)
#define TILE_MAC(sum, a, b)       _mm256_fmadd_ps(a, b, sum)
#define TILE_MASK                 mask_t
#define TILE_TAIL(n)              tail32(n, t->stores_parts)
#define TILE_SCALAR               float
#define TILE_GET(p, mask)         _mm256_maskload_ps(p, (mask).lanes)
#define TILE_PUT(p, mask, x)      put_ps(p, mask, x)
#define TILE_SET1(x)              _mm256_set1_ps(x)
#define TILE_MUL(x, y)            _mm256_mul_ps(x, y)
#define TILE_ADD(x, y)            _mm256_add_ps(x, y)
#define TILE_FMA(x, y, z)         _mm256_fmadd_ps(x, y, z)
#define TILE_FIELD                f32
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- f64 ---- */
#define TILE_PACKED  tcgemm_tile_avx2_f64
#define TILE_STRIDED tcgemm_tile_avx2_f64_strided
#define TILE_FETCHES
#define TILE_MR                   4
#define TILE_NV                   3
#define TILE_LANES                4
#define TILE_LANE                 double
#define TILE_VEC                  __m256d
#define TILE_BVEC                 __m256d
#define TILE_ZERO()               _mm256_setzero_pd()
#define TILE_LOAD(p)              _mm256_loadu_pd(p)
#define TILE_LOAD_MASKED(p, mask) _mm256_maskload_pd(p, (mask).lanes)
#define TILE_BROADCAST(p)         _mm256_broadcast_sd(p)
#define TILE_MAC(sum, a, b)       _mm256_fmadd_pd(a, b, sum)
#define TILE_MASK                 mask_t
#define TILE_TAIL(n)              tail32(2 * (n), t->stores_parts)
#define TILE_SCALAR               double
#define TILE_GET(p, mask)         _mm256_maskload_pd(p, (mask).lanes)
#define TILE_PUT(p, mask, x)      put_pd(p, mask, x)
#define TILE_SET1(x)              _mm256_set1_pd(x)
#define TILE_MUL(x, y)            _mm256_mul_pd(x, y)
#define TILE_ADD(x, y)            _mm256_add_pd(x, y)
#define TILE_FMA(x, y, z)         _mm256_fmadd_pd(x, y, z)
#define TILE_FIELD                f64
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- s16: pairs of 16-bit integers, for 8-bit products ---- */
#include "cpu/kernels/avx2_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx2_s16
#define TILE_STRIDED        tcgemm_tile_avx2_s16_strided
#define TILE_MAC(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#include "cpu/kernels/tile_tmpl.h"

/* ---- u8s8: quads of bytes with AVX-VNNI, VPDPBUSD without AVX-512 ---- */

/* Not the intrinsic, which wants the whole file compiled for it, and see avx512_vnni.c. */
static TCGEMM_ALWAYS_INLINE __m256i dot4(__m256i sum, __m256i a, __m256i b) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
}

#include "cpu/kernels/avx2_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx2_u8s8
#define TILE_STRIDED        tcgemm_tile_avx2_u8s8_strided
#define TILE_MAC(sum, a, b) dot4(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"

/* ---- b1 ---- */
#include "cpu/kernels/avx2_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx2_b1
#define TILE_MAC(sum, a, b) _mm256_add_epi32(sum, popcount_epi32(_mm256_and_si256(a, b)))
#include "cpu/kernels/tile_tmpl.h"

#define PACK_ISA avx2
#include "cpu/kernels/pack_tmpl.h"
