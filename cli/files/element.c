/* element.c - decodes what the library has no such layout for. */
#include "files/element.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t element_file_bytes(element_coding_t coding) {
    switch (coding) {
    case ELEMENT_S16:
    case ELEMENT_U16:
        return 2;
    case ELEMENT_U32:
        return 4;
    case ELEMENT_S64:
    case ELEMENT_U64:
        return 8;
    default:
        return 1;
    }
}

/* Element e goes to the lower half of byte e / 2 if e is even. */
static void pack_nibbles(const uint8_t *src, size_t count, uint8_t *dst) {
    for (size_t i = 0; i + 1 < count; i += 2)
        dst[i / 2] = (uint8_t)((src[i] & 15) | (src[i + 1] & 15) << 4);
    if (count % 2 != 0)
        dst[count / 2] = src[count - 1] & 15;
}

static void pack_bits(const uint8_t *src, size_t count, uint8_t *dst) {
    memset(dst, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++)
        dst[i / 8] |= (uint8_t)((src[i] != 0) << i % 8);
}

/* The bits of one element, at the bottom of a word. */
static uint64_t bits_at(const uint8_t *src, size_t size, bool swap) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)src[swap ? size - 1 - i : i] << 8 * i;
    return bits;
}

/* Whether an f64 is that number: 2^64 itself, which a rounding may lead to, is none of them. */
static bool put_u64(uint64_t bits, double *dst) {
    *dst = (double)bits;
    return *dst < 0x1p64 && (uint64_t)*dst == bits;
}

static bool put_s64(uint64_t bits, double *dst) {
    const int64_t value = (int64_t)bits;
    *dst = (double)value;
    return *dst < 0x1p63 && (int64_t)*dst == value;
}

static bool put(element_coding_t coding, uint64_t bits, size_t index, void *dst) {
    switch (coding) {
    case ELEMENT_S16:
        ((float *)dst)[index] = (float)(int16_t)(uint16_t)bits;
        return true;
    case ELEMENT_U16:
        ((float *)dst)[index] = (float)(uint16_t)bits;
        return true;
    case ELEMENT_S64:
        return put_s64(bits, (double *)dst + index);
    default:
        return put_u64(bits, (double *)dst + index);
    }
}

size_t element_decode(element_coding_t coding, const uint8_t *src, size_t count, bool swap,
                      void *dst) {
    const size_t size = element_file_bytes(coding);
    if (coding == ELEMENT_INT4 || coding == ELEMENT_UINT4)
        pack_nibbles(src, count, dst);
    else if (coding == ELEMENT_BOOL)
        pack_bits(src, count, dst);
    else
        for (size_t i = 0; i < count; i++)
            if (!put(coding, bits_at(src + i * size, size, swap), i, dst))
                return i;
    return count;
}

void element_text(element_coding_t coding, const uint8_t *src, bool swap, char *text, size_t size) {
    const uint64_t bits = bits_at(src, element_file_bytes(coding), swap);
    if (coding == ELEMENT_S64)
        snprintf(text, size, "%" PRId64, (int64_t)bits);
    else
        snprintf(text, size, "%" PRIu64, bits);
}

bool element_from_word(const char *word, tcgemm_dtype_t *dtype) {
    static const struct {
        const char *word;
        tcgemm_dtype_t dtype;
    } words[] = {
        {"int4", TCGEMM_DTYPE_S4},          {"uint4", TCGEMM_DTYPE_U4},
        {"bfloat16", TCGEMM_DTYPE_BF16},    {"float8_e4m3fn", TCGEMM_DTYPE_E4M3},
        {"float8_e5m2", TCGEMM_DTYPE_E5M2},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i].word) == 0) {
            *dtype = words[i].dtype;
            return true;
        }
    for (int i = TCGEMM_DTYPE_F64; i <= TCGEMM_DTYPE_B1; i++)
        if (strcmp(word, tcgemm_dtype_name((tcgemm_dtype_t)i)) == 0) {
            *dtype = (tcgemm_dtype_t)i;
            return true;
        }
    return false;
}
