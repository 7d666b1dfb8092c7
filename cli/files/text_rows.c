/* text_rows.c - .csv, .tsv and .txt: a row a line.
 *
 * What separates two numbers is settled by the first pair. Another separator later is a fault, not
 * a guess: "1,5;2,5" is two numbers where decimals have commas, and four elsewhere. */
#include <inttypes.h>
#include <stdlib.h>

#include "files/text_matrix.h"
#include "files/text_scan.h"

typedef struct reader {
    text_scan_t scan;
    int separator; /* ',', ';' or ' '; 0: not met yet */
    double *values;
    size_t count, capacity;
    int64_t rows, cols; /* 0 before the first row is complete */
} reader_t;

static bool push(reader_t *r, double value) {
    if (r->count == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 1024;
        double *more = realloc(r->values, capacity * sizeof *more);
        if (more == NULL)
            return file_fail(r->scan.err, FILE_EXIT_NO_MEMORY, r->scan.name,
                             "out of memory for %zu numbers", capacity);
        r->values = more;
        r->capacity = capacity;
    }
    r->values[r->count++] = value;
    return true;
}

static bool at_end_of_row(const reader_t *r) {
    const int next = text_scan_peek(&r->scan);
    return next < 0 || next == '\n' || next == '\r' || next == '#';
}

/* What stands between two numbers of a row. */
static bool take_separator(reader_t *r) {
    text_scan_t *s = &r->scan;
    const int next = text_scan_peek(s);
    const int found = next == ',' || next == ';' ? next : ' ';
    if (r->separator == 0)
        r->separator = found;
    if (found != r->separator)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "line %" PRId64 " separates numbers by '%c', what stands before by '%c'",
                         s->line, found, r->separator);
    if (found == ' ')
        return true;
    s->at++;
    text_scan_skip_blanks(s);
    return true;
}

static bool take_row(reader_t *r) {
    text_scan_t *s = &r->scan;
    int64_t cols = 0;
    for (;;) {
        double value;
        const int next = text_scan_peek(s);
        if (next == ',' || next == ';' || at_end_of_row(r))
            return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                             "line %" PRId64 " has an empty field", s->line);
        if (!text_scan_number(s, false, &value) || !push(r, value))
            return false;
        cols++;
        text_scan_skip_blanks(s);
        if (at_end_of_row(r))
            break;
        if (!take_separator(r))
            return false;
    }
    if (r->rows > 0 && cols != r->cols)
        return file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                         "line %" PRId64 " has %" PRId64 " numbers, the first row %" PRId64,
                         s->line, cols, r->cols);
    r->cols = cols;
    r->rows++;
    return true;
}

static bool take_line(reader_t *r) {
    text_scan_t *s = &r->scan;
    text_scan_skip_blanks(s);
    if (!at_end_of_row(r) && !take_row(r))
        return false;
    if (text_scan_peek(s) == '#')
        text_scan_skip_line(s);
    return text_scan_newline(s) || text_scan_peek(s) < 0 ||
           file_fail(s->err, FILE_EXIT_BAD_FILE, s->name,
                     "line %" PRId64 " holds a carriage return that ends no line", s->line);
}

bool rows_parse(const uint8_t *bytes, size_t num_bytes, const char *name, text_matrix_t *out,
                file_error_t *err) {
    reader_t r = {.scan = text_scan_begin(bytes, num_bytes, name, err)};
    bool good = true;
    while (good && text_scan_peek(&r.scan) >= 0)
        good = take_line(&r);
    if (good && r.count == 0)
        good = file_fail(err, FILE_EXIT_BAD_FILE, name, "there are no numbers in it");
    if (!good) {
        free(r.values);
        return false;
    }
    *out = (text_matrix_t){
        .values = r.values, .rows = r.rows, .cols = r.cols, .order = TCGEMM_ROW_MAJOR};
    return true;
}
