/* convert.h - rows of elements of any type as f32, bf16 or bytes: what packing makes panels of.
 *
 * Included by the files of each instruction set, so that the same plain loops become its code. */
#ifndef TCGEMM_CPU_KERNELS_CONVERT_H
#define TCGEMM_CPU_KERNELS_CONVERT_H

#include "cpu/kernels/fp8_rows.h"
#include "cpu/kernels/kernels.h"

#ifdef __AVX512BW__
#include "cpu/kernels/avx512_halves.h"
#elif defined(__F16C__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifdef __AVX512BW__
/* Of 16 numbers; of the last ones as many as there are, for panels are no multiple of a vector
 * wide. */
#define TCGEMM_SOME_OF_16(left) ((__mmask16)((left) < 16 ? (1u << (left)) - 1u : 0xFFFFu))
#endif

static inline void f32_of_f16_row(const uint16_t *source, int64_t count, float *row) {
    int64_t i = 0;
#ifdef __AVX512BW__
    if (count == 8) { /* of a panel, and without a mask, which waits for what lies beside them */
        _mm256_storeu_ps(row, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source)));
        return;
    }
    for (; i < count; i += 16) {
        const __mmask16 some = TCGEMM_SOME_OF_16(count - i);
        const __m256i half = _mm256_maskz_loadu_epi16(some, source + i);
        _mm512_mask_storeu_ps(row + i, some, _mm512_cvtph_ps(half));
    }
#elif defined(__F16C__)
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(row + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(source + i))));
    for (; i + 4 <= count; i += 4)
        _mm_storeu_ps(row + i, _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(source + i))));
#elif defined(__ARM_NEON)
    for (; i + 4 <= count; i += 4)
        vst1q_f32(row + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(source + i))));
#endif
    for (; i < count; ++i)
        row[i] = tcgemm_f32_of_f16(source[i]);
}

static inline void f32_of_bf16_row(const uint16_t *source, int64_t count, float *row) {
#ifdef __AVX512BW__
    for (int64_t i = 0; i < count; i += 16) {
        const __mmask16 some = TCGEMM_SOME_OF_16(count - i);
        const __m256i half = _mm256_maskz_loadu_epi16(some, source + i);
        _mm512_mask_storeu_epi32(row + i, some, _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
#else
    int64_t i = 0;
#ifdef __AVX2__
    for (; i + 8 <= count; i += 8) {
        const __m128i half = _mm_loadu_si128((const __m128i *)(source + i));
        _mm256_storeu_si256((__m256i *)(row + i),
                            _mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    }
    for (; i + 4 <= count; i += 4) {
        const __m128i half = _mm_loadl_epi64((const __m128i *)(source + i));
        _mm_storeu_si128((__m128i *)(row + i), _mm_slli_epi32(_mm_cvtepu16_epi32(half), 16));
    }
#endif
    for (; i < count; ++i)
        row[i] = tcgemm_f32_of_bf16(source[i]);
#endif
}

/* `count` elements from `index` on, as f32. */
static inline void convert_f32(const tcgemm_pack_t *pack, int64_t index, int64_t count,
                               float *row) {
    switch (pack->dtype) {
    case TCGEMM_DTYPE_F32: {
        const float *source = (const float *)pack->source + index;
        if (!pack->round_to_tf32) {
            memcpy(row, source, (size_t)count * sizeof *row);
            break;
        }
        for (int64_t i = 0; i < count; ++i)
            row[i] = tcgemm_tf32_of_f32(source[i]);
        break;
    }
    case TCGEMM_DTYPE_F16:
        f32_of_f16_row((const uint16_t *)pack->source + index, count, row);
        break;
    case TCGEMM_DTYPE_BF16:
        f32_of_bf16_row((const uint16_t *)pack->source + index, count, row);
        break;
    case TCGEMM_DTYPE_E4M3:
    case TCGEMM_DTYPE_E5M2:
        f32_of_fp8_row((const uint8_t *)pack->source + index, count,
                       pack->dtype == TCGEMM_DTYPE_E4M3, row);
        break;
    default:
        break;
    }
}

#ifdef __AVX512BW__
/* Copies them to `row`, if that is not NULL; returns true if one is subnormal. */
static inline bool copy_bf16(const uint16_t *source, int64_t count, uint16_t *row) {
    __m512i least = _mm512_set1_epi16(-1);
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m512i x = _mm512_loadu_si512(source + i);
        least = least_bf16(least, x);
        if (row)
            _mm512_storeu_si512(row + i, x);
    }
    if (i < count) {
        const __mmask32 some = (1u << (count - i)) - 1u;
        const __m512i x = _mm512_maskz_loadu_epi16(some, source + i);
        least = least_bf16(least, x);
        if (row)
            _mm512_mask_storeu_epi16(row + i, some, x);
    }
    return is_subnormal(least);
}
#else
static inline bool copy_bf16(const uint16_t *source, int64_t count, uint16_t *row) {
    unsigned subnormal = 0;
    if (row)
        memcpy(row, source, (size_t)count * sizeof *row);
    for (int64_t i = 0; i < count; ++i)
        subnormal |= (unsigned)((uint16_t)((source[i] & 0x7FFFu) - 1u) < 0x7Fu);
    return subnormal != 0;
}
#endif

/* As bf16, which holds every fp8 value exactly. Returns true if a bf16 is subnormal. */
static inline bool convert_bf16(const tcgemm_pack_t *pack, int64_t index, int64_t count,
                                uint16_t *row) {
    if (pack->dtype == TCGEMM_DTYPE_BF16)
        return copy_bf16((const uint16_t *)pack->source + index, count, row);
    bf16_of_fp8_row((const uint8_t *)pack->source + index, count, pack->dtype == TCGEMM_DTYPE_E4M3,
                    row);
    return false;
}

/* 4-bit numbers lie two a byte, the even one in the low half. */
static inline int nibble_at(const uint8_t *source, int64_t element) {
    return (source[element >> 1] >> ((element & 1) * 4)) & 15;
}

/* What makes them signed: (x ^ sign) - sign. */
static inline int sign_of_nibbles(const tcgemm_pack_t *pack) {
    return pack->dtype == TCGEMM_DTYPE_S4 ? 8 : 0;
}

#ifdef __AVX2__
enum { MANY_NIBBLES = 32, SOME_NIBBLES = 8 };

/* Even and odd ones in turn, as bytes: of the lower 8 of 16 bytes, and of the upper 8. */
static inline void split_nibbles(__m128i x, int sign, __m128i bytes[2]) {
    const __m128i mask = _mm_set1_epi8(15), signs = _mm_set1_epi8((char)sign);
    const __m128i even = _mm_and_si128(x, mask);
    const __m128i odd = _mm_and_si128(_mm_srli_epi16(x, 4), mask);
    bytes[0] = _mm_sub_epi8(_mm_xor_si128(_mm_unpacklo_epi8(even, odd), signs), signs);
    bytes[1] = _mm_sub_epi8(_mm_xor_si128(_mm_unpackhi_epi8(even, odd), signs), signs);
}

/* MANY_NIBBLES from a whole byte on, ... */
static inline void load_nibbles(const uint8_t *source, int sign, __m128i bytes[2]) {
    split_nibbles(_mm_loadu_si128((const __m128i *)(const void *)source), sign, bytes);
}

/* ... or SOME_NIBBLES. */
static inline __m128i load_some_nibbles(const uint8_t *source, int sign) {
    int32_t word;
    __m128i bytes[2];
    memcpy(&word, source, sizeof word);
    split_nibbles(_mm_cvtsi32_si128(word), sign, bytes);
    return bytes[0];
}
#endif

static inline void bytes_of_nibbles(const tcgemm_pack_t *pack, int64_t index, int64_t count,
                                    uint8_t *row) {
    const uint8_t *source = pack->source;
    const int sign = sign_of_nibbles(pack);
    int64_t i = 0;
#ifdef __AVX2__
    const __m128i flip = _mm_set1_epi8((char)pack->flip);
    if (count > 0 && (index & 1)) {
        row[0] = (uint8_t)((nibble_at(source, index) ^ sign) - sign) ^ pack->flip;
        i = 1;
    }
    for (; i + MANY_NIBBLES <= count; i += MANY_NIBBLES) {
        __m128i bytes[2];
        load_nibbles(source + ((index + i) >> 1), sign, bytes);
        for (int half = 0; half < 2; ++half)
            _mm_storeu_si128((__m128i *)(void *)(row + i + half * 16),
                             _mm_xor_si128(bytes[half], flip));
    }
    for (; i + SOME_NIBBLES <= count; i += SOME_NIBBLES)
        _mm_storel_epi64((__m128i *)(void *)(row + i),
                         _mm_xor_si128(load_some_nibbles(source + ((index + i) >> 1), sign), flip));
#endif
    for (; i < count; ++i)
        row[i] = (uint8_t)((nibble_at(source, index + i) ^ sign) - sign) ^ pack->flip;
}

/* As bytes, flipped between signed and unsigned where the pack says so. */
static inline void convert_bytes(const tcgemm_pack_t *pack, int64_t index, int64_t count,
                                 uint8_t *row) {
    if (pack->dtype != TCGEMM_DTYPE_S8 && pack->dtype != TCGEMM_DTYPE_U8) {
        bytes_of_nibbles(pack, index, count, row);
        return;
    }
    const uint8_t *source = (const uint8_t *)pack->source + index;
    const uint8_t flip = pack->flip;
    for (int64_t i = 0; i < count; ++i)
        row[i] = source[i] ^ flip;
}

#endif
