/* text.c - see text.h. */
#include "base/text.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tcgemm_text_begin(tcgemm_text_t *t, char *buffer, size_t size) {
    *t = (tcgemm_text_t){.buffer = buffer, .size = buffer ? size : 0};
    if (buffer && size > 0)
        buffer[0] = '\0';
    t->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (t->c_locale)
        t->callers_locale = uselocale(t->c_locale);
    t->callers_rounding = fegetround();
    (void)fesetround(FE_TONEAREST);
}

size_t tcgemm_text_end(tcgemm_text_t *t) {
    (void)fesetround(t->callers_rounding);
    if (t->c_locale) {
        (void)uselocale(t->callers_locale);
        freelocale(t->c_locale);
    }
    return t->length;
}

void tcgemm_text_add(tcgemm_text_t *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const size_t room = t->length < t->size ? t->size - t->length : 0;
    const int written = vsnprintf(room ? t->buffer + t->length : NULL, room, format, args);
    va_end(args);
    t->length += written > 0 ? (size_t)written : 0;
}

void tcgemm_text_put_bytes(tcgemm_text_t *t, const char *bytes, size_t count) {
    if (t->length < t->size) {
        const size_t room = t->size - t->length - 1;
        const size_t copied = count < room ? count : room;
        memcpy(t->buffer + t->length, bytes, copied);
        t->buffer[t->length + copied] = '\0';
    }
    t->length += count;
}

void tcgemm_text_put(tcgemm_text_t *t, const char *string) {
    tcgemm_text_put_bytes(t, string, strlen(string));
}

void tcgemm_text_char(tcgemm_text_t *t, char c) {
    tcgemm_text_put_bytes(t, &c, 1);
}
