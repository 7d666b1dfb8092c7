/* dtype.c - the tables of dtypes and types, and element-wise conversion. */
#include "base/dtype.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/fpmode.h"
#include "base/types.h"

/* precision counts the hidden bit; min_exponent is that of the smallest normal number. */
static const struct {
    const char *name;
    int precision;
    int min_exponent;
    double largest;
} dtype_table[] = {
    [TCGEMM_DTYPE_F64] = {"f64", 53, -1022, DBL_MAX},
    [TCGEMM_DTYPE_F32] = {"f32", 24, -126, (double)FLT_MAX},
    [TCGEMM_DTYPE_F16] = {"f16", 11, -14, 65504.0},
    [TCGEMM_DTYPE_BF16] = {"bf16", 8, -126, 0x1.FEp127},
    [TCGEMM_DTYPE_E4M3] = {"e4m3", 4, -6, 448.0},
    [TCGEMM_DTYPE_E5M2] = {"e5m2", 3, -14, 57344.0},
    [TCGEMM_DTYPE_S32] = {"s32", 0, 0, 0},
    [TCGEMM_DTYPE_S8] = {"s8", 0, 0, 0},
    [TCGEMM_DTYPE_U8] = {"u8", 0, 0, 0},
    [TCGEMM_DTYPE_S4] = {"s4", 0, 0, 0},
    [TCGEMM_DTYPE_U4] = {"u4", 0, 0, 0},
    [TCGEMM_DTYPE_B1] = {"b1", 0, 0, 0},
};

static int is_dtype(tcgemm_dtype_t dtype) {
    return dtype >= TCGEMM_DTYPE_F64 && dtype <= TCGEMM_DTYPE_B1;
}

int tcgemm_dtype_bits(tcgemm_dtype_t dtype) {
    return is_dtype(dtype) ? tcgemm_bits_of_dtype(dtype) : 0;
}

const char *tcgemm_dtype_name(tcgemm_dtype_t dtype) {
    return is_dtype(dtype) ? dtype_table[dtype].name : "unknown";
}

double tcgemm_dtype_unit(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_is_integer(dtype) ? 0.0 : ldexp(1.0, -dtype_table[dtype].precision);
}

double tcgemm_dtype_tiny(tcgemm_dtype_t dtype) {
    if (tcgemm_dtype_is_integer(dtype))
        return 0.0;
    return ldexp(1.0, dtype_table[dtype].min_exponent - dtype_table[dtype].precision + 1);
}

static const tcgemm_type_info_t type_table[] = {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    {TCGEMM_##ID,                                                                                  \
     #name,                                                                                        \
     TCGEMM_DTYPE_##a,                                                                             \
     TCGEMM_DTYPE_##b,                                                                             \
     TCGEMM_DTYPE_##accumulator,                                                                   \
     TCGEMM_DTYPE_##d,                                                                             \
     TCGEMM_DTYPE_##scalar},
#include "base/types.def"
};

#define NUM_TYPES ((int)(sizeof type_table / sizeof type_table[0]))
/* The lines of types.def in the order of the enumerators. */
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    _Static_assert((int)TCGEMM_##ID == (int)TCGEMM_COUNTED_##ID + 1, "types.def: order of " #ID);
#include "base/types.def"

const tcgemm_type_info_t *tcgemm_type_info(tcgemm_type_t type) {
    const int index = (int)type - 1;
    return index >= 0 && index < NUM_TYPES ? &type_table[index] : NULL;
}

int tcgemm_type_count(void) {
    return NUM_TYPES;
}

/* All names, a blank before each, cut to `size` bytes. */
static void list_names(char *names, size_t size) {
    size_t used = 0;
    names[0] = '\0';
    for (int i = 0; i < NUM_TYPES && used < size; ++i)
        used += (size_t)snprintf(names + used, size - used, " %s", type_table[i].name);
}

tcgemm_status_t tcgemm_type_from_name(const char *name, tcgemm_type_t *type) {
    TCGEMM_RETURN_IF(!name || !type, TCGEMM_STATUS_BAD_ARGUMENT, "name or type is NULL");
    for (int i = 0; i < NUM_TYPES; ++i) {
        if (strcmp(name, type_table[i].name) == 0) {
            *type = type_table[i].type;
            return TCGEMM_STATUS_OK;
        }
    }
    char names[32 * NUM_TYPES];
    list_names(names, sizeof names);
    return tcgemm_error_set(TCGEMM_STATUS_BAD_TYPE, "unknown type '%.40s'; known are%s", name,
                            names);
}

/* ---- elements ---- */

/* Bits [index * width, (index + 1) * width) of an array; width divides 8. */
static unsigned load_bits(const void *array, int64_t index, int width) {
    const int64_t bit = index * width;
    const unsigned byte = ((const uint8_t *)array)[bit >> 3];
    return (byte >> (bit & 7)) & ((1u << width) - 1u);
}

static void store_bits(void *array, int64_t index, int width, unsigned value) {
    const int64_t bit = index * width;
    const int shift = (int)(bit & 7);
    const unsigned mask = ((1u << width) - 1u) << shift;
    uint8_t *byte = (uint8_t *)array + (bit >> 3);
    *byte = (uint8_t)((*byte & ~mask) | ((value << shift) & mask));
}

/* memcpy, because files and callers' packed structs need not align their elements. */
#define LOAD(type, array, index)                                                                   \
    type element;                                                                                  \
    memcpy(&element, (const char *)(array) + (index) * (int64_t)sizeof element, sizeof element)
#define STORE(type, array, index, value)                                                           \
    const type element = (value);                                                                  \
    memcpy((char *)(array) + (index) * (int64_t)sizeof element, &element, sizeof element)

double tcgemm_load_float(tcgemm_dtype_t dtype, const void *array, int64_t index) {
    switch (dtype) {
    case TCGEMM_DTYPE_F64: {
        LOAD(double, array, index);
        return element;
    }
    case TCGEMM_DTYPE_F32: {
        LOAD(float, array, index);
        return (double)element;
    }
    case TCGEMM_DTYPE_F16: {
        LOAD(uint16_t, array, index);
        return (double)tcgemm_f32_of_f16(element);
    }
    case TCGEMM_DTYPE_BF16: {
        LOAD(uint16_t, array, index);
        return (double)tcgemm_f32_of_bf16(element);
    }
    case TCGEMM_DTYPE_E4M3:
        return (double)tcgemm_f32_of_e4m3(((const uint8_t *)array)[index]);
    case TCGEMM_DTYPE_E5M2:
        return (double)tcgemm_f32_of_e5m2(((const uint8_t *)array)[index]);
    default:
        return (double)tcgemm_load_integer(dtype, array, index);
    }
}

int32_t tcgemm_load_integer(tcgemm_dtype_t dtype, const void *array, int64_t index) {
    switch (dtype) {
    case TCGEMM_DTYPE_S32: {
        LOAD(int32_t, array, index);
        return element;
    }
    case TCGEMM_DTYPE_S8:
        return ((const int8_t *)array)[index];
    case TCGEMM_DTYPE_U8:
        return ((const uint8_t *)array)[index];
    case TCGEMM_DTYPE_S4:
        return (int32_t)(load_bits(array, index, 4) ^ 8u) - 8;
    case TCGEMM_DTYPE_U4:
        return (int32_t)load_bits(array, index, 4);
    case TCGEMM_DTYPE_B1:
        return (int32_t)load_bits(array, index, 1);
    default:
        return 0;
    }
}

double tcgemm_round_float(tcgemm_dtype_t dtype, double value) {
    if (!isfinite(value) || value == 0.0 || dtype == TCGEMM_DTYPE_F64)
        return dtype == TCGEMM_DTYPE_E4M3 && isinf(value) ? (double)NAN : value;
    int exponent;
    (void)frexp(value, &exponent); /* 2^(exponent-1) <= |value| < 2^exponent */
    const int smallest = dtype_table[dtype].min_exponent - dtype_table[dtype].precision + 1;
    const int normal = exponent - dtype_table[dtype].precision;
    const int ulp = normal > smallest ? normal : smallest;
    const double rounded = ldexp(rint(ldexp(value, -ulp)), ulp);
    if (fabs(rounded) <= dtype_table[dtype].largest)
        return rounded;
    return dtype == TCGEMM_DTYPE_E4M3 ? (double)NAN : copysign((double)INFINITY, value);
}

/* The upper byte of the f16, or the e4m3 pattern, of a value that the format holds exactly. */
static uint8_t bits_of_fp8(tcgemm_dtype_t dtype, double value) {
    if (dtype == TCGEMM_DTYPE_E5M2) {
        const uint16_t half = tcgemm_f16_of_f32((float)value);
        return (uint8_t)(isnan(value) ? 0x7E | (half >> 8 & 0x80) : half >> 8);
    }
    const uint8_t sign = signbit(value) ? 0x80u : 0u;
    if (isnan(value))
        return (uint8_t)(sign | 0x7Fu);
    int exponent;
    const double fraction = frexp(fabs(value), &exponent); /* value = fraction * 2^exponent */
    if (value == 0.0)
        return sign;
    if (exponent - 1 < -6) /* subnormal: units of 2^-9 */
        return (uint8_t)(sign | (unsigned)ldexp(fabs(value), 9));
    return (uint8_t)(sign | (unsigned)(exponent - 1 + 7) << 3 |
                     (unsigned)(ldexp(fraction, 4) - 8.0));
}

void tcgemm_store_float(tcgemm_dtype_t dtype, void *array, int64_t index, double value) {
    const double rounded = tcgemm_round_float(dtype, value);
    switch (dtype) {
    case TCGEMM_DTYPE_F64: {
        STORE(double, array, index, value);
        break;
    }
    case TCGEMM_DTYPE_F32: {
        STORE(float, array, index, (float)rounded);
        break;
    }
    case TCGEMM_DTYPE_F16: {
        STORE(uint16_t, array, index, tcgemm_f16_of_f32((float)rounded));
        break;
    }
    case TCGEMM_DTYPE_BF16: {
        STORE(uint16_t, array, index, tcgemm_bf16_of_f32((float)rounded));
        break;
    }
    case TCGEMM_DTYPE_E4M3:
    case TCGEMM_DTYPE_E5M2:
        ((uint8_t *)array)[index] = bits_of_fp8(dtype, rounded);
        break;
    default:
        break;
    }
}

void tcgemm_store_integer(tcgemm_dtype_t dtype, void *array, int64_t index, int32_t value) {
    switch (dtype) {
    case TCGEMM_DTYPE_S32: {
        STORE(int32_t, array, index, value);
        break;
    }
    case TCGEMM_DTYPE_S8:
    case TCGEMM_DTYPE_U8:
        ((uint8_t *)array)[index] = (uint8_t)value;
        break;
    case TCGEMM_DTYPE_S4:
    case TCGEMM_DTYPE_U4:
        store_bits(array, index, 4, (unsigned)value);
        break;
    case TCGEMM_DTYPE_B1:
        store_bits(array, index, 1, (unsigned)value);
        break;
    default:
        break;
    }
}

/* ---- arrays ---- */

static int32_t saturate(tcgemm_dtype_t dtype, double value) {
    static const struct {
        double low, high;
    } range[] = {
        [TCGEMM_DTYPE_S32] = {-2147483648.0, 2147483647.0},
        [TCGEMM_DTYPE_S8] = {-128, 127},
        [TCGEMM_DTYPE_U8] = {0, 255},
        [TCGEMM_DTYPE_S4] = {-8, 7},
        [TCGEMM_DTYPE_U4] = {0, 15},
        [TCGEMM_DTYPE_B1] = {0, 1},
    };
    if (isnan(value))
        return 0;
    return (int32_t)rint(fmin(fmax(value, range[dtype].low), range[dtype].high));
}

static __attribute__((noinline)) void convert(tcgemm_dtype_t dst_dtype, void *dst,
                                              tcgemm_dtype_t src_dtype, const void *src,
                                              int64_t count) {
    const int to_integer = tcgemm_dtype_is_integer(dst_dtype);
    for (int64_t i = 0; i < count; ++i) {
        const double value = tcgemm_load_float(src_dtype, src, i);
        if (to_integer)
            tcgemm_store_integer(dst_dtype, dst, i, saturate(dst_dtype, value));
        else
            tcgemm_store_float(dst_dtype, dst, i, value);
    }
}

tcgemm_status_t tcgemm_convert(tcgemm_dtype_t dst_dtype, void *dst, tcgemm_dtype_t src_dtype,
                               const void *src, int64_t count) {
    TCGEMM_RETURN_IF(!is_dtype(dst_dtype) || !is_dtype(src_dtype), TCGEMM_STATUS_BAD_TYPE,
                     "dtype %d is unknown", is_dtype(dst_dtype) ? (int)src_dtype : (int)dst_dtype);
    TCGEMM_RETURN_IF(count < 0, TCGEMM_STATUS_BAD_SHAPE, "count is %lld", (long long)count);
    TCGEMM_RETURN_IF(count > 0 && (!dst || !src), TCGEMM_STATUS_BAD_ARGUMENT, "%s is NULL",
                     dst ? "src" : "dst");
    TCGEMM_DEFAULT_FP_MODES;
    convert(dst_dtype, dst, src_dtype, src, count);
    return TCGEMM_STATUS_OK;
}
