/* csv.c - one pass over a copy of the text, which the cells then share. */
#include "tables/csv.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader stands. Cells are moved to the left over the quotes that fall away, so `to`
 * never overtakes `at`. */
typedef struct reader {
    char *at, *to;
    const char *end;
    size_t line;
    size_t num_cells, capacity;
    csv_t *csv;
    char *why;
} reader_t;

static bool fail(reader_t *r, const char *reason) {
    (void)snprintf(r->why, CSV_ERROR_SIZE, "line %zu: %s", r->line, reason);
    return false;
}

static bool add_cell(reader_t *r, char *cell) {
    if (r->num_cells == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 256;
        char **more = realloc(r->csv->cells, capacity * sizeof *more);
        if (!more)
            return fail(r, "no memory for the table");
        r->csv->cells = more;
        r->capacity = capacity;
    }
    r->csv->cells[r->num_cells++] = cell;
    return true;
}

/* What stands between quotes; a doubled quote is one. */
static bool read_quoted(reader_t *r) {
    for (++r->at; r->at < r->end; ++r->at) {
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) {
            ++r->at;
            return true;
        }
        r->at += *r->at == '"';
        r->line += *r->at == '\n';
        *r->to++ = *r->at;
    }
    return fail(r, "a quote is not closed");
}

static bool is_line_end(const reader_t *r) {
    return r->at == r->end || *r->at == '\n' ||
           (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static bool read_cell(reader_t *r) {
    char *const cell = r->to;
    if (r->at < r->end && *r->at == '"') {
        if (!read_quoted(r))
            return false;
        if (!is_line_end(r) && *r->at != ',')
            return fail(r, "something follows a closing quote");
    } else {
        while (!is_line_end(r) && *r->at != ',')
            *r->to++ = *r->at++;
    }
    return add_cell(r, cell);
}

/* The cells of one line. The NUL of a cell takes the place of the comma or the line's end, once
 * that has been read. */
static bool read_line(reader_t *r) {
    for (;;) {
        if (!read_cell(r))
            return false;
        const bool last = is_line_end(r);
        r->at += !last || r->at == r->end ? 0 : *r->at == '\r';
        r->at += r->at < r->end;
        *r->to++ = '\0';
        if (last)
            return true;
    }
}

static bool read_lines(reader_t *r) {
    csv_t *csv = r->csv;
    for (; r->at < r->end; ++r->line) {
        if (is_line_end(r)) {
            r->at += *r->at == '\r' ? 2 : 1;
            continue;
        }
        const size_t before = r->num_cells;
        if (!read_line(r))
            return false;
        const size_t count = r->num_cells - before;
        if (csv->num_columns == 0)
            csv->num_columns = count;
        else if (count != csv->num_columns)
            return fail(r, "not as many cells as the heading");
        else
            ++csv->num_rows;
    }
    return csv->num_columns > 0 || fail(r, "there is no table");
}

bool csv_parse(const char *text, size_t length, csv_t *csv, char why[CSV_ERROR_SIZE]) {
    *csv = (csv_t){0};
    reader_t r = {.line = 1, .csv = csv, .why = why};
    if (memchr(text, '\0', length))
        return fail(&r, "a byte of zero is in it; it is no text");
    csv->text = malloc(length + 1);
    if (!csv->text)
        return fail(&r, "no memory for the table");
    memcpy(csv->text, text, length);
    csv->text[length] = '\0';
    r.at = r.to = csv->text;
    r.end = csv->text + length;
    const bool good = read_lines(&r);
    if (!good)
        csv_free(csv);
    return good;
}

void csv_free(csv_t *csv) {
    free(csv->cells);
    free(csv->text);
    *csv = (csv_t){0};
}

int csv_column(const csv_t *csv, const char *name) {
    for (size_t i = 0; i < csv->num_columns; ++i)
        if (strcmp(csv->cells[i], name) == 0)
            return (int)i;
    return -1;
}

char *csv_cell(const csv_t *csv, size_t row, int column) {
    if (column < 0)
        return csv->text + strlen(csv->text); /* the end of the first cell: "" */
    return csv->cells[(row + 1) * csv->num_columns + (size_t)column];
}
