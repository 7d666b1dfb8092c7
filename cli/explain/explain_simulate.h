/* explain_simulate.h - `tcgemm explain --simulate` and `--trace`: the plan's loop nest, run on the
 * CPU level by level and compared with A @ B. */
#ifndef CLI_EXPLAIN_SIMULATE_H
#define CLI_EXPLAIN_SIMULATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tcgemm/tcgemm.h"

enum { EXPLAIN_TRACE_LINES = 400 };

typedef struct explain_simulate_options {
    bool trace;          /* print the data path step by step, ahead of the summary */
    bool json;           /* the summary as one JSON object; the trace is an array in it */
    int64_t trace_lines; /* the most to print; 0: EXPLAIN_TRACE_LINES */
    uint64_t seed;       /* of the random operands */
    double alpha, beta;
    FILE *out;
} explain_simulate_options_t;

/* alpha 1, beta 0, text, no trace, to stdout. */
explain_simulate_options_t explain_simulate_options(void);

/* Simulates `plan`, which was made for `problem`, at all four depths on random operands, and prints
 * what was found. Returns CLI_OK, CLI_WRONG if a depth faults or differs from A @ B, or the exit
 * status of what went wrong, having printed it. */
int explain_simulate(const tcgemm_plan_t *plan, const tcgemm_problem_t *problem,
                     const explain_simulate_options_t *options);

/* The same as a JSON object for a larger one, which the caller owns; NULL if it could not be made
 * (*status says why). */
json_t *explain_simulate_data(const tcgemm_plan_t *plan, const tcgemm_problem_t *problem,
                              const explain_simulate_options_t *options, int *status);

#endif
