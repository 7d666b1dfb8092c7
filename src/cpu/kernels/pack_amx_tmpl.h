/* pack_amx_tmpl.h - packing for matrix tiles: lanes of 64 bytes, 16 words each, 32 lines a panel.
 *
 *     a step of A    lane 0 | lane 1 | ... | lane 31          16 lanes: a tile of A
 *     a step of B    word 0 of lines 0..31 | word 1 | ...     16 words of 16 lines: a tile of B
 *
 * What lies in memory with k contiguous comes as lanes, what lies with the lines contiguous as rows
 * of words, whose pairs or quads of k are interleaved first. Where it is the other one that is
 * wanted, 16 x 16 words are transposed in registers. Vectors are the compiler's own, so that the
 * same code is right on every processor and fast on those with AVX-512.
 *
 * To be defined: PACK_ISA.
 */
#include "cpu/kernels/convert.h"

#define PACK_NAME(family) TCGEMM_PASTE(TCGEMM_PASTE(tcgemm_pack_, PACK_ISA, _), family, )

enum { LINES = 32, WORDS = 16, LANE = 64, STEP = LINES * LANE, FETCH_AHEAD = 4 * LANE };

typedef uint32_t words_t __attribute__((vector_size(64)));
typedef uint16_t halves_t __attribute__((vector_size(64)));
typedef uint8_t bytes_t __attribute__((vector_size(32)));

#ifdef __clang__
#define SHUFFLE(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
#endif

/* ---- 16 x 16 words ---- */

/* Exchanges what lies beside the diagonal of all squares of 2 x 2 parts, each `d` words wide. */
#define EXCHANGE(r, d, FIRST, SECOND)                                                              \
    TCGEMM_UNROLL                                                                                  \
    for (int i = 0; i < WORDS; ++i) {                                                              \
        if (i & (d))                                                                               \
            continue;                                                                              \
        const words_t x = (r)[i];                                                                  \
        const words_t y = (r)[i + (d)];                                                            \
        (r)[i] = SHUFFLE(words_t, x, y, FIRST);                                                    \
        (r)[i + (d)] = SHUFFLE(words_t, x, y, SECOND);                                             \
    }
#define FIRST1  0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define SECOND1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define FIRST2  0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define SECOND2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define FIRST4  0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define SECOND4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define FIRST8  0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define SECOND8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31

#ifndef TRANSPOSE_INLINE
#define TRANSPOSE_INLINE TCGEMM_ALWAYS_INLINE
#endif

static TRANSPOSE_INLINE void transpose_words(words_t r[WORDS]) {
    EXCHANGE(r, 1, FIRST1, SECOND1)
    EXCHANGE(r, 2, FIRST2, SECOND2)
    EXCHANGE(r, 4, FIRST4, SECOND4)
    EXCHANGE(r, 8, FIRST8, SECOND8)
}

static TCGEMM_ALWAYS_INLINE void store_words(uint8_t *out, int64_t pitch, const words_t r[WORDS]) {
    TCGEMM_UNROLL
    for (int i = 0; i < WORDS; ++i)
        memcpy(out + i * pitch, &r[i], sizeof r[i]);
}

/* ---- subnormals ---- */

/* Marks the subnormal bf16 of x in `found`. */
static TCGEMM_ALWAYS_INLINE void note_subnormals(const halves_t *x, halves_t *found) {
    *found |= (halves_t)(((*x & 0x7FFF) - 1) < 0x7F);
}

static bool is_any(const halves_t *found) {
    uint16_t all = 0;
    for (int i = 0; i < LINES; ++i)
        all |= (*found)[i];
    return all != 0;
}

/* ---- one step ---- */

/* The rows or lines of a step, `pitch` bytes apart: `count` of them, each with the bytes that
 * `mask` names, and nothing but zeros beyond. If it is whole, all are there. */
typedef struct rows {
    const uint8_t *base;
    int64_t pitch;
    int count;
    uint64_t mask;
} rows_t;

static uint64_t mask_of(int64_t bytes) {
    return bytes < 64 ? (UINT64_C(1) << bytes) - 1u : UINT64_MAX;
}

/* Not to be read from where there is none. */
static TCGEMM_ALWAYS_INLINE const uint8_t *row_at(const rows_t *rows, int i) {
    return (const uint8_t *)((uintptr_t)rows->base + (uintptr_t)(i * rows->pitch));
}

/* The first 32 or 64 bytes of row i. */
static TCGEMM_ALWAYS_INLINE void load_row(const rows_t *rows, int i, bool is_whole, void *x,
                                          size_t size) {
    const uint8_t *const row = row_at(rows, i);
    if (is_whole) {
        memcpy(x, row, size);
        return;
    }
    const uint64_t mask = i < rows->count ? rows->mask : 0;
#ifdef __AVX512BW__
    if (size == 64)
        _mm512_storeu_si512(x, _mm512_maskz_loadu_epi8(mask, row));
    else
        _mm256_storeu_si256(x, _mm256_maskz_loadu_epi8((__mmask32)mask, row));
#else
    memset(x, 0, size);
    if (mask)
        memcpy(x, row, (size_t)__builtin_popcountll(mask));
#endif
}

/* 32 pairs of 16 bits or quads of bytes, one word a line, of 2 or 4 rows of k. */
static TCGEMM_ALWAYS_INLINE void words_of_rows(const rows_t *rows, int first, bool is_pairs,
                                               bool is_whole, words_t *low, words_t *high,
                                               halves_t *found) {
    halves_t x;
    halves_t y;
    if (is_pairs) {
        load_row(rows, first, is_whole, &x, sizeof x);
        load_row(rows, first + 1, is_whole, &y, sizeof y);
        note_subnormals(&x, found);
        note_subnormals(&y, found);
    } else {
        bytes_t b[4];
        TCGEMM_UNROLL
        for (int h = 0; h < 4; ++h)
            load_row(rows, first + h, is_whole, &b[h], sizeof b[h]);
        x = __builtin_convertvector(b[0], halves_t) | __builtin_convertvector(b[1], halves_t) << 8;
        y = __builtin_convertvector(b[2], halves_t) | __builtin_convertvector(b[3], halves_t) << 8;
    }
    *low = (words_t)SHUFFLE(halves_t, x, y, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39,
                            8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47);
    *high =
        (words_t)SHUFFLE(halves_t, x, y, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23,
                         55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
}

/* A step from rows of k, 32 lines side by side. */
static TCGEMM_ALWAYS_INLINE void step_of_rows(const rows_t *rows, bool is_pairs, bool is_b,
                                              bool is_whole, uint8_t *out, halves_t *found) {
    const int each = is_pairs ? 2 : 4;
    words_t low[WORDS];
    words_t high[WORDS];
    TCGEMM_UNROLL
    for (int w = 0; w < WORDS; ++w) {
        words_of_rows(rows, w * each, is_pairs, is_whole, &low[w], &high[w], found);
        if (is_b) {
            memcpy(out + w * LINES * 4, &low[w], sizeof low[w]);
            memcpy(out + w * LINES * 4 + LANE, &high[w], sizeof high[w]);
        }
    }
    if (is_b)
        return;
    transpose_words(low);
    store_words(out, LANE, low);
    transpose_words(high);
    store_words(out + WORDS * LANE, LANE, high);
}

/* A step from 32 lines, each with 64 bytes of k. */
static TCGEMM_ALWAYS_INLINE void step_of_lines(const rows_t *lines, bool is_pairs, bool is_b,
                                               bool is_whole, uint8_t *out, halves_t *found) {
    for (int half = 0; half < 2; ++half) {
        words_t r[WORDS];
        TCGEMM_UNROLL
        for (int i = 0; i < WORDS; ++i) {
            load_row(lines, half * WORDS + i, is_whole, &r[i], sizeof r[i]);
            if (is_pairs) {
                const halves_t x = (halves_t)r[i];
                note_subnormals(&x, found);
            }
        }
        if (is_b)
            transpose_words(r);
        store_words(out + half * (is_b ? LANE : WORDS * LANE), is_b ? LINES * 4 : LANE, r);
    }
}

/* ---- panels ---- */

static TCGEMM_ALWAYS_INLINE void convert_row(const tcgemm_pack_t *pack, bool is_pairs,
                                             int64_t index, int64_t count, uint8_t row[LANE]) {
    if (is_pairs)
        (void)convert_bf16(pack, index, count, (uint16_t *)(void *)row);
    else
        convert_bytes(pack, index, count, row);
}

/* Converts what is there of the rows into `stage`, with zeros beyond. */
static TCGEMM_ALWAYS_INLINE void stage_rows(const tcgemm_pack_t *pack, bool is_pairs, int64_t index,
                                            int64_t row_stride, int length, rows_t *rows,
                                            uint8_t stage[][LANE]) {
    memset(stage, 0, 64 * sizeof *stage);
    for (int i = 0; i < rows->count; ++i)
        convert_row(pack, is_pairs, index + i * row_stride, length, stage[i]);
    rows->base = stage[0];
    rows->pitch = LANE;
}

/* Fetches what lies `bytes` behind each row: soon it will be its turn. */
static TCGEMM_ALWAYS_INLINE void fetch(const rows_t *rows, int count, int64_t bytes) {
    for (int i = 0; i < count; ++i)
        __builtin_prefetch((const void *)((uintptr_t)row_at(rows, i) + (uintptr_t)bytes));
}

static TCGEMM_ALWAYS_INLINE void pack_step(const rows_t *rows, bool is_pairs, bool by_lines,
                                           bool is_b, bool is_whole, uint8_t *out,
                                           halves_t *found) {
    if (by_lines && is_b)
        step_of_lines(rows, is_pairs, true, is_whole, out, found);
    else if (by_lines)
        step_of_lines(rows, is_pairs, false, is_whole, out, found);
    else if (is_b)
        step_of_rows(rows, is_pairs, true, is_whole, out, found);
    else
        step_of_rows(rows, is_pairs, false, is_whole, out, found);
}

static TCGEMM_ALWAYS_INLINE bool pack_lanes(const tcgemm_pack_t *pack, int64_t first, int lines,
                                            bool is_pairs, uint8_t *out) {
    const int ku = is_pairs ? 32 : 64;
    const bool is_plain = is_pairs
                              ? tcgemm_dtype_bits(pack->dtype) == 16
                              : pack->dtype == TCGEMM_DTYPE_S8 || pack->dtype == TCGEMM_DTYPE_U8;
    const int element_bytes = is_pairs ? 2 : 1;
    const bool by_lines = pack->k_stride == 1;
    const int num_rows = by_lines ? LINES : ku;
    const int64_t row_stride = by_lines ? pack->line_stride : pack->k_stride;
    const int64_t fetched = by_lines ? FETCH_AHEAD : ku * pack->k_stride * element_bytes;
    _Alignas(64) uint8_t stage[64][LANE];
    halves_t found = {0};
    for (int64_t k = 0; k < pack->k; k += ku, out += STEP) {
        const int steps = (int)min_i64(ku, pack->k - k);
        const int length = by_lines ? steps : lines; /* elements of a row */
        const int64_t index = pack->origin + first * pack->line_stride + k * pack->k_stride;
        rows_t rows = {.base = (const uint8_t *)pack->source + index * element_bytes,
                       .pitch = row_stride * element_bytes,
                       .count = by_lines ? lines : steps,
                       .mask = mask_of(length * element_bytes)};
        if (!is_plain)
            stage_rows(pack, is_pairs, index, row_stride, length, &rows, stage);
        else if (pack->k > k + ku)
            fetch(&rows, num_rows, fetched);
        if (!is_plain || (steps == ku && lines == LINES))
            pack_step(&rows, is_pairs, by_lines, pack->is_b, true, out, &found);
        else
            pack_step(&rows, is_pairs, by_lines, pack->is_b, false, out, &found);
    }
    return is_pairs && is_any(&found);
}

bool PACK_NAME(bf16x32)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                        uint32_t *terms) {
    (void)width;
    (void)terms;
    return pack_lanes(pack, first, lines, true, panel);
}

/* The same 16 bits, in which nothing is to be noticed. */
bool PACK_NAME(f16x32)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                       uint32_t *terms) {
    (void)PACK_NAME(bf16x32)(pack, first, lines, width, panel, terms);
    return false;
}

bool PACK_NAME(i8x64)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                      uint32_t *terms) {
    (void)width;
    (void)terms;
    return pack_lanes(pack, first, lines, false, panel);
}

#undef TRANSPOSE_INLINE
#undef PACK_NAME
#undef PACK_ISA
#undef SHUFFLE
#undef EXCHANGE
#undef FIRST1
#undef SECOND1
#undef FIRST2
#undef SECOND2
#undef FIRST4
#undef SECOND4
#undef FIRST8
#undef SECOND8
