/* interleave.h - several ways to one product, timed in turns.
 *
 *     round 1:  A B C   round 2:  A B C   ...
 *
 * so that a change of clock or load meets them alike, and the ratio of two candidates of one round
 * says more than the ratio of two medians. Of more than two the order is another one in each round,
 * by chance: each begins with caches that the one before has filled, some with much that nobody
 * else needs, and that is to meet all others alike.
 *
 * Threads of some libraries spin for a while when a call has ended, and would take the processor
 * from whoever comes next. On several threads there are therefore blocks with pauses:
 *
 *     pause a AAAAA  pause b BBBBB  pause c CCCCC  pause a AAAAA  ...
 *
 * The first call of a block wakes the candidate's threads and is not timed.
 *
 * A processor at its limit of power lowers its clock tenths of a second later, so in short turns a
 * candidate's clock is that of the other's heat. With steady_seconds > 0 a turn lasts as long, and
 * its first half is not timed:
 *
 *     aaaaAAAA  bbbbBBBB  aaaaAAAA  bbbbBBBB  ...
 */
#ifndef CLI_INTERLEAVE_H
#define CLI_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/gpu_clock.h"
#include "bench/gpu_data.h"
#include "bench/peer.h"
#include "bench/peer_cublaslt.h"
#include "measure/workload.h"
#include "tcgemm/tcgemm.h"

/* Operands to take one after the other: one copy, or beyond three times the last cache. */
typedef struct rotation {
    workload_t *copies;
    int64_t count, next;
} rotation_t;

typedef struct candidate {
    const tcgemm_plan_t *plan;  /* ours, or */
    const peer_product_t *peer; /* another library's, or */
    const cublaslt_plan_t *lt;  /* cublasLt */
    rotation_t *data;
    gpu_clock_t *clock; /* on a GPU: times the calls there, on these operands; else NULL */
    gpu_data_t *gpu;
    void *workspace; /* of ours on a GPU; NULL: it wants none */
    size_t workspace_bytes;
    double alpha, beta;
    int64_t inner; /* calls per sample, so that one sample is not below the clock's grain */
    double *samples;
    double sum;  /* of the time spent */
    double last; /* of it for the last sample */
    int whose;   /* turn it is when that of this place in a round has come: a candidate's number */
} candidate_t;

typedef struct sampling_limits {
    int64_t min_samples;
    double min_seconds;    /* per candidate */
    double pause_seconds;  /* > 0: in blocks with pauses */
    double steady_seconds; /* > 0: in turns as long, no pauses */
} sampling_limits_t;

enum { INTERLEAVE_MAX_SAMPLES = 100000 };

/* Fills a rotation with random data of a problem that was placed. Returns an exit status. */
int rotation_create(rotation_t *data, const tcgemm_problem_t *problem, uint64_t seed, bool with_c,
                    double min_bytes);
/* The bytes that it would take. */
double rotation_bytes(const tcgemm_problem_t *problem, double min_bytes);
void rotation_free(rotation_t *data);

/* One call of the candidate on its next operands. Returns an exit status. */
int candidate_call(const candidate_t *c);

/* Times all candidates; each gets *num_samples samples. Returns an exit status, CLI_INTERRUPTED
 * where a deferred signal has come. */
int interleave_run(candidate_t *candidates, int count, const sampling_limits_t *limits,
                   int64_t *num_samples);
void candidates_free(candidate_t *candidates, int count);

#endif
