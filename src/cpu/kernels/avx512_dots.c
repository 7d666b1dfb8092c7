/* avx512_dots.c - a few rows times lines along or across k with AVX-512: 16 lines (of f64 8) a
 * vector, up to 16 rows.
 */
#include <immintrin.h>

#include "cpu/kernels/avx512_halves.h"
#include "cpu/kernels/avx512_transpose.h"
#include "cpu/kernels/fp8_rows.h"
#include "cpu/kernels/kernels.h"
#include "cpu/kernels/turn.h"

/* ---- transpositions ---- */

static TCGEMM_ALWAYS_INLINE __m512 quarters_of(__m128 a, __m128 b, __m128 c, __m128 d) {
    const __m256 ab = _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
    const __m256 cd = _mm256_insertf128_ps(_mm256_castps128_ps256(c), d, 1);
    return _mm512_insertf32x8(_mm512_castps256_ps512(ab), cd, 1);
}

/* Loads that go straight to their lanes: one instruction each. */
static TCGEMM_ALWAYS_INLINE __m512 quarters(const void *p0, const void *p1, const void *p2,
                                            const void *p3) {
    __m512 r = _mm512_castps128_ps512(_mm_loadu_ps(p0));
    r = _mm512_mask_broadcast_f32x4(r, 0x00F0, _mm_loadu_ps(p1));
    r = _mm512_mask_broadcast_f32x4(r, 0x0F00, _mm_loadu_ps(p2));
    return _mm512_mask_broadcast_f32x4(r, 0xF000, _mm_loadu_ps(p3));
}

/* 16 bytes of each of 16 lines: words 0 of all, words 1, ... */
static TCGEMM_ALWAYS_INLINE void load_words(const uint16_t *const at[16], int64_t p,
                                            __m512 raw[4]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 4; ++i)
        raw[i] = quarters(at[i] + p, at[i + 4] + p, at[i + 8] + p, at[i + 12] + p);
    transpose_in_quarters(raw);
}

static TCGEMM_ALWAYS_INLINE void load_f32(const float *const line[16], int64_t p, __m512 raw[16]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 16; ++i)
        raw[i] = _mm512_loadu_ps(line[i] + p);
    transpose_words(raw);
}

static TCGEMM_ALWAYS_INLINE void load_bf16(const uint16_t *const line[16], int64_t p,
                                           __m512 raw[16]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 16; ++i)
        raw[i] = _mm512_loadu_ps(line[i] + p);
    transpose_words(raw);
}

/* The first n < 32 of 32 elements. */
static TCGEMM_ALWAYS_INLINE void load_some_bf16(const uint16_t *const line[16], int64_t p, int n,
                                                __m512 raw[16]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 16; ++i)
        raw[i] = _mm512_castsi512_ps(_mm512_maskz_loadu_epi16((1u << n) - 1u, line[i] + p));
    transpose_words(raw);
}

/* 16 elements of 16 lines, as bf16 beside one another in the first-level cache. */
static TCGEMM_ALWAYS_INLINE void load_fp8(bool is_e4m3, const uint8_t *const line[16], int64_t p,
                                          __m512 raw[8]) {
    const fp8_format_t format = fp8_format(is_e4m3);
    uint16_t bf16[16][16];
    const uint16_t *at[16];
    TCGEMM_UNROLL
    for (int i = 0; i < 16; i += 2) {
        const __m128i first = _mm_loadu_si128((const __m128i *)(line[i] + p));
        const __m128i second = _mm_loadu_si128((const __m128i *)(line[i + 1] + p));
        const __m256i two = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
        _mm512_storeu_si512(bf16[i], bf16_of_fp8(two, &format));
        at[i] = bf16[i];
        at[i + 1] = bf16[i + 1];
    }
    load_words(at, 0, raw);
    load_words(at, 8, raw + 4);
}

/* A word holds two bf16, each the upper half of an f32. */
static TCGEMM_ALWAYS_INLINE __m512 step_bf16(__m512 words, int s) {
    const __m512i pairs = _mm512_castps_si512(words);
    return s % 2 ? high_halves(pairs) : low_halves(pairs);
}

static TCGEMM_ALWAYS_INLINE void load_f64(const double *const line[8], int64_t p, __m512d raw[8]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 8; ++i)
        raw[i] = _mm512_loadu_pd(line[i] + p);
    transpose_doubles(raw);
}

/* 8 elements of 16 lines of 16-bit numbers, in each half of the registers those of 8 lines. */
static TCGEMM_ALWAYS_INLINE void load_f16(const uint16_t *const line[16], int64_t p,
                                          __m256i raw[8]) {
    __m256i r[8];
    __m256i t[8];
    TCGEMM_UNROLL
    for (int i = 0; i < 8; ++i)
        r[i] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(line[i] + p))),
            _mm_loadu_si128((const __m128i *)(line[i + 8] + p)), 1);
    TCGEMM_UNROLL
    for (int i = 0; i < 4; ++i) { /* elements 0..3 and 4..7 of lines 2i, 2i + 1 */
        t[i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        t[4 + i] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    TCGEMM_UNROLL
    for (int i = 0; i < 8; i += 2) { /* two elements of four lines */
        r[i] = _mm256_unpacklo_epi32(t[i], t[i + 1]);
        r[i + 1] = _mm256_unpackhi_epi32(t[i], t[i + 1]);
    }
    TCGEMM_UNROLL
    for (int i = 0; i < 2; ++i) {
        TCGEMM_UNROLL
        for (int h = 0; h < 2; ++h) {
            raw[4 * i + 2 * h] = _mm256_unpacklo_epi64(r[4 * i + h], r[4 * i + 2 + h]);
            raw[4 * i + 2 * h + 1] = _mm256_unpackhi_epi64(r[4 * i + h], r[4 * i + 2 + h]);
        }
    }
}

/* ---- lines across k ---- */

/* The first n < 16 of 16. */
static TCGEMM_ALWAYS_INLINE __mmask16 first_of_16(int n) {
    return (__mmask16)((1u << n) - 1u);
}

static TCGEMM_ALWAYS_INLINE __m512 floats_of_bf16(__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

static TCGEMM_ALWAYS_INLINE __m512 floats_of_fp8(bool is_e4m3, const uint8_t *p, int n) {
    const fp8_format_t format = fp8_format(is_e4m3);
    return f32_of_fp8_vector(p, n, &format);
}

/* ---- lanes of sums ---- */

static TCGEMM_ALWAYS_INLINE void sum_lanes_f32(const __m512 v[4], float out[4]) {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
    const __m512 all =
        _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xEE));
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

static TCGEMM_ALWAYS_INLINE void sum_lanes_f64(const __m512d v[4], double out[4]) {
    const __m512d ab =
        _mm512_add_pd(_mm512_unpacklo_pd(v[0], v[1]), _mm512_unpackhi_pd(v[0], v[1]));
    const __m512d cd =
        _mm512_add_pd(_mm512_unpacklo_pd(v[2], v[3]), _mm512_unpackhi_pd(v[2], v[3]));
    const __m256d abs = _mm256_add_pd(_mm512_castpd512_pd256(ab), _mm512_extractf64x4_pd(ab, 1));
    const __m256d cds = _mm256_add_pd(_mm512_castpd512_pd256(cd), _mm512_extractf64x4_pd(cd, 1));
    _mm256_storeu_pd(out, _mm256_add_pd(_mm256_permute2f128_pd(abs, cds, 0x20),
                                        _mm256_permute2f128_pd(abs, cds, 0x31)));
}

/* ---- lines in parts of a vector ---- */

static TCGEMM_ALWAYS_INLINE __m512 halves_of(__m128 a, __m128 b) {
    return _mm512_mask_broadcast_f32x4(_mm512_broadcast_f32x4(a), 0xFF00, b);
}

static TCGEMM_ALWAYS_INLINE __m512 parts_of_f32(const float *p, int64_t pitch, int width) {
    return width == 8 ? halves_of(_mm_loadu_ps(p), _mm_loadu_ps(p + pitch))
                      : quarters_of(_mm_loadu_ps(p), _mm_loadu_ps(p + pitch),
                                    _mm_loadu_ps(p + 2 * pitch), _mm_loadu_ps(p + 3 * pitch));
}

static TCGEMM_ALWAYS_INLINE __m512 some_parts_of_f32(const float *p, int64_t pitch, int width,
                                                     int n) {
    const __mmask8 some = (__mmask8)((1u << n) - 1u);
    const __m128 a = _mm_maskz_loadu_ps(some, p), b = _mm_maskz_loadu_ps(some, p + pitch);
    return width == 8 ? halves_of(a, b)
                      : quarters_of(a, b, _mm_maskz_loadu_ps(some, p + 2 * pitch),
                                    _mm_maskz_loadu_ps(some, p + 3 * pitch));
}

static TCGEMM_ALWAYS_INLINE __m512 step_of_f32(__m512 x, int s) {
    return s == 0   ? _mm512_permute_ps(x, 0x00)
           : s == 1 ? _mm512_permute_ps(x, 0x55)
           : s == 2 ? _mm512_permute_ps(x, 0xAA)
                    : _mm512_permute_ps(x, 0xFF);
}

static TCGEMM_ALWAYS_INLINE __m512 repeat_f32(const float *p, int width) {
    return width == 8 ? _mm512_broadcast_f32x8(_mm256_loadu_ps(p))
                      : _mm512_broadcast_f32x4(_mm_loadu_ps(p));
}

static TCGEMM_ALWAYS_INLINE __m512d parts_of_f64(const double *p, int64_t pitch, int width) {
    const float *const f = (const float *)(const void *)p;
    return width == 8 ? _mm512_broadcast_f64x2(_mm_loadu_pd(p))
                      : _mm512_castps_pd(parts_of_f32(f, 2 * pitch, 2 * width));
}

/* Of one element each. */
static TCGEMM_ALWAYS_INLINE __m512d some_parts_of_f64(const double *p, int64_t pitch, int width) {
    const float *const f = (const float *)(const void *)p;
    return width == 8 ? _mm512_set1_pd(*p)
                      : _mm512_castps_pd(some_parts_of_f32(f, 2 * pitch, 2 * width, 2));
}

static TCGEMM_ALWAYS_INLINE __m512d step_of_f64(__m512d x, int s) {
    return s == 0 ? _mm512_permute_pd(x, 0x00) : _mm512_permute_pd(x, 0xFF);
}

static TCGEMM_ALWAYS_INLINE __m512d repeat_f64(const double *p, int width) {
    return width == 8   ? _mm512_loadu_pd(p)
           : width == 4 ? _mm512_broadcast_f64x4(_mm256_loadu_pd(p))
                        : _mm512_broadcast_f64x2(_mm_loadu_pd(p));
}

/* ---- f32 sums ---- */

#define DOTS_MOST         16
#define DOTS_SETS(width)  1
#define DOTS_TYPE         float
#define DOTS_FIELD        f32
#define DOTS_VEC          __m512
#define DOTS_LANES        16
#define DOTS_ZERO()       _mm512_setzero_ps()
#define DOTS_SET1(x)      _mm512_set1_ps(x)
#define DOTS_GET(p)       _mm512_loadu_ps(p)
#define DOTS_PUT(p, x)    _mm512_storeu_ps(p, x)
#define DOTS_MUL(x, y)    _mm512_mul_ps(x, y)
#define DOTS_FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#define DOTS_BESIDE       8
#define DOTS_TURN(at, v)  load_f32(at, 0, v)

/* Half as many lines at a time. Those of 16 bits, with few rows, wait for their multiply-adds
 * anyway, those of 8 are more work there. */
#define DOTS_IN_A_CROWD tcgemm_dots_avx2_f32
#define IS_FOR_A_CROWD(t)                                                                          \
    ((t)->width <= 8 && (tcgemm_dtype_bits((t)->dtype) == 32 ||                                    \
                         (tcgemm_dtype_bits((t)->dtype) == 16 && (t)->width == 8)))
#define DOTS_F32   tcgemm_dots_avx512_f32
#define F32_STEPS  16
#define BF16_STEPS 32
#define DOTS_LOADS_SOME
#define DOTS_SHORTS                    __m256i
#define DOTS_WIDEN(x)                  _mm512_cvtph_ps(x)
#define ACROSS_TURN                    turn_f32
#define ACROSS_MOST                    16
#define ACROSS_VECTORS(width)          ((width) <= 4 ? 4 : 16 / (width))
#define ACROSS_F32                     tcgemm_across_avx512_f32
#define INNER_F32                      tcgemm_inner_avx512_f32
#define PARTS_STEPS                    4
#define PARTS_MOST                     8
#define PARTS_LINES(p, pitch, width)   parts_of_f32(p, pitch, width)
#define PARTS_SOME(p, pitch, width, n) some_parts_of_f32(p, pitch, width, n)
#define PARTS_STEP(v, s)               step_of_f32(v, s)
#define PARTS_REPEAT(p, width)         repeat_f32(p, width)
#define INNER_ROWS                     6
#define INNER_SOME(p, n)               SOME_FLOATS(p, n)
#define INNER_SUM4(v, out)             sum_lanes_f32(v, out)
#define SHORTS_OF(p)                   _mm256_loadu_si256((const __m256i *)(p))
#define SOME_SHORTS(p, n)              _mm256_maskz_loadu_epi16(first_of_16(n), p)
#define SOME_FLOATS(p, n)              _mm512_maskz_loadu_ps(first_of_16(n), p)
#define BF16_OF_SHORTS(x)              floats_of_bf16(x)
#define ACROSS_TF32                    tcgemm_across_avx2_f32 /* at most 8 rows; another one were long code */
#include "cpu/kernels/dots_f32_tmpl.h"

/* ---- f64 sums ---- */

#undef DOTS_TYPE
#undef DOTS_FIELD
#undef DOTS_VEC
#undef DOTS_LANES
#undef DOTS_ZERO
#undef DOTS_SET1
#undef DOTS_GET
#undef DOTS_PUT
#undef DOTS_MUL
#undef DOTS_FMA
#undef DOTS_BESIDE
#undef DOTS_TURN
#define DOTS_TYPE         double
#define DOTS_FIELD        f64
#define DOTS_VEC          __m512d
#define DOTS_LANES        8
#define DOTS_ZERO()       _mm512_setzero_pd()
#define DOTS_SET1(x)      _mm512_set1_pd(x)
#define DOTS_GET(p)       _mm512_loadu_pd(p)
#define DOTS_PUT(p, x)    _mm512_storeu_pd(p, x)
#define DOTS_MUL(x, y)    _mm512_mul_pd(x, y)
#define DOTS_FMA(x, y, z) _mm512_fmadd_pd(x, y, z)

#undef INNER_SOME
#undef INNER_SUM4
#define INNER_SOME(p, n)   _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1u), p)
#define INNER_SUM4(v, out) sum_lanes_f64(v, out)

#undef ACROSS_TURN
#define ACROSS_TURN turn_f64

#define DOTS_NAME               f64_dots
#define DOTS_ELEMENT            double
#define DOTS_STEPS              8
#define DOTS_RAW                __m512d
#define DOTS_RAWS               8
#define DOTS_LOAD(line, p, raw) load_f64(line, p, raw)
#define DOTS_LOAD_SOME          load_some_f64
#define DOTS_STEP(raw, s)       (raw)[s]
#define DOTS_ONE(x)             (x)
#define LINE_LOAD(p)            DOTS_GET(p)
#define LINE_SOME(p, n)         INNER_SOME(p, n)
#include "cpu/kernels/dots_tmpl.h"

#undef PARTS_STEPS
#undef PARTS_MOST
#undef PARTS_LINES
#undef PARTS_SOME
#undef PARTS_STEP
#undef PARTS_REPEAT
#define PARTS_NAME                     f64_parts
#define PARTS_STEPS                    2
#define PARTS_MOST                     8
#define PARTS_LINES(p, pitch, width)   parts_of_f64(p, pitch, width)
#define PARTS_SOME(p, pitch, width, n) some_parts_of_f64(p, pitch, width)
#define PARTS_STEP(v, s)               step_of_f64(v, s)
#define PARTS_REPEAT(p, width)         repeat_f64(p, width)
#include "cpu/kernels/parts_tmpl.h"

#define INNER_NAME    f64_inner
#define INNER_ELEMENT double
#include "cpu/kernels/inner_tmpl.h"

#define ACROSS_NAME    f64_across
#define ACROSS_ELEMENT double
#define ACROSS_STORE   f64_dots_store
#include "cpu/kernels/across_tmpl.h"

void tcgemm_dots_avx512_f64(const tcgemm_dots_t *t) {
    (f64_parts_suit(t) ? f64_parts : f64_dots)(t);
}

void tcgemm_across_avx512_f64(const tcgemm_dots_t *t) {
    f64_across(t);
}

void tcgemm_inner_avx512_f64(const tcgemm_dots_t *t) {
    f64_inner(t);
}

void tcgemm_turn_avx512_f32(const tcgemm_dots_t *t, const void *sums, int64_t pitch, int lines) {
    turn_f32(t, sums, pitch, 0, lines);
}

void tcgemm_turn_avx512_f64(const tcgemm_dots_t *t, const void *sums, int64_t pitch, int lines) {
    turn_f64(t, sums, pitch, 0, lines);
}
