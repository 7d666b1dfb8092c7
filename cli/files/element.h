/* Elements as files store them where that is not how the library does, and the words for types.
 *
 * ml_dtypes writes int4 and uint4 one value a byte; the library packs two into a byte. */
#ifndef TCGEMM_CLI_ELEMENT_H
#define TCGEMM_CLI_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tcgemm/tcgemm.h>

typedef enum element_coding {
    ELEMENT_PLAIN, /* as the library's dtype lies in memory */
    ELEMENT_INT4,  /* the low four bits of a byte -> s4 */
    ELEMENT_UINT4, /* -> u4 */
    ELEMENT_BOOL,  /* 0 or not in a byte -> b1 */
    ELEMENT_S16,   /* -> f32, which holds each of them */
    ELEMENT_U16,
    ELEMENT_U32, /* -> f64, likewise */
    ELEMENT_S64, /* -> f64, if it does */
    ELEMENT_U64,
} element_coding_t;

/* Bytes of one element in the file, of a coding that is not plain. */
size_t element_file_bytes(element_coding_t coding);

/* Turns `count` elements, big-endian ones with `swap`, into the library's type at `dst`, which
 * holds (count * bits + 7) / 8 bytes. Returns the index of the first element that the type does not
 * hold, or `count`. */
size_t element_decode(element_coding_t coding, const uint8_t *src, size_t count, bool swap,
                      void *dst);

/* One element of 16 to 64 bits as decimal digits, for a sentence. */
void element_text(element_coding_t coding, const uint8_t *src, bool swap, char *text, size_t size);

/* The type of a word that a user may say: "int4", "e4m3", "bf16", a name of NumPy's or ours. False
 * if nobody knows it. */
bool element_from_word(const char *word, tcgemm_dtype_t *dtype);

#endif /* TCGEMM_CLI_ELEMENT_H */
