/* avx2_s32_output.h - the part of a tile_tmpl.h definition that all AVX2 kernels with 32-bit
 * integer sums share; include it before each inclusion of tile_tmpl.h. */
#define TILE_MR                   4
#define TILE_NV                   3
#define TILE_LANES                8
#define TILE_LANE                 uint32_t
#define TILE_VEC                  __m256i
#define TILE_BVEC                 __m256i
#define TILE_ZERO()               _mm256_setzero_si256()
#define TILE_LOAD(p)              _mm256_loadu_si256((const __m256i *)(p))
#define TILE_BROADCAST(p)         _mm256_set1_epi32((int)*(p))
#define TILE_MASK                 mask_t
#define TILE_TAIL(n)              tail32(n, t->stores_parts)
#define TILE_LOAD_MASKED(p, mask) _mm256_maskload_epi32((const int *)(p), (mask).lanes)
#define TILE_SCALAR               uint32_t
#define TILE_GET(p, mask)         _mm256_maskload_epi32((const int *)(p), (mask).lanes)
#define TILE_PUT(p, mask, x)      put_epi32(p, mask, x)
#define TILE_SET1(x)              _mm256_set1_epi32((int)(x))
#define TILE_MUL(x, y)            _mm256_mullo_epi32(x, y)
#define TILE_ADD(x, y)            _mm256_add_epi32(x, y)
#define TILE_FMA(x, y, z)         _mm256_add_epi32(_mm256_mullo_epi32(x, y), z)
#define TILE_FIELD                s32
#define TILE_INTEGER              1
