/* vectors.h - all rows of D at once, through products with random vectors (after Freivalds).
 *
 * For a random vector x the residual  r = D x - (alpha A (B x) + beta C x)  costs as much as
 * reading the matrices, and r_i is the sum of the errors of row i with random signs. It cannot tell
 * which element is wrong, nor weigh each error by its own bound; it says which rows to look at. */
#ifndef TCGEMM_REF_VECTORS_H
#define TCGEMM_REF_VECTORS_H

#include <stdint.h>

#include "ref/judge.h"

/* How many sigma a residual must reach for its row to be suspected. */
#define TCGEMM_SUSPECT_SIGMAS 6.75
/* How large, in sigma, an error is that will be noticed. */
#define TCGEMM_CAUGHT_SIGMAS 10.0

typedef struct tcgemm_row_score {
    int64_t batch;
    int64_t row;
    double score; /* residual / expected size; DBL_MAX: surely wrong; NaN: not finite */
} tcgemm_row_score_t;

typedef struct tcgemm_vectors {
    int64_t num_rows;
    tcgemm_row_score_t *rows; /* owned; free() it */
    double sigma;             /* of the finite scores */
    double error;             /* the error of one element that makes one sigma in a median row */
} tcgemm_vectors_t;

/* Scores the rows by two independent vectors drawn from `seed`. With a batch so large that this
 * would take minutes, evenly spaced items are taken.
 * Returns OK or OUT_OF_MEMORY; nothing is to be freed then. */
tcgemm_status_t tcgemm_vectors_run(const tcgemm_judge_t *judge, uint64_t seed, int num_workers,
                                   tcgemm_vectors_t *out);

/* The next number of the generator splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t tcgemm_next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#endif
