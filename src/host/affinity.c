/* affinity.c - see affinity.h. */
#include "host/affinity.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { WORD_BITS = 8 * sizeof(unsigned long) };

bool tcgemm_affinity_get(tcgemm_cpu_mask_t *mask) {
    memset(mask, 0, sizeof *mask);
    return sched_getaffinity(0, sizeof *mask, (cpu_set_t *)(void *)mask) == 0;
}

void tcgemm_affinity_set(const tcgemm_cpu_mask_t *mask) {
    (void)sched_setaffinity(0, sizeof *mask, (const cpu_set_t *)(const void *)mask);
}

int tcgemm_cpu_count(void) {
    tcgemm_cpu_mask_t mask;
    int count = 0;
    if (!tcgemm_affinity_get(&mask))
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < TCGEMM_MASK_CPUS / WORD_BITS; ++i)
        if (mask.words[i]) /* a call, where the processor's instruction may not be used */
            count += __builtin_popcountl(mask.words[i]);
    return count > 0 ? count : 1;
}

int tcgemm_first_cpu(void) {
    tcgemm_cpu_mask_t mask;
    if (tcgemm_affinity_get(&mask))
        for (int i = 0; i < TCGEMM_MASK_CPUS / WORD_BITS; ++i)
            if (mask.words[i])
                return i * WORD_BITS + __builtin_ctzl(mask.words[i]);
    return 0;
}
