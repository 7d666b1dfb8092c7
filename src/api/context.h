/* context.h - device and threads behind a tcgemm_context_t. */
#ifndef TCGEMM_API_CONTEXT_H
#define TCGEMM_API_CONTEXT_H

#include "tcgemm/tcgemm.h"

struct tcgemm_device;

struct tcgemm_context {
    int num_threads; /* 0: as the environment and the caller's processors say, each time */
    int device; /* a GPU's number, TCGEMM_DEVICE_CPU, TCGEMM_DEVICE_AUTO or TCGEMM_DEVICE_KNOWN */
    const struct tcgemm_device *known; /* the GPU of TCGEMM_DEVICE_KNOWN, or NULL */
};

/* The most threads that the context gives a plan for the problem, here and now; a NULL context is
 * the default one. Without a number in the context this is a system call for all but problems that
 * one thread does anyway. */
int tcgemm_context_threads(const tcgemm_context_t *context, const tcgemm_problem_t *problem);

/* Its device; AUTO for NULL. */
int tcgemm_context_device(const tcgemm_context_t *context);

/* Its known GPU that need not be here, or NULL. */
const struct tcgemm_device *tcgemm_context_known(const tcgemm_context_t *context);

#endif
