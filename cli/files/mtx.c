/* mtx.c - Matrix Market's dense arrays: general ones, and the lower triangle of symmetric ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/text_matrix.h"
#include "files/text_scan.h"

#define MAGIC "%%MatrixMarket"

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry_t;

enum { WORD = 32 };

bool mtx_has_magic(const uint8_t *bytes, size_t num_bytes) {
    return num_bytes >= strlen(MAGIC) &&
           strncasecmp((const char *)bytes, MAGIC, strlen(MAGIC)) == 0;
}

/* A word of the first line, cut to fit; "" at its end. */
static void take_word(text_scan_t *s, char word[WORD]) {
    size_t length = 0;
    text_scan_skip_blanks(s);
    for (int next; (next = text_scan_peek(s)) > ' '; s->at++)
        if (length + 1 < WORD)
            word[length++] = (char)next;
    word[length] = '\0';
}

static bool refuse(const text_scan_t *s, const char *word, const char *known) {
    return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                     "the first line says '%s', of which nothing but %s is read", word, known);
}

static bool take_banner(text_scan_t *s, bool *whole, symmetry_t *symmetry) {
    char word[5][WORD];
    for (int i = 0; i < 5; i++)
        take_word(s, word[i]);
    if (strcasecmp(word[0], MAGIC) != 0)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "not a Matrix Market file (it does not begin with " MAGIC ")");
    if (strcasecmp(word[1], "matrix") != 0)
        return refuse(s, word[1], "matrix");
    if (strcasecmp(word[2], "coordinate") == 0)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "a sparse matrix ('coordinate'); only dense ones ('array') are read");
    if (strcasecmp(word[2], "array") != 0)
        return refuse(s, word[2], "array");
    *whole = strcasecmp(word[3], "integer") == 0;
    if (!*whole && strcasecmp(word[3], "real") != 0 && strcasecmp(word[3], "double") != 0)
        return refuse(s, word[3], "real and integer");
    *symmetry = strcasecmp(word[4], "symmetric") == 0        ? SYMMETRIC
                : strcasecmp(word[4], "skew-symmetric") == 0 ? SKEW
                                                             : GENERAL;
    if (*symmetry == GENERAL && strcasecmp(word[4], "general") != 0)
        return refuse(s, word[4], "general, symmetric and skew-symmetric");
    text_scan_skip_line(s);
    (void)text_scan_newline(s);
    return true;
}

/* Over blanks, empty lines and comments to the next number. */
static void skip_to_number(text_scan_t *s) {
    for (;;) {
        text_scan_skip_blanks(s);
        if (text_scan_peek(s) == '%')
            text_scan_skip_line(s);
        if (!text_scan_newline(s))
            return;
    }
}

/* The numbers that follow, of which each takes a character at least: what claims more is refused
 * before memory is taken. */
static bool check_count(const text_scan_t *s, const text_matrix_t *m, symmetry_t symmetry) {
    int64_t all;
    if (symmetry != GENERAL && m->rows != m->cols)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "a symmetric matrix of %" PRId64 " x %" PRId64, m->rows, m->cols);
    const int64_t diagonal = symmetry == SKEW ? m->rows : 0;
    if (__builtin_mul_overflow(m->rows, m->cols, &all) ||
        all / (symmetry == GENERAL ? 1 : 2) > s->end - s->at + diagonal)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "the header says %" PRId64 " x %" PRId64 ", more than the file can hold",
                         m->rows, m->cols);
    return true;
}

static bool take_values(text_scan_t *s, text_matrix_t *m, symmetry_t symmetry) {
    const int64_t cols = m->rows > 0 ? m->cols : 0; /* which without rows may be any number */
    for (int64_t j = 0; j < cols; j++) {
        const int64_t first = symmetry == GENERAL ? 0 : symmetry == SYMMETRIC ? j : j + 1;
        if (symmetry == SKEW)
            m->values[j + j * m->rows] = 0;
        for (int64_t i = first; i < m->rows; i++) {
            double value;
            skip_to_number(s);
            if (text_scan_peek(s) < 0)
                return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                                 "the file ends before element [%" PRId64 "][%" PRId64
                                 "] of %" PRId64 " x %" PRId64,
                                 i, j, m->rows, m->cols);
            if (!text_scan_number(s, m->whole, &value))
                return false;
            m->values[i + j * m->rows] = value;
            if (symmetry != GENERAL)
                m->values[j + i * m->rows] = symmetry == SKEW ? -value : value;
        }
    }
    skip_to_number(s);
    return text_scan_peek(s) < 0 ||
           file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                     "line %" PRId64 " holds more than the %" PRId64 " x %" PRId64 " of the header",
                     s->line, m->rows, m->cols);
}

bool mtx_parse(const uint8_t *bytes, size_t num_bytes, const char *name, text_matrix_t *out,
               file_error_t *err) {
    text_scan_t s = text_scan_begin(bytes, num_bytes, name, err);
    text_matrix_t m = {.order = TCGEMM_COL_MAJOR};
    symmetry_t symmetry;
    if (!take_banner(&s, &m.whole, &symmetry))
        return false;
    skip_to_number(&s);
    if (!text_scan_size(&s, &m.rows) || !text_scan_size(&s, &m.cols) ||
        !check_count(&s, &m, symmetry))
        return false;
    const size_t count = (size_t)m.rows * (size_t)m.cols;
    m.values = count < SIZE_MAX / sizeof *m.values ? calloc(count + 1, sizeof *m.values) : NULL;
    if (m.values == NULL)
        return file_fail(err, FILE_EXIT_NO_MEMORY, name, "out of memory for %zu numbers", count);
    if (!take_values(&s, &m, symmetry)) {
        free(m.values);
        return false;
    }
    *out = m;
    return true;
}
