/* amx_model.h - matrix tiles in plain C, by the pseudo-code of Intel's SDM vol. 2. Slow and
 * obvious: for tests (amx_tiles.h). Using tiles without a configuration stops the process, as it
 * would on the processor. */
#ifndef TCGEMM_CPU_KERNELS_AMX_MODEL_H
#define TCGEMM_CPU_KERNELS_AMX_MODEL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "cpu/kernels/amx_tiles.h"

typedef struct amx_model {
    amx_config_t config;
    uint32_t tile[8][16][16];
} amx_model_t;

static _Thread_local amx_model_t amx_model;

/* What touches a thread's own tiles alone: sanitizers would look at each of some 16,000 steps of a
 * product. What tiles are loaded from and stored to they see. */
#define AMX_MODEL_OWN                                                                              \
    __attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

static inline void amx_model_configure(const amx_config_t *config) {
    memset(&amx_model, 0, sizeof amx_model);
    if (config)
        amx_model.config = *config;
}

static inline int amx_model_rows(int t) {
    const amx_config_t *const config = &amx_model.config;
    if (config->palette != 1 || config->rows[t] == 0 || config->rows[t] > 16 ||
        config->row_bytes[t] == 0 || config->row_bytes[t] > 64 || config->row_bytes[t] % 4 != 0)
        abort();
    return config->rows[t];
}

static inline int amx_model_words(int t) {
    return amx_model_rows(t) ? amx_model.config.row_bytes[t] / 4 : 0;
}

static inline void amx_model_zero(int t) {
    if (amx_model_rows(t))
        memset(amx_model.tile[t], 0, sizeof amx_model.tile[t]);
}

static inline void amx_model_load(int t, const void *p, int64_t stride) {
    amx_model_zero(t);
    for (int i = 0; i < amx_model_rows(t); ++i)
        memcpy(amx_model.tile[t][i], (const char *)p + i * stride,
               (size_t)amx_model_words(t) * sizeof(uint32_t));
}

static inline void amx_model_store(int t, void *p, int64_t stride) {
    for (int i = 0; i < amx_model_rows(t); ++i)
        memcpy((char *)p + i * stride, amx_model.tile[t][i],
               (size_t)amx_model_words(t) * sizeof(uint32_t));
}

/* Subnormals, as operands and as results, are zeros of the same sign. */
AMX_MODEL_OWN static inline float amx_model_flush(float x) {
    return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x;
}

/* bf16 subnormals are zeros; those of f16 are not, and are normal as f32. */
AMX_MODEL_OWN static inline float amx_model_f32(uint32_t half, bool is_bf16) {
    return is_bf16 ? amx_model_flush(tcgemm_f32_of_bf16((uint16_t)half))
                   : tcgemm_f32_of_f16((uint16_t)half);
}

/* Rounded once: the product has no more than 22 bits, so it is exact, and a sum of such numbers
 * that is rounded to the 53 bits of a double first is rounded to 24 as if it were not (Figueroa,
 * "When is double rounding innocuous?", SIGNUM 30(3), 1995). */
AMX_MODEL_OWN static inline float amx_model_fma(float x, float y, float sum) {
    return amx_model_flush((float)((double)x * (double)y + (double)sum));
}

/* The even and the odd halves are summed apart; their sum goes to c. */
AMX_MODEL_OWN static inline void amx_model_dot_pairs(int c, int a, int b, bool is_bf16) {
    const int words = amx_model_words(a), columns = amx_model_words(c);
    float y[2][16][16];
    for (int h = 0; h < 2; ++h)
        for (int p = 0; p < words; ++p)
            for (int j = 0; j < columns; ++j)
                y[h][p][j] = amx_model_f32(amx_model.tile[b][p][j] >> 16 * h, is_bf16);
    for (int i = 0; i < amx_model_rows(c); ++i) {
        float half[2][16] = {{0.0f}};
        for (int h = 0; h < 2; ++h)
            for (int p = 0; p < words; ++p) {
                const float x = amx_model_f32(amx_model.tile[a][i][p] >> 16 * h, is_bf16);
                for (int j = 0; j < columns; ++j)
                    half[h][j] = amx_model_fma(x, y[h][p][j], half[h][j]);
            }
        for (int j = 0; j < columns; ++j) {
            float sum;
            memcpy(&sum, &amx_model.tile[c][i][j], sizeof sum);
            sum = amx_model_flush(amx_model_flush(sum) + amx_model_flush(half[0][j] + half[1][j]));
            memcpy(&amx_model.tile[c][i][j], &sum, sizeof sum);
        }
    }
}

AMX_MODEL_OWN static inline uint32_t amx_model_byte(uint32_t word, int h, bool is_signed) {
    const uint32_t byte = word >> (8 * h) & 0xFFu;
    return is_signed ? (byte ^ 0x80u) - 0x80u : byte;
}

AMX_MODEL_OWN static inline void amx_model_dot_bytes(int c, int a, int b, bool a_is_signed,
                                                     bool b_is_signed) {
    const int words = amx_model_words(a), columns = amx_model_words(c);
    uint32_t y[4][16][16];
    for (int h = 0; h < 4; ++h)
        for (int p = 0; p < words; ++p)
            for (int j = 0; j < columns; ++j)
                y[h][p][j] = amx_model_byte(amx_model.tile[b][p][j], h, b_is_signed);
    for (int i = 0; i < amx_model_rows(c); ++i)
        for (int h = 0; h < 4; ++h)
            for (int p = 0; p < words; ++p) {
                const uint32_t x = amx_model_byte(amx_model.tile[a][i][p], h, a_is_signed);
                for (int j = 0; j < columns; ++j)
                    amx_model.tile[c][i][j] += x * y[h][p][j];
            }
}

#endif
