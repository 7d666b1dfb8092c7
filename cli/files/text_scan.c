/* text_scan.c - numbers are copied before strtod reads them: a mapped file has no end for it. The
 * tool never leaves the locale "C", so a decimal point is a point. */
#include "files/text_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 1024 }; /* 1e308 has 309 digits before its point */

text_scan_t text_scan_begin(const uint8_t *bytes, size_t num_bytes, const char *name,
                            file_error_t *err) {
    static const char mark[] = "\xEF\xBB\xBF";
    const char *at = (const char *)bytes;
    const char *end = at + num_bytes;
    if (num_bytes >= 3 && memcmp(at, mark, 3) == 0)
        at += 3;
    return (text_scan_t){.at = at, .end = end, .line = 1, .name = name, .err = err};
}

int text_scan_peek(const text_scan_t *s) {
    return s->at < s->end ? (unsigned char)*s->at : -1;
}

void text_scan_skip_blanks(text_scan_t *s) {
    while (text_scan_peek(s) == ' ' || text_scan_peek(s) == '\t')
        s->at++;
}

bool text_scan_newline(text_scan_t *s) {
    if (s->end - s->at >= 2 && s->at[0] == '\r' && s->at[1] == '\n')
        s->at++;
    if (text_scan_peek(s) != '\n')
        return false;
    s->at++;
    s->line++;
    return true;
}

void text_scan_skip_line(text_scan_t *s) {
    while (s->at < s->end && *s->at != '\n')
        s->at++;
}

/* Copies what stands up to the next delimiter. */
static bool take_word(text_scan_t *s, char word[MAX_NUMBER]) {
    size_t length = 0;
    while (s->at < s->end && *s->at != '\0' && strchr(" \t,;#\r\n", *s->at) == NULL) {
        if (length + 1 == MAX_NUMBER)
            return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                             "line %" PRId64 " holds a number of more than %d characters", s->line,
                             MAX_NUMBER - 1);
        word[length++] = *s->at++;
    }
    word[length] = '\0';
    return true;
}

static bool fail_number(const text_scan_t *s, const char *word, const char *why) {
    return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name, "line %" PRId64 " holds '%.40s', %s",
                     s->line, word, why);
}

static bool read_whole(const text_scan_t *s, const char *word, double *value) {
    char *end;
    errno = 0;
    const long long number = strtoll(word, &end, 10);
    if (end == word || *end != '\0')
        return fail_number(s, word, "which is no whole number");
    *value = (double)number;
    if (errno == ERANGE || fabs(*value) > 0x1p62 || (long long)*value != number)
        return fail_number(s, word, "which no type of ours holds");
    return true;
}

bool text_scan_number(text_scan_t *s, bool whole, double *value) {
    char word[MAX_NUMBER];
    char *end;
    if (!take_word(s, word))
        return false;
    if (whole)
        return read_whole(s, word, value);
    errno = 0;
    *value = strtod(word, &end);
    if (end == word || *end != '\0')
        return fail_number(s, word, "which is no number");
    if (errno == ERANGE && isinf(*value))
        return fail_number(s, word, "which is beyond the range of f64");
    return true;
}

bool text_scan_size(text_scan_t *s, int64_t *value) {
    double number;
    text_scan_skip_blanks(s);
    if (!text_scan_number(s, true, &number))
        return false;
    *value = (int64_t)number;
    if (number < 0)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "line %" PRId64 " holds a size below 0", s->line);
    return true;
}
