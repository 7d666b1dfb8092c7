/* fp8_rows.h - elements of fp8 as bf16, which holds every number of both formats.
 *
 *     a byte          s eeee mmm (e4m3)  s eeeee mm (e5m2)
 *     moved along     s 0000eeee mmm0000    and 120 (112) added to the exponent: most numbers
 *
 * AVX-512 looks up all 128 magnitudes in four registers, AVX2 the eight (four) of zero and the
 * subnormals by a shuffle of bytes and computes the others.
 */
#ifndef TCGEMM_CPU_KERNELS_FP8_ROWS_H
#define TCGEMM_CPU_KERNELS_FP8_ROWS_H

#include "cpu/kernels/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined(__AVX512BW__) || !defined(__AVX2__)
/* The bf16 of a magnitude: zero, subnormals, numbers, and what is none. */
#define FP8_E4M3(i)                                                                                \
    ((i) == 0      ? 0                                                                             \
     : (i) == 1    ? 0x3B00                                                                        \
     : (i) < 4     ? 0x3B80 + ((i)-2) * 0x40                                                       \
     : (i) < 8     ? 0x3C00 + ((i)-4) * 0x20                                                       \
     : (i) == 0x7F ? 0x7FC0                                                                        \
                   : 0x3C00 + (i)*0x10)
#define FP8_E5M2(i)                                                                                \
    ((i) == 0     ? 0                                                                              \
     : (i) == 1   ? 0x3780                                                                         \
     : (i) < 4    ? 0x3800 + ((i)-2) * 0x40                                                        \
     : (i) < 0x7C ? 0x3800 + (i)*0x20                                                              \
                  : 0x7000 + (i)*0x20)
#define FP8_FOUR(of, i) of(i), of((i) + 1), of((i) + 2), of((i) + 3)
#define FP8_SIXTEEN(of, i)                                                                         \
    FP8_FOUR(of, i), FP8_FOUR(of, (i) + 4), FP8_FOUR(of, (i) + 8), FP8_FOUR(of, (i) + 12)
#define FP8_ALL(of)                                                                                \
    FP8_SIXTEEN(of, 0), FP8_SIXTEEN(of, 16), FP8_SIXTEEN(of, 32), FP8_SIXTEEN(of, 48),             \
        FP8_SIXTEEN(of, 64), FP8_SIXTEEN(of, 80), FP8_SIXTEEN(of, 96), FP8_SIXTEEN(of, 112)

static const uint16_t fp8_magnitudes[2][128] = {{FP8_ALL(FP8_E5M2)}, {FP8_ALL(FP8_E4M3)}};
#endif

#ifdef __AVX512BW__

typedef struct fp8_format {
    __m512i part[4]; /* of the magnitudes, 32 each */
} fp8_format_t;

static TCGEMM_ALWAYS_INLINE fp8_format_t fp8_format(bool is_e4m3) {
    const uint16_t *const all = fp8_magnitudes[is_e4m3];
    return (fp8_format_t){{_mm512_loadu_si512(all), _mm512_loadu_si512(all + 32),
                           _mm512_loadu_si512(all + 64), _mm512_loadu_si512(all + 96)}};
}

static TCGEMM_ALWAYS_INLINE __m512i bf16_of_fp8(__m256i bytes, const fp8_format_t *f) {
    const __m512i x = _mm512_cvtepu8_epi16(bytes);
    const __m512i low = _mm512_permutex2var_epi16(f->part[0], x, f->part[1]);
    const __m512i high = _mm512_permutex2var_epi16(f->part[2], x, f->part[3]);
    const __mmask32 is_high = _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x40));
    const __m512i magnitude = _mm512_mask_mov_epi16(low, is_high, high);
    const __m512i sign = _mm512_slli_epi16(x, 8);
    /* (sign & 0x8000) | magnitude */
    return _mm512_ternarylogic_epi32(sign, _mm512_set1_epi16((short)0x8000), magnitude, 0xEA);
}

/* The first `left` of sixteen elements, with zeros behind them, or all. */
static TCGEMM_ALWAYS_INLINE __m512 f32_of_fp8_vector(const uint8_t *from, int64_t left,
                                                     const fp8_format_t *f) {
    const __m128i bytes = left >= 16 ? _mm_loadu_si128((const __m128i *)from)
                                     : _mm_maskz_loadu_epi8((__mmask16)((1u << left) - 1u), from);
    const __m512i x = bf16_of_fp8(_mm256_castsi128_si256(bytes), f);
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(x)), 16));
}

static inline void bf16_of_fp8_row(const uint8_t *source, int64_t count, bool is_e4m3,
                                   uint16_t *row) {
    const fp8_format_t format = fp8_format(is_e4m3);
    for (int64_t i = 0; i < count; i += 32) {
        const __mmask32 some = count - i < 32 ? (1u << (count - i)) - 1u : UINT32_MAX;
        _mm512_mask_storeu_epi16(row + i, some,
                                 bf16_of_fp8(_mm256_maskz_loadu_epi8(some, source + i), &format));
    }
}

static inline void f32_of_fp8_row(const uint8_t *source, int64_t count, bool is_e4m3, float *row) {
    const fp8_format_t format = fp8_format(is_e4m3);
    for (int64_t i = 0; i < count; i += 16) {
        const __mmask16 some = (__mmask16)(count - i < 16 ? (1u << (count - i)) - 1u : 0xFFFFu);
        _mm512_mask_storeu_ps(row + i, some, f32_of_fp8_vector(source + i, count - i, &format));
    }
}

#elif defined(__AVX2__)

/* What tells the formats apart, for 16-bit lanes. */
typedef struct fp8_format {
    __m256i least;   /* bf16 of zero and the subnormals: eight lower bytes, eight upper ones */
    __m256i last;    /* of them, as a magnitude */
    __m256i bias;    /* what a moved exponent lacks */
    __m256i largest; /* number, as a magnitude: all bits of the exponent beyond it */
    __m128i shift;
} fp8_format_t;

static TCGEMM_ALWAYS_INLINE fp8_format_t fp8_format(bool is_e4m3) {
    const __m128i e4m3 = _mm_setr_epi8(0x00, 0x00, (char)0x80, (char)0xC0, 0x00, 0x20, 0x40, 0x60,
                                       0x00, 0x3B, 0x3B, 0x3B, 0x3C, 0x3C, 0x3C, 0x3C);
    const __m128i e5m2 =
        _mm_setr_epi8(0x00, (char)0x80, 0x00, 0x40, 0, 0, 0, 0, 0x00, 0x37, 0x38, 0x38, 0, 0, 0, 0);
    return (fp8_format_t){
        .least = _mm256_broadcastsi128_si256(is_e4m3 ? e4m3 : e5m2),
        .last = _mm256_set1_epi16(is_e4m3 ? 7 : 3),
        .bias = _mm256_set1_epi16(is_e4m3 ? 120 << 7 : 112 << 7),
        .largest = _mm256_set1_epi16(is_e4m3 ? 0x7E : 0x7B),
        .shift = _mm_cvtsi32_si128(is_e4m3 ? 4 : 5),
    };
}

static TCGEMM_ALWAYS_INLINE __m256i bf16_of_fp8(__m128i bytes, const fp8_format_t *f) {
    const __m256i x = _mm256_cvtepu8_epi16(bytes);
    const __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7F));
    const __m256i sign = _mm256_slli_epi16(_mm256_xor_si256(x, magnitude), 8);
    const __m256i places = _mm256_add_epi16(
        _mm256_or_si256(magnitude, _mm256_slli_epi16(magnitude, 8)), _mm256_set1_epi16(0x0800));
    const __m256i most = _mm256_add_epi16(_mm256_sll_epi16(magnitude, f->shift), f->bias);
    const __m256i finite = _mm256_blendv_epi8(_mm256_shuffle_epi8(f->least, places), most,
                                              _mm256_cmpgt_epi16(magnitude, f->last));
    const __m256i beyond =
        _mm256_and_si256(_mm256_cmpgt_epi16(magnitude, f->largest), _mm256_set1_epi16(0x7F80));
    return _mm256_or_si256(_mm256_or_si256(finite, beyond), sign);
}

/* Sixteen bytes, or the first `left` of fewer with zeros behind them. */
static TCGEMM_ALWAYS_INLINE __m128i fp8_bytes(const uint8_t *from, int64_t left) {
    if (left >= 16)
        return _mm_loadu_si128((const __m128i *)from);
    if (left == 8)
        return _mm_loadl_epi64((const __m128i *)from);
    uint8_t bytes[16] = {0};
    int64_t i = 0;
    for (; i + 4 <= left; i += 4)
        memcpy(bytes + i, from + i, 4);
    for (; i < left; ++i)
        bytes[i] = from[i];
    return _mm_loadu_si128((const __m128i *)bytes);
}

static TCGEMM_ALWAYS_INLINE __m256 f32_of_8_bf16(__m128i x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

/* The first `left` of eight elements, with zeros behind them, or all. */
static TCGEMM_ALWAYS_INLINE __m256 f32_of_fp8_vector(const uint8_t *from, int64_t left,
                                                     const fp8_format_t *f) {
    const __m256i x = bf16_of_fp8(fp8_bytes(from, left < 8 ? left : 8), f);
    return f32_of_8_bf16(_mm256_castsi256_si128(x));
}

static inline void bf16_of_fp8_row(const uint8_t *source, int64_t count, bool is_e4m3,
                                   uint16_t *row) {
    const fp8_format_t format = fp8_format(is_e4m3);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((__m256i *)(row + i), bf16_of_fp8(fp8_bytes(source + i, 16), &format));
    if (i < count) {
        uint16_t rest[16];
        _mm256_storeu_si256((__m256i *)rest,
                            bf16_of_fp8(fp8_bytes(source + i, count - i), &format));
        for (const uint16_t *next = rest; i < count; ++i)
            row[i] = *next++;
    }
}

static inline void f32_of_fp8_row(const uint8_t *source, int64_t count, bool is_e4m3, float *row) {
    const fp8_format_t format = fp8_format(is_e4m3);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i x = bf16_of_fp8(fp8_bytes(source + i, 16), &format);
        _mm256_storeu_ps(row + i, f32_of_8_bf16(_mm256_castsi256_si128(x)));
        _mm256_storeu_ps(row + i + 8, f32_of_8_bf16(_mm256_extracti128_si256(x, 1)));
    }
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(row + i, f32_of_fp8_vector(source + i, 8, &format));
    if (i < count) {
        float rest[8];
        _mm256_storeu_ps(rest, f32_of_fp8_vector(source + i, count - i, &format));
        for (const float *next = rest; i < count; ++i)
            row[i] = *next++;
    }
}

#else

static inline void bf16_of_fp8_row(const uint8_t *source, int64_t count, bool is_e4m3,
                                   uint16_t *row) {
    for (int64_t i = 0; i < count; ++i)
        row[i] = (uint16_t)(fp8_magnitudes[is_e4m3][source[i] & 0x7Fu] | (source[i] & 0x80u) << 8);
}

static inline void f32_of_fp8_row(const uint8_t *source, int64_t count, bool is_e4m3, float *row) {
    for (int64_t i = 0; i < count; ++i)
        row[i] = is_e4m3 ? tcgemm_f32_of_e4m3(source[i]) : tcgemm_f32_of_e5m2(source[i]);
}

#endif

#endif
