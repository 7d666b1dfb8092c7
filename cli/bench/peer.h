/* peer.h - OpenBLAS, opened at run time so that nothing here depends on it. */
#ifndef CLI_PEER_H
#define CLI_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

typedef struct peer peer_t;

/* Opens the library; NULL with a clause in `why` if it is not there or lacks a function. */
peer_t *peer_open(const char **why);
void peer_close(peer_t *peer);

/* "0.3.21 ... SkylakeX": what the library says of itself. */
const char *peer_config(const peer_t *peer);

/* "openblas dgemm" for f64_f64, "openblas sgemm" for all other types: it has no more. */
const char *peer_name(tcgemm_type_t type);

/* The type whose data peer_run takes instead of `type`: f64_f64 or f32_f32. */
tcgemm_type_t peer_type(tcgemm_type_t type);

/* Whether its 32-bit sizes can hold the problem. */
bool peer_can(const tcgemm_problem_t *problem);

void peer_set_threads(peer_t *peer, int threads);

/* C = alpha*op(A)*op(B) + beta*C in place, for each item of the batch. The problem's type is
 * f32_f32 or f64_f64, and its leading dimensions are set. */
void peer_run(const peer_t *peer, const tcgemm_problem_t *problem, double alpha, const void *a,
              const void *b, double beta, void *c);

#endif
