/* pool.c - threads, the way to wake them, and the barrier. Linux futexes do the sleeping. */
#include "host/pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static void futex_wait(atomic_uint *word, unsigned expected) {
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake_all(atomic_uint *word) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Returns when *word no longer is `old`. `sleepers` lets the waker skip the system call. */
static void wait_for_change(atomic_uint *word, unsigned old, atomic_uint *sleepers) {
    for (int spin = 0; spin < SPINS; ++spin) {
        if (atomic_load_explicit(word, memory_order_acquire) != old)
            return;
        relax();
    }
    atomic_fetch_add(sleepers, 1);
    while (atomic_load(word) == old)
        futex_wait(word, old);
    atomic_fetch_sub(sleepers, 1);
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
        wait_for_change(&barrier->generation, generation, &barrier->sleepers);
    }
}

/* `order` is the generation in its upper bits and the team's size in its lower 12: one word, so
 * that a worker outside the team never reads anything else of a job. Whoever is in the team may
 * read `task` and `argument`, for the caller waits for it. */
enum { TEAM_BITS = 12, TEAM_MASK = (1 << TEAM_BITS) - 1 };

static struct pool {
    pthread_mutex_t busy;
    pthread_t workers[MAX_WORKERS];
    int num_workers;
    atomic_uint order;
    atomic_uint order_sleepers;
    atomic_uint done; /* workers of the team that have finished */
    atomic_uint done_sleepers;
    atomic_bool stopping;
    tcgemm_task_fn *task;
    void *argument;
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER};

static void *worker_main(void *packed) {
    /* The index and the order seen at birth, in one pointer-sized word: nothing to allocate. */
    const int index = (int)((uintptr_t)packed & TEAM_MASK);
    unsigned seen = (unsigned)((uintptr_t)packed >> TEAM_BITS);
    for (;;) {
        wait_for_change(&pool.order, seen, &pool.order_sleepers);
        seen = atomic_load(&pool.order);
        if (atomic_load(&pool.stopping))
            return NULL;
        const int team = (int)(seen & TEAM_MASK);
        if (index + 1 >= team)
            continue;
        pool.task(pool.argument, index + 1, team);
        if (atomic_fetch_add(&pool.done, 1) + 1 == (unsigned)team - 1)
            wake_sleepers(&pool.done, &pool.done_sleepers);
    }
}

static void reset_in_child(void) {
    (void)pthread_mutex_init(&pool.busy, NULL);
    pool.num_workers = 0;
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
    if (pthread_mutex_trylock(&pool.busy) != 0)
        return;
    atomic_store(&pool.stopping, true);
    atomic_fetch_add(&pool.order, 1u << TEAM_BITS);
    futex_wake_all(&pool.order);
    for (int i = 0; i < pool.num_workers; ++i)
        (void)pthread_join(pool.workers[i], NULL);
    pool.num_workers = 0;
    atomic_store(&pool.stopping, false);
    (void)pthread_mutex_unlock(&pool.busy);
}

/* Signals belong to the application's threads. */
static void add_workers(int wanted) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, register_fork_handler);
    sigset_t all;
    sigset_t old;
    pthread_attr_t attributes;
    (void)sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
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

void tcgemm_pool_run(int num_threads, tcgemm_task_fn *task, void *argument) {
    if (num_threads > 1 && pthread_mutex_trylock(&pool.busy) == 0) {
        if (pool.num_workers < num_threads - 1)
            add_workers(num_threads - 1);
        const int team = pool.num_workers + 1 < num_threads ? pool.num_workers + 1 : num_threads;
        if (team > 1) {
            pool.task = task;
            pool.argument = argument;
            atomic_store(&pool.done, 0);
            const unsigned old = atomic_load(&pool.order);
            atomic_store(&pool.order, ((old >> TEAM_BITS) + 1) << TEAM_BITS | (unsigned)team);
            wake_sleepers(&pool.order, &pool.order_sleepers);
            task(argument, 0, team);
            unsigned done;
            while ((done = atomic_load(&pool.done)) != (unsigned)team - 1)
                wait_for_change(&pool.done, done, &pool.done_sleepers);
            (void)pthread_mutex_unlock(&pool.busy);
            return;
        }
        (void)pthread_mutex_unlock(&pool.busy);
    }
    task(argument, 0, 1);
}
