/* file_error.c - one printable line about a file. */
#include "files/file_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_NAME 200

/* A newline or an escape sequence in a file's name, or in a name that a file holds, must not reach
 * the terminal. 0xC2 0x80..0x9F are the control characters that UTF-8 writes in two bytes. */
static void replace_control_characters(char *text) {
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7F)
            *p = '?';
        else if (*p == 0xC2 && p[1] >= 0x80 && p[1] <= 0x9F)
            p[0] = p[1] = '?';
    }
}

bool(file_fail)(file_error_t *err, int exit_status, const char *name, const char *format, ...) {
    const size_t length = strlen(name);
    const bool cut = length > LONGEST_NAME;
    const size_t size = sizeof err->message;

    err->exit_status = exit_status;
    const int begun = snprintf(err->message, size, "%s%s: ", cut ? "..." : "",
                               cut ? name + (length - LONGEST_NAME) : name);
    const size_t used = begun < 0 ? 0 : (size_t)begun; /* the name is short, so used < size */

    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->message + used, size - used, format, args);
    va_end(args);

    replace_control_characters(err->message);
    return false;
}
