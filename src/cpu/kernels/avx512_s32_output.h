/* avx512_s32_output.h - the part of a tile_tmpl.h definition that all AVX-512 kernels with 32-bit
 * integer sums share; include it before each inclusion of tile_tmpl.h. */
#define TILE_MR                   8
#define TILE_NV                   3
#define TILE_LANES                16
#define TILE_LANE                 uint32_t
#define TILE_VEC                  __m512i
#define TILE_BVEC                 __m512i
#define TILE_ZERO()               _mm512_setzero_si512()
#define TILE_LOAD(p)              _mm512_loadu_si512(p)
#define TILE_BROADCAST(p)         _mm512_set1_epi32((int)*(p))
#define TILE_MASK                 __mmask16
#define TILE_TAIL(n)              ((__mmask16)((1u << (n)) - 1u))
#define TILE_LOAD_MASKED(p, mask) _mm512_maskz_loadu_epi32(mask, p)
#define TILE_SCALAR               uint32_t
#define TILE_GET(p, mask)         _mm512_maskz_loadu_epi32(mask, p)
#define TILE_PUT(p, mask, x)      _mm512_mask_storeu_epi32(p, mask, x)
#define TILE_SET1(x)              _mm512_set1_epi32((int)(x))
#define TILE_MUL(x, y)            _mm512_mullo_epi32(x, y)
#define TILE_ADD(x, y)            _mm512_add_epi32(x, y)
#define TILE_FMA(x, y, z)         _mm512_add_epi32(_mm512_mullo_epi32(x, y), z)
#define TILE_FIELD                s32
#define TILE_INTEGER              1
