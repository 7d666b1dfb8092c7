#include "support/oracle.h"

#include <math.h>
#include <string.h>

typedef struct format {
    int exponent_bits, fraction_bits;
    bool has_infinity;
} format_t;

/* By dtype. The tests ask for each element: what is asked stands here, and is not worked out. */
static const format_t formats[] = {
    [TCGEMM_DTYPE_F64] = {11, 52, true}, [TCGEMM_DTYPE_F32] = {8, 23, true},
    [TCGEMM_DTYPE_F16] = {5, 10, true},  [TCGEMM_DTYPE_BF16] = {8, 7, true},
    [TCGEMM_DTYPE_E4M3] = {4, 3, false}, [TCGEMM_DTYPE_E5M2] = {5, 2, true},
    [TCGEMM_DTYPE_B1] = {0, 0, false}, /* the last one */
};

static const int widths[] = {
    [TCGEMM_DTYPE_F64] = 64,  [TCGEMM_DTYPE_F32] = 32, [TCGEMM_DTYPE_F16] = 16,
    [TCGEMM_DTYPE_BF16] = 16, [TCGEMM_DTYPE_E4M3] = 8, [TCGEMM_DTYPE_E5M2] = 8,
    [TCGEMM_DTYPE_S32] = 32,  [TCGEMM_DTYPE_S8] = 8,   [TCGEMM_DTYPE_U8] = 8,
    [TCGEMM_DTYPE_S4] = 4,    [TCGEMM_DTYPE_U4] = 4,   [TCGEMM_DTYPE_B1] = 1,
};

bool oracle_is_float(tcgemm_dtype_t dtype) {
    return formats[dtype].fraction_bits != 0;
}

int oracle_bits(tcgemm_dtype_t dtype) {
    return widths[dtype];
}

/* Little-endian, as the library assumes. */
uint64_t oracle_get_bits(tcgemm_dtype_t dtype, const void *array, int64_t index) {
    const int bits = widths[dtype];
    const uint8_t *bytes = (const uint8_t *)array + (index * bits >> 3);
    if (bits == 64) {
        uint64_t value;
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (bits == 32) {
        uint32_t value;
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    return (uint64_t)(*bytes >> (index * bits & 7)) & ((1u << bits) - 1u);
}

void oracle_set_bits(tcgemm_dtype_t dtype, void *array, int64_t index, uint64_t value) {
    const int bits = widths[dtype];
    uint8_t *bytes = (uint8_t *)array + (index * bits >> 3);
    if (bits == 64) {
        memcpy(bytes, &value, 8);
        return;
    }
    if (bits == 32) {
        memcpy(bytes, &value, 4);
        return;
    }
    if (bits == 16) {
        memcpy(bytes, &value, 2);
        return;
    }
    const int shift = (int)(index * bits & 7);
    const unsigned mask = (1u << bits) - 1u;
    *bytes = (uint8_t)((*bytes & ~(mask << shift)) | (((unsigned)value & mask) << shift));
}

/* 2^power, which is a normal double: ldexp without the call. */
static double power_of_two(int power) {
    const uint64_t bits = (uint64_t)(power + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Of a format shorter than f64. */
static double decode_float(format_t f, uint64_t bits) {
    const uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    const int exponent = (int)(bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
    const int largest = (1 << f.exponent_bits) - 1;
    const int bias = largest >> 1;
    const double sign = bits >> (f.exponent_bits + f.fraction_bits) & 1 ? -1.0 : 1.0;
    if (exponent == largest && f.has_infinity)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == largest && fraction == (UINT64_C(1) << f.fraction_bits) - 1)
        return (double)NAN;
    const uint64_t hidden = exponent ? UINT64_C(1) << f.fraction_bits : 0;
    const int power = (exponent ? exponent : 1) - bias - f.fraction_bits;
    return sign * (double)(fraction | hidden) * power_of_two(power);
}

double oracle_decode(tcgemm_dtype_t dtype, uint64_t bits) {
    if (dtype == TCGEMM_DTYPE_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (formats[dtype].fraction_bits)
        return decode_float(formats[dtype], bits);
    switch (dtype) {
    case TCGEMM_DTYPE_S32:
        return (double)(int32_t)(uint32_t)bits;
    case TCGEMM_DTYPE_S8:
        return (double)(int8_t)(uint8_t)bits;
    case TCGEMM_DTYPE_S4:
        return bits & 8 ? (double)bits - 16.0 : (double)bits;
    default:
        return (double)bits;
    }
}

/* The largest finite pattern whose value is at most `magnitude`. */
static uint64_t pattern_below(format_t f, double magnitude) {
    const int largest = (1 << f.exponent_bits) - 1;
    const int bias = largest >> 1;
    const uint64_t top = ((uint64_t)largest << f.fraction_bits) +
                         (f.has_infinity ? 0 : (UINT64_C(1) << f.fraction_bits) - 1) - 1;
    if (magnitude >= decode_float(f, top))
        return top;
    int exponent;
    (void)frexp(magnitude, &exponent); /* 2^(exponent - 1) <= magnitude < 2^exponent */
    const int biased = magnitude > 0 && exponent - 1 + bias > 1 ? exponent - 1 + bias : 1;
    const double units = floor(magnitude * power_of_two(f.fraction_bits + bias - biased));
    return ((uint64_t)(biased - 1) << f.fraction_bits) + (uint64_t)units;
}

static uint64_t nan_pattern(format_t f) {
    const uint64_t all = (UINT64_C(1) << (f.exponent_bits + f.fraction_bits)) - 1;
    return f.has_infinity ? all & ~((UINT64_C(1) << (f.fraction_bits - 1)) - 1) : all;
}

static uint64_t encode_float(format_t f, double value) {
    const uint64_t sign = signbit(value) ? UINT64_C(1) << (f.exponent_bits + f.fraction_bits) : 0;
    const double magnitude = fabs(value);
    if (isnan(value) || (isinf(value) && !f.has_infinity))
        return sign | nan_pattern(f);
    const uint64_t below = pattern_below(f, magnitude);
    const double low = decode_float(f, below);
    if (low == magnitude)
        return sign | below;
    double high = decode_float(f, below + 1);
    if (!isfinite(high)) /* the number that would come next if the format went on */
        high = low + (low - decode_float(f, below - 1));
    const double to_low = magnitude - low;
    const double to_high = high - magnitude;
    const bool up = to_high < to_low || (to_high == to_low && (below & 1));
    return sign | (below + (up ? 1 : 0));
}

uint64_t oracle_encode(tcgemm_dtype_t dtype, double value) {
    const format_t f = formats[dtype];
    if (!f.fraction_bits)
        return (uint64_t)(int64_t)value & ((UINT64_C(1) << widths[dtype]) - 1);
    if (dtype == TCGEMM_DTYPE_F64) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (dtype == TCGEMM_DTYPE_F32) { /* the compiler's own conversion is not the library's code */
        const float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    return encode_float(f, value);
}

double oracle_get(tcgemm_dtype_t dtype, const void *array, int64_t index) {
    return oracle_decode(dtype, oracle_get_bits(dtype, array, index));
}

void oracle_set(tcgemm_dtype_t dtype, void *array, int64_t index, double value) {
    oracle_set_bits(dtype, array, index, oracle_encode(dtype, value));
}

float oracle_tf32(float value) {
    if (!isfinite(value) || value == 0.0f)
        return value;
    int exponent;
    (void)frexp((double)value, &exponent);
    const int unit = (exponent > -125 ? exponent : -125) - 11;
    return (float)ldexp(round(ldexp((double)value, -unit)), unit);
}
