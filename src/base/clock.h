/* clock.h - time on a clock that only goes forward, and time that a thread had a core. */
#ifndef TCGEMM_BASE_CLOCK_H
#define TCGEMM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double now_seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_nanoseconds(void) {
    return nanoseconds_of(CLOCK_MONOTONIC);
}

/* Of the calling thread alone: it stands while the thread waits for a core. Costs a system call. */
static inline uint64_t thread_nanoseconds(void) {
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

#endif
