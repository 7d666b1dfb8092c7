/* pool.c - threads, the way to wake them, and the barrier. Linux futexes do the sleeping. */
#include "host/pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpmode.h"
#include "host/affinity.h"
#include "host/thread_signals.h"
#include "tcgemm/tcgemm.h"

enum {
    MAX_WORKERS = 4094, /* with the caller 4095, the largest team that TEAM_BITS can tell */
    STACK_BYTES = 256 * 1024,
    SPINS = 4000 /* some 20 to 60 us: longer than the gap between two steps of one product */
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool futex_wait(atomic_uint *word, unsigned expected, const struct timespec *timeout) {
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout, NULL, 0) == 0 ||
           errno != ETIMEDOUT;
}

static void futex_wake_all(atomic_uint *word) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Returns when *word no longer is `old`, or after `timeout` (NULL: none) of sleep, then false.
 * `sleepers` lets the waker skip the system call. */
static bool wait_for_change(atomic_uint *word, unsigned old, atomic_uint *sleepers,
                            const struct timespec *timeout) {
    for (int spin = 0; spin < SPINS; ++spin) {
        if (atomic_load_explicit(word, memory_order_acquire) != old)
            return true;
        relax();
    }
    atomic_fetch_add(sleepers, 1);
    bool in_time = true;
    while (atomic_load(word) == old && in_time)
        in_time = futex_wait(word, old, timeout);
    atomic_fetch_sub(sleepers, 1);
    return atomic_load(word) != old;
}

/* The word must have been changed before, with sequential consistency: then either the sleeper sees
 * the change, or we see the sleeper. */
static void wake_sleepers(atomic_uint *word, atomic_uint *sleepers) {
    if (atomic_load(sleepers) != 0)
        futex_wake_all(word);
}

void tcgemm_barrier_wait(tcgemm_barrier_t *barrier, int num_threads) {
    if (num_threads == 1)
        return;
    const unsigned generation = atomic_load(&barrier->generation);
    if (atomic_fetch_add(&barrier->arrived, 1) + 1 == (unsigned)num_threads) {
        atomic_store(&barrier->arrived, 0);
        atomic_fetch_add(&barrier->generation, 1);
        wake_sleepers(&barrier->generation, &barrier->sleepers);
    } else {
        (void)wait_for_change(&barrier->generation, generation, &barrier->sleepers, NULL);
    }
}

/* `order` is the generation in its upper bits and the team's size in its lower 12: one word, so
 * that a worker outside the team never reads anything else of a job. Whoever is in the team may
 * read the rest, for the caller waits for it. A team of 0 tells all workers to end.
 *
 * Workers end when the pool has not been used for IDLE_SECONDS: a process whose other threads are
 * all gone is then gone, too. Whoever finds that out takes `busy`, as for a job, and gives the
 * order; the threads that end are joined by who needs new ones, or at unloading. */
enum { TEAM_BITS = 12, TEAM_MASK = (1 << TEAM_BITS) - 1, IDLE_SECONDS = 1 };
_Static_assert(MAX_WORKERS + 1 == TCGEMM_MAX_THREADS && TCGEMM_MAX_THREADS <= TEAM_MASK,
               "the largest team fits into an order");

static struct pool {
    pthread_mutex_t busy; /* held by a job from begin to end, and to make or end workers */
    pthread_t workers[MAX_WORKERS];
    int num_workers; /* that take orders */
    int num_ended;   /* that have been told to end: the first of `workers`, to be joined */
    double used;     /* when the last job ended */
    atomic_uint order;
    atomic_uint order_sleepers;
    atomic_uint done; /* workers of the team that have finished */
    atomic_uint done_sleepers;
    tcgemm_task_fn *task;
    void *argument;
    bool has_processors;
    tcgemm_cpu_mask_t processors; /* that the caller may run on */
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER};

static void give_order(int team) {
    const unsigned generation = (atomic_load(&pool.order) >> TEAM_BITS) + 1;
    atomic_store(&pool.order, generation << TEAM_BITS | (unsigned)team);
    wake_sleepers(&pool.order, &pool.order_sleepers);
}

/* With `busy` held. */
static void end_workers(void) {
    if (pool.num_workers == 0)
        return;
    pool.num_ended = pool.num_workers;
    pool.num_workers = 0;
    give_order(0);
}

/* With `busy` held. The last thread of a process runs its destructors: it may be one of these. */
static void join_ended(void) {
    for (int i = 0; i < pool.num_ended; ++i)
        if (!pthread_equal(pool.workers[i], pthread_self()))
            (void)pthread_join(pool.workers[i], NULL);
    pool.num_ended = 0;
}

static void end_if_idle(void) {
    if (pthread_mutex_trylock(&pool.busy) != 0)
        return;
    if (now_seconds() - pool.used >= 0.9 * IDLE_SECONDS)
        end_workers();
    (void)pthread_mutex_unlock(&pool.busy);
}

/* ---- workers ---- */

/* Where the caller may run, so may who works for it. */
static void follow_caller(tcgemm_cpu_mask_t *mine) {
    if (!pool.has_processors || memcmp(mine, &pool.processors, sizeof *mine) == 0)
        return;
    *mine = pool.processors;
    tcgemm_affinity_set(mine);
}

static void do_share(int index, int team, tcgemm_cpu_mask_t *mine) {
    TCGEMM_DEFAULT_FP_MODES;
    follow_caller(mine);
    pool.task(pool.argument, index + 1, team);
    if (atomic_fetch_add(&pool.done, 1) + 1 == (unsigned)team - 1)
        wake_sleepers(&pool.done, &pool.done_sleepers);
}

static void *worker_main(void *packed) {
    static const struct timespec idle = {.tv_sec = IDLE_SECONDS};
    /* The index and the order seen at birth, in one pointer-sized word: nothing to allocate. */
    const int index = (int)((uintptr_t)packed & TEAM_MASK);
    unsigned seen = (unsigned)((uintptr_t)packed >> TEAM_BITS);
    tcgemm_cpu_mask_t mine;
    (void)tcgemm_affinity_get(&mine);
    for (;;) {
        if (!wait_for_change(&pool.order, seen, &pool.order_sleepers, &idle)) {
            end_if_idle();
            continue;
        }
        seen = atomic_load(&pool.order);
        const int team = (int)(seen & TEAM_MASK);
        if (team == 0)
            return NULL;
        if (index + 1 < team)
            do_share(index, team, &mine);
    }
}

static void reset_in_child(void) {
    (void)pthread_mutex_init(&pool.busy, NULL);
    pool.num_workers = 0;
    pool.num_ended = 0;
    atomic_store(&pool.order, 0);
    atomic_store(&pool.order_sleepers, 0);
    atomic_store(&pool.done, 0);
    atomic_store(&pool.done_sleepers, 0);
}

static void register_fork_handler(void) {
    (void)pthread_atfork(NULL, NULL, reset_in_child);
}

/* Workers die with the library, so that it can be unloaded and leaves no thread behind. */
__attribute__((destructor)) static void stop_workers(void) {
    struct timespec
        soon; /* a job may be under way in a process that exits, a worker be at its end */
    (void)clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    if (pthread_mutex_timedlock(&pool.busy, &soon) != 0)
        return;
    end_workers();
    join_ended();
    (void)pthread_mutex_unlock(&pool.busy);
}

static void add_workers(int wanted) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, register_fork_handler);
    sigset_t old;
    pthread_attr_t attributes;
    join_ended();
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    tcgemm_thread_signals(&old);
    while (pool.num_workers < wanted && pool.num_workers < MAX_WORKERS) {
        const uintptr_t start =
            (uintptr_t)atomic_load(&pool.order) << TEAM_BITS | (uintptr_t)pool.num_workers;
        if (pthread_create(&pool.workers[pool.num_workers], &attributes, worker_main,
                           (void *)start) != 0) /* NOLINT(performance-no-int-to-ptr) */
            break;
        ++pool.num_workers;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* ---- jobs ---- */

/* With `busy` held. */
static void run_team(int team, tcgemm_task_fn *task, void *argument) {
    pool.task = task;
    pool.argument = argument;
    pool.has_processors = tcgemm_affinity_get(&pool.processors);
    atomic_store(&pool.done, 0);
    give_order(team);
    task(argument, 0, team);
    unsigned done;
    while ((done = atomic_load(&pool.done)) != (unsigned)team - 1)
        (void)wait_for_change(&pool.done, done, &pool.done_sleepers, NULL);
    pool.used = now_seconds();
}

void tcgemm_pool_run(int num_threads, tcgemm_task_fn *task, void *argument) {
    int team = 1;
    if (num_threads > 1 && pthread_mutex_trylock(&pool.busy) == 0) {
        if (pool.num_workers < num_threads - 1)
            add_workers(num_threads - 1);
        team = pool.num_workers + 1 < num_threads ? pool.num_workers + 1 : num_threads;
        if (team > 1)
            run_team(team, task, argument);
        (void)pthread_mutex_unlock(&pool.busy);
    }
    if (team == 1)
        task(argument, 0, 1);
}
