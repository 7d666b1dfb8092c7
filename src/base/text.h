/* text.h - text written into a caller's buffer, cut to its size, like snprintf. */
#ifndef TCGEMM_BASE_TEXT_H
#define TCGEMM_BASE_TEXT_H

#include <locale.h>
#include <stddef.h>

typedef struct tcgemm_text {
    char *buffer;
    size_t size, length; /* length counts what did not fit, too */
    locale_t c_locale, callers_locale;
    int callers_rounding;
} tcgemm_text_t;

/* Begins a text in `buffer`, which may be NULL. From here to the end this thread is in the locale
 * "C", so that a decimal point is a point, and rounds to nearest, so that a number has the same
 * digits for all callers (printf rounds as the thread does, by the x87 unit's mode, too). */
void tcgemm_text_begin(tcgemm_text_t *text, char *buffer, size_t size);

/* Gives the thread its locale and its rounding back. Returns the length of the whole, without the
 * NUL. */
size_t tcgemm_text_end(tcgemm_text_t *text);

void tcgemm_text_add(tcgemm_text_t *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tcgemm_text_put(tcgemm_text_t *text, const char *string);
void tcgemm_text_put_bytes(tcgemm_text_t *text, const char *bytes, size_t count);
void tcgemm_text_char(tcgemm_text_t *text, char c);

#endif
