/* avx512_vnni.c - 8-bit products with VPDPBUSD: four u8 x s8 products a lane, summed in 32 bits
 * without saturation. Other sign combinations come here shifted by 128, and the terms of the tile
 * undo the shift (see gemm.c); a few rows times lines along k (dots.c) shift the lines. */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

/* sum += a . b, bytes in quads. Not the intrinsic: GCC 12 copies every sum to and fro around it,
 * which costs more than half of the speed (385 against 909 GOP/s on a Zen 5 core). */
static TCGEMM_ALWAYS_INLINE __m512i dot4(__m512i sum, __m512i a, __m512i b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#include "cpu/kernels/avx512_s32_output.h"
#define TILE_PACKED         tcgemm_tile_avx512_u8s8
#define TILE_STRIDED        tcgemm_tile_avx512_u8s8_strided
#define TILE_MAC(sum, a, b) dot4(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"

/* ---- a few rows of bytes times lines along k ---- */

/* The sums of each of four vectors. */
static TCGEMM_ALWAYS_INLINE __m128i sums_of_4(__m512i a, __m512i b, __m512i c, __m512i d) {
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    const __m512i all =
        _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    const __m256i half =
        _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

enum { DOTS_LINES = 4, DOTS_ROWS = 4, DOTS_BYTES = 64, DOTS_AHEAD = 8 * DOTS_BYTES };

/* Some bytes of k, `mask`, of the lines and rows. */
static TCGEMM_ALWAYS_INLINE void add_bytes(const tcgemm_dots_t *t,
                                           const uint8_t *const line[DOTS_LINES], const uint8_t *x,
                                           int64_t p, __mmask64 mask, const int rows,
                                           const bool x_is_signed,
                                           __m512i sum[DOTS_ROWS][DOTS_LINES]) {
    const __m512i flip = _mm512_set1_epi8((char)t->flip);
    __m512i bytes[DOTS_LINES];
    TCGEMM_UNROLL
    for (int l = 0; l < DOTS_LINES; ++l)
        bytes[l] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, line[l] + p), flip);
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i) {
        const __m512i row = _mm512_loadu_si512(x + i * t->x_pitch + p);
        TCGEMM_UNROLL
        for (int l = 0; l < DOTS_LINES; ++l)
            sum[i][l] =
                x_is_signed ? dot4(sum[i][l], bytes[l], row) : dot4(sum[i][l], row, bytes[l]);
    }
}

/* A row's sums become D's elements of some lines. */
static TCGEMM_ALWAYS_INLINE void store_bytes(const tcgemm_dots_t *t, __m128i product, int row,
                                             int first) {
    const uint32_t *const c =
        t->c ? (const uint32_t *)t->c + row * t->c_row + first * t->c_line : NULL;
    uint32_t *const d = (uint32_t *)t->d + row * t->d_row + first * t->d_line;
    const int count = t->num_lines - first;
    if (count >= DOTS_LINES && t->d_line == 1 && !c) {
        _mm_storeu_si128((__m128i *)(void *)d, product);
        return;
    }
    uint32_t numbers[DOTS_LINES];
    _mm_storeu_si128((__m128i *)(void *)numbers, product);
    for (int l = 0; l < DOTS_LINES && l < count; ++l)
        d[l * t->d_line] = c ? numbers[l] + t->beta.s32 * c[l * t->c_line] : numbers[l];
}

/* The same of four rows, which are columns of D: a line has four of its elements. */
static TCGEMM_ALWAYS_INLINE void
store_turned(const tcgemm_dots_t *t, const __m128i product[DOTS_ROWS], int row, int first) {
    uint32_t *const d = (uint32_t *)t->d + row + first * t->d_line;
    const __m128i low[2] = {_mm_unpacklo_epi32(product[0], product[1]),
                            _mm_unpacklo_epi32(product[2], product[3])};
    const __m128i high[2] = {_mm_unpackhi_epi32(product[0], product[1]),
                             _mm_unpackhi_epi32(product[2], product[3])};
    const __m128i line[DOTS_LINES] = {
        _mm_unpacklo_epi64(low[0], low[1]), _mm_unpackhi_epi64(low[0], low[1]),
        _mm_unpacklo_epi64(high[0], high[1]), _mm_unpackhi_epi64(high[0], high[1])};
    for (int l = 0; l < DOTS_LINES && first + l < t->num_lines; ++l)
        _mm_storeu_si128((__m128i *)(void *)(d + l * t->d_line), line[l]);
}

/* Rows first_row .. of D and lines first .. ; what is missing of them is not stored. */
static TCGEMM_ALWAYS_INLINE void dots_of_bytes(const tcgemm_dots_t *t, int first, int first_row,
                                               const int rows, const bool x_is_signed) {
    const uint8_t *line[DOTS_LINES];
    const uint8_t *const x = (const uint8_t *)t->x + first_row * t->x_pitch;
    __m512i sum[DOTS_ROWS][DOTS_LINES];
    for (int l = 0; l < DOTS_LINES; ++l)
        line[l] =
            (const uint8_t *)t->lines + (first + l < t->num_lines ? first + l : 0) * t->line_stride;
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i) {
        TCGEMM_UNROLL
        for (int l = 0; l < DOTS_LINES; ++l)
            sum[i][l] = _mm512_setzero_si512();
    }
    /* The rows ahead have read these lines: time for the next ones. */
    const int64_t ahead =
        first_row == 0 ? (t->num_rows > DOTS_ROWS ? 0 : DOTS_AHEAD) : DOTS_LINES * t->line_stride;
    const bool fetches = t->fetches && ahead != 0 && first_row <= DOTS_ROWS;
    int64_t p = 0;
    for (; p + DOTS_BYTES <= t->steps; p += DOTS_BYTES) {
        for (int l = 0; fetches && l < DOTS_LINES; ++l)
            __builtin_prefetch(line[l] + p + ahead);
        add_bytes(t, line, x, p, ~(__mmask64)0, rows, x_is_signed, sum);
    }
    if (p < t->steps)
        add_bytes(t, line, x, p, ((__mmask64)1 << (t->steps - p)) - 1, rows, x_is_signed, sum);
    const __m128i alpha = _mm_set1_epi32((int)t->alpha.s32);
    __m128i product[DOTS_ROWS];
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i)
        product[i] = _mm_mullo_epi32(
            alpha, _mm_add_epi32(sums_of_4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]),
                                 _mm_set1_epi32((int)t->term[first_row + i])));
    if (rows == DOTS_ROWS && first_row + rows <= t->num_rows && t->d_row == 1 && !t->c) {
        store_turned(t, product, first_row, first);
        return;
    }
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i)
        if (first_row + i < t->num_rows)
            store_bytes(t, product[i], first_row + i, first);
}

static TCGEMM_ALWAYS_INLINE void all_of_bytes(const tcgemm_dots_t *t, const bool x_is_signed) {
    for (int first = 0; first < t->num_lines; first += DOTS_LINES)
        for (int row = 0; row < t->num_rows; row += DOTS_ROWS)
            if (t->num_rows - row == 1)
                dots_of_bytes(t, first, row, 1, x_is_signed);
            else if (t->num_rows - row == 2)
                dots_of_bytes(t, first, row, 2, x_is_signed);
            else
                dots_of_bytes(t, first, row, DOTS_ROWS, x_is_signed);
}

void tcgemm_dots_avx512_bytes(const tcgemm_dots_t *t) {
    if (t->x_is_signed)
        all_of_bytes(t, true);
    else
        all_of_bytes(t, false);
}
