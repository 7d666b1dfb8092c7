/* avx512_vnni.c - 8-bit products with VPDPBUSD: four u8 x s8 products a lane, summed in 32 bits
 * without saturation. Other sign combinations come here shifted by 128, and the terms of the tile
 * undo the shift (see gemm.c); a few rows times lines along k (dots.c) shift the lines. */
#include <immintrin.h>
#include <string.h>

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
#define TILE_FLIP(a, flip)  _mm512_xor_si512(a, flip)
#include "cpu/kernels/tile_tmpl.h"

/* ---- a few rows of bytes times lines along k ---- */

/* Rows times lines at a time: 16 sums, whose lanes are added up at once. Of few steps of k so many
 * lines beside one row or two as well; of more four lines, for more streams of memory, or lines
 * that share a set of a cache, come later. */
enum { DOTS_SUMS = 16, DOTS_ROWS = 4, DOTS_LINES = 4, DOTS_BYTES = 64, SHORT_STEPS = 1024 };
enum { DOTS_AHEAD = 8 * DOTS_BYTES };

/* The sum of the lanes of each. */
static TCGEMM_ALWAYS_INLINE __m512i sums_of_lanes(const __m512i v[DOTS_SUMS]) {
    __m512i pair[DOTS_SUMS / 2], four[DOTS_SUMS / 4], eight[2];
    TCGEMM_UNROLL
    for (int i = 0; i < DOTS_SUMS / 2; ++i)
        pair[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                                   _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
    TCGEMM_UNROLL
    for (int i = 0; i < DOTS_SUMS / 4; ++i)
        four[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(pair[2 * i], pair[2 * i + 1]),
                                   _mm512_unpackhi_epi64(pair[2 * i], pair[2 * i + 1]));
    /* Lanes 0 and 2, and 1 and 3, of 16 bytes. */
    TCGEMM_UNROLL
    for (int i = 0; i < 2; ++i)
        eight[i] = _mm512_add_epi32(_mm512_shuffle_i32x4(four[2 * i], four[2 * i + 1], 0x88),
                                    _mm512_shuffle_i32x4(four[2 * i], four[2 * i + 1], 0xdd));
    return _mm512_add_epi32(_mm512_shuffle_i32x4(eight[0], eight[1], 0x88),
                            _mm512_shuffle_i32x4(eight[0], eight[1], 0xdd));
}

/* Some bytes of k, `mask`, from p on, of the rows and lines. */
static TCGEMM_ALWAYS_INLINE void add_bytes(const tcgemm_dots_t *t,
                                           const uint8_t *const line[DOTS_SUMS], const uint8_t *x,
                                           int64_t p, __mmask64 mask, const int rows,
                                           const int lines, const bool x_is_signed,
                                           __m512i sum[DOTS_SUMS]) {
    const __m512i flip = _mm512_set1_epi8((char)t->flip);
    __m512i row[DOTS_ROWS];
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i)
        row[i] = _mm512_loadu_si512(x + i * t->x_pitch + p);
    TCGEMM_UNROLL
    for (int l = 0; l < lines; ++l) {
        const __m512i bytes = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, line[l] + p), flip);
        TCGEMM_UNROLL
        for (int i = 0; i < rows; ++i) {
            __m512i *const s = sum + i * (DOTS_SUMS / rows) + l;
            *s = x_is_signed ? dot4(*s, bytes, row[i]) : dot4(*s, row[i], bytes);
        }
    }
}

/* Elements of a row of D that lie beside each other, `count` of a line: four, two or one. */
static TCGEMM_ALWAYS_INLINE void store_lines(const tcgemm_dots_t *t, uint32_t *d,
                                             const uint32_t *numbers, int num_lines,
                                             const int count) {
    for (int l = 0; l < num_lines; ++l)
        memcpy(d + l * t->d_line, numbers + l * count, (size_t)count * sizeof *numbers);
}

/* Products of some rows and lines, each row's behind the other's, to a D whose lines lie apart, or
 * with C: all rows of a line at once if they are columns of D, else one by one. Once for all rows
 * and lines, for it is long code. */
static TCGEMM_NEVER_INLINE void place_products(const tcgemm_dots_t *t, __m512i product, uint32_t *d,
                                               int row, int first, int num_rows, int num_lines,
                                               int each) {
    const uint32_t *const c =
        t->c ? (const uint32_t *)t->c + row * t->c_row + first * t->c_line : NULL;
    const bool are_turned = t->d_row == 1 && !c && num_rows * each == DOTS_SUMS;
    uint32_t numbers[DOTS_SUMS];
    if (are_turned && num_rows == 4)
        product = _mm512_permutexvar_epi32(
            _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), product);
    else if (are_turned && num_rows == 2)
        product = _mm512_permutexvar_epi32(
            _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15), product);
    _mm512_storeu_si512(numbers, product);
    if (are_turned && num_rows == 4)
        store_lines(t, d, numbers, num_lines, 4);
    else if (are_turned && num_rows == 2)
        store_lines(t, d, numbers, num_lines, 2);
    else if (are_turned)
        store_lines(t, d, numbers, num_lines, 1);
    else
        for (int i = 0; i < num_rows; ++i)
            for (int l = 0; l < num_lines; ++l)
                d[i * t->d_row + l * t->d_line] =
                    numbers[i * each + l] + (c ? t->beta.s32 * c[i * t->c_row + l * t->c_line] : 0);
}

/* The same to any D. */
static TCGEMM_ALWAYS_INLINE void store_products(const tcgemm_dots_t *t, __m512i product, int row,
                                                int first, const int rows, const int lines) {
    const int each = DOTS_SUMS / rows;
    const int num_rows = (int)min_i64(rows, t->num_rows - row);
    const int num_lines = (int)min_i64(lines, t->num_lines - first);
    uint32_t *const d = (uint32_t *)t->d + row * t->d_row + first * t->d_line;
    if (t->d_line != 1 && rows == 1 && lines == DOTS_LINES && !t->c) {
        uint32_t numbers[DOTS_LINES];
        _mm_storeu_si128((__m128i *)(void *)numbers, _mm512_castsi512_si128(product));
        store_lines(t, d, numbers, num_lines, 1);
        return;
    }
    if (t->d_line != 1 || t->c) {
        place_products(t, product, d, row, first, num_rows, num_lines, each);
        return;
    }
    const __mmask16 some = (__mmask16)((1U << num_lines) - 1);
    for (int i = 0; i < num_rows; ++i)
        _mm512_mask_storeu_epi32(d + i * t->d_row - i * each, (__mmask16)(some << i * each),
                                 product);
}

/* Rows first_row .. of D and lines first .. ; what is missing of them is not stored, and of more
 * than four lines nothing is. */
static TCGEMM_ALWAYS_INLINE void dots_of_bytes(const tcgemm_dots_t *t, int first, int first_row,
                                               const int rows, const int lines,
                                               const bool x_is_signed) {
    const bool are_all = lines > DOTS_LINES;
    const uint8_t *const x = (const uint8_t *)t->x + first_row * t->x_pitch;
    const uint8_t *line[DOTS_SUMS];
    __m512i sum[DOTS_SUMS];
    line[0] = (const uint8_t *)t->lines + first * t->line_stride;
    TCGEMM_UNROLL
    for (int l = 1; l < lines; ++l)
        line[l] = are_all || first + l < t->num_lines ? line[l - 1] + t->line_stride : line[0];
    TCGEMM_UNROLL
    for (int i = 0; i < DOTS_SUMS; ++i)
        sum[i] = _mm512_setzero_si512();
    /* The rows ahead have read these lines: time for the next ones. */
    const int64_t ahead =
        first_row == 0 ? (t->num_rows > DOTS_ROWS ? 0 : DOTS_AHEAD) : DOTS_LINES * t->line_stride;
    const bool fetches = t->fetches && ahead != 0 && first_row <= DOTS_ROWS;
    int64_t p = 0;
    for (; p + DOTS_BYTES <= t->steps; p += DOTS_BYTES) {
        for (int l = 0; fetches && l < lines; ++l)
            __builtin_prefetch(line[l] + p + ahead);
        add_bytes(t, line, x, p, ~(__mmask64)0, rows, lines, x_is_signed, sum);
    }
    if (p < t->steps)
        add_bytes(t, line, x, p, ((__mmask64)1 << (t->steps - p)) - 1, rows, lines, x_is_signed,
                  sum);
    __m512i term = _mm512_set1_epi32((int)t->term[first_row]);
    TCGEMM_UNROLL
    for (int i = 1; i < rows; ++i)
        term = _mm512_mask_set1_epi32(term, (__mmask16)(0xffffU << i * (DOTS_SUMS / rows)),
                                      (int)t->term[first_row + i]);
    const __m512i alpha = _mm512_set1_epi32((int)t->alpha.s32);
    const __m512i product = _mm512_mullo_epi32(alpha, _mm512_add_epi32(sums_of_lanes(sum), term));
    store_products(t, product, first_row, first, rows, lines);
}

/* One row or two beside many lines while there are so many, then some rows beside four. */
static TCGEMM_ALWAYS_INLINE void all_of_bytes(const tcgemm_dots_t *t, const bool x_is_signed) {
    const bool is_short = t->steps <= SHORT_STEPS;
    int first = 0;
    for (; is_short && t->num_rows == 1 && first + DOTS_SUMS <= t->num_lines; first += DOTS_SUMS)
        dots_of_bytes(t, first, 0, 1, DOTS_SUMS, x_is_signed);
    for (; is_short && t->num_rows == 2 && first + DOTS_SUMS / 2 <= t->num_lines;
         first += DOTS_SUMS / 2)
        dots_of_bytes(t, first, 0, 2, DOTS_SUMS / 2, x_is_signed);
    for (; first < t->num_lines; first += DOTS_LINES)
        for (int row = 0; row < t->num_rows; row += DOTS_ROWS)
            if (t->num_rows - row == 1)
                dots_of_bytes(t, first, row, 1, DOTS_LINES, x_is_signed);
            else if (t->num_rows - row == 2)
                dots_of_bytes(t, first, row, 2, DOTS_LINES, x_is_signed);
            else
                dots_of_bytes(t, first, row, DOTS_ROWS, DOTS_LINES, x_is_signed);
}

void tcgemm_dots_avx512_bytes(const tcgemm_dots_t *t) {
    if (t->x_is_signed)
        all_of_bytes(t, true);
    else
        all_of_bytes(t, false);
}
