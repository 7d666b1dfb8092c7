/* context.h - device and threads behind a tcgemm_context_t. */
#ifndef TCGEMM_API_CONTEXT_H
#define TCGEMM_API_CONTEXT_H

#include "tcgemm/tcgemm.h"

struct tcgemm_context {
    int num_threads;
    int device; /* a GPU's number, TCGEMM_DEVICE_CPU or TCGEMM_DEVICE_AUTO */
};

/* Threads of a context; NULL is the default one. */
int tcgemm_context_threads(const tcgemm_context_t *context);

/* Its device; AUTO for NULL. */
int tcgemm_context_device(const tcgemm_context_t *context);

#endif
