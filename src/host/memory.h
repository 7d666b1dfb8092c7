/* memory.h - workspaces that are kept from call to call, so that a product does not pay for fresh
 * pages each time. */
#ifndef TCGEMM_CPU_MEMORY_H
#define TCGEMM_CPU_MEMORY_H

#include <stddef.h>

typedef struct tcgemm_workspace {
    void *data; /* 64-byte aligned; NULL: there was no memory */
    size_t bytes;
} tcgemm_workspace_t;

/* At least `bytes` bytes, from the kept ones or from malloc. */
tcgemm_workspace_t tcgemm_workspace_take(size_t bytes);

/* Keeps or frees it. */
void tcgemm_workspace_give_back(tcgemm_workspace_t workspace);

#endif
