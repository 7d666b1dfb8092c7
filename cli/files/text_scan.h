/* text_scan.h - a cursor over numbers in a text, which knows its line for the message. */
#ifndef TCGEMM_CLI_TEXT_SCAN_H
#define TCGEMM_CLI_TEXT_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "files/file_error.h"

typedef struct text_scan {
    const char *at, *end;
    int64_t line; /* from 1 */
    const char *name;
    file_error_t *err;
} text_scan_t;

/* A text of `num_bytes` that need not end in a NUL; the mark that some editors begin files with is
 * passed over. */
text_scan_t text_scan_begin(const uint8_t *bytes, size_t num_bytes, const char *name,
                            file_error_t *err);

/* The next character, -1 at the end. */
int text_scan_peek(const text_scan_t *s);

void text_scan_skip_blanks(text_scan_t *s);

/* At the end of a line: goes to the next one. False if something else comes. */
bool text_scan_newline(text_scan_t *s);

/* To the end of this line. */
void text_scan_skip_line(text_scan_t *s);

/* A number as C writes it, nan and inf too; up to a blank, a comma, a semicolon, a # or the end of
 * the line. `whole`: in decimal digits, and such that an f64 holds it. Fails with the line and what
 * stands there. */
bool text_scan_number(text_scan_t *s, bool whole, double *value);

/* A size: a whole number in 0 .. 2^62. */
bool text_scan_size(text_scan_t *s, int64_t *value);

#endif /* TCGEMM_CLI_TEXT_SCAN_H */
