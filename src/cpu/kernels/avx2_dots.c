/* avx2_dots.c - a few rows times lines along or across k with AVX2: 8 lines (of f64 4) a vector, up
 * to 8 rows; of bytes pairs that are s16, up to 16 rows.
 */
#include <immintrin.h>

#include "cpu/kernels/fp8_rows.h"
#include "cpu/kernels/kernels.h"
#include "cpu/kernels/turn.h"

/* ---- transpositions ---- */

static TCGEMM_ALWAYS_INLINE __m256 halves(const void *low, const void *high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

/* 16 bytes of each of 8 lines: words 0 of all, words 1, ... */
static TCGEMM_ALWAYS_INLINE void load_words(const void *const at[8], __m256 raw[4]) {
    const __m256 r0 = halves(at[0], at[4]);
    const __m256 r1 = halves(at[1], at[5]);
    const __m256 r2 = halves(at[2], at[6]);
    const __m256 r3 = halves(at[3], at[7]);
    const __m256 t0 = _mm256_unpacklo_ps(r0, r1);
    const __m256 t1 = _mm256_unpackhi_ps(r0, r1);
    const __m256 t2 = _mm256_unpacklo_ps(r2, r3);
    const __m256 t3 = _mm256_unpackhi_ps(r2, r3);
    raw[0] = _mm256_shuffle_ps(t0, t2, 0x44);
    raw[1] = _mm256_shuffle_ps(t0, t2, 0xEE);
    raw[2] = _mm256_shuffle_ps(t1, t3, 0x44);
    raw[3] = _mm256_shuffle_ps(t1, t3, 0xEE);
}

static TCGEMM_ALWAYS_INLINE void load_f32(const float *const line[8], int64_t p, __m256 raw[4]) {
    const void *const at[8] = {line[0] + p, line[1] + p, line[2] + p, line[3] + p,
                               line[4] + p, line[5] + p, line[6] + p, line[7] + p};
    load_words(at, raw);
}

static TCGEMM_ALWAYS_INLINE void load_bf16(const uint16_t *const line[8], int64_t p,
                                           __m256 raw[4]) {
    const void *const at[8] = {line[0] + p, line[1] + p, line[2] + p, line[3] + p,
                               line[4] + p, line[5] + p, line[6] + p, line[7] + p};
    load_words(at, raw);
}

/* 16 elements of 8 lines, as bf16 beside one another in the first-level cache. */
static TCGEMM_ALWAYS_INLINE void load_fp8(bool is_e4m3, const uint8_t *const line[8], int64_t p,
                                          __m256 raw[8]) {
    const fp8_format_t format = fp8_format(is_e4m3);
    uint16_t bf16[8][16];
    const uint16_t *at[8];
    TCGEMM_UNROLL
    for (int i = 0; i < 8; ++i) {
        _mm256_storeu_si256((__m256i *)bf16[i], bf16_of_fp8(fp8_bytes(line[i] + p, 16), &format));
        at[i] = bf16[i];
    }
    load_bf16(at, 0, raw);
    load_bf16(at, 8, raw + 4);
}

/* A word holds two bf16, each the upper half of an f32. */
static TCGEMM_ALWAYS_INLINE __m256 step_bf16(__m256 words, int s) {
    const __m256i x = _mm256_castps_si256(words);
    return _mm256_castsi256_ps(s % 2 ? _mm256_and_si256(x, _mm256_set1_epi32((int)0xFFFF0000u))
                                     : _mm256_slli_epi32(x, 16));
}

static TCGEMM_ALWAYS_INLINE void load_f64(const double *const line[4], int64_t p, __m256d raw[2]) {
    const __m256d r0 = _mm256_castps_pd(halves(line[0] + p, line[2] + p));
    const __m256d r1 = _mm256_castps_pd(halves(line[1] + p, line[3] + p));
    raw[0] = _mm256_unpacklo_pd(r0, r1);
    raw[1] = _mm256_unpackhi_pd(r0, r1);
}

/* 8 elements of 8 lines of 16-bit numbers. */
static TCGEMM_ALWAYS_INLINE void load_f16(const uint16_t *const line[8], int64_t p,
                                          __m128i raw[8]) {
    __m128i r[8];
    __m128i t[8];
    TCGEMM_UNROLL
    for (int i = 0; i < 8; ++i)
        r[i] = _mm_loadu_si128((const __m128i *)(line[i] + p));
    TCGEMM_UNROLL
    for (int i = 0; i < 4; ++i) { /* elements 0..3 and 4..7 of lines 2i, 2i + 1 */
        t[i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        t[4 + i] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    TCGEMM_UNROLL
    for (int i = 0; i < 8; i += 2) { /* two elements of four lines */
        r[i] = _mm_unpacklo_epi32(t[i], t[i + 1]);
        r[i + 1] = _mm_unpackhi_epi32(t[i], t[i + 1]);
    }
    TCGEMM_UNROLL
    for (int i = 0; i < 2; ++i) {
        TCGEMM_UNROLL
        for (int h = 0; h < 2; ++h) {
            raw[4 * i + 2 * h] = _mm_unpacklo_epi64(r[4 * i + h], r[4 * i + 2 + h]);
            raw[4 * i + 2 * h + 1] = _mm_unpackhi_epi64(r[4 * i + h], r[4 * i + 2 + h]);
        }
    }
}

/* ---- lines across k ---- */

/* All bits of the first n of 8 words. */
static TCGEMM_ALWAYS_INLINE __m256i first_words(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first n < 4 of four, and zeros. */
static TCGEMM_ALWAYS_INLINE uint64_t some_of_four(const uint16_t *p, int n) {
    uint32_t two = 0;
    if (n & 2)
        memcpy(&two, p, sizeof two);
    if (!(n & 1))
        return two;
    uint32_t one = p[n & 2];
    __asm__("" : "+r"(one)); /* else GCC 13 reads it, and more than there is, for an even n too */
    return two | (uint64_t)one << 16 * (n & 2);
}

/* The first n < 8 of eight. */
static TCGEMM_ALWAYS_INLINE __m128i some_shorts(const uint16_t *p, int n) {
    uint64_t low = 0;
    if (n < 4)
        return _mm_set_epi64x(0, (int64_t)some_of_four(p, n));
    memcpy(&low, p, sizeof low);
    return _mm_set_epi64x((int64_t)some_of_four(p + 4, n - 4), (int64_t)low);
}

static TCGEMM_ALWAYS_INLINE __m256 floats_of_bf16(__m128i x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

/* As tcgemm_tf32_of_f32. */
static TCGEMM_ALWAYS_INLINE __m256 tf32_of_floats(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i exponent = _mm256_set1_epi32(0x7F800000);
    const __m256i rounded = _mm256_and_si256(_mm256_add_epi32(bits, _mm256_set1_epi32(0x1000)),
                                             _mm256_set1_epi32((int)0xFFFFE000u));
    const __m256i is_special = _mm256_cmpeq_epi32(_mm256_and_si256(bits, exponent), exponent);
    return _mm256_blendv_ps(_mm256_castsi256_ps(rounded), x, _mm256_castsi256_ps(is_special));
}

static TCGEMM_ALWAYS_INLINE __m256 floats_of_fp8(bool is_e4m3, const uint8_t *p, int n) {
    const fp8_format_t format = fp8_format(is_e4m3);
    return f32_of_fp8_vector(p, n, &format);
}

/* ---- lanes of sums ---- */

static TCGEMM_ALWAYS_INLINE void sum_lanes_f32(const __m256 v[4], float out[4]) {
    const __m256 all = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}

static TCGEMM_ALWAYS_INLINE void sum_lanes_f64(const __m256d v[4], double out[4]) {
    const __m256d ab = _mm256_hadd_pd(v[0], v[1]), cd = _mm256_hadd_pd(v[2], v[3]);
    _mm256_storeu_pd(out, _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20),
                                        _mm256_permute2f128_pd(ab, cd, 0x31)));
}

/* ---- lines in parts of a vector ---- */

static TCGEMM_ALWAYS_INLINE __m256 halves_of(__m128 a, __m128 b) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
}

static TCGEMM_ALWAYS_INLINE __m256 parts_of_f32(const float *p, int64_t pitch, int width) {
    const __m128 a = _mm_loadu_ps(p);
    return halves_of(a, width == 8 ? a : _mm_loadu_ps(p + pitch));
}

static TCGEMM_ALWAYS_INLINE __m256 some_parts_of_f32(const float *p, int64_t pitch, int width,
                                                     int n) {
    const __m128i some = _mm256_castsi256_si128(first_words(n));
    const __m128 a = _mm_maskload_ps(p, some);
    return halves_of(a, width == 8 ? a : _mm_maskload_ps(p + pitch, some));
}

static TCGEMM_ALWAYS_INLINE __m256 step_of_f32(__m256 x, int s) {
    return s == 0   ? _mm256_permute_ps(x, 0x00)
           : s == 1 ? _mm256_permute_ps(x, 0x55)
           : s == 2 ? _mm256_permute_ps(x, 0xAA)
                    : _mm256_permute_ps(x, 0xFF);
}

static TCGEMM_ALWAYS_INLINE __m256 repeat_f32(const float *p, int width) {
    return width == 8 ? _mm256_loadu_ps(p) : _mm256_broadcast_ps((const __m128 *)(const void *)p);
}

static TCGEMM_ALWAYS_INLINE __m256d parts_of_f64(const double *p, int64_t pitch, int width) {
    const float *const f = (const float *)(const void *)p;
    return _mm256_castps_pd(parts_of_f32(f, 2 * pitch, 2 * width));
}

/* Of one element each. */
static TCGEMM_ALWAYS_INLINE __m256d some_parts_of_f64(const double *p, int64_t pitch, int width) {
    const float *const f = (const float *)(const void *)p;
    return _mm256_castps_pd(some_parts_of_f32(f, 2 * pitch, 2 * width, 2));
}

static TCGEMM_ALWAYS_INLINE __m256d step_of_f64(__m256d x, int s) {
    return s == 0 ? _mm256_permute_pd(x, 0x0) : _mm256_permute_pd(x, 0xF);
}

static TCGEMM_ALWAYS_INLINE __m256d repeat_f64(const double *p, int width) {
    return width == 4 ? _mm256_loadu_pd(p) : _mm256_broadcast_pd((const __m128d *)(const void *)p);
}

/* ---- f32 sums ---- */

#define DOTS_MOST         8
#define DOTS_SETS(width)  ((width) <= 4 ? 2 : 1)
#define DOTS_TYPE         float
#define DOTS_FIELD        f32
#define DOTS_VEC          __m256
#define DOTS_LANES        8
#define DOTS_ZERO()       _mm256_setzero_ps()
#define DOTS_SET1(x)      _mm256_set1_ps(x)
#define DOTS_GET(p)       _mm256_loadu_ps(p)
#define DOTS_PUT(p, x)    _mm256_storeu_ps(p, x)
#define DOTS_MUL(x, y)    _mm256_mul_ps(x, y)
#define DOTS_FMA(x, y, z) _mm256_fmadd_ps(x, y, z)

#define DOTS_F32                       tcgemm_dots_avx2_f32
#define F32_STEPS                      4
#define BF16_STEPS                     8
#define DOTS_SHORTS                    __m128i
#define DOTS_WIDEN(x)                  _mm256_cvtph_ps(x)
#define ACROSS_TURN                    turn_f32
#define ACROSS_MOST                    4
#define ACROSS_VECTORS(width)          ((width) <= 2 ? 4 : (width) == 4 ? 3 : 1)
#define ACROSS_F32                     tcgemm_across_avx2_f32
#define INNER_F32                      tcgemm_inner_avx2_f32
#define PARTS_STEPS                    4
#define PARTS_MOST                     8
#define PARTS_LINES(p, pitch, width)   parts_of_f32(p, pitch, width)
#define PARTS_SOME(p, pitch, width, n) some_parts_of_f32(p, pitch, width, n)
#define PARTS_STEP(v, s)               step_of_f32(v, s)
#define PARTS_REPEAT(p, width)         repeat_f32(p, width)
#define INNER_ROWS                     2
#define INNER_SOME(p, n)               SOME_FLOATS(p, n)
#define INNER_SUM4(v, out)             sum_lanes_f32(v, out)
#define SHORTS_OF(p)                   _mm_loadu_si128((const __m128i *)(p))
#define SOME_SHORTS(p, n)              some_shorts(p, n)
#define SOME_FLOATS(p, n)              _mm256_maskload_ps(p, first_words(n))
#define BF16_OF_SHORTS(x)              floats_of_bf16(x)
#define TF32_OF_FLOATS(x)              tf32_of_floats(x)
#define ACROSS_TF32                    tf32_across
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
#define DOTS_TYPE         double
#define DOTS_FIELD        f64
#define DOTS_VEC          __m256d
#define DOTS_LANES        4
#define DOTS_ZERO()       _mm256_setzero_pd()
#define DOTS_SET1(x)      _mm256_set1_pd(x)
#define DOTS_GET(p)       _mm256_loadu_pd(p)
#define DOTS_PUT(p, x)    _mm256_storeu_pd(p, x)
#define DOTS_MUL(x, y)    _mm256_mul_pd(x, y)
#define DOTS_FMA(x, y, z) _mm256_fmadd_pd(x, y, z)

#undef INNER_SOME
#undef INNER_SUM4
#define INNER_SOME(p, n)   _mm256_maskload_pd(p, first_words(2 * (n)))
#define INNER_SUM4(v, out) sum_lanes_f64(v, out)

#undef ACROSS_TURN
#define ACROSS_TURN turn_f64

#define DOTS_NAME               f64_dots
#define DOTS_ELEMENT            double
#define DOTS_STEPS              2
#define DOTS_RAW                __m256d
#define DOTS_RAWS               2
#define DOTS_LOAD(line, p, raw) load_f64(line, p, raw)
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
#define PARTS_MOST                     4
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

void tcgemm_dots_avx2_f64(const tcgemm_dots_t *t) {
    (f64_parts_suit(t) ? f64_parts : f64_dots)(t);
}

void tcgemm_across_avx2_f64(const tcgemm_dots_t *t) {
    f64_across(t);
}

void tcgemm_inner_avx2_f64(const tcgemm_dots_t *t) {
    f64_inner(t);
}

void tcgemm_turn_avx2_f32(const tcgemm_dots_t *t, const void *sums, int64_t pitch, int lines) {
    turn_f32(t, sums, pitch, 0, lines);
}

void tcgemm_turn_avx2_f64(const tcgemm_dots_t *t, const void *sums, int64_t pitch, int lines) {
    turn_f64(t, sums, pitch, 0, lines);
}

/* ---- bytes along k ---- */

/* x as rows of s16, so that pairs of products are exact in 32 bits: bytes of a line are widened
 * once for all rows, u8 flipped to s8, which the term of a row undoes: no second copy of all loops.
 * rows x lines sums at a time, each a vector. */
enum { SUMS = 8, BYTES_AT_ONCE = 16, LINE_OF_MEMORY = 64, BYTES_AHEAD = 8 * LINE_OF_MEMORY };

static TCGEMM_ALWAYS_INLINE __m128i load_bytes(const uint8_t *bytes) {
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* Bytes from p to the end of a line of a vector's or more, moved there, and zeros. */
static TCGEMM_ALWAYS_INLINE __m128i last_bytes(const uint8_t *line, int64_t p, int64_t steps) {
    static const int8_t places[2 * BYTES_AT_ONCE] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                     11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1,
                                                     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const uint8_t *const from = (const uint8_t *)places + BYTES_AT_ONCE - (steps - p);
    return _mm_shuffle_epi8(load_bytes(line + steps - BYTES_AT_ONCE), load_bytes(from));
}

/* Lines from `first` on that are shorter, with zeros behind them. */
static TCGEMM_NEVER_INLINE TCGEMM_SHORT_CODE void
lengthen(const tcgemm_dots_t *t, int first, int lines, uint8_t longer[][BYTES_AT_ONCE]) {
    for (int l = 0; l < lines; ++l) {
        const uint8_t *const line = (const uint8_t *)t->lines + (first + l) * t->line_stride;
        for (int64_t i = 0; i < BYTES_AT_ONCE; ++i)
            longer[l][i] = first + l < t->num_lines && i < t->steps ? line[i] : 0;
    }
}

/* Of s8, or of u8 that a flip makes s8. */
static TCGEMM_ALWAYS_INLINE __m256i flipped(__m128i raw, __m128i flip) {
    return _mm256_cvtepi8_epi16(_mm_xor_si128(raw, flip));
}

static TCGEMM_ALWAYS_INLINE void add_bytes(const int16_t *const x, int64_t pitch, __m256i line,
                                           const int rows, __m256i *sum, const int lines) {
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i) {
        const __m256i row = _mm256_loadu_si256((const __m256i *)(const void *)(x + i * pitch));
        sum[i * lines] = _mm256_add_epi32(sum[i * lines], _mm256_madd_epi16(row, line));
    }
}

/* D's elements of a row and of lines first .., `count` of them or as many as there are. Few beside
 * what was multiplied for them: short code, not the quickest for each stride. */
static TCGEMM_NEVER_INLINE TCGEMM_SHORT_CODE void store_integers(const tcgemm_dots_t *t, int row,
                                                                 int first, int count,
                                                                 const uint32_t *sums,
                                                                 uint32_t term) {
    const uint32_t alpha = t->alpha.s32, beta = t->beta.s32;
    uint32_t *const d = (uint32_t *)t->d + row * t->d_row + first * t->d_line;
    const uint32_t *const c =
        t->c ? (const uint32_t *)t->c + row * t->c_row + first * t->c_line : NULL;
    if (count > t->num_lines - first)
        count = t->num_lines - first;
    for (int l = 0; l < count; ++l) {
        uint32_t number = alpha * (sums[l] + term);
        if (c)
            number += beta * c[l * t->c_line];
        d[l * t->d_line] = number;
    }
}

/* The lanes of sums of some rows and lines are added up. */
static TCGEMM_NEVER_INLINE void store_bytes(const tcgemm_dots_t *t, const __m256i sum[SUMS],
                                            int row, int rows, int first, int lines) {
    uint32_t sums[SUMS];
    for (int i = 0; i < SUMS; i += 4) {
        const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[i], sum[i + 1]),
                                              _mm256_hadd_epi32(sum[i + 2], sum[i + 3]));
        _mm_storeu_si128(
            (__m128i *)(void *)(sums + i),
            _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
    }
    for (int i = 0; i < rows && row + i < t->num_rows; ++i)
        store_integers(t, row + i, first, lines, sums + (ptrdiff_t)i * lines, t->term[row + i]);
}

static TCGEMM_ALWAYS_INLINE void some_bytes_along(const tcgemm_dots_t *t, int row, int first,
                                                  const int rows) {
    const int lines = SUMS / rows;
    const __m128i flip = _mm_set1_epi8((char)t->flip);
    const int64_t pitch = t->x_pitch / (int64_t)sizeof(int16_t);
    const int16_t *const x = (const int16_t *)t->x + row * pitch;
    uint8_t longer[SUMS][BYTES_AT_ONCE];
    const uint8_t *line[SUMS];
    __m256i sum[SUMS];
    TCGEMM_UNROLL
    for (int i = 0; i < SUMS; ++i)
        sum[i] = _mm256_setzero_si256();
    const bool is_short = t->steps < BYTES_AT_ONCE;
    const int64_t steps = is_short ? BYTES_AT_ONCE : t->steps;
    if (is_short)
        lengthen(t, first, lines, longer);
    TCGEMM_UNROLL
    for (int l = 0; l < lines; ++l)
        line[l] = is_short ? longer[l]
                           : (const uint8_t *)t->lines +
                                 (first + l < t->num_lines ? first + l : first) * t->line_stride;
    const bool fetches = t->fetches && row == 0;
    int64_t p = 0;
    for (; p + BYTES_AT_ONCE <= steps; p += BYTES_AT_ONCE) {
        if (fetches && p % LINE_OF_MEMORY == 0) {
            TCGEMM_UNROLL
            for (int l = 0; l < lines; ++l)
                __builtin_prefetch(line[l] + p + BYTES_AHEAD);
        }
        TCGEMM_UNROLL
        for (int l = 0; l < lines; ++l)
            add_bytes(x + p, pitch, flipped(load_bytes(line[l] + p), flip), rows, sum + l, lines);
    }
    if (p < steps) { /* x has zeros there */
        TCGEMM_UNROLL
        for (int l = 0; l < lines; ++l)
            add_bytes(x + p, pitch, flipped(last_bytes(line[l], p, steps), flip), rows, sum + l,
                      lines);
    }
    store_bytes(t, sum, row, rows, first, lines);
}

/* One row beside eight lines, two beside four, or four beside two, while these are near. */
void tcgemm_dots_avx2_bytes(const tcgemm_dots_t *t) {
    enum { MOST_LINES = 8, MOST_ROWS = 4 };
    if (t->num_rows == 1)
        for (int first = 0; first < t->num_lines; first += MOST_LINES)
            some_bytes_along(t, 0, first, 1);
    else if (t->num_rows == 2)
        for (int first = 0; first < t->num_lines; first += MOST_LINES / 2)
            some_bytes_along(t, 0, first, 2);
    else
        for (int first = 0; first < t->num_lines; first += MOST_LINES / MOST_ROWS)
            for (int row = 0; row < t->num_rows; row += MOST_ROWS)
                some_bytes_along(t, row, first, MOST_ROWS);
}

/* ---- bytes across k ---- */

/* Two rows of k as pairs of s16, each beside x's pair of a row: those of a piece of lines and of
 * all steps lie in the first-level cache between what makes them and what multiplies them. */
enum {
    PIECE = TCGEMM_LINES_ACROSS,
    VECTORS = PIECE / 8,
    MOST_PAIRS = TCGEMM_STEPS_ACROSS / 2,
    PIECES_AHEAD = 16 * LINE_OF_MEMORY
};

typedef struct pairs {
    __m256i at[MOST_PAIRS][VECTORS];
} pairs_t;

/* Of u8, or, with a sign of 0x80, of s8. */
static TCGEMM_ALWAYS_INLINE __m256i widen(__m128i raw, __m256i sign) {
    return _mm256_sub_epi16(_mm256_xor_si256(_mm256_cvtepu8_epi16(raw), sign), sign);
}

/* Sixteen bytes, or those that there are, and zeros. */
static TCGEMM_NEVER_INLINE __m128i some_bytes(const uint8_t *from, int count) {
    if (count >= BYTES_AT_ONCE)
        return load_bytes(from);
    uint8_t some[BYTES_AT_ONCE] = {0};
    for (int i = 0; i < count; ++i) /* no call of memcpy */
        some[i] = from[i];
    return load_bytes(some);
}

/* Of rows `one` and `two` of k, of which there may be no second; of `left` lines, or whole pieces.
 */
static TCGEMM_ALWAYS_INLINE void make_pair(const uint8_t *one, const uint8_t *two, int left,
                                           const bool is_whole, __m256i sign, __m256i to[VECTORS]) {
    TCGEMM_UNROLL
    for (int l = 0; l < PIECE; l += BYTES_AT_ONCE) {
        const __m128i r0 = is_whole ? load_bytes(one + l) : some_bytes(one + l, left - l);
        const __m128i r1 = is_whole ? load_bytes(two + l)
                           : two    ? some_bytes(two + l, left - l)
                                    : _mm_setzero_si128();
        to[l / 8] = widen(_mm_unpacklo_epi8(r0, r1), sign);
        to[l / 8 + 1] = widen(_mm_unpackhi_epi8(r0, r1), sign);
    }
}

static TCGEMM_ALWAYS_INLINE void make_pairs(const tcgemm_dots_t *t, int first, pairs_t *to) {
    const __m256i sign = _mm256_set1_epi16(t->dtype == TCGEMM_DTYPE_S8 ? 0x80 : 0);
    const int left = t->num_lines - first;
    const uint8_t *one = (const uint8_t *)t->lines + first;
    int64_t k = 0;
    for (; left >= PIECE && k + 2 <= t->steps; k += 2, one += 2 * t->k_stride) {
        if (t->fetches) {
            TCGEMM_PREFETCH_FAR(one + PIECES_AHEAD);
            TCGEMM_PREFETCH_FAR(one + t->k_stride + PIECES_AHEAD);
        }
        make_pair(one, one + t->k_stride, left, true, sign, to->at[k / 2]);
    }
    for (; k < t->steps; k += 2, one += 2 * t->k_stride)
        make_pair(one, k + 1 < t->steps ? one + t->k_stride : NULL, left, false, sign,
                  to->at[k / 2]);
}

/* Sums of a row of x and a piece of lines, from and to memory. */
static TCGEMM_NEVER_INLINE void add_pairs(const tcgemm_dots_t *t, const pairs_t *pairs, int row,
                                          uint32_t *partial) {
    const uint32_t *x = (const uint32_t *)t->x + row;
    __m256i *const sums = (__m256i *)(void *)partial;
    __m256i sum[VECTORS];
    TCGEMM_UNROLL
    for (int v = 0; v < VECTORS; ++v)
        sum[v] = t->resumes ? _mm256_loadu_si256(sums + v) : _mm256_setzero_si256();
    for (int64_t k = 0; k < t->steps; k += 2, x += t->width) {
        const __m256i one = _mm256_set1_epi32((int)*x);
        TCGEMM_UNROLL
        for (int v = 0; v < VECTORS; ++v)
            sum[v] = _mm256_add_epi32(sum[v], _mm256_madd_epi16(one, pairs->at[k / 2][v]));
    }
    TCGEMM_UNROLL
    for (int v = 0; v < VECTORS; ++v)
        _mm256_storeu_si256(sums + v, sum[v]);
}

void tcgemm_across_avx2_bytes(const tcgemm_dots_t *t) {
    for (int first = 0; first < t->num_lines; first += PIECE) {
        uint32_t *const partial = (uint32_t *)t->partial + (ptrdiff_t)first * t->width;
        pairs_t pairs;
        make_pairs(t, first, &pairs);
        for (int row = 0; row < t->num_rows; ++row) {
            add_pairs(t, &pairs, row, partial + (ptrdiff_t)row * PIECE);
            if (!t->pauses)
                store_integers(t, row, first, PIECE, partial + (ptrdiff_t)row * PIECE, 0);
        }
    }
}
