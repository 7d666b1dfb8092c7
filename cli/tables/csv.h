/* csv.h - reads a table of comma-separated values, as table_writer writes them (RFC 4180). */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stddef.h>

enum { CSV_ERROR_SIZE = 160 };

typedef struct csv {
    char *text;   /* all cells, each ended by a NUL */
    char **cells; /* row after row; the first row is the heading */
    size_t num_columns;
    size_t num_rows; /* without the heading */
} csv_t;

/* Cuts `length` bytes into cells; every row has as many as the heading, empty lines do not count.
 * Returns false with a clause in `why`; there is then nothing to free. */
bool csv_parse(const char *text, size_t length, csv_t *csv, char why[CSV_ERROR_SIZE]);
void csv_free(csv_t *csv);

/* The column of that name, or -1. */
int csv_column(const csv_t *csv, const char *name);

/* A cell of row 0 .. num_rows - 1; "" for column -1. */
char *csv_cell(const csv_t *csv, size_t row, int column);

#endif
