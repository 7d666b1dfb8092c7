/* avx512_halves.h - pairs of bf16 as f32: each is the upper half of one. */
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

#endif
