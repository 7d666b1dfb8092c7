/* thread_signals.c - see thread_signals.h. */
#include "host/thread_signals.h"

#include <pthread.h>
#include <stddef.h>

void tcgemm_thread_signals(sigset_t *before) {
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF};
    sigset_t mask;
    (void)sigfillset(&mask);
    for (size_t i = 0; i < sizeof open / sizeof open[0]; ++i)
        (void)sigdelset(&mask, open[i]);
    (void)pthread_sigmask(SIG_SETMASK, &mask, before);
}
