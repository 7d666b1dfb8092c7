/* avx512_lanes.c - a few rows times lines along or across k, in the lanes that tiles multiply:
 * pairs of bf16 (VDPBF16PS) and quads of bytes (VPDPBUSD), 16 lines a vector.
 *
 *      x, packed:  lanes of k, `width` rows beside each other
 *
 *      lines along k      64 bytes of each of 16 lines are transposed, so that a vector holds one
 *                         lane of all of them; 16 rows are a vector themselves, which is multiplied
 *                         by one lane after the other of eight lines, broadcast
 *      lines across k     2 or 4 rows of k are interleaved, so that four vectors hold one lane of
 *                         64 lines; the sums wait in `partial` for the next rows of k
 *
 *          row k      a0 a1 a2 a3 | a16 ..            a0 b0 c0 d0  a1 b1 c1 d1 .. | a16 b16 ..
 *          row k + 1  b0 b1 b2 b3 | b16 ..     ->     a4 b4 c4 d4  ..             | a20 ..
 *          row k + 2  c0 c1 c2 c3 |                   a8 ..                       | a24 ..
 *          row k + 3  d0 d1 d2 d3 |                   a12 ..                      | a28 ..
 *
 * Lanes of bytes, and those across k, lie in the first-level cache between what makes them and what
 * multiplies them: loops instead of 16 times the same code.
 */
#include <immintrin.h>

#include "cpu/kernels/avx512_halves.h"
#include "cpu/kernels/avx512_transpose.h"
#include "cpu/kernels/kernels.h"

enum {
    LINES = 16,                           /* a vector */
    MOST_ROWS = 16,                       /* of x at a time */
    BESIDE = 8,                           /* lines beside a vector of rows: chains enough */
    LINE_BYTES = 64,                      /* of a line along k at a time: 16 lanes */
    PIECE = TCGEMM_LINES_ACROSS,          /* lines across k at a time: ... */
    VECTORS = PIECE / LINES,              /* ... so many vectors */
    MOST_LANES = TCGEMM_STEPS_ACROSS / 2, /* of k at a time, lines across k */
    ROWS_AT_ONCE = 4, /* of x, lines across k: their sums fill half of the registers */
    AHEAD = 1024      /* bytes that lines are fetched ahead */
};

typedef enum lane {
    PAIR,       /* of bf16, none of which is subnormal: VDPBF16PS would take it for zero */
    EXACT_PAIR, /* by multiply-adds */
    QUAD_OF_S8, /* bytes, x is s8 and the lines are u8, ... */
    QUAD_OF_U8  /* ... or the other way round */
} lane_t;

static TCGEMM_ALWAYS_INLINE bool is_quad(const lane_t lane) {
    return lane == QUAD_OF_S8 || lane == QUAD_OF_U8;
}

/* The same where it is not known as a constant: code that is to be there once. */
static TCGEMM_ALWAYS_INLINE bool is_of_quads(const tcgemm_dots_t *t) {
    return t->dtype != TCGEMM_DTYPE_BF16;
}

static TCGEMM_ALWAYS_INLINE int bytes_of_element(const lane_t lane) {
    return is_quad(lane) ? 1 : 2;
}

/* sum += the products of a lane. Not the intrinsics, for which the whole file would need the
 * instructions, and around which GCC 12 copies the sums to and fro. */
static TCGEMM_ALWAYS_INLINE __m512i add_lane(const lane_t lane, __m512i sum, __m512i x,
                                             __m512i lines) {
    if (lane == EXACT_PAIR) {
        const __m512 low =
            _mm512_fmadd_ps(low_halves(x), low_halves(lines), _mm512_castsi512_ps(sum));
        return _mm512_castps_si512(_mm512_fmadd_ps(high_halves(x), high_halves(lines), low));
    }
    if (lane == PAIR)
        __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(lines), "v"(x));
    else if (lane == QUAD_OF_S8)
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(lines), "v"(x));
    else
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(lines));
    return sum;
}

/* The same of one lane of x in memory. */
static TCGEMM_ALWAYS_INLINE __m512i add_lane_at(const lane_t lane, __m512i sum, const uint32_t *x,
                                                __m512i lines) {
    if (lane == PAIR)
        __asm__("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(lines), "m"(*x));
    else if (lane == QUAD_OF_S8)
        __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(lines), "m"(*x));
    else
        sum = add_lane(lane, sum, _mm512_set1_epi32((int)*x), lines);
    return sum;
}

/* ---- sums to D ---- */

/* D's elements of row i from sums, and from those of C. */
static TCGEMM_ALWAYS_INLINE __m512i scaled(const tcgemm_dots_t *t, __m512i sums, int i, bool has_c,
                                           __m512i c) {
    if (is_of_quads(t)) {
        const __m512i whole = _mm512_add_epi32(sums, _mm512_set1_epi32((int)t->term[i]));
        const __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)t->alpha.s32), whole);
        const __m512i beta = _mm512_set1_epi32((int)t->beta.s32);
        return has_c ? _mm512_add_epi32(product, _mm512_mullo_epi32(beta, c)) : product;
    }
    const __m512 product = _mm512_mul_ps(_mm512_set1_ps(t->alpha.f32), _mm512_castsi512_ps(sums));
    const __m512 beta = _mm512_set1_ps(t->beta.f32);
    return _mm512_castps_si512(has_c ? _mm512_fmadd_ps(beta, _mm512_castsi512_ps(c), product)
                                     : product);
}

/* Of lines that do not lie side by side, or are fewer than a vector's. */
static TCGEMM_NEVER_INLINE void scatter(const tcgemm_dots_t *t, __m512i sums, int i, int first) {
    uint32_t *const d = (uint32_t *)t->d + i * t->d_row + first * t->d_line;
    const uint32_t *const c =
        t->c ? (const uint32_t *)t->c + i * t->c_row + first * t->c_line : NULL;
    uint32_t numbers[LINES];
    uint32_t olds[LINES] = {0};
    for (int l = 0; c && l < LINES && first + l < t->num_lines; ++l)
        olds[l] = c[l * t->c_line];
    _mm512_storeu_si512(numbers, scaled(t, sums, i, c, _mm512_loadu_si512(olds)));
    for (int l = 0; l < LINES && first + l < t->num_lines; ++l)
        d[l * t->d_line] = numbers[l];
}

/* Sums of row i and of lines from `first` on. */
static TCGEMM_ALWAYS_INLINE void store_sums(const tcgemm_dots_t *t, __m512i sums, int i,
                                            int first) {
    uint32_t *const d = (uint32_t *)t->d + i * t->d_row + first * t->d_line;
    const uint32_t *const c =
        t->c ? (const uint32_t *)t->c + i * t->c_row + first * t->c_line : NULL;
    if (t->num_lines - first < LINES || t->d_line != 1 || (c && t->c_line != 1))
        scatter(t, sums, i, first);
    else if (c)
        _mm512_storeu_si512(d, scaled(t, sums, i, true, _mm512_loadu_si512(c)));
    else
        _mm512_storeu_si512(d, scaled(t, sums, i, false, sums));
}

/* `bytes` of 64, and zeros. */
static TCGEMM_ALWAYS_INLINE __m512i load_some(const uint8_t *line, int64_t bytes) {
    const __mmask64 mask = bytes >= LINE_BYTES ? ~(__mmask64)0
                           : bytes > 0         ? ((__mmask64)1 << bytes) - 1
                                               : 0;
    return _mm512_maskz_loadu_epi8(mask, line);
}

/* ---- lines along k ---- */

/* 64 bytes of a line. GCC 12 would make loads part of the transposition, and then lack registers
 * for sums. */
static TCGEMM_ALWAYS_INLINE __m512 load_line(const uint8_t *line) {
    __m512 all = _mm512_loadu_ps(line);
    __asm__("" : "+v"(all));
    return all;
}

/* Lanes as the products want them; those of bf16 are looked at. */
static TCGEMM_ALWAYS_INLINE void prepare_lanes(const tcgemm_dots_t *t, const bool are_quads,
                                               __m512 lanes[LINES], __m512i *least) {
    const __m512i flip = _mm512_set1_epi8((char)t->flip);
    TCGEMM_UNROLL
    for (int s = 0; s < LINES; ++s) {
        const __m512i x = _mm512_castps_si512(lanes[s]);
        if (are_quads)
            lanes[s] = _mm512_castsi512_ps(_mm512_xor_si512(x, flip));
        else
            *least = least_bf16(*least, x);
    }
}

/* `bytes` of 64 of each of 16 lines, and zeros, to lanes 0 of all, lanes 1, ... in memory: once for
 * all widths. How many lanes there are. */
static TCGEMM_NEVER_INLINE int load_some_lanes(const tcgemm_dots_t *t,
                                               const uint8_t *const line[LINES], int64_t p,
                                               int64_t bytes, __m512i *least,
                                               __m512i words[LINES]) {
    __m512 lanes[LINES];
    TCGEMM_UNROLL
    for (int l = 0; l < LINES; ++l)
        lanes[l] = bytes >= LINE_BYTES ? load_line(line[l] + p)
                                       : _mm512_castsi512_ps(load_some(line[l] + p, bytes));
    transpose_words(lanes);
    prepare_lanes(t, is_of_quads(t), lanes, least);
    TCGEMM_UNROLL
    for (int s = 0; s < LINES; ++s)
        words[s] = _mm512_castps_si512(lanes[s]);
    return bytes < LINE_BYTES ? (int)(bytes + 3) / 4 : LINES;
}

static TCGEMM_ALWAYS_INLINE void fetch_lines(const tcgemm_dots_t *t,
                                             const uint8_t *const line[LINES], int64_t p) {
    for (int l = 0; t->fetches && l < LINES; ++l)
        TCGEMM_PREFETCH_FAR(line[l] + p + AHEAD);
}

/* Sums of 16 lines; whether no element of them is subnormal. Pairs are multiplied out of registers,
 * but for the last steps; quads, of which there are two kinds, by a loop that is a twentieth slower
 * and a tenth as long. */
static TCGEMM_ALWAYS_INLINE bool sums_of_lines(const tcgemm_dots_t *t,
                                               const uint8_t *const line[LINES], const lane_t lane,
                                               const int width, __m512i sums[MOST_ROWS]) {
    const int64_t end = t->steps * bytes_of_element(lane);
    const uint32_t *x = t->x;
    __m512i least = _mm512_set1_epi16(-1);
    __m512i sum[MOST_ROWS];
    TCGEMM_UNROLL
    for (int i = 0; i < width; ++i)
        sum[i] = _mm512_setzero_si512();
    int64_t p = 0;
    for (; !is_quad(lane) && p + LINE_BYTES <= end; p += LINE_BYTES) {
        __m512 lanes[LINES];
        fetch_lines(t, line, p);
        TCGEMM_UNROLL
        for (int l = 0; l < LINES; ++l)
            lanes[l] = load_line(line[l] + p);
        transpose_words(lanes);
        prepare_lanes(t, false, lanes, &least);
        TCGEMM_UNROLL
        for (int s = 0; s < LINES; ++s) {
            TCGEMM_UNROLL
            for (int i = 0; i < width; ++i)
                sum[i] =
                    add_lane_at(lane, sum[i], x + s * width + i, _mm512_castps_si512(lanes[s]));
        }
        x += (ptrdiff_t)LINES * width;
    }
    for (; p < end; p += LINE_BYTES) {
        __m512i words[LINES];
        __m512i magnitudes = least;
        fetch_lines(t, line, p);
        const int count = load_some_lanes(t, line, p, end - p, &magnitudes, words);
        least = magnitudes;
        for (int s = 0; s < count; ++s, x += width) {
            TCGEMM_UNROLL
            for (int i = 0; i < width; ++i)
                sum[i] = add_lane_at(lane, sum[i], x + i, words[s]);
        }
    }
    TCGEMM_UNROLL
    for (int i = 0; i < width; ++i)
        sums[i] = sum[i];
    return is_quad(lane) || !is_subnormal(least);
}

static TCGEMM_ALWAYS_INLINE lane_t with_x_and_lines_swapped(const lane_t lane) {
    return lane == QUAD_OF_S8 ? QUAD_OF_U8 : lane == QUAD_OF_U8 ? QUAD_OF_S8 : lane;
}

/* The sums of 16 rows of x, which are a vector, and of BESIDE lines, whose lanes are broadcast. The
 * lines are copied first, 64 bytes of each: those a power of two apart, read lane by lane, would
 * drive out one another from the first-level cache. */
static TCGEMM_ALWAYS_INLINE void sums_beside_lines(const tcgemm_dots_t *t,
                                                   const uint8_t *const line[BESIDE],
                                                   const lane_t lane, __m512i *least,
                                                   __m512 sums[BESIDE]) {
    const __m512i flip = _mm512_set1_epi8((char)t->flip);
    const int64_t end = t->steps * bytes_of_element(lane);
    const uint32_t *x = t->x;
    uint32_t lanes[BESIDE][LINES];
    __m512i sum[BESIDE];
    TCGEMM_UNROLL
    for (int l = 0; l < BESIDE; ++l)
        sum[l] = _mm512_setzero_si512();
    for (int64_t p = 0; p < end; p += LINE_BYTES) {
        const bool is_whole = end - p >= LINE_BYTES;
        const int count = is_whole ? LINES : (int)(end - p + 3) / 4;
        for (int l = 0; l < BESIDE; ++l) {
            const __m512i some =
                is_whole ? _mm512_loadu_si512(line[l] + p) : load_some(line[l] + p, end - p);
            if (t->fetches)
                TCGEMM_PREFETCH_FAR(line[l] + p + AHEAD);
            if (!is_quad(lane))
                *least = least_bf16(*least, some);
            _mm512_storeu_si512(lanes[l], is_quad(lane) ? _mm512_xor_si512(some, flip) : some);
        }
        TCGEMM_UNROLL_BY(1)
        for (int s = 0; s < count; ++s, x += MOST_ROWS) {
            const __m512i rows = _mm512_loadu_si512(x);
            TCGEMM_UNROLL
            for (int l = 0; l < BESIDE; ++l)
                sum[l] = add_lane_at(with_x_and_lines_swapped(lane), sum[l], &lanes[l][s], rows);
        }
    }
    TCGEMM_UNROLL
    for (int l = 0; l < BESIDE; ++l)
        sums[l] = _mm512_castsi512_ps(sum[l]);
}

/* As sums_of_lines, of a width of 16. */
static TCGEMM_ALWAYS_INLINE bool sums_of_square(const tcgemm_dots_t *t,
                                                const uint8_t *const line[LINES], const lane_t lane,
                                                __m512i sums[MOST_ROWS]) {
    __m512i least = _mm512_set1_epi16(-1);
    __m512 square[LINES];
    for (int l = 0; l < LINES; l += BESIDE)
        sums_beside_lines(t, line + l, lane, &least, square + l);
    transpose_words(square);
    TCGEMM_UNROLL
    for (int i = 0; i < MOST_ROWS; ++i)
        sums[i] = _mm512_castps_si512(square[i]);
    return is_quad(lane) || !is_subnormal(least);
}

/* Subnormals are rare: short code. */
static TCGEMM_NEVER_INLINE void exact_sums_of_lines(const tcgemm_dots_t *t,
                                                    const uint8_t *const line[LINES],
                                                    __m512i sums[MOST_ROWS]) {
    const int64_t end = 2 * t->steps;
    const uint32_t *x = t->x;
    __m512i least = _mm512_setzero_si512();
    for (int i = 0; i < t->width; ++i)
        sums[i] = _mm512_setzero_si512();
    for (int64_t p = 0; p < end; p += LINE_BYTES) {
        __m512i words[LINES];
        const int count = load_some_lanes(t, line, p, end - p, &least, words);
        for (int s = 0; s < count; ++s)
            for (int i = 0; i < t->width; ++i, ++x)
                sums[i] = add_lane(EXACT_PAIR, sums[i], _mm512_set1_epi32((int)*x), words[s]);
    }
}

static TCGEMM_NEVER_INLINE void store_rows(const tcgemm_dots_t *t, const __m512i sums[MOST_ROWS],
                                           int first) {
    for (int i = 0; i < t->num_rows; ++i)
        store_sums(t, sums[i], i, first);
}

/* Lines that are missing are line 0 once more, and are not stored. */
static TCGEMM_ALWAYS_INLINE void along(const tcgemm_dots_t *t, const lane_t lane, const int width) {
    const int64_t pitch = t->line_stride * bytes_of_element(lane);
    for (int first = 0; first < t->num_lines; first += LINES) {
        const uint8_t *line[LINES];
        __m512i sums[MOST_ROWS];
        for (int l = 0; l < LINES; ++l)
            line[l] =
                (const uint8_t *)t->lines + (first + l < t->num_lines ? first + l : 0) * pitch;
        if (t->is_exact || !(width == MOST_ROWS ? sums_of_square(t, line, lane, sums)
                                                : sums_of_lines(t, line, lane, width, sums)))
            exact_sums_of_lines(t, line, sums);
        store_rows(t, sums, first);
    }
}

/* With the width of x as a constant: quads take at least eight rows, for a kernel of their own
 * (avx512_vnni.c) reads lines for fewer without transposing them. */
void tcgemm_dots_avx512_pairs(const tcgemm_dots_t *t) {
    switch (t->width) {
    case 1:
        along(t, PAIR, 1);
        break;
    case 2:
        along(t, PAIR, 2);
        break;
    case 4:
        along(t, PAIR, 4);
        break;
    case 8:
        along(t, PAIR, 8);
        break;
    default:
        along(t, PAIR, 16);
        break;
    }
}

void tcgemm_dots_avx512_quads(const tcgemm_dots_t *t) {
    if (t->x_is_signed && t->width == 8)
        along(t, QUAD_OF_S8, 8);
    else if (t->x_is_signed)
        along(t, QUAD_OF_S8, 16);
    else if (t->width == 8)
        along(t, QUAD_OF_U8, 8);
    else
        along(t, QUAD_OF_U8, 16);
}

/* ---- lines across k ---- */

typedef struct lanes {
    __m512i at[MOST_LANES][VECTORS];
} lanes_t;

/* 64 lines from `first` on as lanes, whose vectors hold lines in the order that is easiest; whether
 * no element of them is subnormal. */
static TCGEMM_ALWAYS_INLINE bool interleave(const tcgemm_dots_t *t, const lane_t lane, int first,
                                            lanes_t *lanes) {
    const int bytes = bytes_of_element(lane);
    const int rows = 4 / bytes; /* of k, in a lane, each of so many vectors: */
    const int parts = bytes;
    const int64_t left = (int64_t)(t->num_lines - first) * bytes;
    const int64_t pitch = t->k_stride * bytes;
    const __m512i flip = _mm512_set1_epi8((char)t->flip);
    const uint8_t *row = (const uint8_t *)t->lines + (ptrdiff_t)first * bytes;
    __m512i least = _mm512_set1_epi16(-1);
    __m512i(*to)[VECTORS] = lanes->at;
    for (int64_t k = 0; k < t->steps; k += rows, row += rows * pitch, ++to) {
        __m512i r[VECTORS];
        const bool are_whole = left >= 64 * parts && k + rows <= t->steps;
        TCGEMM_UNROLL
        for (int i = 0; i < VECTORS; ++i) {
            const uint8_t *const at = row + i / parts * pitch + (ptrdiff_t)i % parts * 64;
            r[i] = are_whole
                       ? _mm512_loadu_si512(at)
                       : load_some(at,
                                   k + i / parts < t->steps ? left - (ptrdiff_t)i % parts * 64 : 0);
        }
        for (int i = 0; t->fetches && i < VECTORS; ++i)
            TCGEMM_PREFETCH_FAR(row + i / parts * pitch + (ptrdiff_t)i % parts * 64 + AHEAD);
        TCGEMM_UNROLL
        for (int i = 0; i < VECTORS; ++i)
            if (is_quad(lane))
                r[i] = _mm512_xor_si512(r[i], flip);
            else
                least = least_bf16(least, r[i]);
        if (is_quad(lane)) {
            const __m512i low0 = _mm512_unpacklo_epi8(r[0], r[1]);
            const __m512i low1 = _mm512_unpacklo_epi8(r[2], r[3]);
            const __m512i high0 = _mm512_unpackhi_epi8(r[0], r[1]);
            const __m512i high1 = _mm512_unpackhi_epi8(r[2], r[3]);
            (*to)[0] = _mm512_unpacklo_epi16(low0, low1);
            (*to)[1] = _mm512_unpackhi_epi16(low0, low1);
            (*to)[2] = _mm512_unpacklo_epi16(high0, high1);
            (*to)[3] = _mm512_unpackhi_epi16(high0, high1);
        } else {
            (*to)[0] = _mm512_unpacklo_epi16(r[0], r[2]);
            (*to)[1] = _mm512_unpackhi_epi16(r[0], r[2]);
            (*to)[2] = _mm512_unpacklo_epi16(r[1], r[3]);
            (*to)[3] = _mm512_unpackhi_epi16(r[1], r[3]);
        }
    }
    return !is_subnormal(least);
}

/* Sums of rows of x from `row` on and 64 lines, from and to memory. */
static TCGEMM_ALWAYS_INLINE void add_rows(const tcgemm_dots_t *t, const lane_t lane,
                                          const lanes_t *lanes, int count, uint32_t *partial,
                                          int row, const int rows) {
    const uint32_t *x = (const uint32_t *)t->x + row;
    uint32_t *const to = partial + (ptrdiff_t)row * PIECE;
    __m512i sum[ROWS_AT_ONCE][VECTORS];
    TCGEMM_UNROLL
    for (int i = 0; i < rows * VECTORS; ++i)
        sum[i / VECTORS][i % VECTORS] =
            t->resumes ? _mm512_loadu_si512(to + (ptrdiff_t)i * LINES) : _mm512_setzero_si512();
    for (int s = 0; s < count; ++s, x += t->width) {
        TCGEMM_UNROLL
        for (int i = 0; i < rows; ++i) {
            const __m512i one = _mm512_set1_epi32((int)x[i]);
            TCGEMM_UNROLL
            for (int v = 0; v < VECTORS; ++v)
                sum[i][v] = add_lane(lane, sum[i][v], one, lanes->at[s][v]);
        }
    }
    TCGEMM_UNROLL
    for (int i = 0; i < rows * VECTORS; ++i)
        _mm512_storeu_si512(to + (ptrdiff_t)i * LINES, sum[i / VECTORS][i % VECTORS]);
}

/* By calls: inlined, GCC 12 would keep all lanes of a piece in its own places on the stack. */
#define ADD_ROWS(name, lane, rows)                                                                 \
    static TCGEMM_NEVER_INLINE void name(const tcgemm_dots_t *t, const lanes_t *lanes, int count,  \
                                         uint32_t *partial, int row) {                             \
        add_rows(t, lane, lanes, count, partial, row, rows);                                       \
    }
ADD_ROWS(add_4_of_pairs, PAIR, ROWS_AT_ONCE)
ADD_ROWS(add_1_of_pairs, PAIR, 1)
ADD_ROWS(add_1_exactly, EXACT_PAIR, 1)
ADD_ROWS(add_4_of_s8, QUAD_OF_S8, ROWS_AT_ONCE)
ADD_ROWS(add_1_of_s8, QUAD_OF_S8, 1)
ADD_ROWS(add_4_of_u8, QUAD_OF_U8, ROWS_AT_ONCE)
ADD_ROWS(add_1_of_u8, QUAD_OF_U8, 1)

typedef void add_rows_fn(const tcgemm_dots_t *t, const lanes_t *lanes, int count, uint32_t *partial,
                         int row);

/* D's elements of 64 lines from their sums, which come into the order of the lines again. */
static TCGEMM_NEVER_INLINE void store_piece(const tcgemm_dots_t *t, const uint32_t *partial,
                                            int first) {
    const __m512i first_half = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second_half = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int i = 0; i < t->num_rows; ++i) {
        __m512 sums[VECTORS];
        TCGEMM_UNROLL
        for (int v = 0; v < VECTORS; ++v)
            sums[v] = _mm512_loadu_ps(partial + ((ptrdiff_t)i * VECTORS + v) * LINES);
        if (is_of_quads(t))
            transpose_quarters(sums, 1);
        for (int v = 0; !is_of_quads(t) && v < VECTORS; v += 2) {
            const __m512i low = _mm512_castps_si512(sums[v]);
            const __m512i high = _mm512_castps_si512(sums[v + 1]);
            sums[v] = _mm512_castsi512_ps(_mm512_permutex2var_epi64(low, first_half, high));
            sums[v + 1] = _mm512_castsi512_ps(_mm512_permutex2var_epi64(low, second_half, high));
        }
        for (int v = 0; v < VECTORS && first + v * LINES < t->num_lines; ++v)
            store_sums(t, _mm512_castps_si512(sums[v]), i, first + v * LINES);
    }
}

static TCGEMM_ALWAYS_INLINE void across(const tcgemm_dots_t *t, const lane_t lane,
                                        add_rows_fn *add_4, add_rows_fn *add_1) {
    const int of_lane = 4 / bytes_of_element(lane);
    const int count = (int)(t->steps + of_lane - 1) / of_lane;
    for (int first = 0; first < t->num_lines; first += PIECE) {
        uint32_t *const partial = (uint32_t *)t->partial + (ptrdiff_t)first * t->width;
        lanes_t lanes;
        if (!interleave(t, lane, first, &lanes) || t->is_exact)
            for (int row = 0; row < t->num_rows; ++row)
                add_1_exactly(t, &lanes, count, partial, row);
        else if (t->width >= ROWS_AT_ONCE)
            for (int row = 0; row < t->num_rows; row += ROWS_AT_ONCE)
                add_4(t, &lanes, count, partial, row);
        else
            for (int row = 0; row < t->num_rows; ++row)
                add_1(t, &lanes, count, partial, row);
        if (!t->pauses)
            store_piece(t, partial, first);
    }
}

void tcgemm_across_avx512_pairs(const tcgemm_dots_t *t) {
    across(t, PAIR, add_4_of_pairs, add_1_of_pairs);
}

void tcgemm_across_avx512_quads(const tcgemm_dots_t *t) {
    if (t->x_is_signed)
        across(t, QUAD_OF_S8, add_4_of_s8, add_1_of_s8);
    else
        across(t, QUAD_OF_U8, add_4_of_u8, add_1_of_u8);
}
