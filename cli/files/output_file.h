/* output_file.h - a text file that is there whole or not at all.
 *
 *     status = output_check(path, force);               before the work
 *     status = output_open(&output, path);               then write to output.stream
 *     status = output_close(&output, good);              temporary file -> path
 *
 * Every function returns an exit status and has told the fault when that is not CLI_OK. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum { OUTPUT_NAME_SIZE = PATH_MAX };

typedef struct output {
    FILE *stream;
    const char *path;
    char place[OUTPUT_NAME_SIZE]; /* where it is behind its links */
    char temporary[OUTPUT_NAME_SIZE];
} output_t;

/* That the file may and can be written. */
int output_check(const char *path, bool force);

/* Opens a temporary file beside `path`, which a signal removes. `output` stays where it is until
 * output_close; one output is open at a time. */
int output_open(output_t *output, const char *path);

/* Gives the file its name, or with `good` false, or if not all was written, removes it. */
int output_close(output_t *output, bool good);

#endif
