/* avx512_transpose.h - 16 x 16 words of 32 bits in registers: what makes lines along k vectors. */
#ifndef TCGEMM_CPU_KERNELS_AVX512_TRANSPOSE_H
#define TCGEMM_CPU_KERNELS_AVX512_TRANSPOSE_H

#include <immintrin.h>

#include "cpu/kernels/kernels.h"

/* In each quarter of four vectors 4 x 4 words: those of vector v become word v of all. */
static TCGEMM_ALWAYS_INLINE void transpose_in_quarters(__m512 r[4]) {
    const __m512 t0 = _mm512_unpacklo_ps(r[0], r[1]);
    const __m512 t1 = _mm512_unpackhi_ps(r[0], r[1]);
    const __m512 t2 = _mm512_unpacklo_ps(r[2], r[3]);
    const __m512 t3 = _mm512_unpackhi_ps(r[2], r[3]);
    r[0] = _mm512_shuffle_ps(t0, t2, 0x44);
    r[1] = _mm512_shuffle_ps(t0, t2, 0xEE);
    r[2] = _mm512_shuffle_ps(t1, t3, 0x44);
    r[3] = _mm512_shuffle_ps(t1, t3, 0xEE);
}

/* The quarters of four vectors, `pitch` apart, likewise. */
static TCGEMM_ALWAYS_INLINE void transpose_quarters(__m512 r[], const int pitch) {
    const __m512 even0 = _mm512_shuffle_f32x4(r[0], r[pitch], 0x88);
    const __m512 even1 = _mm512_shuffle_f32x4(r[2 * pitch], r[3 * pitch], 0x88);
    const __m512 odd0 = _mm512_shuffle_f32x4(r[0], r[pitch], 0xDD);
    const __m512 odd1 = _mm512_shuffle_f32x4(r[2 * pitch], r[3 * pitch], 0xDD);
    r[0] = _mm512_shuffle_f32x4(even0, even1, 0x88);
    r[pitch] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
    r[2 * pitch] = _mm512_shuffle_f32x4(even0, even1, 0xDD);
    r[3 * pitch] = _mm512_shuffle_f32x4(odd0, odd1, 0xDD);
}

/* 16 words of each of 16 lines to words 0 of all, words 1, ...: 64 bytes of a line in one load, for
 * lines that lie a power of two apart want the same set of the first-level cache, which has 8 or 12
 * ways, so that smaller pieces would each come from the second. */
static TCGEMM_ALWAYS_INLINE void transpose_words(__m512 r[16]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 16; i += 4) /* quarter q of r[i + w]: word 4q + w of lines i .. i + 3 */
        transpose_in_quarters(r + i);
    TCGEMM_UNROLL
    for (int w = 0; w < 4; ++w)
        transpose_quarters(r + w, 4);
}

/* 8 doubles of each of 8 lines likewise. */
static TCGEMM_ALWAYS_INLINE void transpose_doubles(__m512d r[8]) {
    __m512 t[8];
    TCGEMM_UNROLL
    for (int i = 0; i < 8; i += 2) { /* quarter q of t[i + w]: element 2q + w of lines i, i + 1 */
        t[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(r[i], r[i + 1]));
        t[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(r[i], r[i + 1]));
    }
    TCGEMM_UNROLL
    for (int w = 0; w < 2; ++w)
        transpose_quarters(t + w, 2);
    TCGEMM_UNROLL
    for (int i = 0; i < 8; ++i)
        r[i] = _mm512_castps_pd(t[i]);
}

/* The first n of 16 floats of each of 16 lines likewise, and zeros. */
static TCGEMM_ALWAYS_INLINE void load_some_f32(const float *const line[16], int64_t p, int n,
                                               __m512 raw[16]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 16; ++i)
        raw[i] = _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), line[i] + p);
    transpose_words(raw);
}

/* The first n of 8 doubles of each of 8 lines likewise, and zeros. */
static TCGEMM_ALWAYS_INLINE void load_some_f64(const double *const line[8], int64_t p, int n,
                                               __m512d raw[8]) {
    TCGEMM_UNROLL
    for (int i = 0; i < 8; ++i)
        raw[i] = _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1u), line[i] + p);
    transpose_doubles(raw);
}

#endif
