/* thread_signals.h - which signals our threads leave to the application's.
 *
 * Signals that other processes, timers and terminals send belong to the application, which decides
 * by its masks (or sigwait, or signalfd) which of its threads takes them. So our threads block them
 * all. Open stay
 *
 *     SIGSEGV SIGBUS SIGFPE SIGILL SIGTRAP SIGSYS   what a thread's own instructions raise: if it
 *                                                   were blocked, the kernel would kill the process
 *                                                   without asking the application's handler
 *     SIGABRT                                       abort() in a thread, for the same handlers
 *     SIGPROF                                       a profiler's clock: it must see our threads
 *
 * SIGVTALRM stays blocked: schedulers of user-level threads switch stacks in its handler.
 */
#ifndef TCGEMM_HOST_THREAD_SIGNALS_H
#define TCGEMM_HOST_THREAD_SIGNALS_H

#include <signal.h>

/* Sets the calling thread's mask to that of our threads, for those that it now creates, and says
 * what the mask was: give it back to pthread_sigmask. */
void tcgemm_thread_signals(sigset_t *before);

#endif
