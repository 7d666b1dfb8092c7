/* neon.c - kernels for Advanced SIMD, which every 64-bit Arm processor has.
 *
 * f32 8 x 12, f64 8 x 6, s16 and b1 8 x 12: 24 of the 32 registers hold sums, three hold B. A row's
 * element of A is loaded alone, and the multiply-add takes it by element: a broadcast (LD1R) would
 * take a turn of the pipes that multiply.
 *
 * Not the intrinsics by element: GCC 12 makes broadcasts of some, loads all elements of A first,
 * and then lacks registers for the sums.
 */
#include "cpu/kernels/neon_access.h"

/* sum += b * a */
static TCGEMM_ALWAYS_INLINE float32x4_t fma_f32(float32x4_t sum, float a, float32x4_t b) {
    __asm__("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(sum) : "w"(b), "w"(a));
    return sum;
}

static TCGEMM_ALWAYS_INLINE float64x2_t fma_f64(float64x2_t sum, double a, float64x2_t b) {
    __asm__("fmla %0.2d, %1.2d, %2.d[0]" : "+w"(sum) : "w"(b), "w"(a));
    return sum;
}

/* Pairs of 16-bit integers: the two products of each lane. B's halves are parted once for all rows.
 */
static TCGEMM_ALWAYS_INLINE uint32x4_t dot2(uint32x4_t sum, int16x4_t a, uint32x4_t b) {
    const int16x4_t low = vreinterpret_s16_u16(vmovn_u32(b));
    const int16x4_t high = vreinterpret_s16_u16(vshrn_n_u32(b, 16));
    const int32x4_t half = vmlal_lane_s16(vreinterpretq_s32_u32(sum), low, a, 0);
    return vreinterpretq_u32_s32(vmlal_lane_s16(half, high, a, 1));
}

/* Ones in each 32-bit lane: of bytes, then in pairs, and these in pairs onto the sum. */
static TCGEMM_ALWAYS_INLINE uint32x4_t count(uint32x4_t sum, uint32x4_t bits) {
    return vpadalq_u16(sum, vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(bits))));
}

/* ---- f32 ---- */
#include "cpu/kernels/neon_f32_output.h"
#define TILE_PACKED               tcgemm_tile_neon_f32
#define TILE_STRIDED              tcgemm_tile_neon_f32_strided
#define TILE_LANE                 float
#define TILE_BVEC                 float32x4_t
#define TILE_AVEC                 float
#define TILE_LOAD(p)              vld1q_f32(p)
#define TILE_LOAD_MASKED(p, mask) get_f32(p, mask)
#define TILE_BROADCAST(p)         (*(p))
#define TILE_MAC(sum, a, b)       fma_f32(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"

/* ---- f64 ---- */
#define TILE_PACKED               tcgemm_tile_neon_f64
#define TILE_STRIDED              tcgemm_tile_neon_f64_strided
#define TILE_MR                   8
#define TILE_NV                   3
#define TILE_LANES                2
#define TILE_LANE                 double
#define TILE_VEC                  float64x2_t
#define TILE_BVEC                 float64x2_t
#define TILE_AVEC                 double
#define TILE_ZERO()               vdupq_n_f64(0.0)
#define TILE_LOAD(p)              vld1q_f64(p)
#define TILE_LOAD_MASKED(p, mask) get_f64(p, mask)
#define TILE_BROADCAST(p)         (*(p))
#define TILE_MAC(sum, a, b)       fma_f64(sum, a, b)
#define TILE_MASK                 int
#define TILE_TAIL(n)              (n)
#define TILE_SCALAR               double
#define TILE_GET(p, mask)         get_f64(p, mask)
#define TILE_PUT(p, mask, x)      put_f64(p, mask, x)
#define TILE_SET1(x)              vdupq_n_f64(x)
#define TILE_MUL(x, y)            vmulq_f64(x, y)
#define TILE_ADD(x, y)            vaddq_f64(x, y)
#define TILE_FMA(x, y, z)         vfmaq_f64(z, x, y)
#define TILE_FIELD                f64
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- s16: pairs of 16-bit integers, for 8-bit products ---- */
#include "cpu/kernels/neon_s32_output.h"
#define TILE_PACKED         tcgemm_tile_neon_s16
#define TILE_STRIDED        tcgemm_tile_neon_s16_strided
#define TILE_AVEC           int16x4_t
#define TILE_BROADCAST(p)   vreinterpret_s16_u32(vld1_dup_u32(p))
#define TILE_MAC(sum, a, b) dot2(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"

/* ---- b1 ---- */
#include "cpu/kernels/neon_s32_output.h"
#define TILE_PACKED         tcgemm_tile_neon_b1
#define TILE_BROADCAST(p)   vld1q_dup_u32(p)
#define TILE_MAC(sum, a, b) count(sum, vandq_u32(a, b))
#include "cpu/kernels/tile_tmpl.h"
