/* element.c - decodes what the library has no such layout for. */
#include "files/element.h"

#include <string.h>

size_t element_file_bytes(element_coding_t coding) {
    (void)coding;
    return 1;
}

/* Element e goes to the lower half of byte e / 2 if e is even. */
static void pack_nibbles(const uint8_t *src, size_t count, uint8_t *dst) {
    for (size_t i = 0; i + 1 < count; i += 2)
        dst[i / 2] = (uint8_t)((src[i] & 15) | (src[i + 1] & 15) << 4);
    if (count % 2 != 0)
        dst[count / 2] = src[count - 1] & 15;
}

void element_decode(element_coding_t coding, const uint8_t *src, size_t count, void *dst) {
    switch (coding) {
    case ELEMENT_INT4:
    case ELEMENT_UINT4:
        pack_nibbles(src, count, dst);
        break;
    case ELEMENT_PLAIN:
        break;
    }
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
