/* job.h - the operands of one `run`, from files or at random, ready for the library. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "files/matrix.h"
#include "files/print.h"
#include "measure/workload.h"
#include "options/options.h"
#include "tcgemm/tcgemm.h"

typedef struct job {
    const settings_t *settings;
    tcgemm_problem_t problem; /* as the library gets it: a file in the other order is a transpose */
    bool from_files;
    matrix_t files[3]; /* A, B, C, converted to the types of the problem */
    matrix_t bias_file;
    workload_t random;
    const void *a, *b;
    const void *c;        /* to pass to the run; D itself in place; NULL */
    const void *c_before; /* what C held, for the verification */
    const void *bias;     /* n elements of D's type, or NULL */
    void *d;
    void *blocks[3]; /* D, C in the order of the problem, the bias */
} job_t;

/* Loads or makes everything, D included. Returns an exit status, having told the fault; the job is
 * to be freed in any case. */
int job_create(job_t *job, const settings_t *settings);
void job_free(job_t *job);

/* What to run, and with c_before in C's place to verify. */
tcgemm_data_t job_data(const job_t *job);

/* Brings a D that is C itself back to C's values, before another run. */
void job_reset(job_t *job);

/* How to print operand 'A', 'B', 'C' or 'D': as the user gave it. */
print_view_t job_view(const job_t *job, char operand);

/* D as the array that a file gets; its data stay the job's. */
matrix_t job_result(const job_t *job);

#endif
