/* neon_i8mm.c - 8-bit products of all signs with SMMLA, UMMLA and USMMLA: 2 x 8 by 8 x 2 bytes.
 *
 * USMMLA takes the unsigned operand first. Where B is the unsigned one, it comes first, and the
 * blocks of sums are those of the transposed product.
 */
#include "cpu/kernels/neon_access.h"

static TCGEMM_ALWAYS_INLINE uint32x4_t mmla_ss(uint32x4_t sum, uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_u32_s32(
        vmmlaq_s32(vreinterpretq_s32_u32(sum), vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}

static TCGEMM_ALWAYS_INLINE uint32x4_t mmla_us(uint32x4_t sum, uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_u32_s32(
        vusmmlaq_s32(vreinterpretq_s32_u32(sum), a, vreinterpretq_s8_u8(b)));
}

/* Row r of two blocks of 2 x 2 sums that lie side by side. */
static TCGEMM_ALWAYS_INLINE uint32x4_t row_of(uint32x4_t x, uint32x4_t y, const int r) {
    return r == 0 ? vcombine_u32(vget_low_u32(x), vget_low_u32(y))
                  : vcombine_u32(vget_high_u32(x), vget_high_u32(y));
}

/* The same of blocks that are transposed. */
static TCGEMM_ALWAYS_INLINE uint32x4_t row_of_transposed(uint32x4_t x, uint32x4_t y, const int r) {
    return r == 0 ? vuzp1q_u32(x, y) : vuzp2q_u32(x, y);
}

#include "cpu/kernels/neon_mmla_s32_output.h"
#define MMLA_NAME           multiply_ss
#define MMLA_MAC(sum, a, b) mmla_ss(sum, a, b)
#define MMLA_ROW(x, y, r)   row_of(x, y, r)
#include "cpu/kernels/neon_mmla_tmpl.h"

#include "cpu/kernels/neon_mmla_s32_output.h"
#define MMLA_NAME           multiply_uu
#define MMLA_MAC(sum, a, b) vmmlaq_u32(sum, a, b)
#define MMLA_ROW(x, y, r)   row_of(x, y, r)
#include "cpu/kernels/neon_mmla_tmpl.h"

#include "cpu/kernels/neon_mmla_s32_output.h"
#define MMLA_NAME           multiply_us
#define MMLA_MAC(sum, a, b) mmla_us(sum, a, b)
#define MMLA_ROW(x, y, r)   row_of(x, y, r)
#include "cpu/kernels/neon_mmla_tmpl.h"

#include "cpu/kernels/neon_mmla_s32_output.h"
#define MMLA_NAME           multiply_su
#define MMLA_MAC(sum, a, b) mmla_us(sum, b, a)
#define MMLA_ROW(x, y, r)   row_of_transposed(x, y, r)
#include "cpu/kernels/neon_mmla_tmpl.h"

void tcgemm_tile_neon_i8x8(const tcgemm_tile_t *t) {
    if (t->a_is_signed && t->b_is_signed)
        multiply_ss(t);
    else if (t->a_is_signed)
        multiply_su(t);
    else if (t->b_is_signed)
        multiply_us(t);
    else
        multiply_uu(t);
}
