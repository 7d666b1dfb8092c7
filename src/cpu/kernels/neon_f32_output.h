/* neon_f32_output.h - the part of a tile_tmpl.h definition that the NEON kernels with f32 sums
 * share; include it before each inclusion of tile_tmpl.h. */
#define TILE_MR              8
#define TILE_NV              3
#define TILE_LANES           4
#define TILE_VEC             float32x4_t
#define TILE_ZERO()          vdupq_n_f32(0.0f)
#define TILE_MASK            int
#define TILE_TAIL(n)         (n)
#define TILE_SCALAR          float
#define TILE_GET(p, mask)    get_f32(p, mask)
#define TILE_PUT(p, mask, x) put_f32(p, mask, x)
#define TILE_SET1(x)         vdupq_n_f32(x)
#define TILE_MUL(x, y)       vmulq_f32(x, y)
#define TILE_ADD(x, y)       vaddq_f32(x, y)
#define TILE_FMA(x, y, z)    vfmaq_f32(z, x, y)
#define TILE_FIELD           f32
#define TILE_INTEGER         0
