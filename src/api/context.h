/* context.h - device and threads behind a tcgemm_context_t. */
#ifndef TCGEMM_API_CONTEXT_H
#define TCGEMM_API_CONTEXT_H

#include "tcgemm/tcgemm.h"

struct tcgemm_context {
    int num_threads;
};

/* Threads of a context; NULL is the default one. */
int tcgemm_context_threads(const tcgemm_context_t *context);

#endif
