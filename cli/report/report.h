/* report.h - what `run` found out, as a screen of text or as data. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options/options.h"
#include "tcgemm/tcgemm.h"

typedef struct run_facts {
    const settings_t *settings;
    const tcgemm_type_info_t *type;
    tcgemm_problem_t problem;
    tcgemm_plan_info_t plan;
    bool c_is_read;
    tcgemm_run_stats_t stats; /* medians of the repetitions */
    bool verified;
    tcgemm_verify_report_t check;
    double extraction_seconds; /* writing the output file; < 0 if there is none */
} run_facts_t;

/* Total elementary operations: m*k + (2k-1)*m*n + 2*m*n for each batch item. */
double report_eops(const tcgemm_problem_t *problem);

/* Floating-point (or integer) operations: 2*m*n*k for each batch item. */
double report_flop(const tcgemm_problem_t *problem);

/* The whole screen, at most 100 columns. */
void report_text(const run_facts_t *facts, FILE *out);

/* The same facts as {"schema": "tcgemm.run/1", ...}, or as a table of names and values. Returns
 * false without memory. */
bool report_data(const run_facts_t *facts, table_format_t format, FILE *out);

/* "2 * A * B^T + 3 * C", for a heading. */
void report_formula(const settings_t *settings, char *text, size_t size);

/* "CORRECT", "WRONG" or "NOT VERIFIED". */
const char *report_verdict(const run_facts_t *facts);

/* Whether a GPU does the work. */
bool report_is_gpu(const run_facts_t *facts);

/* Input and output bytes, as the caller stores them. */
double report_input_bytes(const run_facts_t *facts);

#endif
