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
#include <stdint.h>

/* Work that is done in phases, each so many items in any order; no item of a phase begins before
 * all of the last one are done. */
typedef struct tcgemm_work {
    /* Prepares the next phase, while nobody does anything else, and returns the number of its
     * items, of which the caller alone would do all; 0: that was the last one. */
    int64_t (*next_phase)(void *argument);
    /* One item, by thread 0 .. num_threads - 1, which does no other one meanwhile. */
    void (*do_item)(void *argument, int thread, int64_t item);
    void *argument;
} tcgemm_work_t;

/* Does all phases: the caller takes items and so do the workers that come, at most num_threads
 * threads in all. Nobody waits for a thread that holds no item, be it that it has not begun, has no
 * processor or cannot be had. */
void tcgemm_pool_work(int num_threads, const tcgemm_work_t *work);

typedef void tcgemm_task_fn(void *argument, int thread, int num_threads);

/* Calls task(argument, t, n) for t = 0 .. n-1 at once, t = 0 in the caller, and returns when all
 * are done. n is num_threads, or less if threads cannot be had. */
void tcgemm_pool_run(int num_threads, tcgemm_task_fn *task, void *argument);

/* Where the threads of one task wait for one another. Start with {0}. */
typedef struct tcgemm_barrier {
    atomic_uint arrived;
    atomic_uint generation;
    atomic_uint asleep;
} tcgemm_barrier_t;

void tcgemm_barrier_wait(tcgemm_barrier_t *barrier, int num_threads);

#endif
