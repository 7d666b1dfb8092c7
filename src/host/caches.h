/* caches.h - the data caches that one core sees. */
#ifndef TCGEMM_HOST_CACHES_H
#define TCGEMM_HOST_CACHES_H

#include <stddef.h>
#include <stdint.h>

typedef struct tcgemm_caches {
    size_t bytes[3]; /* of L1, L2 and L3; 0: unknown or none */
} tcgemm_caches_t;

/* Of a processor that the calling thread may run on, shared caches in full. From sysfs; where that
 * says nothing, or more than twice what CPUID says, from CPUID; else from sysconf, whose L3 may be
 * that of the whole package. */
tcgemm_caches_t tcgemm_cpu_caches(void);

/* The same of processor `cpu` from sysfs below `root` ("" for this machine's). */
tcgemm_caches_t tcgemm_caches_of_sysfs(const char *root, int cpu);

/* Bytes of a matrix that stays in the L2 cache while others pass through it: five eighths. Likewise
 * the same for the life of the process. */
size_t tcgemm_near_bytes(void);

/* Bytes beyond which a matrix that is read again and again lies in no cache: a part of the last
 * one, which others share. The same for the life of the process. */
size_t tcgemm_far_bytes(void);

/* The ways of a core's first data cache, and the bytes of one: lines so far apart share a set. As
 * CPUID says; no ways: unknown. The same for the life of the process. */
typedef struct tcgemm_ways {
    int ways;
    int64_t way_bytes;
} tcgemm_ways_t;

tcgemm_ways_t tcgemm_first_level(void);

#endif
