/* dtype.c - the words that others have for dtypes, and the type of a product that two of them make.
 *
 * The default type keeps to what the operands are: f16 gives f16, bf16 gives bf16, f32 is exact f32
 * and never tf32, 8-bit integers give s32, FP8 gives bf16. Everything else is asked for by name.
 */
#include <string.h>

#include "core.h"

static const struct {
    tcgemm_dtype_t dtype;
    const char *format; /* of the buffer protocol */
    tcpy_dl_type_t dl;
    const char *numpy; /* its name there, with ml_dtypes */
} words[] = {
    {TCGEMM_DTYPE_F64, "d", {DL_FLOAT, 64, 1}, "float64"},
    {TCGEMM_DTYPE_F32, "f", {DL_FLOAT, 32, 1}, "float32"},
    {TCGEMM_DTYPE_F16, "e", {DL_FLOAT, 16, 1}, "float16"},
    {TCGEMM_DTYPE_BF16, NULL, {DL_BFLOAT, 16, 1}, "bfloat16"},
    {TCGEMM_DTYPE_E4M3, NULL, {DL_FLOAT8_E4M3FN, 8, 1}, "float8_e4m3fn"},
    {TCGEMM_DTYPE_E5M2, NULL, {DL_FLOAT8_E5M2, 8, 1}, "float8_e5m2"},
    {TCGEMM_DTYPE_S32, "i", {DL_INT, 32, 1}, "int32"},
    {TCGEMM_DTYPE_S8, "b", {DL_INT, 8, 1}, "int8"},
    {TCGEMM_DTYPE_U8, "B", {DL_UINT, 8, 1}, "uint8"},
};

enum { NUM_WORDS = sizeof words / sizeof words[0] };

/* "f", "@f", "=f" and on this side of the world "<f"; `long` has four bytes on some machines. */
int tcpy_dtype_of_format(const char *format, Py_ssize_t itemsize) {
    static const unsigned short one = 1;
    const char native = *(const char *)&one ? '<' : '>';
    if (!format)
        return itemsize == 1 ? TCGEMM_DTYPE_U8 : 0;
    if (*format == '@' || *format == '=' || *format == native)
        ++format;
    if (format[0] == '\0' || format[1] != '\0')
        return 0;
    switch (*format) {
    case 'f':
        return TCGEMM_DTYPE_F32;
    case 'd':
        return TCGEMM_DTYPE_F64;
    case 'e':
        return TCGEMM_DTYPE_F16;
    case 'b':
        return TCGEMM_DTYPE_S8;
    case 'B':
    case 'c':
        return TCGEMM_DTYPE_U8;
    case 'i':
    case 'l':
        return itemsize == 4 ? TCGEMM_DTYPE_S32 : 0;
    case 'H':
        return RAW_16;
    default:
        return 0;
    }
}

int tcpy_dtype_of_dl(tcpy_dl_type_t dtype) {
    if (dtype.lanes != 1)
        return 0;
    if (dtype.code == DL_UINT && dtype.bits == 16)
        return RAW_16;
    for (int i = 0; i < NUM_WORDS; ++i)
        if (words[i].dl.code == dtype.code && words[i].dl.bits == dtype.bits)
            return (int)words[i].dtype;
    return 0;
}

tcpy_dl_type_t tcpy_dl_of_dtype(tcgemm_dtype_t dtype) {
    for (int i = 0; i < NUM_WORDS; ++i)
        if (words[i].dtype == dtype)
            return words[i].dl;
    return (tcpy_dl_type_t){DL_UINT, 8, 1};
}

int tcpy_dtype_of_name(const char *name) {
    for (int i = 0; i < NUM_WORDS; ++i)
        if (strcmp(words[i].numpy, name) == 0)
            return (int)words[i].dtype;
    return 0;
}

const char *tcpy_format_of_dtype(tcgemm_dtype_t dtype) {
    for (int i = 0; i < NUM_WORDS; ++i)
        if (words[i].dtype == dtype)
            return words[i].format;
    return NULL;
}

const char *tcpy_numpy_name(tcgemm_dtype_t dtype) {
    for (int i = 0; i < NUM_WORDS; ++i)
        if (words[i].dtype == dtype)
            return words[i].numpy;
    return "uint8";
}

Py_ssize_t tcpy_itemsize(int dtype) {
    static const signed char bytes[] = {
        [TCGEMM_DTYPE_F64] = 8,  [TCGEMM_DTYPE_F32] = 4,  [TCGEMM_DTYPE_F16] = 2,
        [TCGEMM_DTYPE_BF16] = 2, [TCGEMM_DTYPE_E4M3] = 1, [TCGEMM_DTYPE_E5M2] = 1,
        [TCGEMM_DTYPE_S32] = 4,  [TCGEMM_DTYPE_S8] = 1,   [TCGEMM_DTYPE_U8] = 1,
        [TCGEMM_DTYPE_S4] = 1,   [TCGEMM_DTYPE_U4] = 1,   [TCGEMM_DTYPE_B1] = 1};
    return dtype == RAW_16 ? 2 : bytes[dtype];
}

const char *tcpy_dtype_text(const operand_t *x) {
    if (x->dtype == 0)
        return x->type_name;
    if (x->dtype == RAW_16)
        return "uint16";
    if (tcgemm_dtype_bits((tcgemm_dtype_t)x->dtype) < 8)
        return tcgemm_dtype_name((tcgemm_dtype_t)x->dtype);
    return tcpy_numpy_name((tcgemm_dtype_t)x->dtype);
}

static int default_type(int a, int b) {
    static const struct {
        tcgemm_dtype_t a, b;
        tcgemm_type_t type;
    } defaults[] = {
        {TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F32, TCGEMM_F32_F32},
        {TCGEMM_DTYPE_F64, TCGEMM_DTYPE_F64, TCGEMM_F64_F64},
        {TCGEMM_DTYPE_F16, TCGEMM_DTYPE_F16, TCGEMM_F16_F16},
        {TCGEMM_DTYPE_BF16, TCGEMM_DTYPE_BF16, TCGEMM_BF16_BF16},
        {TCGEMM_DTYPE_S8, TCGEMM_DTYPE_S8, TCGEMM_S8_S32},
        {TCGEMM_DTYPE_U8, TCGEMM_DTYPE_U8, TCGEMM_U8_S32},
        {TCGEMM_DTYPE_U8, TCGEMM_DTYPE_S8, TCGEMM_U8S8_S32},
        {TCGEMM_DTYPE_S8, TCGEMM_DTYPE_U8, TCGEMM_S8U8_S32},
        {TCGEMM_DTYPE_E4M3, TCGEMM_DTYPE_E4M3, TCGEMM_E4M3_BF16},
        {TCGEMM_DTYPE_E5M2, TCGEMM_DTYPE_E5M2, TCGEMM_E5M2_BF16},
        {TCGEMM_DTYPE_S4, TCGEMM_DTYPE_S4, TCGEMM_S4_S32},
        {TCGEMM_DTYPE_U4, TCGEMM_DTYPE_U4, TCGEMM_U4_S32},
        {TCGEMM_DTYPE_B1, TCGEMM_DTYPE_B1, TCGEMM_B1_S32},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; ++i)
        if ((int)defaults[i].a == a && (int)defaults[i].b == b)
            return (int)defaults[i].type;
    return 0;
}

/* The type that was asked for, or the default of the operands. */
int tcpy_choose_type(const operand_t *a, const operand_t *b, int asked, tcgemm_type_t *type) {
    *type = (tcgemm_type_t)(asked ? asked : default_type(a->dtype, b->dtype));
    if (*type)
        return 0;
    if (a->dtype == RAW_16 || b->dtype == RAW_16)
        PyErr_Format(PyExc_TypeError,
                     "%s is %s and %s is %s: bits of 16 need type=, such as \"bf16_f32\"", a->name,
                     tcpy_dtype_text(a), b->name, tcpy_dtype_text(b));
    else
        PyErr_Format(PyExc_TypeError,
                     "%s is %s and %s is %s: no type multiplies them; convert one, or see "
                     "tcgemm.types()",
                     a->name, tcpy_dtype_text(a), b->name, tcpy_dtype_text(b));
    return -1;
}

static bool may_hold(int held, tcgemm_dtype_t wanted) {
    const int bits = tcgemm_dtype_bits(wanted);
    if (held == RAW_16)
        return wanted == TCGEMM_DTYPE_BF16 || wanted == TCGEMM_DTYPE_F16;
    if (held == (int)TCGEMM_DTYPE_U8)
        return bits < 8 || wanted == TCGEMM_DTYPE_E4M3 || wanted == TCGEMM_DTYPE_E5M2;
    return held == (int)TCGEMM_DTYPE_S8 && bits < 8;
}

/* Takes an operand as the type wants it: unsigned words as the bits of a float, bytes as packed
 * elements of 4 bits or of one. */
int tcpy_take_as(operand_t *x, tcgemm_dtype_t dtype, const char *type_name) {
    if (x->dtype == (int)dtype)
        return 0;
    if (!may_hold(x->dtype, dtype)) {
        PyErr_Format(PyExc_TypeError, "%s is %s, but type %s takes %s there", x->name,
                     tcpy_dtype_text(x), type_name,
                     tcgemm_dtype_bits(dtype) < 8 ? "packed bytes" : tcpy_numpy_name(dtype));
        return -1;
    }
    const int bits = tcgemm_dtype_bits(dtype);
    x->was_raw = true;
    x->dtype = (int)dtype;
    x->shift = bits == 4 ? 1 : bits == 1 ? 3 : 0;
    return 0;
}
