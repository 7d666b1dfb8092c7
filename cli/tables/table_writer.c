/* table_writer.c - cells are JSON values until they are written. */
#include "tables/table_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct table {
    const table_column_t *columns;
    size_t num_columns;
    json_t *cells;  /* all of them, row after row */
    json_t *hidden; /* the rows that a screen leaves out, in rising order */
    size_t *widths; /* of the columns on a screen, for the heading and the rows measured so far */
    size_t num_measured;
    bool out_of_memory;
};

enum { REAL_DIGITS = 17, CELL_SIZE = 64 };

table_t *table_new(const table_column_t *columns, size_t num_columns) {
    table_t *table = malloc(sizeof *table);
    if (!table)
        return NULL;
    *table = (table_t){.columns = columns,
                       .num_columns = num_columns,
                       .cells = json_array(),
                       .hidden = json_array()};
    table->widths = calloc(num_columns, sizeof *table->widths);
    table->out_of_memory = !table->cells || !table->hidden || !table->widths;
    return table;
}

void table_free(table_t *table) {
    if (table) {
        json_decref(table->cells);
        json_decref(table->hidden);
        free(table->widths);
    }
    free(table);
}

/* Takes the cell; json_array_append_new does so even when it fails. */
static void append(table_t *table, json_t *cell) {
    if (!table)
        json_decref(cell);
    else if (!cell || json_array_append_new(table->cells, cell) != 0)
        table->out_of_memory = true;
}

void table_text(table_t *table, const char *text) {
    append(table, json_string(text));
}

void table_integer(table_t *table, int64_t value) {
    append(table, json_integer(value));
}

void table_real(table_t *table, double value) {
    append(table, isfinite(value) ? json_real(value) : json_null());
}

void table_truth(table_t *table, bool value) {
    append(table, json_boolean(value));
}

void table_empty(table_t *table) {
    append(table, json_null());
}

size_t table_num_rows(const table_t *table) {
    return table && table->num_columns > 0 ? json_array_size(table->cells) / table->num_columns : 0;
}

void table_hide_row(table_t *table) {
    const json_int_t row = (json_int_t)table_num_rows(table) - 1;
    if (table && json_array_append_new(table->hidden, json_integer(row)) != 0)
        table->out_of_memory = true;
}

static bool is_hidden(const table_t *table, size_t row) {
    size_t low = 0;
    size_t high = json_array_size(table->hidden);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const size_t found = (size_t)json_integer_value(json_array_get(table->hidden, middle));
        if (found == row)
            return true;
        if (found < row)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static json_t *cell_at(const table_t *table, size_t row, size_t col) {
    return json_array_get(table->cells, row * table->num_columns + col);
}

/* As many digits as it takes to read the same value again. */
static void shortest_real(double value, char buffer[CELL_SIZE]) {
    for (int digits = 6; digits <= REAL_DIGITS; ++digits) {
        (void)snprintf(buffer, CELL_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            return;
    }
}

/* The cell as text: its own string, or `buffer`. */
static const char *cell_text(const json_t *cell, int digits, char buffer[CELL_SIZE]) {
    buffer[0] = '\0';
    if (json_is_string(cell))
        return json_string_value(cell);
    if (json_is_integer(cell))
        (void)snprintf(buffer, CELL_SIZE, "%lld", (long long)json_integer_value(cell));
    else if (json_is_boolean(cell))
        return json_is_true(cell) ? "yes" : "no";
    else if (json_is_real(cell) && digits)
        (void)snprintf(buffer, CELL_SIZE, "%.*g", digits, json_real_value(cell));
    else if (json_is_real(cell))
        shortest_real(json_real_value(cell), buffer);
    return buffer;
}

/* Columns on a screen, so that "µs" counts two. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text; ++text)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void widen(table_t *table, size_t col, size_t width) {
    if (table->widths[col] < width)
        table->widths[col] = width;
}

void table_set_width(table_t *table, const char *name, size_t width) {
    for (size_t col = 0; table && table->widths && col < table->num_columns; ++col)
        if (strcmp(table->columns[col].name, name) == 0)
            widen(table, col, width);
}

/* The rows that came since the last time. */
static void measure(table_t *table) {
    for (size_t col = 0; col < table->num_columns; ++col) {
        const table_column_t *column = &table->columns[col];
        widen(table, col, width_of(column->heading));
        for (size_t row = table->num_measured; row < table_num_rows(table); ++row) {
            char buffer[CELL_SIZE];
            if (!is_hidden(table, row))
                widen(table, col,
                      width_of(cell_text(cell_at(table, row, col), column->digits, buffer)));
        }
    }
    table->num_measured = table_num_rows(table);
}

static void pad(FILE *out, size_t count, char c) {
    while (count--)
        (void)putc(c, out);
}

/* One line of text or Markdown; a cell of `text[col]` each. */
static void write_aligned(FILE *out, const char *text, table_align_t align, size_t width,
                          bool last_of_text) {
    const size_t used = width_of(text);
    const size_t gap = width > used ? width - used : 0;
    if (align == TABLE_RIGHT)
        pad(out, gap, ' ');
    (void)fputs(text, out);
    if (align == TABLE_LEFT && !last_of_text)
        pad(out, gap, ' ');
}

static bool is_shown(const table_t *table, size_t col) {
    return table->columns[col].place != TABLE_MACHINES_ONLY;
}

static bool is_data(const table_t *table, size_t col) {
    return table->columns[col].place != TABLE_SCREEN_ONLY;
}

/* Row -1 is the heading. */
static void write_screen_row(const table_t *table, long row, bool md, FILE *out) {
    bool first = true;
    for (size_t col = 0; col < table->num_columns; ++col) {
        if (!is_shown(table, col))
            continue;
        const table_column_t *column = &table->columns[col];
        char buffer[CELL_SIZE];
        const char *text =
            row < 0 ? column->heading
                    : cell_text(cell_at(table, (size_t)row, col), column->digits, buffer);
        (void)fputs(md ? (first ? "| " : " | ") : (first ? "" : "  "), out);
        write_aligned(out, text, column->align, table->widths[col],
                      !md && col + 1 == table->num_columns);
        first = false;
    }
    (void)fputs(md ? " |\n" : "\n", out);
}

static void write_md_rule(const table_t *table, FILE *out) {
    for (size_t col = 0; col < table->num_columns; ++col) {
        if (!is_shown(table, col))
            continue;
        const bool right = table->columns[col].align == TABLE_RIGHT;
        (void)fputs("| ", out);
        pad(out, table->widths[col] - (right && table->widths[col] > 0), '-');
        (void)fputs(right ? ": " : " ", out);
    }
    (void)fputs("|\n", out);
}

/* CSV quotes as RFC 4180 says; TSV has no quotes, so a tab or newline becomes a blank. */
static void write_separated_cell(FILE *out, const char *text, bool tsv) {
    if (tsv) {
        for (; *text; ++text)
            (void)putc(*text == '\t' || *text == '\n' ? ' ' : *text, out);
    } else if (strpbrk(text, ",\"\n\r")) {
        (void)putc('"', out);
        for (; *text; ++text)
            (void)fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
        (void)putc('"', out);
    } else {
        (void)fputs(text, out);
    }
}

/* Row -1 is the heading. */
static void write_separated_row(const table_t *table, long row, bool tsv, FILE *out) {
    bool first = true;
    for (size_t col = 0; col < table->num_columns; ++col) {
        char buffer[CELL_SIZE];
        if (!is_data(table, col))
            continue;
        if (!first)
            (void)putc(tsv ? '\t' : ',', out);
        first = false;
        write_separated_cell(out,
                             row < 0 ? table->columns[col].name
                                     : cell_text(cell_at(table, (size_t)row, col), 0, buffer),
                             tsv);
    }
    (void)putc('\n', out);
}

static json_t *row_object(const table_t *table, size_t row) {
    json_t *object = json_object();
    for (size_t col = 0; object && col < table->num_columns; ++col)
        if (is_data(table, col) &&
            json_object_set(object, table->columns[col].name, cell_at(table, row, col)) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

bool table_write_json(const json_t *value, table_format_t format, FILE *out) {
    const size_t layout = format == TABLE_FORMAT_JSON ? JSON_INDENT(2) : JSON_COMPACT;
    char *text = json_dumps(value, layout | JSON_REAL_PRECISION(REAL_DIGITS));
    if (!text)
        return false;
    (void)fputs(text, out);
    (void)putc('\n', out);
    free(text);
    return true;
}

static bool write_line(const table_t *table, size_t row, FILE *out) {
    json_t *object = row_object(table, row);
    const bool good = object && table_write_json(object, TABLE_FORMAT_JSONL, out);
    json_decref(object);
    return good;
}

json_t *table_rows(const table_t *table) {
    json_t *rows = table && !table->out_of_memory ? json_array() : NULL;
    for (size_t row = 0; rows && row < table_num_rows(table); ++row)
        if (json_array_append_new(rows, row_object(table, row)) != 0) {
            json_decref(rows);
            return NULL;
        }
    return rows;
}

static bool write_document(const table_t *table, const char *schema, FILE *out) {
    json_t *rows = table_rows(table);
    json_t *document = rows ? json_pack("{s:s, s:O}", "schema", schema, "rows", rows) : NULL;
    const bool good = document && table_write_json(document, TABLE_FORMAT_JSON, out);
    json_decref(document);
    json_decref(rows);
    return good;
}

/* Row -1 is the heading. */
static bool write_row(const table_t *table, long row, table_format_t format, FILE *out) {
    switch (format) {
    case TABLE_FORMAT_TEXT:
    case TABLE_FORMAT_MD:
        if (row < 0 || !is_hidden(table, (size_t)row))
            write_screen_row(table, row, format == TABLE_FORMAT_MD, out);
        break;
    case TABLE_FORMAT_CSV:
    case TABLE_FORMAT_TSV:
        write_separated_row(table, row, format == TABLE_FORMAT_TSV, out);
        break;
    case TABLE_FORMAT_JSONL:
        return row < 0 || write_line(table, (size_t)row, out);
    case TABLE_FORMAT_JSON:
        break;
    }
    return true;
}

bool table_write_heading(table_t *table, table_format_t format, FILE *out) {
    if (!table || table->out_of_memory)
        return false;
    measure(table);
    (void)write_row(table, -1, format, out);
    if (format == TABLE_FORMAT_MD)
        write_md_rule(table, out);
    return true;
}

bool table_write_rows(table_t *table, table_format_t format, size_t first, FILE *out) {
    bool good = table && !table->out_of_memory;
    if (good)
        measure(table);
    for (size_t row = first; good && row < table_num_rows(table); ++row)
        good = write_row(table, (long)row, format, out);
    return good;
}

bool table_write(table_t *table, table_format_t format, const char *schema, FILE *out) {
    if (!table || table->out_of_memory)
        return false;
    return format == TABLE_FORMAT_JSON
               ? write_document(table, schema, out)
               : table_write_heading(table, format, out) && table_write_rows(table, format, 0, out);
}

static void flatten(table_t *table, const char *prefix, const json_t *value) {
    char name[CELL_SIZE * 2];
    const char *dot = prefix[0] ? "." : "";
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach((json_t *)(uintptr_t)value, key, member) {
            (void)snprintf(name, sizeof name, "%s%s%s", prefix, dot, key);
            flatten(table, name, member);
        }
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); ++i) {
            (void)snprintf(name, sizeof name, "%s%s%zu", prefix, dot, i);
            flatten(table, name, json_array_get(value, i));
        }
    } else {
        table_text(table, prefix);
        append(table, json_incref((json_t *)(uintptr_t)value));
    }
}

bool table_write_facts(const json_t *facts, table_format_t format, FILE *out) {
    static const table_column_t columns[] = {
        {"name", "name", TABLE_LEFT, 0, TABLE_EVERYWHERE},
        {"value", "value", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    };
    if (format == TABLE_FORMAT_JSON || format == TABLE_FORMAT_JSONL)
        return table_write_json(facts, format, out);
    table_t *table = table_new(columns, 2);
    flatten(table, "", facts);
    const bool good = table_write(table, format, "", out);
    table_free(table);
    return good;
}
