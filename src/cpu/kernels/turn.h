/* turn.h - sums of some rows of x and of lines become D where the rows of x are columns of it: rows
 * of D, a few elements each.
 *
 *      sums of row 0   a0 a1 a2 a3 ..            D's line 0   a0 b0 c0 d0
 *      sums of row 1   b0 b1 b2 b3 ..     ->     D's line 1   a1 b1 c1 d1
 *      ..                                        ..
 */
#ifndef TCGEMM_CPU_KERNELS_TURN_H
#define TCGEMM_CPU_KERNELS_TURN_H

#include <immintrin.h>

#ifdef __AVX512F__
#include "cpu/kernels/avx512_transpose.h"
#endif
#include "cpu/kernels/kernels.h"

/* The first `rows` of four elements of a line of D. */
static TCGEMM_ALWAYS_INLINE void put_some_f32(float *d, __m128 x, int rows) {
    if (rows >= 4) {
        _mm_storeu_ps(d, x);
        return;
    }
    if (rows >= 2)
        _mm_storel_pi((__m64 *)(void *)d, x);
    if (rows == 3)
        _mm_store_ss(d + 2, _mm_movehl_ps(x, x));
    if (rows == 1)
        _mm_store_ss(d, x);
}

/* Sums of four lines; sums of rows that are missing are those of the first one. */
static TCGEMM_ALWAYS_INLINE void turn_four_f32(const tcgemm_dots_t *t, const float *sums,
                                               int64_t pitch, int row, float *d) {
    const int rows = t->num_rows - row;
    const __m128 alpha = _mm_set1_ps(t->alpha.f32);
    __m128 x[4];
    for (int i = 0; i < 4; ++i)
        x[i] = _mm_mul_ps(alpha, _mm_loadu_ps(sums + (i < rows ? i : 0) * pitch));
    _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
    for (int l = 0; l < 4; ++l)
        put_some_f32(d + l * t->d_line + row, x[l], rows);
}

#ifdef __AVX512F__
/* Of sixteen, four rows of a quarter of a vector each. */
static TCGEMM_ALWAYS_INLINE void turn_sixteen_f32(const tcgemm_dots_t *t, const float *sums,
                                                  int64_t pitch, int row, float *d) {
    const int rows = t->num_rows - row;
    const __m512 alpha = _mm512_set1_ps(t->alpha.f32);
    __m512 x[4];
    for (int i = 0; i < 4; ++i)
        x[i] = _mm512_mul_ps(alpha, _mm512_loadu_ps(sums + (i < rows ? i : 0) * pitch));
    transpose_in_quarters(x);
    for (int w = 0; w < 4; ++w) {
        float *const at = d + w * t->d_line + row;
        put_some_f32(at, _mm512_castps512_ps128(x[w]), rows);
        put_some_f32(at + 4 * t->d_line, _mm512_extractf32x4_ps(x[w], 1), rows);
        put_some_f32(at + 8 * t->d_line, _mm512_extractf32x4_ps(x[w], 2), rows);
        put_some_f32(at + 12 * t->d_line, _mm512_extractf32x4_ps(x[w], 3), rows);
    }
}
#endif

/* D of all rows and of `lines` lines from `first` on; sums lie `pitch` apart from row to row. */
static TCGEMM_NEVER_INLINE void turn_f32(const tcgemm_dots_t *t, const float *sums, int64_t pitch,
                                         int first, int lines) {
    float *const d = (float *)t->d + first * t->d_line;
    int l = 0;
#ifdef __AVX512F__
    for (; l + 16 <= lines; l += 16)
        for (int row = 0; row < t->num_rows; row += 4)
            turn_sixteen_f32(t, sums + row * pitch + l, pitch, row, d + l * t->d_line);
#endif
    for (; l + 4 <= lines; l += 4)
        for (int row = 0; row < t->num_rows; row += 4)
            turn_four_f32(t, sums + row * pitch + l, pitch, row, d + l * t->d_line);
    for (; l < lines; ++l)
        for (int i = 0; i < t->num_rows; ++i)
            d[l * t->d_line + i] = t->alpha.f32 * sums[i * pitch + l];
}

static TCGEMM_NEVER_INLINE void turn_f64(const tcgemm_dots_t *t, const double *sums, int64_t pitch,
                                         int first, int lines) {
    double *const d = (double *)t->d + first * t->d_line;
    const __m128d alpha = _mm_set1_pd(t->alpha.f64);
    int l = 0;
    for (; l + 2 <= lines; l += 2) {
        double *const at = d + l * t->d_line;
        int i = 0;
        for (; i + 2 <= t->num_rows; i += 2) {
            const __m128d a = _mm_mul_pd(alpha, _mm_loadu_pd(sums + i * pitch + l));
            const __m128d b = _mm_mul_pd(alpha, _mm_loadu_pd(sums + (i + 1) * pitch + l));
            _mm_storeu_pd(at + i, _mm_unpacklo_pd(a, b));
            _mm_storeu_pd(at + t->d_line + i, _mm_unpackhi_pd(a, b));
        }
        for (; i < t->num_rows; ++i) {
            at[i] = t->alpha.f64 * sums[i * pitch + l];
            at[t->d_line + i] = t->alpha.f64 * sums[i * pitch + l + 1];
        }
    }
    for (; l < lines; ++l)
        for (int i = 0; i < t->num_rows; ++i)
            d[l * t->d_line + i] = t->alpha.f64 * sums[i * pitch + l];
}

#endif
