/* workload.h - the random data of one problem, with everything that betrays a careless kernel:
 * canaries before and after D, marked padding, NaN where nothing may be read. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

typedef struct workload {
    tcgemm_problem_t problem;
    void *a, *b;
    void *c; /* what C held before the run; NaN if `c_is_read` is false */
    void *d; /* of the run; holds C already if `in_place` */
    bool in_place;
    void *blocks[4]; /* what to free */
} workload_t;

/* Allocates and fills the four operands of a problem that was placed. With `with_c` C is random,
 * otherwise full of NaN. Returns an exit status, having told the fault. */
int workload_create(workload_t *w, const tcgemm_problem_t *problem, uint64_t seed, bool with_c,
                    bool in_place);
void workload_free(workload_t *w);

/* What to pass to the library as C: D itself for a run in place. */
const void *workload_c(const workload_t *w);

/* Puts D into its state before the run again. */
void workload_reset(workload_t *w);

/* NULL if nothing but the m x n elements of D was written, else what was, in words. */
const char *workload_out_of_bounds(const workload_t *w);

/* malloc at a cache line; NULL without memory. */
void *workload_allocate(size_t bytes);

/* Tells before anything is allocated that `bytes` exceed the machine's memory. Returns an exit
 * status; `what` names what the bytes are for. */
int workload_check_memory(double bytes, const char *what);

#endif
