/* dtype.h - what the bits of one element mean.
 *
 * Every conversion between formats is written here once, in integer arithmetic that any compiler
 * can check and vectorise; the reference, the packing and the tool all call these.
 *
 *     format   sign exponent fraction   bias   remarks
 *     f16      1    5        10         15
 *     bf16     1    8        7          127    the upper half of an f32
 *     tf32     1    8        10         127    an f32 whose low 13 bits are zero
 *     e5m2     1    5        2          15     the upper half of an f16
 *     e4m3     1    4        3          7      no infinity; S.1111.111 is NaN; largest 448
 */
#ifndef TCGEMM_BASE_DTYPE_H
#define TCGEMM_BASE_DTYPE_H

#include <stdint.h>
#include <string.h>

#include "base/types.h"
#include "tcgemm/tcgemm.h"

static inline uint32_t tcgemm_bits_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float tcgemm_f32_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* bf16 -> f32: exact. */
static inline float tcgemm_f32_of_bf16(uint16_t h) {
    return tcgemm_f32_of_bits((uint32_t)h << 16);
}

/* f32 -> bf16: nearest, ties to even; NaN stays a quiet NaN; overflow goes to infinity. */
static inline uint16_t tcgemm_bf16_of_f32(float x) {
    const uint32_t bits = tcgemm_bits_of_f32(x);
    const uint32_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
    const uint32_t nan = (bits | 0x00400000u) >> 16;
    return (uint16_t)((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded >> 16);
}

/* f16 -> f32: exact. The subnormals are scaled up by a float subtraction that is exact. */
static inline float tcgemm_f32_of_f16(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t rest = (uint32_t)(h & 0x7FFFu) << 13;
    const uint32_t exponent = rest & 0x0F800000u;
    const uint32_t normal =
        rest + ((127u - 15u) << 23) + (exponent == 0x0F800000u ? 112u << 23 : 0);
    const float subnormal =
        tcgemm_f32_of_bits(rest + (113u << 23)) - tcgemm_f32_of_bits(113u << 23);
    return tcgemm_f32_of_bits(sign | (exponent ? normal : tcgemm_bits_of_f32(subnormal)));
}

/* f32 -> f16: nearest, ties to even. The subnormals are rounded by an f32 addition whose unit in
 * the last place is that of the smallest f16. */
static inline uint16_t tcgemm_f16_of_f32(float x) {
    const uint32_t bits = tcgemm_bits_of_f32(x);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t h;
    if (magnitude > 0x7F800000u)
        h = 0x7E00u | (magnitude >> 13 & 0x3FFu);
    else if (magnitude >= 0x477FF000u) /* 65520: rounds to 65536, which is infinity */
        h = 0x7C00u;
    else if (magnitude >= 0x38800000u) /* 2^-14: normal */
        h = (magnitude - ((127u - 15u) << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
    else
        h = tcgemm_bits_of_f32(tcgemm_f32_of_bits(magnitude) + 0.5f) - 0x3F000000u;
    return (uint16_t)(sign | h);
}

/* f32 -> tf32: nearest, ties away from zero, as cvt.rna.tf32.f32 (PTX ISA, "cvt"); NaN and infinity
 * pass. A value that rounds past the largest tf32 becomes infinity. */
static inline float tcgemm_tf32_of_f32(float x) {
    const uint32_t bits = tcgemm_bits_of_f32(x);
    const uint32_t rounded = (bits + 0x1000u) & 0xFFFFE000u;
    return tcgemm_f32_of_bits((bits & 0x7F800000u) == 0x7F800000u ? bits : rounded);
}

/* e5m2 -> f32: exact. */
static inline float tcgemm_f32_of_e5m2(uint8_t q) {
    return tcgemm_f32_of_f16((uint16_t)(q << 8));
}

/* e4m3 -> f32: exact. */
static inline float tcgemm_f32_of_e4m3(uint8_t q) {
    const uint32_t sign = (uint32_t)(q & 0x80u) << 24;
    const uint32_t rest = (uint32_t)(q & 0x7Fu) << 20;
    const uint32_t normal = rest + ((127u - 7u) << 23);
    const float subnormal =
        tcgemm_f32_of_bits(rest + (121u << 23)) - tcgemm_f32_of_bits(121u << 23);
    const uint32_t finite = (q & 0x78u) ? normal : tcgemm_bits_of_f32(subnormal);
    return tcgemm_f32_of_bits(sign | ((q & 0x7Fu) == 0x7Fu ? 0x7FC00000u : finite));
}

/* tcgemm_dtype_bits of a known dtype, for planners that ask a thousand times. */
static inline int tcgemm_bits_of_dtype(tcgemm_dtype_t dtype) {
    static const unsigned char bits[] = {
        [TCGEMM_DTYPE_F64] = TCGEMM_BITS_F64,   [TCGEMM_DTYPE_F32] = TCGEMM_BITS_F32,
        [TCGEMM_DTYPE_F16] = TCGEMM_BITS_F16,   [TCGEMM_DTYPE_BF16] = TCGEMM_BITS_BF16,
        [TCGEMM_DTYPE_E4M3] = TCGEMM_BITS_E4M3, [TCGEMM_DTYPE_E5M2] = TCGEMM_BITS_E5M2,
        [TCGEMM_DTYPE_S32] = TCGEMM_BITS_S32,   [TCGEMM_DTYPE_S8] = TCGEMM_BITS_S8,
        [TCGEMM_DTYPE_U8] = TCGEMM_BITS_U8,     [TCGEMM_DTYPE_S4] = TCGEMM_BITS_S4,
        [TCGEMM_DTYPE_U4] = TCGEMM_BITS_U4,     [TCGEMM_DTYPE_B1] = TCGEMM_BITS_B1};
    return bits[dtype];
}

/* 1 if the dtype is one of the integers (b1 included). */
static inline int tcgemm_dtype_is_integer(tcgemm_dtype_t dtype) {
    return dtype >= TCGEMM_DTYPE_S32;
}

/* Element `index` of an array of floats, exactly, as f64. */
double tcgemm_load_float(tcgemm_dtype_t dtype, const void *array, int64_t index);

/* Element `index` of an array of integers. */
int32_t tcgemm_load_integer(tcgemm_dtype_t dtype, const void *array, int64_t index);

/* `value` rounded once to a float dtype: nearest, ties to even. */
void tcgemm_store_float(tcgemm_dtype_t dtype, void *array, int64_t index, double value);

/* The low bits of `value`. Sub-byte stores leave the neighbours alone. */
void tcgemm_store_integer(tcgemm_dtype_t dtype, void *array, int64_t index, int32_t value);

/* `value` as a float of this dtype would hold it. */
double tcgemm_round_float(tcgemm_dtype_t dtype, double value);

/* The unit roundoff 2^-p of a float dtype, 0 for an integer one. */
double tcgemm_dtype_unit(tcgemm_dtype_t dtype);

/* The smallest positive number of a float dtype, 0 for an integer one. */
double tcgemm_dtype_tiny(tcgemm_dtype_t dtype);

#endif
