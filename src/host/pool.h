/* pool.h - the library's own threads.
 *
 * One pool serves the process. A call that finds it busy (another thread's product) runs alone in
 * the caller: the bits are the same for any number of threads. Workers spin for a moment between
 * jobs, then sleep, and end after a second without one; a forked child starts with an empty pool
 * and makes its own. In a job they work in the default floating-point modes (fpmode.h) on the
 * processors of its caller; of signals they take what thread_signals.h says.
 * (Not OpenMP: libgomp hangs in a child forked after use.)
 */
#ifndef TCGEMM_CPU_POOL_H
#define TCGEMM_CPU_POOL_H

#include <stdatomic.h>

typedef void tcgemm_task_fn(void *argument, int thread, int num_threads);

/* Calls task(argument, t, n) for t = 0 .. n-1 at once, t = 0 in the caller, and returns when all
 * are done. n is num_threads, or less if threads cannot be had. */
void tcgemm_pool_run(int num_threads, tcgemm_task_fn *task, void *argument);

/* Where the threads of one job wait for one another. Start with {0}. */
typedef struct tcgemm_barrier {
    atomic_uint arrived;
    atomic_uint generation;
    atomic_uint sleepers;
} tcgemm_barrier_t;

void tcgemm_barrier_wait(tcgemm_barrier_t *barrier, int num_threads);

#endif
