/* neon_s32_output.h - the part of a tile_tmpl.h definition that the NEON kernels with 32-bit
 * integer sums share; include it before each inclusion of tile_tmpl.h. */
#define TILE_MR                   8
#define TILE_NV                   3
#define TILE_LANES                4
#define TILE_LANE                 uint32_t
#define TILE_VEC                  uint32x4_t
#define TILE_BVEC                 uint32x4_t
#define TILE_ZERO()               vdupq_n_u32(0)
#define TILE_LOAD(p)              vld1q_u32(p)
#define TILE_MASK                 int
#define TILE_TAIL(n)              (n)
#define TILE_LOAD_MASKED(p, mask) get_u32(p, mask)
#define TILE_SCALAR               uint32_t
#define TILE_GET(p, mask)         get_u32(p, mask)
#define TILE_PUT(p, mask, x)      put_u32(p, mask, x)
#define TILE_SET1(x)              vdupq_n_u32(x)
#define TILE_MUL(x, y)            vmulq_u32(x, y)
#define TILE_ADD(x, y)            vaddq_u32(x, y)
#define TILE_FMA(x, y, z)         vmlaq_u32(z, x, y)
#define TILE_FIELD                s32
#define TILE_INTEGER              1
