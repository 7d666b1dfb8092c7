/* cpuid.h - the facts that the processor tells of itself: by CPUID, on Arm by way of the kernel.
 *
 * On a virtual machine each CPUID is a trap to the hypervisor, some ten to forty microseconds: as
 * long as a whole small product. So all of them are asked once in the life of the process.
 */
#ifndef TCGEMM_HOST_CPUID_H
#define TCGEMM_HOST_CPUID_H

#include <stdint.h>

enum { TCGEMM_CPUID_CACHES = 8 };

typedef struct tcgemm_cpuid_cache {
    int level;      /* 1, 2, 3; 0: no more caches */
    int holds_data; /* 1: data or unified */
    int ways;       /* 0: not told */
    uint64_t bytes;
} tcgemm_cpuid_cache_t;

typedef struct tcgemm_cpuid {
    char vendor[13]; /* "GenuineIntel"; "" where there is no CPUID */
    char brand[49];
    uint32_t family, model;
    uint32_t features;          /* TCGEMM_CPU_* whose registers the operating system saves */
    uint32_t base_mhz, max_mhz; /* leaf 0x16; 0: not told */
    tcgemm_cpuid_cache_t caches[TCGEMM_CPUID_CACHES];
} tcgemm_cpuid_t;

/* Asked at the first call, the same ever after. */
const tcgemm_cpuid_t *tcgemm_cpuid(void);

/* CPUID instructions that this process has executed here: for the test that plans need none. */
unsigned tcgemm_cpuid_executed(void);

#endif
