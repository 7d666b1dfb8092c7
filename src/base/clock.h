/* clock.h - time on a clock that only goes forward. */
#ifndef TCGEMM_BASE_CLOCK_H
#define TCGEMM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double now_seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t now_nanoseconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
