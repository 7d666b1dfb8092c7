/* any.c - kernels in plain C for every processor.
 *
 * The same loops as the other sets on 16-byte vectors of the compiler's own (GCC and Clang know
 * them for every target: SSE2, NEON, ...): f32 4 x 12, f64 4 x 6, s16 and b1 4 x 12. A processor
 * that matters gets a kernel set with its own instructions; this one has to be right everywhere.
 */
#include "cpu/kernels/kernels.h"

typedef float v4f __attribute__((vector_size(16)));
typedef double v2d __attribute__((vector_size(16)));
typedef uint32_t v4u __attribute__((vector_size(16)));
typedef int32_t v4s __attribute__((vector_size(16)));

/* A masked access is a copy of the valid lanes; a "mask" is their number. */
#define DEFINE_ACCESS(vec, scalar)                                                                 \
    static TCGEMM_ALWAYS_INLINE vec get_##vec(const scalar *p, int lanes) {                        \
        vec x = {0};                                                                               \
        memcpy(&x, p,                                                                              \
               lanes == (int)(sizeof x / sizeof *p) ? sizeof x : (size_t)lanes * sizeof *p);       \
        return x;                                                                                  \
    }                                                                                              \
    static TCGEMM_ALWAYS_INLINE void put_##vec(scalar *p, int lanes, vec x) {                      \
        memcpy(p, &x,                                                                              \
               lanes == (int)(sizeof x / sizeof *p) ? sizeof x : (size_t)lanes * sizeof *p);       \
    }
DEFINE_ACCESS(v4f, float)
DEFINE_ACCESS(v2d, double)
DEFINE_ACCESS(v4u, uint32_t)

static TCGEMM_ALWAYS_INLINE v4f set_v4f(float x) {
    return (v4f){x, x, x, x};
}

static TCGEMM_ALWAYS_INLINE v2d set_v2d(double x) {
    return (v2d){x, x};
}

static TCGEMM_ALWAYS_INLINE v4u set_v4u(uint32_t x) {
    return (v4u){x, x, x, x};
}

/* The products of two pairs of 16-bit integers, summed: |product| <= 2^16, so nothing overflows. */
static TCGEMM_ALWAYS_INLINE v4u dot2(v4u a, v4u b) {
    const v4s low = ((v4s)(a << 16) >> 16) * ((v4s)(b << 16) >> 16);
    const v4s high = ((v4s)a >> 16) * ((v4s)b >> 16);
    return (v4u)(low + high);
}

/* Ones in each lane (Warren, Hacker's Delight, 2nd ed., section 5-1). */
static TCGEMM_ALWAYS_INLINE v4u popcount(v4u x) {
    x = x - ((x >> 1) & set_v4u(0x55555555u));
    x = (x & set_v4u(0x33333333u)) + ((x >> 2) & set_v4u(0x33333333u));
    x = (x + (x >> 4)) & set_v4u(0x0F0F0F0Fu);
    x = x + (x >> 8);
    return (x + (x >> 16)) & set_v4u(0x3Fu);
}

/* ---- f32 ---- */
#define TILE_PACKED               tcgemm_tile_any_f32
#define TILE_STRIDED              tcgemm_tile_any_f32_strided
#define TILE_MR                   4
#define TILE_NV                   3
#define TILE_LANES                4
#define TILE_LANE                 float
#define TILE_VEC                  v4f
#define TILE_BVEC                 v4f
#define TILE_ZERO()               set_v4f(0.0f)
#define TILE_LOAD(p)              get_v4f(p, 4)
#define TILE_LOAD_MASKED(p, mask) get_v4f(p, mask)
#define TILE_BROADCAST(p)         set_v4f(*(p))
#define TILE_MAC(sum, a, b)       ((a) * (b) + (sum))
#define TILE_MASK                 int
#define TILE_TAIL(n)              (n)
#define TILE_SCALAR               float
#define TILE_GET(p, mask)         get_v4f(p, mask)
#define TILE_PUT(p, mask, x)      put_v4f(p, mask, x)
#define TILE_SET1(x)              set_v4f(x)
#define TILE_MUL(x, y)            ((x) * (y))
#define TILE_ADD(x, y)            ((x) + (y))
#define TILE_FMA(x, y, z)         ((x) * (y) + (z))
#define TILE_FIELD                f32
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- f64 ---- */
#define TILE_PACKED               tcgemm_tile_any_f64
#define TILE_STRIDED              tcgemm_tile_any_f64_strided
#define TILE_MR                   4
#define TILE_NV                   3
#define TILE_LANES                2
#define TILE_LANE                 double
#define TILE_VEC                  v2d
#define TILE_BVEC                 v2d
#define TILE_ZERO()               set_v2d(0.0)
#define TILE_LOAD(p)              get_v2d(p, 2)
#define TILE_LOAD_MASKED(p, mask) get_v2d(p, mask)
#define TILE_BROADCAST(p)         set_v2d(*(p))
#define TILE_MAC(sum, a, b)       ((a) * (b) + (sum))
#define TILE_MASK                 int
#define TILE_TAIL(n)              (n)
#define TILE_SCALAR               double
#define TILE_GET(p, mask)         get_v2d(p, mask)
#define TILE_PUT(p, mask, x)      put_v2d(p, mask, x)
#define TILE_SET1(x)              set_v2d(x)
#define TILE_MUL(x, y)            ((x) * (y))
#define TILE_ADD(x, y)            ((x) + (y))
#define TILE_FMA(x, y, z)         ((x) * (y) + (z))
#define TILE_FIELD                f64
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- s16: pairs of 16-bit integers, for 8-bit products ---- */
#include "cpu/kernels/any_s32_output.h"
#define TILE_PACKED         tcgemm_tile_any_s16
#define TILE_STRIDED        tcgemm_tile_any_s16_strided
#define TILE_MAC(sum, a, b) ((sum) + dot2(a, b))
#include "cpu/kernels/tile_tmpl.h"

/* ---- b1 ---- */
#include "cpu/kernels/any_s32_output.h"
#define TILE_PACKED         tcgemm_tile_any_b1
#define TILE_MAC(sum, a, b) ((sum) + popcount((a) & (b)))
#include "cpu/kernels/tile_tmpl.h"

#define PACK_ISA any
#include "cpu/kernels/pack_tmpl.h"

/* For the simulation of tiles on processors without (sim/cpu.c), where vectors of 64 bytes are long
 * code: a function, not sixteen copies. */
#define PACK_ISA         any
#define TRANSPOSE_INLINE TCGEMM_NEVER_INLINE
#undef TCGEMM_UNROLL
#define TCGEMM_UNROLL TCGEMM_UNROLL_BY(1)
#include "cpu/kernels/pack_amx_tmpl.h"
