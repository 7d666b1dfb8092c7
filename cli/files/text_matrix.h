/* text_matrix.h - matrices that are written down as numbers.
 *
 *     1.5, 2          a row a line; , or ; or blanks between      %%MatrixMarket matrix array real
 * general 3,   nan        numbers, one kind in a file;                2 2 # begins a comment 1.5 3
 * column after column
 */
#ifndef TCGEMM_CLI_TEXT_MATRIX_H
#define TCGEMM_CLI_TEXT_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include <tcgemm/tcgemm.h>

#include "files/file_error.h"

typedef struct text_matrix {
    double *values; /* on the heap, tight; the caller frees them */
    int64_t rows, cols;
    tcgemm_order_t order;
    bool whole; /* the file says that it holds integers */
} text_matrix_t;

/* Whether the bytes begin like a Matrix Market file. */
bool mtx_has_magic(const uint8_t *bytes, size_t num_bytes);

/* Both are pure: they touch nothing but their arguments and the heap. `name` is for the message.
 * Fail with FILE_EXIT_BAD_FILE, naming the line, or FILE_EXIT_NO_MEMORY; nothing is to be freed
 * then. */
bool mtx_parse(const uint8_t *bytes, size_t num_bytes, const char *name, text_matrix_t *out,
               file_error_t *err);
bool rows_parse(const uint8_t *bytes, size_t num_bytes, const char *name, text_matrix_t *out,
                file_error_t *err);

#endif /* TCGEMM_CLI_TEXT_MATRIX_H */
