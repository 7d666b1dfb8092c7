/* avx512_halves.h - pairs of bf16: as f32, of which each is the upper half, and those that
 * VDPBF16PS would take for zero. */
#ifndef TCGEMM_CPU_KERNELS_AVX512_HALVES_H
#define TCGEMM_CPU_KERNELS_AVX512_HALVES_H

#include <immintrin.h>

#include "cpu/kernels/kernels.h"

static TCGEMM_ALWAYS_INLINE __m512 low_halves(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
}

static TCGEMM_ALWAYS_INLINE __m512 high_halves(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xFFFF0000u)));
}

/* The least of all magnitudes, which are taken one less than they are: zero is no small number.
 * Begins with all ones. */
static TCGEMM_ALWAYS_INLINE __m512i least_bf16(__m512i least, __m512i pairs) {
    const __m512i magnitude = _mm512_and_si512(pairs, _mm512_set1_epi16(0x7FFF));
    return _mm512_min_epu16(least, _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1)));
}

static TCGEMM_ALWAYS_INLINE bool is_subnormal(__m512i least) {
    return _mm512_cmplt_epu16_mask(least, _mm512_set1_epi16(0x7F)) != 0;
}

#endif
