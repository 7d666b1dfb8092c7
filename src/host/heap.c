/* heap.c - see heap.h. */
#include "host/heap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uintptr_t heap_begin; /* UINTPTR_MAX: unknown */

/* The line "begin-end rw-p .. [heap]" of /proc/self/maps. */
static void find_begin(void) {
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "re");
    heap_begin = UINTPTR_MAX;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long begin;
        if (strstr(line, "[heap]") && sscanf(line, "%llx-", &begin) == 1) {
            heap_begin = (uintptr_t)begin;
            break;
        }
    }
    if (maps)
        (void)fclose(maps);
}

bool tcgemm_is_in_heap(const void *pointer) {
    const uintptr_t at = (uintptr_t)pointer;
    (void)pthread_once(&once, find_begin);
    return at >= heap_begin && at < (uintptr_t)sbrk(0);
}
