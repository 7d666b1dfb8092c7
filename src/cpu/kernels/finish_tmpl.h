/* finish_tmpl.h - sums become f16 or bf16, and all D what its epilogue makes of it:
 * tcgemm_finish_<PACK_ISA>, compiled once for each instruction set like pack_tmpl.h, whose names it
 * uses. */
#include "cpu/kernels/epilogue_tmpl.h"

static void finish_row_bf16(const float *sums, const uint16_t *c, uint16_t *d, int64_t count,
                            float alpha, float beta) {
    if (c)
        for (int64_t j = 0; j < count; ++j)
            d[j] = tcgemm_bf16_of_f32(alpha * sums[j] + beta * tcgemm_f32_of_bf16(c[j]));
    else
        for (int64_t j = 0; j < count; ++j)
            d[j] = tcgemm_bf16_of_f32(alpha * sums[j]);
}

static void finish_row_f16(const float *sums, const uint16_t *c, uint16_t *d, int64_t count,
                           float alpha, float beta) {
    int64_t j = 0;
#ifdef __F16C__
    const __m256 valpha = _mm256_set1_ps(alpha);
    const __m256 vbeta = _mm256_set1_ps(beta);
    for (; j + 8 <= count; j += 8) {
        __m256 x = _mm256_mul_ps(valpha, _mm256_loadu_ps(sums + j));
        if (c) {
            const __m256 y = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(c + j)));
            x = _mm256_add_ps(x, _mm256_mul_ps(vbeta, y));
        }
        _mm_storeu_si128((__m128i *)(d + j), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
#elif defined(__ARM_NEON)
    for (; j + 4 <= count; j += 4) {
        float32x4_t x = vmulq_n_f32(vld1q_f32(sums + j), alpha);
        if (c) {
            const float32x4_t y = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(c + j)));
            x = vaddq_f32(x, vmulq_n_f32(y, beta));
        }
        vst1_u16(d + j, vreinterpret_u16_f16(vcvt_f16_f32(x)));
    }
#endif
    /* Without C nothing is added: + 0 would turn a -0 of this remainder, and of it alone, to +0. */
    for (; j < count; ++j) {
        const float x = alpha * sums[j];
        d[j] = tcgemm_f16_of_f32(c ? x + beta * tcgemm_f32_of_f16(c[j]) : x);
    }
}

static void finish_row(bool is_bf16, const float *sums, const uint16_t *c, uint16_t *d,
                       int64_t count, float alpha, float beta) {
    (is_bf16 ? finish_row_bf16 : finish_row_f16)(sums, c, d, count, alpha, beta);
}

/* A row that has a bias or an activation: in f32 until it is rounded. */
static void finish_row_in_f32(const tcgemm_finish_t *f, int64_t i, const float *sums,
                              const uint16_t *c, uint16_t *d) {
    const bool is_bf16 = f->dtype == TCGEMM_DTYPE_BF16;
    float x[EPILOGUE_CHUNK], bias[EPILOGUE_CHUNK];
    const tcgemm_epilogue_t of_chunk = {.bias = f->epilogue.bias ? bias : NULL,
                                        .activation = f->epilogue.activation};
    for (int64_t j = 0; j < f->cols; j += EPILOGUE_CHUNK) {
        const int64_t count = min_i64(EPILOGUE_CHUNK, f->cols - j);
        for (int64_t at = 0; at < count; ++at)
            x[at] = f->alpha * sums[j + at];
        for (int64_t at = 0; c && at < count; ++at)
            x[at] +=
                f->beta * (is_bf16 ? tcgemm_f32_of_bf16(c[j + at]) : tcgemm_f32_of_f16(c[j + at]));
        if (of_chunk.bias)
            load_bias(&f->epilogue, is_bf16, i, j, bias, count);
        epilogue_row_f32(&of_chunk, 0, x, count);
        finish_row(is_bf16, x, NULL, d + j, count, 1.0F, 0.0F);
    }
}

static void finish_narrow_row(const tcgemm_finish_t *f, int64_t i) {
    const float *const sums = f->sums + i * f->ld_sums;
    const uint16_t *const c = f->c ? (const uint16_t *)f->c + i * f->ldc : NULL;
    uint16_t *const d = (uint16_t *)f->d + i * f->ldd;
    if (tcgemm_epilogue_is_empty(&f->epilogue))
        finish_row(f->dtype == TCGEMM_DTYPE_BF16, sums, c, d, f->cols, f->alpha, f->beta);
    else
        finish_row_in_f32(f, i, sums, c, d);
}

void TCGEMM_PASTE(tcgemm_finish_, PACK_ISA, )(const tcgemm_finish_t *f) {
    for (int64_t i = 0; i < f->rows; ++i) {
        if (f->dtype == TCGEMM_DTYPE_F32)
            epilogue_row_f32(&f->epilogue, i, (float *)f->d + i * f->ldd, f->cols);
        else if (f->dtype == TCGEMM_DTYPE_F64)
            epilogue_row_f64(&f->epilogue, i, (double *)f->d + i * f->ldd, f->cols);
        else if (f->dtype == TCGEMM_DTYPE_S32)
            epilogue_row_s32(&f->epilogue, i, (uint32_t *)f->d + i * f->ldd, f->cols);
        else
            finish_narrow_row(f, i);
    }
}
