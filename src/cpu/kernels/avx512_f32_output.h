/* avx512_f32_output.h - the part of a tile_tmpl.h definition that all AVX-512 kernels with f32 sums
 * share; include it before each inclusion of tile_tmpl.h. */
#define TILE_MR              8
#define TILE_NV              3
#define TILE_LANES           16
#define TILE_VEC             __m512
#define TILE_ZERO()          _mm512_setzero_ps()
#define TILE_MASK            __mmask16
#define TILE_TAIL(n)         ((__mmask16)((1u << (n)) - 1u))
#define TILE_SCALAR          float
#define TILE_GET(p, mask)    _mm512_maskz_loadu_ps(mask, p)
#define TILE_PUT(p, mask, x) _mm512_mask_storeu_ps(p, mask, x)
#define TILE_SET1(x)         _mm512_set1_ps(x)
#define TILE_MUL(x, y)       _mm512_mul_ps(x, y)
#define TILE_ADD(x, y)       _mm512_add_ps(x, y)
#define TILE_FMA(x, y, z)    _mm512_fmadd_ps(x, y, z)
#define TILE_FIELD           f32
#define TILE_INTEGER         0
