/* neon_bf16.c - bf16 products with BFMMLA: 2 x 4 by 4 x 2 bf16, summed in f32.
 *
 * The instruction adds its products in pairs and each pair to the sum, rounded to odd, and takes
 * subnormals for zero everywhere, whatever the control register says (Arm ARM, BFMMLA and BFDotAdd;
 * FPCR.EBF, which asks for other arithmetic, is 0 here: base/fpmode.h). Its bound is
 * TCGEMM_BOUND_ODD. Packing reports the panels that hold a subnormal; the driver sends their tiles
 * to the second kernel here, which forms the same products with f32 multiply-adds.
 */
#include "cpu/kernels/neon_access.h"

static TCGEMM_ALWAYS_INLINE float32x4_t mmla(float32x4_t sum, uint8x16_t a, uint8x16_t b) {
    return vbfmmlaq_f32(sum, vreinterpretq_bf16_u8(a), vreinterpretq_bf16_u8(b));
}

/* Row r of two blocks of 2 x 2 sums that lie side by side. */
static TCGEMM_ALWAYS_INLINE float32x4_t row_of(float32x4_t x, float32x4_t y, const int r) {
    return r == 0 ? vcombine_f32(vget_low_f32(x), vget_low_f32(y))
                  : vcombine_f32(vget_high_f32(x), vget_high_f32(y));
}

#define MMLA_NAME             multiply
#define MMLA_SUM              float32x4_t
#define MMLA_SCALAR           float
#define MMLA_ZERO()           vdupq_n_f32(0.0f)
#define MMLA_MAC(sum, a, b)   mmla(sum, a, b)
#define MMLA_ROW(x, y, r)     row_of(x, y, r)
#define MMLA_GET(p, lanes)    get_f32(p, lanes)
#define MMLA_PUT(p, lanes, x) put_f32(p, lanes, x)
#define MMLA_SET1(x)          vdupq_n_f32(x)
#define MMLA_MUL(x, y)        vmulq_f32(x, y)
#define MMLA_FMA(x, y, z)     vfmaq_f32(z, x, y)
#define MMLA_FIELD            f32
#include "cpu/kernels/neon_mmla_tmpl.h"

void tcgemm_tile_neon_bf16x4(const tcgemm_tile_t *t) {
    multiply(t);
}

/* ---- with f32 multiply-adds: a lane of A is four elements in turn, B's are parted by LD4 ---- */

typedef struct lanes_of_b {
    uint16x4_t element[4]; /* element h of four columns */
} lanes_of_b_t;

static TCGEMM_ALWAYS_INLINE lanes_of_b_t load_columns(const uint64_t *p) {
    const uint16x4x4_t x = vld4_u16((const uint16_t *)(const void *)p);
    return (lanes_of_b_t){{x.val[0], x.val[1], x.val[2], x.val[3]}};
}

static TCGEMM_ALWAYS_INLINE float32x4_t widen(uint16x4_t x) {
    return vreinterpretq_f32_u32(vshll_n_u16(x, 16));
}

static TCGEMM_ALWAYS_INLINE float32x4_t dot4(float32x4_t sum, uint16x4_t a, lanes_of_b_t b) {
    const float32x4_t row = widen(a);
    sum = vfmaq_laneq_f32(sum, widen(b.element[0]), row, 0);
    sum = vfmaq_laneq_f32(sum, widen(b.element[1]), row, 1);
    sum = vfmaq_laneq_f32(sum, widen(b.element[2]), row, 2);
    return vfmaq_laneq_f32(sum, widen(b.element[3]), row, 3);
}

#include "cpu/kernels/neon_f32_output.h"
#define TILE_PACKED               tcgemm_tile_neon_bf16x4_exact
#define TILE_LANE                 uint64_t
#define TILE_BVEC                 lanes_of_b_t
#define TILE_AVEC                 uint16x4_t
#define TILE_LOAD(p)              load_columns(p)
#define TILE_LOAD_MASKED(p, mask) load_columns(p) /* of panels alone, which have all columns */
#define TILE_BROADCAST(p)         vcreate_u16(*(p))
#define TILE_MAC(sum, a, b)       dot4(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"
