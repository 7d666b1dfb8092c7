/* sve_tmpl.h - f32 and f64 kernels for SVE with vectors of SVE_BITS bits, 8 x 3 vectors, to which
 * SVE_NAME(family) gives names.
 *
 * A row of the table has one size of tile, and panels are made for it, so the length of vectors is
 * that of the file's flags (-msve-vector-bits), and a row fits the processors that have that
 * length. Vectors of 128 bits are NEON's.
 */
#include <arm_sve.h>

#include "cpu/kernels/kernels.h"

#if __ARM_FEATURE_SVE_BITS != SVE_BITS
#error "sve_tmpl.h: compile with -msve-vector-bits, src/CMakeLists.txt"
#endif

typedef svfloat32_t f32_t __attribute__((arm_sve_vector_bits(SVE_BITS)));
typedef svfloat64_t f64_t __attribute__((arm_sve_vector_bits(SVE_BITS)));
typedef svbool_t mask_t __attribute__((arm_sve_vector_bits(SVE_BITS)));

/* ---- f32 ---- */
#define TILE_PACKED               SVE_NAME(f32)
#define TILE_STRIDED              SVE_NAME(f32_strided)
#define TILE_MR                   8
#define TILE_NV                   3
#define TILE_LANES                (SVE_BITS / 32)
#define TILE_LANE                 float
#define TILE_VEC                  f32_t
#define TILE_BVEC                 f32_t
#define TILE_ZERO()               svdup_f32(0.0f)
#define TILE_LOAD(p)              svld1_f32(svptrue_b32(), p)
#define TILE_LOAD_MASKED(p, mask) svld1_f32(mask, p)
#define TILE_BROADCAST(p)         svdup_f32(*(p))
#define TILE_MAC(sum, a, b)       svmla_f32_x(svptrue_b32(), sum, a, b)
#define TILE_MASK                 mask_t
#define TILE_TAIL(n)              svwhilelt_b32_s32(0, n)
#define TILE_SCALAR               float
#define TILE_GET(p, mask)         svld1_f32(mask, p)
#define TILE_PUT(p, mask, x)      svst1_f32(mask, p, x)
#define TILE_SET1(x)              svdup_f32(x)
#define TILE_MUL(x, y)            svmul_f32_x(svptrue_b32(), x, y)
#define TILE_ADD(x, y)            svadd_f32_x(svptrue_b32(), x, y)
#define TILE_FMA(x, y, z)         svmla_f32_x(svptrue_b32(), z, x, y)
#define TILE_FIELD                f32
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"

/* ---- f64 ---- */
#define TILE_PACKED               SVE_NAME(f64)
#define TILE_STRIDED              SVE_NAME(f64_strided)
#define TILE_MR                   8
#define TILE_NV                   3
#define TILE_LANES                (SVE_BITS / 64)
#define TILE_LANE                 double
#define TILE_VEC                  f64_t
#define TILE_BVEC                 f64_t
#define TILE_ZERO()               svdup_f64(0.0)
#define TILE_LOAD(p)              svld1_f64(svptrue_b64(), p)
#define TILE_LOAD_MASKED(p, mask) svld1_f64(mask, p)
#define TILE_BROADCAST(p)         svdup_f64(*(p))
#define TILE_MAC(sum, a, b)       svmla_f64_x(svptrue_b64(), sum, a, b)
#define TILE_MASK                 mask_t
#define TILE_TAIL(n)              svwhilelt_b64_s32(0, n)
#define TILE_SCALAR               double
#define TILE_GET(p, mask)         svld1_f64(mask, p)
#define TILE_PUT(p, mask, x)      svst1_f64(mask, p, x)
#define TILE_SET1(x)              svdup_f64(x)
#define TILE_MUL(x, y)            svmul_f64_x(svptrue_b64(), x, y)
#define TILE_ADD(x, y)            svadd_f64_x(svptrue_b64(), x, y)
#define TILE_FMA(x, y, z)         svmla_f64_x(svptrue_b64(), z, x, y)
#define TILE_FIELD                f64
#define TILE_INTEGER              0
#include "cpu/kernels/tile_tmpl.h"
