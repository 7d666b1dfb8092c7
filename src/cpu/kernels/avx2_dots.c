/* avx2_dots.c - a vector times lines along k: one row of D where B's columns lie along k, or one
 * column where A's rows do.
 *
 *     x      p ->           steps of some lines are transposed in registers, 16 bytes of each, so
 *     line 0 p ->           that a vector holds one step of several lines; its multiply-adds are
 *     line 1 p ->           those of a tile: k in order, the same bits
 *
 * Two sets of lines in turn, 64 bytes of each: one set waits for its last multiply-add while the
 * other one is transposed, and lines a power of two apart leave room for one another in the
 * first-level cache. Nothing is packed: the lines are streams that prefetchers follow.
 */
#include <immintrin.h>

#include "cpu/kernels/kernels.h"

/* Lines that are missing are line 0 once more, and are not stored. */
static int64_t line_at(const tcgemm_dots_t *t, int line) {
    return (line < t->num_lines ? line : 0) * t->line_stride;
}

/* ---- f32: 8 lines a set ---- */

static TCGEMM_ALWAYS_INLINE __m256 halves(const float *low, const float *high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

static TCGEMM_ALWAYS_INLINE __m256 four_steps_f32(__m256 sum, const float *const line[8], int64_t p,
                                                  const float *x, int64_t x_step) {
    const __m256 r0 = halves(line[0] + p, line[4] + p);
    const __m256 r1 = halves(line[1] + p, line[5] + p);
    const __m256 r2 = halves(line[2] + p, line[6] + p);
    const __m256 r3 = halves(line[3] + p, line[7] + p);
    const __m256 t0 = _mm256_unpacklo_ps(r0, r1);
    const __m256 t1 = _mm256_unpackhi_ps(r0, r1);
    const __m256 t2 = _mm256_unpacklo_ps(r2, r3);
    const __m256 t3 = _mm256_unpackhi_ps(r2, r3);
    sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x), _mm256_shuffle_ps(t0, t2, 0x44), sum);
    sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x + x_step), _mm256_shuffle_ps(t0, t2, 0xEE), sum);
    sum =
        _mm256_fmadd_ps(_mm256_broadcast_ss(x + 2 * x_step), _mm256_shuffle_ps(t1, t3, 0x44), sum);
    return _mm256_fmadd_ps(_mm256_broadcast_ss(x + 3 * x_step), _mm256_shuffle_ps(t1, t3, 0xEE),
                           sum);
}

static TCGEMM_ALWAYS_INLINE __m256 steps_f32(__m256 sum, const float *const line[8], int64_t p,
                                             int64_t end, const float *x, int64_t x_step) {
    for (; p + 4 <= end; p += 4)
        sum = four_steps_f32(sum, line, p, x + p * x_step, x_step);
    for (; p < end; ++p)
        sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x + p * x_step),
                              _mm256_setr_ps(line[0][p], line[1][p], line[2][p], line[3][p],
                                             line[4][p], line[5][p], line[6][p], line[7][p]),
                              sum);
    return sum;
}

void tcgemm_dots_avx2_f32(const tcgemm_dots_t *t) {
    enum { SET = 8, BURST = 16 };
    const float *line[2 * SET];
    float sums[2 * SET];
    __m256 sum0 = _mm256_setzero_ps();
    __m256 sum1 = _mm256_setzero_ps();
    for (int i = 0; i < 2 * SET; ++i)
        line[i] = (const float *)t->lines + line_at(t, i);
    for (int64_t p = 0; p < t->steps; p += BURST) {
        const int64_t end = min_i64(p + BURST, t->steps);
        sum0 = steps_f32(sum0, line, p, end, t->x, t->x_step);
        sum1 = steps_f32(sum1, line + SET, p, end, t->x, t->x_step);
    }
    _mm256_storeu_ps(sums, sum0);
    _mm256_storeu_ps(sums + SET, sum1);
    for (int i = 0; i < t->num_lines; ++i) {
        float result = t->alpha.f32 * sums[i];
        if (t->c)
            result = __builtin_fmaf(t->beta.f32, ((const float *)t->c)[i * t->c_step], result);
        ((float *)t->d)[i * t->d_step] = result;
    }
}

/* ---- f64: 4 lines a set ---- */

static TCGEMM_ALWAYS_INLINE __m256d halves_f64(const double *low, const double *high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}

static TCGEMM_ALWAYS_INLINE __m256d steps_f64(__m256d sum, const double *const line[4], int64_t p,
                                              int64_t end, const double *x, int64_t x_step) {
    for (; p + 2 <= end; p += 2) {
        const __m256d r0 = halves_f64(line[0] + p, line[2] + p);
        const __m256d r1 = halves_f64(line[1] + p, line[3] + p);
        sum = _mm256_fmadd_pd(_mm256_broadcast_sd(x + p * x_step), _mm256_unpacklo_pd(r0, r1), sum);
        sum = _mm256_fmadd_pd(_mm256_broadcast_sd(x + (p + 1) * x_step), _mm256_unpackhi_pd(r0, r1),
                              sum);
    }
    for (; p < end; ++p)
        sum = _mm256_fmadd_pd(_mm256_broadcast_sd(x + p * x_step),
                              _mm256_setr_pd(line[0][p], line[1][p], line[2][p], line[3][p]), sum);
    return sum;
}

void tcgemm_dots_avx2_f64(const tcgemm_dots_t *t) {
    enum { SET = 4, BURST = 8 };
    const double *line[2 * SET];
    double sums[2 * SET];
    __m256d sum0 = _mm256_setzero_pd();
    __m256d sum1 = _mm256_setzero_pd();
    for (int i = 0; i < 2 * SET; ++i)
        line[i] = (const double *)t->lines + line_at(t, i);
    for (int64_t p = 0; p < t->steps; p += BURST) {
        const int64_t end = min_i64(p + BURST, t->steps);
        sum0 = steps_f64(sum0, line, p, end, t->x, t->x_step);
        sum1 = steps_f64(sum1, line + SET, p, end, t->x, t->x_step);
    }
    _mm256_storeu_pd(sums, sum0);
    _mm256_storeu_pd(sums + SET, sum1);
    for (int i = 0; i < t->num_lines; ++i) {
        double result = t->alpha.f64 * sums[i];
        if (t->c)
            result = __builtin_fma(t->beta.f64, ((const double *)t->c)[i * t->c_step], result);
        ((double *)t->d)[i * t->d_step] = result;
    }
}
