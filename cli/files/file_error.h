/* What went wrong with a file: the exit status of the tool and one line for the user. */
#ifndef TCGEMM_CLI_FILE_ERROR_H
#define TCGEMM_CLI_FILE_ERROR_H

#include <stdbool.h>

/* The part of the tool's exit statuses that files can cause. */
#define FILE_EXIT_USAGE     2 /* the command line is wrong: an extension nobody knows, ... */
#define FILE_EXIT_BAD_FILE  3 /* a file that is missing, damaged, of another kind, not writable */
#define FILE_EXIT_NO_MEMORY 5

typedef struct file_error {
    int exit_status;   /* one of the above */
    char message[512]; /* one printable line without its newline: "A.npy: what is wrong" */
} file_error_t;

/* Fills `err` with "<name>: <the formatted reason>" and returns false, so that a caller can write
 * `return file_fail(...)`. A long name loses its beginning, so that the reason always fits; control
 * characters, which untrusted files may bring along, become '?'. */
bool file_fail(file_error_t *err, int exit_status, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* That it returns false, told to static analysers, which see one file at a time. */
static inline bool file_failed(bool result) {
    (void)result;
    return false;
}
#define file_fail(...) file_failed(file_fail(__VA_ARGS__))

#endif /* TCGEMM_CLI_FILE_ERROR_H */
