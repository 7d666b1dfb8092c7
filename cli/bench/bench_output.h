/* bench_output.h - where the rows of `bench` go as they come: the screen, and a CSV file that
 * grows.
 *
 * Whoever stops a long measurement keeps what was measured. JSON, one document, is written at the
 * end by whoever ends the run. */
#ifndef CLI_BENCH_OUTPUT_H
#define CLI_BENCH_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "options/options.h"
#include "tables/table_writer.h"

typedef struct bench_output {
    const settings_t *settings;
    const char *path;    /* of the CSV file; NULL: none */
    size_t append_after; /* this many bytes of it; 0: it is begun anew */
    FILE *csv;           /* open from the first row on */
    size_t num_written;  /* rows */
} bench_output_t;

/* Remembers what is wanted; nothing is opened. `append_after`: the bytes of --resume's file to
 * keep. */
void bench_output_begin(bench_output_t *output, const settings_t *settings, size_t append_after);

/* Writes the rows that were added since the last time, and flushes them. Returns an exit status,
 * having told a fault of the file (that of stdout is told when the tool ends). */
int bench_output_rows(bench_output_t *output, table_t *table);

/* Returns an exit status, likewise. */
int bench_output_close(bench_output_t *output);

#endif
