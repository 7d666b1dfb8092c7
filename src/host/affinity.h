/* affinity.h - the processors that a thread may run on. */
#ifndef TCGEMM_HOST_AFFINITY_H
#define TCGEMM_HOST_AFFINITY_H

#include <stdbool.h>

enum { TCGEMM_MASK_CPUS = 4096 };

typedef struct tcgemm_cpu_mask {
    unsigned long words[TCGEMM_MASK_CPUS / (8 * sizeof(unsigned long))];
} tcgemm_cpu_mask_t;

/* Those of the calling thread; false where the kernel does not tell. One system call. */
bool tcgemm_affinity_get(tcgemm_cpu_mask_t *mask);

/* Moves the calling thread to them, if the kernel lets it. */
void tcgemm_affinity_set(const tcgemm_cpu_mask_t *mask);

/* The number of processors that the calling thread may run on, at least 1. */
int tcgemm_cpu_count(void);

/* The first of them. */
int tcgemm_first_cpu(void);

#endif
