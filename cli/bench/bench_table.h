/* bench_table.h - a table that an earlier run of `bench` has written, for --resume. */
#ifndef CLI_BENCH_TABLE_H
#define CLI_BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/bench_rows.h"
#include "tables/csv.h"
#include "tcgemm/tcgemm.h"

typedef struct bench_table {
    csv_t csv;
    size_t num_bytes; /* of whole lines; 0: there is no file yet */
} bench_table_t;

/* What makes two rows the same measurement. */
typedef struct bench_key {
    const tcgemm_problem_t *problem;
    const tcgemm_plan_info_t *plan;
    int num_threads;
    bool cold;
    const char *peer; /* "": none; NULL: any */
    const char *class_name;
    int64_t pad;
    double beta;
    const char *cpu, *commit;
} bench_key_t;

/* Reads the file, which must have the columns of `rows`; one that is not there is an empty table.
 * Returns an exit status, having told the fault. */
int bench_table_read(bench_table_t *table, const char *path, const bench_rows_t *rows);
void bench_table_free(bench_table_t *table);

bool bench_table_has(const bench_table_t *table, const bench_key_t *key);

#endif
