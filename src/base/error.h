/* error.h - how a failing call says why.
 *
 * A function that can fail returns a status; the place that finds the fault also writes one
 * sentence for tcgemm_last_error(), naming the argument and its value. The sentence belongs to the
 * thread.
 */
#ifndef TCGEMM_BASE_ERROR_H
#define TCGEMM_BASE_ERROR_H

#include "tcgemm/tcgemm.h"

/* Records the sentence and returns the status, so that a fault is one line: return set(...). */
tcgemm_status_t tcgemm_error_set(tcgemm_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Between these two of a thread faults leave the sentence as it was: for what may fail without the
 * call failing. They nest. */
void tcgemm_error_hush(void);
void tcgemm_error_speak(void);

#define TCGEMM_RETURN_IF(condition, status, ...)                                                   \
    do {                                                                                           \
        if (condition)                                                                             \
            return tcgemm_error_set((status), __VA_ARGS__);                                        \
    } while (0)

#define TCGEMM_FORWARD(expression)                                                                 \
    do {                                                                                           \
        const tcgemm_status_t forwarded_ = (expression);                                           \
        if (forwarded_ != TCGEMM_STATUS_OK)                                                        \
            return forwarded_;                                                                     \
    } while (0)

#endif
