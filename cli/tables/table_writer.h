/* table_writer.h - one table, six formats: text, Markdown, CSV, TSV, JSON, JSON lines.
 *
 *     static const table_column_t columns[] = {
 *         {"kernel", "kernel", TABLE_LEFT, 0, TABLE_EVERYWHERE},
 *         {"time_median_seconds", "median s", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
 *     };
 *     table_t *table = table_new(columns, 2);
 *     table_text(table, "avx2_f32");
 *     table_real(table, 0.0123);
 *     bool good = table_write(table, TABLE_FORMAT_CSV, "tcgemm.bench/1", stdout);
 *     table_free(table);
 *
 * Cells are added row after row. Running out of memory is remembered: table_write then fails. */
#ifndef CLI_TABLE_WRITER_H
#define CLI_TABLE_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In the order of the values of --format. */
typedef enum table_format {
    TABLE_FORMAT_TEXT,
    TABLE_FORMAT_MD,
    TABLE_FORMAT_CSV,
    TABLE_FORMAT_TSV,
    TABLE_FORMAT_JSON,
    TABLE_FORMAT_JSONL
} table_format_t;

typedef enum table_align { TABLE_LEFT, TABLE_RIGHT } table_align_t;

/* A screen (text, Markdown) has 100 characters, so a column may be for machines only, or stand on a
 * screen for several of them. */
typedef enum table_place { TABLE_EVERYWHERE, TABLE_MACHINES_ONLY, TABLE_SCREEN_ONLY } table_place_t;

typedef struct table_column {
    const char *name;    /* with its unit: "time_median_seconds"; of CSV, TSV and JSON */
    const char *heading; /* of text and Markdown */
    table_align_t align;
    int digits; /* significant digits of a real in text and Markdown; 0: as many as it takes */
    table_place_t place;
} table_column_t;

typedef struct table table_t;

/* NULL without memory; the other calls accept that NULL. `columns` must outlive the table. */
table_t *table_new(const table_column_t *columns, size_t num_columns);
void table_free(table_t *table);

/* The next cell. */
void table_text(table_t *table, const char *text);
void table_integer(table_t *table, int64_t value);
void table_real(table_t *table, double value); /* NaN and infinities become empty */
void table_truth(table_t *table, bool value);  /* "yes" or "no"; true or false in JSON */
void table_empty(table_t *table);

/* Leaves the row that was added last out of text and Markdown. */
void table_hide_row(table_t *table);

size_t table_num_rows(const table_t *table);

/* Makes the column of that name at least so many characters wide on a screen, for tables that are
 * written before their last row is known. */
void table_set_width(table_t *table, const char *name, size_t width);

/* Writes a table as it grows: the heading, if the format has one, and the rows from `first` on.
 * Columns are as wide as the rows so far ask for. JSON is one document and cannot be written so:
 * nothing is. Both return false without memory. */
bool table_write_heading(table_t *table, table_format_t format, FILE *out);
bool table_write_rows(table_t *table, table_format_t format, size_t first, FILE *out);

/* The rows as an array of JSON objects; NULL without memory. */
json_t *table_rows(const table_t *table);

/* Writes the whole. JSON is {"schema": ..., "rows": [{...}]}, JSON lines one object a row. Returns
 * false without memory; a fault of the stream is left to ferror(). */
bool table_write(table_t *table, table_format_t format, const char *schema, FILE *out);

/* Writes a JSON value as JSON (indented) or as one line; for reports that are no table. */
bool table_write_json(const json_t *value, table_format_t format, FILE *out);

/* Writes an object of facts as a table of names and values; nested names are joined by dots. */
bool table_write_facts(const json_t *facts, table_format_t format, FILE *out);

#endif
