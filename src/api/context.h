/* context.h - device and threads behind a tcgemm_context_t. */
#ifndef TCGEMM_API_CONTEXT_H
#define TCGEMM_API_CONTEXT_H

#include "tcgemm/tcgemm.h"

struct tcgemm_device;

struct tcgemm_context {
    int num_threads;
    int device; /* a GPU's number, TCGEMM_DEVICE_CPU, TCGEMM_DEVICE_AUTO or TCGEMM_DEVICE_KNOWN */
    const struct tcgemm_device *known; /* the GPU of TCGEMM_DEVICE_KNOWN, or NULL */
};

/* Threads of a context; NULL is the default one. */
int tcgemm_context_threads(const tcgemm_context_t *context);

/* Its device; AUTO for NULL. */
int tcgemm_context_device(const tcgemm_context_t *context);

/* Its known GPU that need not be here, or NULL. */
const struct tcgemm_device *tcgemm_context_known(const tcgemm_context_t *context);

#endif
