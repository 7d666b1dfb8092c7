/* any_s32_output.h - the part of a tile_tmpl.h definition that the plain-C kernels with 32-bit
 * integer sums share; include it before each inclusion of tile_tmpl.h. */
#define TILE_MR                   4
#define TILE_NV                   3
#define TILE_LANES                4
#define TILE_LANE                 uint32_t
#define TILE_VEC                  v4u
#define TILE_BVEC                 v4u
#define TILE_ZERO()               set_v4u(0u)
#define TILE_LOAD(p)              get_v4u(p, 4)
#define TILE_BROADCAST(p)         set_v4u(*(p))
#define TILE_MASK                 int
#define TILE_TAIL(n)              (n)
#define TILE_LOAD_MASKED(p, mask) get_v4u(p, mask)
#define TILE_SCALAR               uint32_t
#define TILE_GET(p, mask)         get_v4u(p, mask)
#define TILE_PUT(p, mask, x)      put_v4u(p, mask, x)
#define TILE_SET1(x)              set_v4u(x)
#define TILE_MUL(x, y)            ((x) * (y))
#define TILE_ADD(x, y)            ((x) + (y))
#define TILE_FMA(x, y, z)         ((x) * (y) + (z))
#define TILE_FIELD                s32
#define TILE_INTEGER              1
