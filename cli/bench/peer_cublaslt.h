/* peer_cublaslt.h - cublasLt, opened at run time so that nothing here depends on it.
 *
 * For one problem it is asked for many proposals, each is timed, and the best one stands for it. */
#ifndef CLI_PEER_CUBLASLT_H
#define CLI_PEER_CUBLASLT_H

#include <stdbool.h>

#include "bench/gpu_clock.h"
#include "bench/gpu_data.h"
#include "tcgemm/tcgemm.h"

typedef struct cublaslt cublaslt_t;           /* the library */
typedef struct cublaslt_plan cublaslt_plan_t; /* one problem */

/* NULL with a clause in `why` if the library is not there or lacks a function. The clock is used
 * until the library is closed. */
cublaslt_t *cublaslt_open(gpu_clock_t *clock, int device, const char **why);
void cublaslt_close(cublaslt_t *lt); /* NULL is fine */

/* "13.0.2" */
const char *cublaslt_version(const cublaslt_t *lt);

/* Times the proposals for a problem that was placed on operands that may be overwritten, and keeps
 * the best. NULL if it has no algorithm. */
cublaslt_plan_t *cublaslt_plan(cublaslt_t *lt, const tcgemm_problem_t *problem, double alpha,
                               double beta, const gpu_set_t *set);
void cublaslt_plan_free(cublaslt_plan_t *plan); /* NULL is fine */

/* Queues D = alpha*op(A)*op(B) + beta*C in the clock's stream. False if the library refuses. */
bool cublaslt_run(const cublaslt_plan_t *plan, const gpu_set_t *set);

#endif
