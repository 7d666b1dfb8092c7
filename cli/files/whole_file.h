/* whole_file.h - all bytes of an input at once: a file is mapped, what can only be read in order (a
 * pipe, a terminal, the standard input "-") is read to its end. */
#ifndef TCGEMM_CLI_WHOLE_FILE_H
#define TCGEMM_CLI_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/file_error.h"

/* Pages of ours, to be given back with munmap. */
typedef struct whole_file {
    const uint8_t *bytes;
    size_t num_bytes;
} whole_file_t;

/* A descriptor to read from, or -1 with errno; "-" is the standard input. A named pipe waits for
 * its writer. */
int whole_file_open(const char *path);

/* Takes all bytes; there is at least one. Closes the descriptor. */
bool whole_file_take(int fd, const char *path, whole_file_t *file, file_error_t *err);

void whole_file_free(whole_file_t *file);

#endif /* TCGEMM_CLI_WHOLE_FILE_H */
