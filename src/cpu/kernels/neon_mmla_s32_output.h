/* neon_mmla_s32_output.h - the part of a neon_mmla_tmpl.h definition that all 8-bit products share;
 * include it before each inclusion of neon_mmla_tmpl.h. */
#define MMLA_SUM              uint32x4_t
#define MMLA_SCALAR           uint32_t
#define MMLA_ZERO()           vdupq_n_u32(0)
#define MMLA_GET(p, lanes)    get_u32(p, lanes)
#define MMLA_PUT(p, lanes, x) put_u32(p, lanes, x)
#define MMLA_SET1(x)          vdupq_n_u32(x)
#define MMLA_MUL(x, y)        vmulq_u32(x, y)
#define MMLA_FMA(x, y, z)     vmlaq_u32(z, x, y)
#define MMLA_FIELD            s32
