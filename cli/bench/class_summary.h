/* class_summary.h - what the measured rows of a class say of its goal. Pure: a table in, numbers
 * out. */
#ifndef CLI_CLASS_SUMMARY_H
#define CLI_CLASS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/suite.h"
#include "tables/csv.h"
#include "tables/table_writer.h"

typedef enum class_verdict {
    CLASS_MET,
    CLASS_MISSED,
    CLASS_UNFINISHED, /* not every problem has a row: a run was interrupted, or a kernel is wrong */
    CLASS_OPEN,       /* it has no goal */
    CLASS_UNKNOWN     /* nothing to judge by: no row, or no peer at any point */
} class_verdict_t;

typedef struct class_summary {
    int64_t problems;       /* that have a row */
    int64_t compared;       /* of them beside a peer */
    double geomean, worst;  /* of the ratio; 0: none */
    char worst_point[96];   /* "bf16_f32 NT 16x4096x4096 on 2" */
    const char *worst_peer; /* there; "": none. Belongs to the table that was read */
    double roof;            /* median fraction; 0: not known */
    const char *roof_is;    /* "peak", "memory", "both" or "" */
    double missed_by;       /* of the worst part of its goal what is reached, below 1 */
    class_verdict_t verdict;
} class_summary_t;

/* Which rows of a table that others may have written count. */
typedef struct class_key {
    const char *commit, *cpu, *device;
} class_key_t;

/* Of `rows`, a table of bench as CSV. Rows beside a peer that is not the best one do not count. */
class_summary_t class_summarize(const suite_class_t *class, const csv_t *rows,
                                const class_key_t *key);

/* "met", "missed", "unfinished", "no goal" or "no peer" */
const char *class_verdict_text(class_verdict_t verdict);

/* A line for each class that has a row, as a table; NULL without memory. `items` are the problems
 * that were to be measured. */
table_t *class_table(const suite_t *suite, const bench_items_t *items, const csv_t *rows,
                     const class_key_t *key);

#endif
