/* call_log.h - who wants to know of each call: the application's hook, and the lines that
 * TCGEMM_VERBOSE asks for. */
#ifndef TCGEMM_API_CALL_LOG_H
#define TCGEMM_API_CALL_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "plan/plan.h"

/* A hook with its data, in one piece; hook NULL: only lines are wanted. */
typedef struct tcgemm_listener {
    tcgemm_call_hook_t hook;
    void *data;
    struct tcgemm_listener *next; /* of those that there have been */
} tcgemm_listener_t;

extern _Atomic(const tcgemm_listener_t *) tcgemm_listener;

/* Whether anybody listens, or may: the first call has yet to read the environment. */
static inline bool tcgemm_call_is_told(void) {
    return atomic_load_explicit(&tcgemm_listener, memory_order_relaxed) != NULL;
}

/* Before a call: the time, or 0 if nobody listens. */
static inline double tcgemm_call_begin(void) {
    return tcgemm_call_is_told() ? now_seconds() : 0.0;
}

/* Tells of a call with that plan, which began at `start` and has come to `status`. */
void tcgemm_call_tell(const struct tcgemm_plan *plan, double start, double alpha, double beta,
                      bool is_async, tcgemm_status_t status);

#endif
