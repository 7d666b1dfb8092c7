/* pack_tmpl.h - packing, compiled once for each instruction set (PACK_ISA), so that the same plain
 * loops become that set's vector code.
 *
 * A panel holds `width` lines (rows of A or columns of B), step by step:
 *
 *      step 0: lane of line 0, line 1, ... line width-1, step 1: ...
 *
 * Where a line is contiguous in memory (k_stride 1) its elements are converted into a row of lanes
 * and up to 8 rows at a time are transposed in registers; where a step is contiguous (line_stride
 * 1) each step is converted in place, and sub-lane elements of `ku` steps are interleaved.
 */
#ifdef __AVX512F__
#include "cpu/kernels/avx512_transpose.h"
#endif
#include "cpu/kernels/convert.h"

#define PACK_NAME(family)      TCGEMM_PASTE(TCGEMM_PASTE(tcgemm_pack_, PACK_ISA, _), family, )
#define PACK_ROWS_NAME(family) TCGEMM_PASTE(TCGEMM_PASTE(tcgemm_pack_rows_, PACK_ISA, _), family, )

enum {
    CHUNK = 64, /* lanes of each line converted before they are transposed: fits the L1 cache */
    LONG_CHUNK = 256, /* the same where ... */
    SET_OF_LINES = 8, /* ... so many lines are converted at a time */
    MAX_WIDTH = 48    /* of any kernel */
};

#if defined(__AVX512BW__)
enum { VECTOR_WORDS = 16 };
#elif defined(__AVX2__)
enum { VECTOR_WORDS = 8 };
#endif

static TCGEMM_ALWAYS_INLINE void s16_of_bytes(const uint8_t *source, int64_t count, bool is_signed,
                                              int16_t *row) {
    int64_t i = 0;
#if defined(__AVX512BW__)
    for (; i < count; i += 32) {
        const __mmask32 some = count - i < 32 ? (1u << (count - i)) - 1u : UINT32_MAX;
        const __m256i x = _mm256_maskz_loadu_epi8(some, source + i);
        _mm512_mask_storeu_epi16(row + i, some,
                                 is_signed ? _mm512_cvtepi8_epi16(x) : _mm512_cvtepu8_epi16(x));
    }
#elif defined(__AVX2__)
    for (; i + 8 <= count; i += 8) {
        const __m128i x = _mm_loadl_epi64((const __m128i *)(source + i));
        _mm_storeu_si128((__m128i *)(row + i),
                         is_signed ? _mm_cvtepi8_epi16(x) : _mm_cvtepu8_epi16(x));
    }
#endif
    for (; i < count; ++i)
        row[i] = is_signed ? (int8_t)source[i] : source[i];
}

static void s16_of_nibbles(const tcgemm_pack_t *pack, int64_t index, int64_t count, int16_t *row) {
    const uint8_t *source = pack->source;
    const int sign = sign_of_nibbles(pack);
    int64_t i = 0;
#ifdef __AVX2__
    if (count > 0 && (index & 1)) {
        row[0] = (int16_t)((nibble_at(source, index) ^ sign) - sign);
        i = 1;
    }
    for (; i + MANY_NIBBLES <= count; i += MANY_NIBBLES) {
        __m128i bytes[2];
        load_nibbles(source + ((index + i) >> 1), sign, bytes);
        for (int half = 0; half < 2; ++half)
            _mm256_storeu_si256((__m256i *)(void *)(row + i + half * 16),
                                _mm256_cvtepi8_epi16(bytes[half]));
    }
    for (; i + SOME_NIBBLES <= count; i += SOME_NIBBLES)
        _mm_storeu_si128((__m128i *)(void *)(row + i),
                         _mm_cvtepi8_epi16(load_some_nibbles(source + ((index + i) >> 1), sign)));
#endif
    for (; i < count; ++i)
        row[i] = (int16_t)((nibble_at(source, index + i) ^ sign) - sign);
}

/* As signed 16-bit integers. */
static void convert_s16(const tcgemm_pack_t *pack, int64_t index, int64_t count, int16_t *row) {
    if (pack->dtype == TCGEMM_DTYPE_S8)
        s16_of_bytes((const uint8_t *)pack->source + index, count, true, row);
    else if (pack->dtype == TCGEMM_DTYPE_U8)
        s16_of_bytes((const uint8_t *)pack->source + index, count, false, row);
    else
        s16_of_nibbles(pack, index, count, row);
}

/* 1 to 32 bits from bit `index` on, the first in bit 0; reads no byte beyond the last one. */
static uint32_t load_bits(const void *source, int64_t index, int64_t count) {
    const uint8_t *bytes = (const uint8_t *)source + (index >> 3);
    const int shift = (int)(index & 7);
    uint64_t word = 0;
    const int64_t num_bytes = (shift + count + 7) >> 3;
    for (int64_t i = 0; i < num_bytes; ++i)
        word |= (uint64_t)bytes[i] << (8 * i);
    return (uint32_t)((word >> shift) & ((UINT64_C(1) << count) - 1u));
}

/* ---- transposition: rows[line][q] -> panel[q * width + line] ---- */

/* A vector takes a few steps of every fourth (of f64 every second) line, 16 bytes of each, so that
 * what is left is to transpose within its parts of 16 bytes. Not more than 8 lines at a time: those
 * a power of two apart share a set of the first-level cache, which has as many ways or few more. */
#ifdef __AVX2__
static inline __m256 halves(const uint32_t *const rows[], int64_t q) {
    const __m256 r = _mm256_castps128_ps256(_mm_loadu_ps((const float *)(rows[0] + q)));
    return _mm256_insertf128_ps(r, _mm_loadu_ps((const float *)(rows[4] + q)), 1);
}

/* 8 lines x 4 steps. */
static TCGEMM_ALWAYS_INLINE void transpose_8x4(const uint32_t *const rows[], int64_t q,
                                               __m256 step[4]) {
    const __m256 r0 = halves(rows, q);
    const __m256 r1 = halves(rows + 1, q);
    const __m256 r2 = halves(rows + 2, q);
    const __m256 r3 = halves(rows + 3, q);
    const __m256 t0 = _mm256_unpacklo_ps(r0, r1);
    const __m256 t1 = _mm256_unpackhi_ps(r0, r1);
    const __m256 t2 = _mm256_unpacklo_ps(r2, r3);
    const __m256 t3 = _mm256_unpackhi_ps(r2, r3);
    step[0] = _mm256_shuffle_ps(t0, t2, 0x44);
    step[1] = _mm256_shuffle_ps(t0, t2, 0xEE);
    step[2] = _mm256_shuffle_ps(t1, t3, 0x44);
    step[3] = _mm256_shuffle_ps(t1, t3, 0xEE);
}

/* 4 lines x 4 steps. */
static void transpose_4x4(const uint32_t *const rows[], int64_t q, uint32_t *panel, int width) {
    __m128 r[4];
    for (int i = 0; i < 4; ++i)
        r[i] = _mm_loadu_ps((const float *)(rows[i] + q));
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
    for (int i = 0; i < 4; ++i)
        _mm_storeu_ps((float *)(panel + (q + i) * width), r[i]);
}

static inline __m256d halves_f64(const double *const rows[], int64_t q) {
    const __m256d r = _mm256_castpd128_pd256(_mm_loadu_pd(rows[0] + q));
    return _mm256_insertf128_pd(r, _mm_loadu_pd(rows[2] + q), 1);
}

/* 4 lines x 4 steps of 64-bit lanes. */
static void transpose_4x4_f64(const double *const rows[], int64_t q, double *panel, int width) {
    for (int64_t p = q; p < q + 4; p += 2) {
        const __m256d r0 = halves_f64(rows, p);
        const __m256d r1 = halves_f64(rows + 1, p);
        _mm256_storeu_pd(panel + p * width, _mm256_unpacklo_pd(r0, r1));
        _mm256_storeu_pd(panel + (p + 1) * width, _mm256_unpackhi_pd(r0, r1));
    }
}
#elif defined(__ARM_NEON)
/* 4 lines x 4 steps of 32-bit lanes. */
static void transpose_4x4(const uint32_t *const rows[], int64_t q, uint32_t *panel, int width) {
    uint32x4_t r[4];
    for (int i = 0; i < 4; ++i)
        r[i] = vld1q_u32(rows[i] + q);
    const uint32x4x2_t even = vzipq_u32(r[0], r[2]); /* a0 c0 a1 c1, a2 c2 a3 c3 */
    const uint32x4x2_t odd = vzipq_u32(r[1], r[3]);
    for (int i = 0; i < 2; ++i) {
        const uint32x4x2_t steps = vzipq_u32(even.val[i], odd.val[i]);
        vst1q_u32(panel + (q + 2 * i) * width, steps.val[0]);
        vst1q_u32(panel + (q + 2 * i + 1) * width, steps.val[1]);
    }
}

/* 2 lines x 2 steps of 64-bit lanes, twice: 4 x 4 has no instruction more. */
static void transpose_4x4_f64(const double *const rows[], int64_t q, double *panel, int width) {
    for (int i = 0; i < 4; i += 2)
        for (int64_t p = q; p < q + 4; p += 2) {
            const float64x2_t r0 = vld1q_f64(rows[i] + p);
            const float64x2_t r1 = vld1q_f64(rows[i + 1] + p);
            vst1q_f64(panel + p * width + i, vzip1q_f64(r0, r1));
            vst1q_f64(panel + (p + 1) * width + i, vzip2q_f64(r0, r1));
        }
}
#endif

/* All steps of some lines from `line` on. Where lines are left over behind the last group, another
 * group ends where they do: it may do some lines of the one before again. */
#ifdef __AVX2__
/* Long lines are fetched ahead, and where they end, those of the next group: prefetchers lose them
 * there. */
enum { STEPS_AHEAD = 128, LEAST_FETCHED_STEPS = 320 };

static TCGEMM_ALWAYS_INLINE void fetch_8_lines(const uint32_t *const rows[], int line, int lines,
                                               int64_t q, int64_t steps) {
    const bool is_here = q + STEPS_AHEAD < steps;
    const int from = is_here || line + 16 > lines ? line : line + 8;
    const uintptr_t at = (uintptr_t)((is_here ? q : q - steps) + STEPS_AHEAD) * 4;
    for (int i = from; i < from + 8; ++i)
        __builtin_prefetch((const void *)((uintptr_t)rows[i] + at));
}

/* Adds the four bytes of each of 8 words. */
static TCGEMM_ALWAYS_INLINE __m256i add_bytes_8(__m256i sum, __m256i x, bool is_signed) {
    const __m256i ones = _mm256_set1_epi8(1);
    const __m256i pairs = is_signed ? _mm256_maddubs_epi16(ones, x) : _mm256_maddubs_epi16(x, ones);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* What is done to lanes of four bytes between load and store: to flip and sum them afterwards takes
 * longer than all of it. */
typedef struct quads {
    __m256i flips;
    bool has_sums, is_signed; /* of the bytes as they are stored */
    __m256i sum;              /* of 8 lines */
} quads_t;

static TCGEMM_ALWAYS_INLINE void put_8(__m256i x, quads_t *quads, uint32_t *out) {
    if (quads)
        x = _mm256_xor_si256(x, quads->flips);
    if (quads && quads->has_sums)
        quads->sum = add_bytes_8(quads->sum, x, quads->is_signed);
    _mm256_storeu_si256((__m256i *)out, x);
}

static TCGEMM_ALWAYS_INLINE void put_8x4(const uint32_t *const rows[], int64_t q, uint32_t *panel,
                                         int width, quads_t *quads) {
    __m256 step[4];
    transpose_8x4(rows, q, step);
    TCGEMM_UNROLL
    for (int i = 0; i < 4; ++i)
        put_8(_mm256_castps_si256(step[i]), quads, panel + (q + i) * width);
}

static TCGEMM_ALWAYS_INLINE void transpose_8_lines(const uint32_t *const rows[], int line,
                                                   int lines, int64_t steps, uint32_t *panel,
                                                   int width, quads_t *quads) {
    int64_t q = 0;
    for (; steps >= LEAST_FETCHED_STEPS && q + 16 <= steps; q += 16) {
        fetch_8_lines(rows, line, lines, q, steps);
        for (int64_t p = q; p < q + 16; p += 4)
            put_8x4(rows + line, p, panel + line, width, quads);
    }
    for (; q + 4 <= steps; q += 4)
        put_8x4(rows + line, q, panel + line, width, quads);
    for (; q < steps; ++q) {
        int x[8];
        for (int i = 0; i < 8; ++i)
            x[i] = (int)rows[line + i][q];
        put_8(_mm256_setr_epi32(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]), quads,
              panel + q * width + line);
    }
}
#endif
#if defined(__AVX2__) || defined(__ARM_NEON)
static TCGEMM_ALWAYS_INLINE void transpose_4_lines(const uint32_t *const rows[], int line,
                                                   int64_t steps, uint32_t *panel, int width) {
    int64_t q = 0;
    for (; q + 4 <= steps; q += 4)
        transpose_4x4(rows + line, q, panel + line, width);
    for (; q < steps; ++q)
        for (int i = line; i < line + 4; ++i)
            panel[q * width + i] = rows[i][q];
}

static TCGEMM_ALWAYS_INLINE void transpose_4_lines_f64(const double *const rows[], int line,
                                                       int64_t steps, double *panel, int width) {
    int64_t q = 0;
    for (; q + 4 <= steps; q += 4)
        transpose_4x4_f64(rows + line, q, panel + line, width);
    for (; q < steps; ++q)
        for (int i = line; i < line + 4; ++i)
            panel[q * width + i] = rows[i][q];
}
#endif

#ifdef __AVX512F__
static TCGEMM_ALWAYS_INLINE void transpose_16_lines(const uint32_t *const rows[], int line,
                                                    int64_t steps, uint32_t *panel, int width) {
    const float *at[16];
    for (int i = 0; i < 16; ++i)
        at[i] = (const float *)(const void *)rows[line + i];
    for (int64_t q = 0; q < steps; q += 16) {
        const int some = (int)min_i64(16, steps - q);
        __m512 r[16];
        load_some_f32(at, q, some, r);
        TCGEMM_UNROLL
        for (int i = 0; i < 16; ++i)
            if (i < some)
                _mm512_storeu_ps(panel + (q + i) * width + line, r[i]);
    }
}
#endif

static void transpose_u32(const uint32_t *const rows[], int lines, int64_t steps, uint32_t *panel,
                          int width) {
    int line = 0;
#ifdef __AVX512F__
    for (; line + 16 <= lines; line += 16)
        transpose_16_lines(rows, line, steps, panel, width);
#endif
#ifdef __AVX2__
    for (; line + 8 <= lines; line += 8)
        transpose_8_lines(rows, line, lines, steps, panel, width, NULL);
#endif
#if defined(__AVX2__) || defined(__ARM_NEON)
    for (; line + 4 <= lines; line += 4)
        transpose_4_lines(rows, line, steps, panel, width);
    if (line > 0 && line < lines) {
        transpose_4_lines(rows, lines - 4, steps, panel, width);
        return;
    }
#endif
    for (; line < lines; ++line)
        for (int64_t q = 0; q < steps; ++q)
            panel[q * width + line] = rows[line][q];
}

#ifdef __AVX512F__
static TCGEMM_ALWAYS_INLINE void transpose_8_lines_f64(const double *const rows[], int line,
                                                       int64_t steps, double *panel, int width) {
    for (int64_t q = 0; q < steps; q += 8) {
        const int some = (int)min_i64(8, steps - q);
        __m512d r[8];
        load_some_f64(rows + line, q, some, r);
        TCGEMM_UNROLL
        for (int i = 0; i < 8; ++i)
            if (i < some)
                _mm512_storeu_pd(panel + (q + i) * width + line, r[i]);
    }
}
#endif

static void transpose_f64(const double *const rows[], int lines, int64_t steps, double *panel,
                          int width) {
    int line = 0;
#ifdef __AVX512F__
    for (; line + 8 <= lines; line += 8)
        transpose_8_lines_f64(rows, line, steps, panel, width);
#endif
#if defined(__AVX2__) || defined(__ARM_NEON)
    for (; line + 4 <= lines; line += 4)
        transpose_4_lines_f64(rows, line, steps, panel, width);
    if (line > 0 && line < lines) {
        transpose_4_lines_f64(rows, lines - 4, steps, panel, width);
        return;
    }
#endif
    for (; line < lines; ++line)
        for (int64_t q = 0; q < steps; ++q)
            panel[q * width + line] = rows[line][q];
}

/* ---- copying: lines that lie side by side, as many of each step as there are ---- */

#ifdef __AVX512F__
/* So many bytes, by words of 4, or all 64. A call of memcpy or memset for each step would take
 * longer than what it does. */
static __mmask16 first_words(int64_t bytes) {
    return (__mmask16)(bytes < 64 ? (1u << (bytes / 4)) - 1u : 0xFFFFu);
}
#endif

/* Rows of k that lie across it are fetched so far ahead: a panel's part of each is too short for
 * prefetchers. Not those of small matrices, which lie in a cache; and panels of B, if their rows
 * share few sets of the first level, for they lie so many bytes apart, to the second. */
enum { ROWS_AHEAD = 16, LEAST_FETCHED_STRIDE = 1024, LEAST_FAR_STRIDE = 4096, MOST_LINES_OF_A = 8 };

static TCGEMM_ALWAYS_INLINE void fetch_row(const void *source, int64_t rows, int64_t stride,
                                           int lines, int line_bytes) {
    const uintptr_t at = (uintptr_t)source + (uintptr_t)rows * (uintptr_t)stride;
    const bool is_far = stride >= LEAST_FAR_STRIDE && lines > MOST_LINES_OF_A;
    for (int i = 0; i < lines * line_bytes; i += 64)
        if (is_far)
            TCGEMM_PREFETCH_FAR((const void *)(at + (uintptr_t)i));
        else
            __builtin_prefetch((const void *)(at + (uintptr_t)i));
}

/* So many lines of each step, of 4 or 8 bytes, from pieces `stride` bytes apart. */
static void copy_steps(const char *source, int64_t stride, int64_t steps, int lines, int line_bytes,
                       char *panel, int64_t pitch) {
    const int64_t bytes = (int64_t)lines * line_bytes;
    for (int64_t p = 0; p < steps; ++p, source += stride, panel += pitch) {
        int64_t i = 0;
        if (stride >= LEAST_FETCHED_STRIDE)
            fetch_row(source, ROWS_AHEAD, stride, lines, line_bytes);
#ifdef __AVX512F__
        for (; i + 64 <= bytes; i += 64)
            _mm512_storeu_si512(panel + i, _mm512_loadu_si512(source + i));
        if (i + 32 <= bytes) { /* not by masks, whose vectors would lie across two lines */
            _mm256_storeu_si256((__m256i *)(panel + i),
                                _mm256_loadu_si256((const __m256i *)(source + i)));
            i += 32;
        }
        if (i < bytes) {
            const __mmask16 words = first_words(bytes - i);
            _mm512_mask_storeu_epi32(panel + i, words, _mm512_maskz_loadu_epi32(words, source + i));
        }
#else
        for (; i + 16 <= bytes; i += 16) /* no call of memcpy */
            memcpy(panel + i, source + i, 16);
        for (; i < bytes; i += 4)
            memcpy(panel + i, source + i, 4);
#endif
    }
}

#ifdef __AVX2__
/* So many whole panels, `panel_bytes` long, at a time, whose lines have `bytes` of a step, a
 * multiple of `piece`: what is fetched is used up while it is near. */
static TCGEMM_ALWAYS_INLINE void copy_panels_by(const char *source, int64_t stride, int64_t steps,
                                                int panels, int bytes, char *out,
                                                int64_t panel_bytes, const size_t piece) {
    enum {
        FAR_AHEAD = 24, /* rows: they may come from the last cache, and ... */
        WORD = 4        /* ... are as long as those of panels of B, so fetched to the second, too */
    };
    for (int64_t p = 0; p < steps; ++p, source += stride, out += bytes) {
        if (stride >= LEAST_FETCHED_STRIDE)
            fetch_row(source, FAR_AHEAD, stride, panels * bytes / WORD, WORD);
        for (int i = 0; i < panels; ++i)
            for (size_t at = 0; at < (size_t)bytes; at += piece)
                memcpy(out + i * panel_bytes + at, source + (int64_t)i * bytes + at, piece);
    }
}

static TCGEMM_NEVER_INLINE void copy_panels(const char *source, int64_t stride, int64_t steps,
                                            int panels, int bytes, char *out, int64_t panel_bytes) {
    if (bytes % 32)
        copy_panels_by(source, stride, steps, panels, 16, out, panel_bytes, 16);
    else
        copy_panels_by(source, stride, steps, panels, bytes, out, panel_bytes, 32);
}
#endif

/* Zeros in the lanes of the lines that the panel has and the matrix has not. */
static void clear_missing_lines(void *panel, int lane_bytes, int64_t steps, int lines, int width) {
    if (lines == width)
        return;
    const int64_t bytes = (int64_t)(width - lines) * lane_bytes;
    char *at = (char *)panel + (int64_t)lines * lane_bytes;
    for (int64_t q = 0; q < steps; ++q, at += (int64_t)width * lane_bytes) {
#ifdef __AVX512F__
        for (int64_t i = 0; i < bytes; i += 64)
            _mm512_mask_storeu_epi32(at + i, first_words(bytes - i), _mm512_setzero_si512());
#else
        memset(at, 0, (size_t)bytes);
#endif
    }
}

static inline void put_term(const tcgemm_pack_t *pack, uint32_t sum, uint32_t *term) {
    *term = (pack->adds_terms ? *term : 0) + pack->sum_factor * sum + pack->sum_offset;
}

static TCGEMM_NEVER_INLINE void put_terms(const tcgemm_pack_t *pack, const uint32_t *sum, int lines,
                                          int width, uint32_t *terms) {
    for (int line = 0; line < lines; ++line)
        put_term(pack, sum[line], terms + line);
    memset(terms + lines, 0, (size_t)(width - lines) * sizeof *terms);
}

static inline int64_t line_start(const tcgemm_pack_t *pack, int64_t line, int64_t k) {
    return pack->origin + line * pack->line_stride + k * pack->k_stride;
}

/* ---- bytes ---- */

#if defined(__AVX512BW__)
static TCGEMM_ALWAYS_INLINE __m128i some_bytes(const uint8_t *source, int count) {
    if (count >= 8)
        return _mm_loadl_epi64((const __m128i *)source);
    return _mm_maskz_loadu_epi8((__mmask16)((1u << count) - 1u), source);
}

static TCGEMM_ALWAYS_INLINE void put_words(uint32_t *out, int count, __m256i words) {
    _mm256_mask_storeu_epi32(out, (__mmask8)(count < 8 ? (1u << count) - 1u : 0xFFu), words);
}
#elif defined(__AVX2__)
static TCGEMM_ALWAYS_INLINE __m128i some_bytes(const uint8_t *source, int count) {
    uint64_t bytes = 0;
    uint32_t word = 0;
    if (count >= 8)
        return _mm_loadl_epi64((const __m128i *)source);
    if (count >= 4) { /* a panel of A: 4 rows */
        memcpy(&word, source, sizeof word);
        bytes = word;
    }
    for (int i = count >= 4 ? 4 : 0; i < count; ++i)
        bytes |= (uint64_t)source[i] << (8 * i);
    return _mm_cvtsi64_si128((long long)bytes);
}

static TCGEMM_ALWAYS_INLINE void put_words(uint32_t *out, int count, __m256i words) {
    uint32_t all[8];
    if (count >= 8) {
        _mm256_storeu_si256((__m256i *)out, words);
        return;
    }
    if (count == 4) {
        _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(words));
        return;
    }
    _mm256_storeu_si256((__m256i *)all, words);
    for (int i = 0; i < count; ++i)
        out[i] = all[i];
}
#endif

#ifdef __AVX2__
/* Four rows of 8 bytes become 8 words. */
static TCGEMM_ALWAYS_INLINE __m256i transpose_4x8(const __m128i r[4]) {
    const __m128i low = _mm_unpacklo_epi8(r[0], r[1]);
    const __m128i high = _mm_unpacklo_epi8(r[2], r[3]);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi16(low, high)),
                                   _mm_unpackhi_epi16(low, high), 1);
}
#endif

/* Four rows of bytes, of `lines` lines that lie side by side, become words of four bytes each; rows
 * from `rows` on are zeros. */
#if defined(__AVX512BW__)
/* Adds the four bytes of each of 16 words. */
static TCGEMM_ALWAYS_INLINE __m512i add_bytes_16(__m512i sum, __m512i x, bool is_signed) {
    const __m512i ones = _mm512_set1_epi8(1);
    const __m512i pairs = is_signed ? _mm512_maddubs_epi16(ones, x) : _mm512_maddubs_epi16(x, ones);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}

/* Four rows of 16 bytes, the first of so many, become 16 words. The vector has a quarter of each
 * row: words of 4 columns of a row, then side by side those of the four rows, whose bytes are then
 * to be transposed within 16 bytes. */
static TCGEMM_ALWAYS_INLINE __m512i transpose_4x16(const __m128i r[4], int rows, uint32_t flips) {
    const __m512i columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __mmask16 some = (__mmask16)((1u << (4 * rows)) - 1u);
    __m512i x = _mm512_zextsi128_si512(r[0]);
    TCGEMM_UNROLL
    for (int h = 1; h < 4; ++h)
        if (h < rows)
            x = _mm512_mask_broadcast_i32x4(x, (__mmask16)(0xFu << (4 * h)), r[h]);
    x = _mm512_maskz_xor_epi32(some, x, _mm512_set1_epi32((int)flips));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(columns, x), bytes);
}

static TCGEMM_ALWAYS_INLINE void interleave_4(const uint8_t *source, int64_t stride, int rows,
                                              uint8_t flip, int lines, uint32_t *out) {
    for (int line = 0; line < lines; line += 16) {
        const int left = lines - line;
        const __mmask16 there = TCGEMM_SOME_OF_16(left);
        __m128i r[4];
        TCGEMM_UNROLL
        for (int h = 0; h < 4; ++h)
            r[h] = h < rows ? _mm_maskz_loadu_epi8(there, source + h * stride + line)
                            : _mm_setzero_si128();
        _mm512_mask_storeu_epi32(out + line, there,
                                 transpose_4x16(r, rows, tcgemm_flip_of_lane(flip)));
    }
}
#elif defined(__AVX2__)
static TCGEMM_ALWAYS_INLINE void interleave_4(const uint8_t *source, int64_t stride, int rows,
                                              uint8_t flip, int lines, uint32_t *out) {
    const __m128i flips = _mm_set1_epi8((char)flip);
    for (int line = 0; line < lines; line += 8) {
        __m128i r[4];
        TCGEMM_UNROLL
        for (int h = 0; h < 4; ++h)
            r[h] = h < rows
                       ? _mm_xor_si128(flips, some_bytes(source + h * stride + line, lines - line))
                       : _mm_setzero_si128();
        put_words(out + line, lines - line, transpose_4x8(r));
    }
}
#else
static void interleave_4(const uint8_t *source, int64_t stride, int rows, uint8_t flip, int lines,
                         uint32_t *out) {
    for (int line = 0; line < lines; ++line) {
        out[line] = 0;
        for (int h = 0; h < rows; ++h)
            out[line] |= (uint32_t)(uint8_t)(source[h * stride + line] ^ flip) << (8 * h);
    }
}
#endif

#ifdef __AVX2__
/* Two rows of up to 8 bytes become pairs of 16-bit integers; without the second one zeros. */
static TCGEMM_ALWAYS_INLINE void interleave_s16(const uint8_t *source, int64_t stride, bool has_two,
                                                bool is_signed, int lines, uint32_t *out) {
    const __m128i r0 = some_bytes(source, lines);
    const __m128i r1 = has_two ? some_bytes(source + stride, lines) : _mm_setzero_si128();
    const __m128i pairs = _mm_unpacklo_epi8(r0, r1);
    put_words(out, lines, is_signed ? _mm256_cvtepi8_epi16(pairs) : _mm256_cvtepu8_epi16(pairs));
}

/* All rows, of so many lines. */
static TCGEMM_ALWAYS_INLINE void interleave_lines_s16(const uint8_t *source, int64_t stride,
                                                      int64_t k, bool is_signed, const int lines,
                                                      int width, uint32_t *out) {
    for (int64_t p = 0; p < k; p += 2, source += 2 * stride, out += width) {
        const bool has_two = p + 1 < k;
        TCGEMM_UNROLL
        for (int line = 0; line < lines; line += 8)
            interleave_s16(source + line, stride, has_two, is_signed, lines - line, out + line);
    }
}

/* Panels of A, and of B of whole vectors, without a look at each step at how many lines there are.
 * False: it is another one. */
static bool interleave_panel_s16(const uint8_t *source, int64_t stride, int64_t k, bool is_signed,
                                 int lines, int width, uint32_t *out) {
    if (lines == VECTOR_WORDS / 2)
        interleave_lines_s16(source, stride, k, is_signed, VECTOR_WORDS / 2, width, out);
    else if (lines == VECTOR_WORDS)
        interleave_lines_s16(source, stride, k, is_signed, VECTOR_WORDS, width, out);
    else if (lines == 2 * VECTOR_WORDS)
        interleave_lines_s16(source, stride, k, is_signed, 2 * VECTOR_WORDS, width, out);
    else if (lines == 3 * VECTOR_WORDS)
        interleave_lines_s16(source, stride, k, is_signed, 3 * VECTOR_WORDS, width, out);
    else
        return false;
    return true;
}
#endif

/* Adds the four bytes of each of `lines` words, step by step. */
static void sum_bytes(const uint32_t *panel, int64_t steps, int lines, int width, bool is_signed,
                      int32_t *sum) {
#if defined(__AVX512BW__)
    for (int line = 0; line < lines; line += 16) {
        const int left = lines - line;
        const __mmask16 some = TCGEMM_SOME_OF_16(left);
        __m512i total = _mm512_maskz_loadu_epi32(some, sum + line);
        for (int64_t q = 0; q < steps; ++q)
            total = add_bytes_16(total, _mm512_maskz_loadu_epi32(some, panel + q * width + line),
                                 is_signed);
        _mm512_mask_storeu_epi32(sum + line, some, total);
    }
#elif defined(__AVX2__)
    for (int line = 0; line < lines; line += 8) {
        const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(lines - line),
                                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        __m256i total = _mm256_maskload_epi32(sum + line, mask);
        for (int64_t q = 0; q < steps; ++q)
            total = add_bytes_8(
                total, _mm256_maskload_epi32((const int *)(panel + q * width + line), mask),
                is_signed);
        put_words((uint32_t *)sum + line, lines - line, total);
    }
#else
    for (int64_t q = 0; q < steps; ++q)
        for (int line = 0; line < lines; ++line) {
            const uint32_t x = panel[q * width + line];
            sum[line] += is_signed
                             ? (int8_t)x + (int8_t)(x >> 8) + (int8_t)(x >> 16) + (int8_t)(x >> 24)
                             : (int32_t)((x & 255) + (x >> 8 & 255) + (x >> 16 & 255) + (x >> 24));
        }
#endif
}

/* Lines of bytes along k that are whole words as they lie; their sums, unless `sum` is NULL.
 * Returns how many have been summed. */
static TCGEMM_NEVER_INLINE int transpose_bytes(const tcgemm_pack_t *pack,
                                               const uint32_t *const rows[], int lines,
                                               uint32_t *panel, int width, int32_t *sum) {
    const int64_t steps = pack->k / 4;
    const uint32_t flips = tcgemm_flip_of_lane(pack->flip);
    int line = 0;
#ifdef __AVX2__
    for (; line + 8 <= lines; line += 8) {
        quads_t quads = {.flips = _mm256_set1_epi32((int)flips),
                         .has_sums = sum != NULL,
                         .is_signed = pack->sum_is_signed,
                         .sum = _mm256_setzero_si256()};
        transpose_8_lines(rows, line, lines, steps, panel, width, &quads);
        if (sum)
            _mm256_storeu_si256((__m256i *)(void *)(sum + line), quads.sum);
    }
    if (line == lines)
        return lines;
#else
    (void)sum;
#endif
    transpose_u32(rows + line, lines - line, steps, panel + line, width);
    for (int64_t q = 0; q < steps && flips; ++q)
        for (int i = line; i < lines; ++i)
            panel[q * width + i] ^= flips;
    return line;
}

#ifdef __AVX512BW__
/* So many bytes, 16 or more being all of a vector, and zeros. */
static TCGEMM_ALWAYS_INLINE __m128i up_to_16_bytes(const uint8_t *source, int count) {
    return count >= 16 ? _mm_loadu_si128((const __m128i *)source)
           : count > 0 ? _mm_maskz_loadu_epi8(TCGEMM_SOME_OF_16(count), source)
                       : _mm_setzero_si128();
}

/* Flipped bytes of lines that are not there are zeros again. */
static TCGEMM_ALWAYS_INLINE __m512i up_to_16_words(__m512i x, int count) {
    return count >= 16 ? x
           : count > 0 ? _mm512_maskz_mov_epi32(TCGEMM_SOME_OF_16(count), x)
                       : _mm512_setzero_si512();
}

/* A step of a panel of B, of so many lines and rows. */
static TCGEMM_ALWAYS_INLINE void interleave_step(const uint8_t *source, int64_t stride, int count,
                                                 int rows, uint32_t flips, bool has_sums,
                                                 uint32_t *out, __m512i sum[3]) {
    TCGEMM_UNROLL
    for (int v = 0; v < 3; ++v, source += 16) {
        __m128i r[4];
        TCGEMM_UNROLL
        for (int h = 0; h < 4; ++h)
            r[h] = h < rows ? up_to_16_bytes(source + h * stride, count - 16 * v)
                            : _mm_setzero_si128();
        const __m512i x = up_to_16_words(transpose_4x16(r, rows, flips), count - 16 * v);
        _mm512_storeu_si512(out + 16 * v, x);
        if (has_sums)
            sum[v] = add_bytes_16(sum[v], x, true);
    }
}

/* A panel of B whose lines lie side by side, as many of 48 as there are. Sums stay in registers:
 * few rows of D have B packed some steps at a time (gemm.c), and to read these again takes as long
 * as to pack them. */
static TCGEMM_ALWAYS_INLINE void interleave_48_lines(const tcgemm_pack_t *pack, int64_t first,
                                                     int count, uint32_t *out, uint32_t *terms) {
    const uint8_t *source = (const uint8_t *)pack->source + line_start(pack, first, 0);
    const uint32_t flips = tcgemm_flip_of_lane(pack->flip);
    const int64_t stride = pack->k_stride;
    int64_t p = 0;
    __m512i sum[3] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (; p + 4 <= pack->k; p += 4, source += 4 * stride, out += 48) {
        for (int h = 0; h < 4 && stride >= LEAST_FETCHED_STRIDE; ++h)
            fetch_row(source, ROWS_AHEAD + h, stride, count, 1);
        interleave_step(source, stride, count, 4, flips, terms != NULL, out, sum);
    }
    if (p < pack->k)
        interleave_step(source, stride, count, (int)(pack->k - p), flips, terms != NULL, out, sum);
    if (!terms)
        return;
    uint32_t sums[48];
    TCGEMM_UNROLL
    for (int v = 0; v < 3; ++v)
        _mm512_storeu_si512(sums + 16 * v, sum[v]);
    put_terms(pack, sums, count, 48, terms);
}

/* Words of 8 lines, the first four in a part of 16 bytes of `x` and the others in that of `y`: part
 * i is of panel first + i * apart, if there are so many. */
static TCGEMM_ALWAYS_INLINE void put_panels(__m512i x, __m512i y, const int first, const int apart,
                                            int panels, uint32_t *out, int64_t pitch) {
    const __m512i front =
        _mm512_permutex2var_epi64(x, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), y);
    const __m512i back =
        _mm512_permutex2var_epi64(x, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), y);
    const __m256i part[4] = {_mm512_castsi512_si256(front), _mm512_extracti64x4_epi64(front, 1),
                             _mm512_castsi512_si256(back), _mm512_extracti64x4_epi64(back, 1)};
    TCGEMM_UNROLL
    for (int i = 0; i < 4; ++i)
        if (first + i * apart < panels)
            _mm256_storeu_si256((__m256i *)(out + (first + i * apart) * pitch), part[i]);
}

/* A step of up to eight panels of 8 lines of A, whose bytes are not signed. */
static TCGEMM_ALWAYS_INLINE void interleave_8_panels(const uint8_t *source, int64_t stride,
                                                     int rows, __mmask64 lines, __m512i flip,
                                                     bool has_sums, int panels, uint32_t *out,
                                                     int64_t pitch, __m512i sum[4]) {
    __m512i r[4], x[4];
    TCGEMM_UNROLL
    for (int h = 0; h < 4; ++h)
        r[h] = h < rows
                   ? _mm512_xor_si512(flip, _mm512_maskz_loadu_epi8(lines, source + h * stride))
                   : _mm512_setzero_si512();
    const __m512i low[2] = {_mm512_unpacklo_epi8(r[0], r[1]), _mm512_unpackhi_epi8(r[0], r[1])};
    const __m512i high[2] = {_mm512_unpacklo_epi8(r[2], r[3]), _mm512_unpackhi_epi8(r[2], r[3])};
    TCGEMM_UNROLL
    for (int i = 0; i < 2; ++i) {
        x[2 * i] = _mm512_unpacklo_epi16(low[i], high[i]);
        x[2 * i + 1] = _mm512_unpackhi_epi16(low[i], high[i]);
        put_panels(x[2 * i], x[2 * i + 1], i, 2, panels, out, pitch);
    }
    TCGEMM_UNROLL
    for (int i = 0; has_sums && i < 4; ++i)
        sum[i] = add_bytes_16(sum[i], x[i], false);
}

/* Panels of A of so many lines that lie side by side, no more than eight, one behind the other:
 * what is read of a line of memory is all of it. */
static TCGEMM_NEVER_INLINE void interleave_panels(const tcgemm_pack_t *pack, int64_t first,
                                                  int count, uint32_t *out, uint32_t *terms) {
    const uint8_t *source = (const uint8_t *)pack->source + line_start(pack, first, 0);
    const int panels = (count + 7) / 8;
    const __mmask64 lines = ~(__mmask64)0 >> (64 - count);
    const __m512i flip = _mm512_maskz_set1_epi8(lines, (char)pack->flip);
    const int64_t stride = pack->k_stride, pitch = (pack->k + 3) / 4 * 8;
    int64_t p = 0;
    __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                      _mm512_setzero_si512()};
    for (; p + 4 <= pack->k; p += 4, source += 4 * stride, out += 8) {
        for (int h = 0; h < 4 && stride >= LEAST_FETCHED_STRIDE; ++h)
            fetch_row(source, ROWS_AHEAD + h, stride, 1, 1);
        interleave_8_panels(source, stride, 4, lines, flip, terms != NULL, panels, out, pitch, sum);
    }
    if (p < pack->k)
        interleave_8_panels(source, stride, (int)(pack->k - p), lines, flip, terms != NULL, panels,
                            out, pitch, sum);
    if (!terms)
        return;
    uint32_t sums[64];
    put_panels(sum[0], sum[1], 0, 2, panels, sums, 8);
    put_panels(sum[2], sum[3], 1, 2, panels, sums, 8);
    put_terms(pack, sums, count, 8 * panels, terms);
}

/* False: the panel is another one. */
static TCGEMM_NEVER_INLINE bool interleave_lines(const tcgemm_pack_t *pack, int64_t first,
                                                 int lines, int width, uint32_t *out,
                                                 uint32_t *terms) {
    if (lines == 48 && pack->sum_is_signed)
        interleave_48_lines(pack, first, 48, out, terms);
    else if (width == 48 && pack->sum_is_signed)
        interleave_48_lines(pack, first, lines, out, terms);
    else if (width == 8 && !pack->sum_is_signed)
        interleave_panels(pack, first, lines, out, terms);
    else
        return false;
    return true;
}
#endif

#if defined(__AVX512BW__)
#define COPY_BYTES_INLINE TCGEMM_ALWAYS_INLINE
#else
#define COPY_BYTES_INLINE TCGEMM_NEVER_INLINE /* it is long code */
#endif

/* `count` bytes of a line and zeros behind them, to whole words. Returns their sum, if it is
 * wanted, as u8 or as s8. */
static COPY_BYTES_INLINE uint32_t copy_bytes(const uint8_t *source, int64_t count, uint8_t flip,
                                             uint8_t *row, bool has_sum, bool is_signed) {
    const uint8_t sign = is_signed ? 0x80 : 0; /* its xor makes u8 of s8, each 128 more */
#if defined(__AVX512BW__)
    const __m512i signs = _mm512_set1_epi8((char)sign);
    __m512i sum = _mm512_setzero_si512();
    for (int64_t i = 0; i < count; i += 64) {
        const __mmask64 some = count - i < 64 ? (UINT64_C(1) << (count - i)) - 1u : UINT64_MAX;
        const __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi8(some, source + i),
                                           _mm512_maskz_set1_epi8(some, (char)flip));
        if (count - i > 60)
            _mm512_storeu_si512(row + i, x);
        else
            _mm512_mask_storeu_epi32(row + i, first_words(count - i + 3), x);
        if (has_sum)
            sum = _mm512_add_epi64(
                sum, _mm512_sad_epu8(_mm512_xor_si512(x, signs), _mm512_setzero_si512()));
    }
    const uint32_t added = sign * (uint32_t)((count + 63) / 64 * 64);
    return has_sum ? (uint32_t)_mm512_reduce_add_epi64(sum) - added : 0;
#else
    int64_t i = 0;
    uint32_t sum = 0;
#if defined(__AVX2__)
    const __m256i flips = _mm256_set1_epi8((char)flip);
    for (; i + 32 <= count; i += 32)
        _mm256_storeu_si256(
            (__m256i *)(row + i),
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(source + i)), flips));
    for (; i + 8 <= count; i += 8)
        _mm_storel_epi64((__m128i *)(row + i),
                         _mm_xor_si128(_mm_loadl_epi64((const __m128i *)(source + i)),
                                       _mm256_castsi256_si128(flips)));
#endif
    for (; i < count; ++i)
        row[i] = source[i] ^ flip;
    memset(row + count, 0, (size_t)(-count & 3));
    for (i = 0; has_sum && i < count; ++i)
        sum += (uint32_t)(row[i] ^ sign) - sign;
    return sum;
#endif
}

/* Lines of bytes along k that are words as they lie. */
static bool has_whole_words(const tcgemm_pack_t *pack, int64_t first) {
    const uintptr_t start = (uintptr_t)pack->source + (uintptr_t)line_start(pack, first, 0);
    return ((start | (uint64_t)pack->line_stride | (uint64_t)pack->k) & 3u) == 0;
}

/* ---- bf16 ---- */

#ifdef __AVX512BW__
/* Two steps of 16 lines, side by side in a word each. */
static TCGEMM_ALWAYS_INLINE __m512i pairs_of(__m256i low, __m256i high) {
    return _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                           _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
}

/* So many halves, 16 or more being all of a vector, and zeros. */
static TCGEMM_ALWAYS_INLINE __m256i some_of_16(const uint16_t *source, int count) {
    return count >= 16 ? _mm256_loadu_si256((const __m256i *)source)
           : count > 0 ? _mm256_maskz_loadu_epi16(TCGEMM_SOME_OF_16(count), source)
                       : _mm256_setzero_si256();
}

static TCGEMM_ALWAYS_INLINE bool interleave_plain_bf16(const uint16_t *source, int64_t stride,
                                                       bool has_two, int lines, uint32_t *out) {
    __m512i least = _mm512_set1_epi16(-1);
    for (int h = 0; h < 2 && stride >= LEAST_FETCHED_STRIDE / 2; ++h)
        fetch_row(source, ROWS_AHEAD + h, 2 * stride, lines, 2);
    for (int line = 0; line < lines; line += 16) {
        const __mmask16 some = TCGEMM_SOME_OF_16(lines - line);
        const __m512i pairs =
            pairs_of(_mm256_maskz_loadu_epi16(some, source + line),
                     _mm256_maskz_loadu_epi16(has_two ? some : 0, source + stride + line));
        least = least_bf16(least, pairs);
        _mm512_mask_storeu_epi32(out + line, some, pairs);
    }
    return is_subnormal(least);
}

static TCGEMM_ALWAYS_INLINE void interleave_fp8(const uint8_t *source, int64_t stride, bool has_two,
                                                int lines, bool is_e4m3, uint32_t *out) {
    const fp8_format_t format = fp8_format(is_e4m3);
    for (int h = 0; h < 2 && stride >= LEAST_FETCHED_STRIDE; ++h)
        fetch_row(source, ROWS_AHEAD + h, stride, lines, 1);
    for (int line = 0; line < lines; line += 16) {
        const __mmask16 some = TCGEMM_SOME_OF_16(lines - line);
        const __m128i low = _mm_maskz_loadu_epi8(some, source + line);
        const __m128i high = _mm_maskz_loadu_epi8(has_two ? some : 0, source + stride + line);
        const __m512i both =
            bf16_of_fp8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), &format);
        _mm512_mask_storeu_epi32(
            out + line, some,
            pairs_of(_mm512_castsi512_si256(both), _mm512_extracti64x4_epi64(both, 1)));
    }
}
#endif

/* The steps from element `index` on, of lines that lie side by side: two, or one and zeros. Returns
 * true if a bf16 is subnormal. */
static TCGEMM_ALWAYS_INLINE bool interleave_bf16(const tcgemm_pack_t *pack, int64_t index,
                                                 bool has_two, int lines, uint32_t *out) {
#ifdef __AVX512BW__
    if (pack->dtype == TCGEMM_DTYPE_BF16)
        return interleave_plain_bf16((const uint16_t *)pack->source + index, pack->k_stride,
                                     has_two, lines, out);
    interleave_fp8((const uint8_t *)pack->source + index, pack->k_stride, has_two, lines,
                   pack->dtype == TCGEMM_DTYPE_E4M3, out);
    return false;
#else
    bool subnormal = false;
    uint16_t pair[2][MAX_WIDTH] = {{0}};
    subnormal |= convert_bf16(pack, index, lines, pair[0]);
    if (has_two)
        subnormal |= convert_bf16(pack, index + pack->k_stride, lines, pair[1]);
    for (int line = 0; line < lines; ++line)
        out[line] = pair[0][line] | (uint32_t)pair[1][line] << 16;
    return subnormal;
#endif
}

#ifdef __AVX512BW__
/* Panels of A of so many lines that lie side by side, no more than four, one behind the other;
 * zeros where the last one has no lines. */
static bool interleave_panels_bf16(const tcgemm_pack_t *pack, int64_t first, int count,
                                   uint32_t *out) {
    const uint16_t *source = (const uint16_t *)pack->source + line_start(pack, first, 0);
    const int panels = (count + 7) / 8;
    const __mmask32 lines = ~(__mmask32)0 >> (32 - count);
    const int64_t stride = pack->k_stride, pitch = (pack->k + 1) / 2 * 8;
    const bool fetches = stride >= LEAST_FETCHED_STRIDE / 2;
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t p = 0; p < pack->k; p += 2, source += 2 * stride, out += 8) {
        for (int h = 0; fetches && h < 2; ++h)
            fetch_row(source, ROWS_AHEAD + h, 2 * stride, 1, 1);
        const __m512i low = _mm512_maskz_loadu_epi16(lines, source);
        const __m512i high = p + 1 < pack->k ? _mm512_maskz_loadu_epi16(lines, source + stride)
                                             : _mm512_setzero_si512();
        least = least_bf16(least_bf16(least, low), high);
        put_panels(_mm512_unpacklo_epi16(low, high), _mm512_unpackhi_epi16(low, high), 0, 1, panels,
                   out, pitch);
    }
    return is_subnormal(least);
}

/* A panel of B whose lines lie side by side, as many of 48 as there are; zeros for the others. */
static TCGEMM_ALWAYS_INLINE bool interleave_48_bf16(const tcgemm_pack_t *pack, int64_t first,
                                                    int count, uint32_t *out) {
    const uint16_t *source = (const uint16_t *)pack->source + line_start(pack, first, 0);
    const int64_t stride = pack->k_stride;
    const bool fetches = stride >= LEAST_FETCHED_STRIDE / 2;
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t p = 0; p < pack->k; p += 2, source += 2 * stride, out += 48) {
        const bool has_two = p + 1 < pack->k;
        for (int h = 0; fetches && h < 2; ++h)
            fetch_row(source, ROWS_AHEAD + h, 2 * stride, count, 2);
        TCGEMM_UNROLL
        for (int v = 0; v < 3; ++v) {
            const __m256i low = some_of_16(source + 16 * v, count - 16 * v);
            const __m256i high = has_two ? some_of_16(source + stride + 16 * v, count - 16 * v)
                                         : _mm256_setzero_si256();
            const __m512i pairs = pairs_of(low, high);
            least = least_bf16(least, pairs);
            _mm512_storeu_si512(out + 16 * v, pairs);
        }
    }
    return is_subnormal(least);
}

/* All steps of 16 lines along k, from line `first` on. Each is fetched ahead, and where it ends one
 * of the next 16: prefetchers do not follow pieces so short. */
static bool transpose_16_lines_bf16(const tcgemm_pack_t *pack, int64_t first, uint32_t *out,
                                    int width) {
    enum { FAR_AHEAD = 512 }; /* elements */
    const uint16_t *const source = pack->source;
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t p = 0; p < pack->k; p += 32, out += 16 * width) {
        const int some = (int)min_i64(32, pack->k - p);
        const __mmask32 numbers = some < 32 ? (1u << some) - 1u : ~0u;
        const bool is_here = p + FAR_AHEAD < pack->k;
        __m512 r[16];
        TCGEMM_UNROLL
        for (int i = 0; i < 16; ++i) {
            const int64_t at = line_start(pack, first + i, p);
            const __m512i x = _mm512_maskz_loadu_epi16(numbers, source + at);
            least = least_bf16(least, x);
            r[i] = _mm512_castsi512_ps(x);
            const int64_t next = is_here
                                     ? at + FAR_AHEAD
                                     : line_start(pack, first + 16 + i, p + FAR_AHEAD - pack->k);
            TCGEMM_PREFETCH_FAR((const void *)((uintptr_t)source + (uintptr_t)next * 2));
        }
        transpose_words(r);
        TCGEMM_UNROLL
        for (int i = 0; i < 16; ++i)
            if (2 * i < some)
                _mm512_storeu_ps(out + i * width, r[i]);
    }
    return is_subnormal(least);
}
#endif

/* ---- numbers that become f32 ---- */

/* Rows of k that are so near one another are converted as one, with what lies between: no row is
 * longer than they are apart. */
enum { NEAR_PITCH = 16 /* elements */ };

static TCGEMM_NEVER_INLINE void convert_near(const tcgemm_pack_t *pack, int64_t first, int lines,
                                             int width, float *out) {
    enum { STEPS = 32 };
    float rows[STEPS * NEAR_PITCH];
    for (int64_t p = 0; p < pack->k; p += STEPS) {
        const int64_t steps = min_i64(STEPS, pack->k - p);
        convert_f32(pack, line_start(pack, first, p), (steps - 1) * pack->k_stride + lines, rows);
        copy_steps((const char *)rows, pack->k_stride * 4, steps, lines, 4,
                   (char *)(out + p * width), (int64_t)width * 4);
    }
}

#ifdef __AVX2__
/* Whole panels of lines side by side, some rows of k of all of them at a time. */
static TCGEMM_NEVER_INLINE void convert_panels(const tcgemm_pack_t *pack, int64_t first, int lines,
                                               int width, char *out) {
    enum { STEPS = 16, FAR_AHEAD = 32 };
    float rows[STEPS][MAX_WIDTH];
    const int64_t step_bytes = width * (int64_t)sizeof(float);
    const int bytes = tcgemm_dtype_bits(pack->dtype) / 8;
    const int64_t stride = pack->k_stride * bytes;
    const char *source = (const char *)pack->source + line_start(pack, first, 0) * bytes;
    for (int64_t p = 0; p < pack->k; p += STEPS) {
        const int64_t steps = min_i64(STEPS, pack->k - p);
        for (int64_t i = 0; i < steps; ++i, source += stride) {
            if (stride >= LEAST_FETCHED_STRIDE)
                fetch_row(source, FAR_AHEAD, stride, lines, bytes);
            convert_f32(pack, line_start(pack, first, p + i), lines, rows[i]);
        }
        copy_panels((const char *)rows, sizeof rows[0], steps, lines / width, (int)step_bytes,
                    out + p * step_bytes, pack->k * step_bytes);
    }
}
#endif

/* ---- one function for each family ---- */

bool PACK_NAME(f32)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                    uint32_t *terms) {
    float *out = panel;
    (void)terms;
    const bool is_plain = pack->dtype == TCGEMM_DTYPE_F32 && !pack->round_to_tf32;
#ifdef __AVX2__
    if (lines > width) {
        if (!is_plain)
            convert_panels(pack, first, lines, width, panel);
        else
            copy_panels((const char *)((const float *)pack->source + line_start(pack, first, 0)),
                        pack->k_stride * 4, pack->k, lines / width, width * 4, panel,
                        pack->k * width * 4);
        return false;
    }
#endif
    clear_missing_lines(panel, sizeof *out, pack->k, lines, width);
    if (is_plain && pack->k_stride != 1) {
        const float *const source = (const float *)pack->source + line_start(pack, first, 0);
        copy_steps((const char *)source, pack->k_stride * 4, pack->k, lines, 4, panel,
                   (int64_t)width * 4);
        return false;
    }
    if (width == 1 && pack->k_stride == 1) {
        convert_f32(pack, line_start(pack, first, 0), pack->k, out);
        return false;
    }
    if (pack->k_stride != 1 && pack->k_stride <= NEAR_PITCH) {
        convert_near(pack, first, lines, width, out);
        return false;
    }
    if (pack->k_stride != 1) {
        enum { FAR_AHEAD = 32 }; /* rows: of A each step takes longer than it is to copy it */
        const int bytes = tcgemm_dtype_bits(pack->dtype) / 8;
        const int64_t stride = pack->k_stride * bytes;
        const bool fetches = !pack->is_b && stride >= 2 * LEAST_FETCHED_STRIDE;
        const char *source = (const char *)pack->source + line_start(pack, first, 0) * bytes;
        for (int64_t p = 0; p < pack->k; ++p, source += stride) {
            if (fetches)
                fetch_row(source, FAR_AHEAD, stride, lines, bytes);
            convert_f32(pack, line_start(pack, first, p), lines, out + p * width);
        }
        return false;
    }
    const uint32_t *rows[MAX_WIDTH];
    if (is_plain) {
        for (int line = 0; line < lines; ++line)
            rows[line] = (const uint32_t *)pack->source + line_start(pack, first + line, 0);
        transpose_u32(rows, lines, pack->k, (uint32_t *)out, width);
        return false;
    }
    /* A few lines at a time, so that prefetchers can follow all of them. */
    float converted[SET_OF_LINES][LONG_CHUNK];
    for (int line = 0; line < SET_OF_LINES; ++line)
        rows[line] = (const uint32_t *)converted[line];
    for (int line = 0; line < lines; line += SET_OF_LINES) {
        const int count = lines - line < SET_OF_LINES ? lines - line : SET_OF_LINES;
        for (int64_t p = 0; p < pack->k; p += LONG_CHUNK) {
            const int64_t steps = min_i64(LONG_CHUNK, pack->k - p);
            for (int i = 0; i < count; ++i)
                convert_f32(pack, line_start(pack, first + line + i, p), steps, converted[i]);
            transpose_u32(rows, count, steps, (uint32_t *)out + p * width + line, width);
        }
    }
    return false;
}

bool PACK_NAME(f64)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                    uint32_t *terms) {
    const double *source = pack->source;
    double *out = panel;
    (void)terms;
#ifdef __AVX2__
    if (lines > width) {
        copy_panels((const char *)(source + line_start(pack, first, 0)), pack->k_stride * 8,
                    pack->k, lines / width, width * 8, panel, pack->k * width * 8);
        return false;
    }
#endif
    clear_missing_lines(panel, sizeof *out, pack->k, lines, width);
    if (pack->k_stride != 1) {
        copy_steps((const char *)(source + line_start(pack, first, 0)), pack->k_stride * 8, pack->k,
                   lines, 8, panel, (int64_t)width * 8);
        return false;
    }
    const double *rows[MAX_WIDTH];
    for (int line = 0; line < lines; ++line)
        rows[line] = source + line_start(pack, first + line, 0);
    transpose_f64(rows, lines, pack->k, out, width);
    return false;
}

/* What is converted after this: prefetchers do not follow pieces so short. */
static TCGEMM_ALWAYS_INLINE void fetch_chunk(const tcgemm_pack_t *pack, int64_t line, int64_t k) {
    const uintptr_t bytes = pack->dtype == TCGEMM_DTYPE_BF16 ? 2 : 1;
    const uintptr_t index =
        (uintptr_t)pack->origin + (uintptr_t)k + (uintptr_t)line * (uintptr_t)pack->line_stride;
    const uintptr_t at = (uintptr_t)pack->source + index * bytes;
    for (uintptr_t i = 0; i < 2 * LONG_CHUNK * bytes; i += 64)
        TCGEMM_PREFETCH_FAR((const void *)(at + i));
}

bool PACK_NAME(bf16)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                     uint32_t *terms) {
    uint32_t *out = panel;
    const int64_t num_steps = (pack->k + 1) / 2;
    bool subnormal = false;
    (void)terms;
#ifdef __AVX512BW__
    if (pack->k_stride != 1 && pack->dtype == TCGEMM_DTYPE_BF16) {
        if (width == 8)
            return interleave_panels_bf16(pack, first, lines, out);
        if (width == 48)
            return lines == 48 ? interleave_48_bf16(pack, first, 48, out)
                               : interleave_48_bf16(pack, first, lines, out);
    }
#endif
    clear_missing_lines(panel, sizeof *out, num_steps, lines, width);
    if (pack->k_stride != 1) {
        for (int64_t q = 0; q < num_steps; ++q)
            subnormal |= interleave_bf16(pack, line_start(pack, first, 2 * q), 2 * q + 1 < pack->k,
                                         lines, out + q * width);
        return subnormal;
    }
    uint16_t converted[SET_OF_LINES][2 * LONG_CHUNK];
    const uint32_t *rows[SET_OF_LINES];
    for (int i = 0; i < SET_OF_LINES; ++i)
        rows[i] = (const uint32_t *)(const void *)converted[i];
    int line = 0;
#ifdef __AVX512BW__
    for (; pack->dtype == TCGEMM_DTYPE_BF16 && line + 16 <= lines; line += 16)
        subnormal |= transpose_16_lines_bf16(pack, first + line, out + line, width);
#endif
    for (; line < lines; line += SET_OF_LINES) {
        const int some = lines - line < SET_OF_LINES ? lines - line : SET_OF_LINES;
        for (int64_t q = 0; q < num_steps; q += LONG_CHUNK) {
            const int64_t steps = min_i64(LONG_CHUNK, num_steps - q);
            const int64_t count = min_i64(2 * LONG_CHUNK, pack->k - 2 * q);
            for (int i = 0; i < some; ++i) {
                const int64_t at = line_start(pack, first + line + i, 2 * q);
                if (q + LONG_CHUNK < num_steps)
                    fetch_chunk(pack, first + line + i, 2 * (q + LONG_CHUNK));
                else if (num_steps > LONG_CHUNK)
                    fetch_chunk(pack, first + line + i + SET_OF_LINES, 0);
                subnormal |= convert_bf16(pack, at, count, converted[i]);
                if (count & 1)
                    converted[i][count] = 0;
            }
            transpose_u32(rows, some, steps, out + q * width + line, width);
        }
    }
    return subnormal;
}

bool PACK_NAME(u8s8)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                     uint32_t *terms) {
    uint32_t *out = panel;
    const int64_t num_steps = (pack->k + 3) / 4;
    const bool is_bytes = pack->dtype == TCGEMM_DTYPE_S8 || pack->dtype == TCGEMM_DTYPE_U8;
    if (width == 1 && pack->k_stride == 1 && is_bytes) {
        tcgemm_pack_t line = *pack;
        line.origin = line_start(pack, first, 0);
        return PACK_ROWS_NAME(u8s8)(&line, 1, panel, terms);
    }
#ifdef __AVX512BW__
    if (pack->k_stride != 1 && is_bytes && interleave_lines(pack, first, lines, width, out, terms))
        return false;
#endif
    /* B's bytes are signed, A's are not; the sums must see them so. */
    int32_t sum[MAX_WIDTH] = {0};
    int summed = 0; /* lines */
    clear_missing_lines(panel, sizeof *out, num_steps, lines, width);
    if (pack->k_stride != 1 && is_bytes) {
        const uint8_t *source = (const uint8_t *)pack->source + line_start(pack, first, 0);
        int64_t q = 0;
        for (; 4 * q + 4 <= pack->k; ++q, source += 4 * pack->k_stride) {
            for (int h = 0; h < 4 && pack->k_stride >= LEAST_FETCHED_STRIDE; ++h)
                fetch_row(source, ROWS_AHEAD + h, pack->k_stride, lines, 1);
            interleave_4(source, pack->k_stride, 4, pack->flip, lines, out + q * width);
        }
        if (4 * q < pack->k)
            interleave_4(source, pack->k_stride, (int)(pack->k - 4 * q), pack->flip, lines,
                         out + q * width);
    } else if (pack->k_stride != 1) {
        uint8_t quad[4][MAX_WIDTH];
        for (int64_t q = 0; q < num_steps; ++q) {
            const int rows = (int)min_i64(4, pack->k - 4 * q);
            for (int h = 0; h < rows; ++h)
                convert_bytes(pack, line_start(pack, first, 4 * q + h), lines, quad[h]);
            interleave_4(quad[0], MAX_WIDTH, rows, 0, lines, out + q * width);
        }
    } else if (is_bytes && has_whole_words(pack, first)) {
        const uint32_t *rows[MAX_WIDTH];
        for (int line = 0; line < lines; ++line)
            rows[line] = (const uint32_t *)(const void *)((const uint8_t *)pack->source +
                                                          line_start(pack, first + line, 0));
        if (pack->flip || terms)
            summed = transpose_bytes(pack, rows, lines, out, width, terms ? sum : NULL);
        else
            transpose_u32(rows, lines, num_steps, out, width);
    } else {
        uint8_t converted[MAX_WIDTH][4 * CHUNK];
        const uint32_t *rows[MAX_WIDTH];
        for (int64_t q = 0; q < num_steps; q += CHUNK) {
            const int64_t steps = min_i64(CHUNK, num_steps - q);
            const int64_t count = min_i64(4 * CHUNK, pack->k - 4 * q);
            for (int line = 0; line < lines; ++line) {
                uint8_t *const row = converted[line];
                const int64_t at = line_start(pack, first + line, 4 * q);
                rows[line] = (const uint32_t *)(const void *)row;
                if (is_bytes) {
                    (void)copy_bytes((const uint8_t *)pack->source + at, count, pack->flip, row,
                                     false, false);
                    continue;
                }
                convert_bytes(pack, at, count, row);
                memset(row + count, 0, (size_t)(4 * steps - count));
            }
            transpose_u32(rows, lines, steps, out + q * width, width);
        }
    }
    if (terms) {
        sum_bytes(out + summed, num_steps, lines - summed, width, pack->sum_is_signed,
                  sum + summed);
        put_terms(pack, (const uint32_t *)sum, lines, width, terms);
    }
    return false;
}

bool PACK_NAME(s16)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                    uint32_t *terms) {
    uint32_t *out = panel;
    const int64_t num_steps = (pack->k + 1) / 2;
    (void)terms;
    clear_missing_lines(panel, sizeof *out, num_steps, lines, width);
#ifdef __AVX2__
    if (pack->k_stride != 1 && (pack->dtype == TCGEMM_DTYPE_S8 || pack->dtype == TCGEMM_DTYPE_U8)) {
        const uint8_t *source = (const uint8_t *)pack->source + line_start(pack, first, 0);
        const int64_t stride = pack->k_stride;
        const bool is_signed = pack->dtype == TCGEMM_DTYPE_S8;
        if (interleave_panel_s16(source, stride, pack->k, is_signed, lines, width, out))
            return false;
        for (int64_t q = 0; q < num_steps; ++q, source += 2 * stride, out += width)
            for (int line = 0; line < lines; line += 8)
                interleave_s16(source + line, stride, 2 * q + 1 < pack->k, is_signed, lines - line,
                               out + line);
        return false;
    }
#endif
    if (pack->k_stride != 1) {
        int16_t pair[2][MAX_WIDTH];
        for (int64_t q = 0; q < num_steps; ++q) {
            for (int64_t h = 0; h < 2; ++h) {
                if (2 * q + h < pack->k)
                    convert_s16(pack, line_start(pack, first, 2 * q + h), lines, pair[h]);
                else
                    memset(pair[h], 0, sizeof pair[h]);
            }
            for (int line = 0; line < lines; ++line)
                out[q * width + line] = (uint16_t)pair[0][line] | (uint32_t)(uint16_t)pair[1][line]
                                                                      << 16;
        }
        return false;
    }
    int16_t converted[MAX_WIDTH][2 * CHUNK];
    const uint32_t *rows[MAX_WIDTH];
    for (int64_t q = 0; q < num_steps; q += CHUNK) {
        const int64_t steps = min_i64(CHUNK, num_steps - q);
        const int64_t count = min_i64(2 * CHUNK, pack->k - 2 * q);
        for (int line = 0; line < lines; ++line) {
            convert_s16(pack, line_start(pack, first + line, 2 * q), count, converted[line]);
            if (count & 1)
                converted[line][count] = 0;
            rows[line] = (const uint32_t *)(const void *)converted[line];
        }
        transpose_u32(rows, lines, steps, out + q * width, width);
    }
    return false;
}

bool PACK_NAME(b1)(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                   uint32_t *terms) {
    uint32_t *out = panel;
    const int64_t num_steps = (pack->k + 31) / 32;
    clear_missing_lines(panel, sizeof *out, num_steps, lines, width);
    uint32_t sum[MAX_WIDTH] = {0};
    for (int64_t q = 0; q < num_steps; ++q) {
        const int64_t count = min_i64(32, pack->k - 32 * q);
        uint32_t *const step = out + q * width;
        if (pack->k_stride == 1) {
            for (int line = 0; line < lines; ++line)
                step[line] = load_bits(pack->source, line_start(pack, first + line, 32 * q), count);
        } else {
            /* A bit matrix stored the other way: 32 lines of bits at a time, one step each. */
            memset(step, 0, (size_t)lines * sizeof *step);
            for (int64_t h = 0; h < count; ++h) {
                const int64_t start = line_start(pack, first, 32 * q + h);
                for (int line = 0; line < lines; line += 32) {
                    const int part = (int)min_i64(32, lines - line);
                    const uint32_t bits = load_bits(pack->source, start + line, part);
                    for (int i = 0; i < part; ++i)
                        step[line + i] |= ((bits >> i) & 1u) << h;
                }
            }
        }
        for (int line = 0; terms && line < lines; ++line)
            sum[line] += (uint32_t)__builtin_popcount(step[line]);
    }
    if (terms)
        put_terms(pack, sum, lines, width, terms);
    return false;
}

/* ---- rows of lanes ---- */

/* Lines without gaps, whole lanes of `ku`, are as good as one long line: how many there are then,
 * of how many elements. */
static int join_lines(const tcgemm_pack_t *pack, int lines, int ku, int64_t *k) {
    const bool is_one = pack->line_stride == pack->k && pack->k % ku == 0;
    *k = is_one ? lines * pack->k : pack->k;
    return is_one ? lines > 0 : lines;
}

bool PACK_ROWS_NAME(u8s8)(const tcgemm_pack_t *pack, int lines, void *rows, uint32_t *terms) {
    const bool is_bytes = pack->dtype == TCGEMM_DTYPE_S8 || pack->dtype == TCGEMM_DTYPE_U8;
    int64_t k = pack->k;
    const int count = terms ? lines : join_lines(pack, lines, 4, &k);
    uint8_t *row = rows;
    for (int line = 0; line < count; ++line, row += (k + 3) & ~INT64_C(3)) {
        const int64_t at = line_start(pack, line, 0);
        uint32_t sum = 0;
        if (is_bytes) {
            sum = copy_bytes((const uint8_t *)pack->source + at, k, pack->flip, row, terms != NULL,
                             pack->sum_is_signed);
        } else {
            convert_bytes(pack, at, k, row);
            memset(row + k, 0, (size_t)(-k & 3));
            for (int64_t i = 0; terms && i < k; ++i)
                sum += row[i];
        }
        if (terms)
            put_term(pack, sum, terms + line);
    }
    return false;
}

/* Numbers that are no f32 as they lie. */
bool PACK_ROWS_NAME(f32)(const tcgemm_pack_t *pack, int lines, void *rows, uint32_t *terms) {
    int64_t k;
    const int count = join_lines(pack, lines, 1, &k);
    float *row = rows;
    (void)terms;
    for (int line = 0; line < count; ++line, row += k)
        convert_f32(pack, line_start(pack, line, 0), k, row);
    return false;
}

bool PACK_ROWS_NAME(s16)(const tcgemm_pack_t *pack, int lines, void *rows, uint32_t *terms) {
    int64_t k;
    const int count = join_lines(pack, lines, 2, &k);
    int16_t *row = rows;
    (void)terms;
    for (int line = 0; line < count; ++line, row += (k + 1) & ~INT64_C(1)) {
        convert_s16(pack, line_start(pack, line, 0), k, row);
        if (k & 1)
            row[k] = 0;
    }
    return false;
}

/* Where there are no rows, they are only looked at. */
bool PACK_ROWS_NAME(bf16)(const tcgemm_pack_t *pack, int lines, void *rows, uint32_t *terms) {
    int64_t k;
    const int count = join_lines(pack, lines, 2, &k);
    uint16_t *row = rows;
    bool subnormal = false;
    (void)terms;
    for (int line = 0; line < count; ++line) {
        const int64_t at = line_start(pack, line, 0);
        if (!row) {
            subnormal |= copy_bf16((const uint16_t *)pack->source + at, k, NULL);
            continue;
        }
        subnormal |= convert_bf16(pack, at, k, row);
        if (k & 1)
            row[k] = 0;
        row += (k + 1) & ~INT64_C(1);
    }
    return subnormal;
}

#include "cpu/kernels/finish_tmpl.h"

#undef PACK_NAME
#undef PACK_ROWS_NAME
#undef PACK_ISA
