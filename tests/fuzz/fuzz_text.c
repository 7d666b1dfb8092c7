/* fuzz_text.c - any bytes as rows of numbers and as a Matrix Market file: either a sound matrix,
 * all of whose numbers can be read, or a printable sentence. */
#include <stdlib.h>
#include <string.h>

#include "files/text_matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t num_bytes);

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_message(const file_error_t *err) {
    require(err->exit_status == FILE_EXIT_BAD_FILE || err->exit_status == FILE_EXIT_NO_MEMORY);
    require(memchr(err->message, '\0', sizeof err->message) != NULL);
    require(strncmp(err->message, "fuzz: ", 6) == 0);
    for (const char *p = err->message; *p; p++)
        require((unsigned char)*p >= 0x20 && *p != 0x7F);
}

static void check_matrix(const text_matrix_t *m, size_t num_bytes) {
    require(m->rows >= 0 && m->cols >= 0);
    const size_t count = (size_t)m->rows * (size_t)m->cols;
    require(count <= 2 * (num_bytes + (size_t)m->rows));
    volatile double last = 0; /* reads each element, for the address sanitizer */
    for (size_t i = 0; i < count; i++)
        last = m->values[i];
    (void)last;
    free(m->values);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t num_bytes) {
    text_matrix_t matrix;
    file_error_t err;
    if (rows_parse(bytes, num_bytes, "fuzz", &matrix, &err))
        check_matrix(&matrix, num_bytes);
    else
        check_message(&err);
    if (mtx_parse(bytes, num_bytes, "fuzz", &matrix, &err))
        check_matrix(&matrix, num_bytes);
    else
        check_message(&err);
    return 0;
}
