/* verify_case.h - one product of `verify`: its description, its run, and the line that repeats it.
 */
#ifndef CLI_VERIFY_CASE_H
#define CLI_VERIFY_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

typedef struct verify_case {
    tcgemm_type_t type;
    const char *kernel;
    const char *device; /* as it was given; NULL */
    int64_t m, n, k;
    bool trans_a, trans_b, col_major;
    double alpha, beta;
    int64_t pad, batch;
    bool in_place, xor;
    uint32_t needs_flags; /* of the kernel */
    uint64_t seed;
} verify_case_t;

typedef enum verify_outcome { OUTCOME_RIGHT, OUTCOME_WRONG, OUTCOME_SKIPPED } verify_outcome_t;

/* Runs the case. `ratio` becomes the largest error as a fraction of its bound, `why` a clause about
 * a wrong or skipped one. Returns an exit status other than CLI_OK only if there is no memory. */
int verify_case_run(const verify_case_t *c, tcgemm_context_t *context, verify_outcome_t *outcome,
                    double *ratio, char *why, size_t why_size);

/* "tcgemm run -m 5 ...", the command that does the same. */
void verify_case_command(const verify_case_t *c, char *text, size_t size);

#endif
