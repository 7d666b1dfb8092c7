/* pool.c - threads, the way to offer them work, and the barrier. Linux futexes do the sleeping. */
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
    SPIN_NANOSECONDS = 50000, /* longer than the gap between two phases of one product */
    SPINS_PER_LOOK = 16       /* at the clock */
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleeps while *word is `expected`, until somebody wakes one of `bits`, or for `seconds` (0: no
 * end).
 */
static void futex_wait(atomic_uint *word, unsigned expected, unsigned bits, int seconds) {
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, seconds ? &end : NULL, NULL,
                  bits);
}

static void futex_wake(atomic_uint *word, unsigned bits) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, bits);
}

/* Returns false when *word no longer is `old`, true if it still is after a while. */
static bool spin(atomic_uint *word, unsigned old) {
    const uint64_t start = now_nanoseconds();
    do {
        for (int i = 0; i < SPINS_PER_LOOK; ++i) {
            if (atomic_load_explicit(word, memory_order_acquire) != old)
                return false;
            relax();
        }
    } while (now_nanoseconds() - start < SPIN_NANOSECONDS);
    return true;
}

/* Returns when *word no longer is `old`, or after `seconds` of sleep (0: never), then true. The
 * sleepers of a word note their bits in `asleep`, which lets the waker skip the system call. */
static bool wait_for_change(atomic_uint *word, unsigned old, atomic_uint *asleep, unsigned bit,
                            int seconds) {
    if (!spin(word, old))
        return false;
    const uint64_t end = now_nanoseconds() + (uint64_t)seconds * 1000000000u;
    for (;;) {
        atomic_fetch_or(asleep, bit);
        if (atomic_load(word) != old)
            return false;
        if (seconds && now_nanoseconds() >= end)
            return true;
        futex_wait(word, old, bit, seconds);
    }
}

/* The word must have been changed before, with sequential consistency: then either the sleeper sees
 * the change, or we see the sleeper. */
static void wake_sleepers(atomic_uint *word, atomic_uint *asleep, unsigned bits) {
    if ((atomic_load(asleep) & bits) == 0)
        return;
    const unsigned found = atomic_fetch_and(asleep, ~bits) & bits;
    if (found)
        futex_wake(word, found);
}

void tcgemm_barrier_wait(tcgemm_barrier_t *barrier, int num_threads) {
    if (num_threads == 1)
        return;
    const unsigned generation = atomic_load(&barrier->generation);
    if (atomic_fetch_add(&barrier->arrived, 1) + 1 == (unsigned)num_threads) {
        atomic_store(&barrier->arrived, 0);
        atomic_fetch_add(&barrier->generation, 1);
        wake_sleepers(&barrier->generation, &barrier->asleep, 1);
    } else {
        (void)wait_for_change(&barrier->generation, generation, &barrier->asleep, 1, 0);
    }
}

/* `offer` is what the pool has to give, in one word: the generation, whether each thread of the
 * team does one item of its own, the size of the team and how many items nobody has taken yet.
 *
 *     63 ...... 33   32     31 .. 20   19 .. 0
 *     generation     each   team       left
 *
 * Whoever takes an item lowers `left`; he then may read the rest of the job, which stays until the
 * item is done. Before that he reads nothing of it, so that a job need not wait for threads that
 * do nothing for it. (A thread would have to stop between reading the word and changing it for 2^31
 * phases to take an item of another one.) The one who finishes the last item of a phase offers the
 * next one. A team of 1 is no job, a team of 0 tells all workers to end.
 *
 * Workers end when the pool has not been used for IDLE_SECONDS: a process whose other threads are
 * all gone is then gone, too. Whoever finds that out takes `busy`, as for a job, and makes the
 * offer; the threads that end are joined by who needs new ones, or at unloading. */
enum { LEFT_BITS = 20, TEAM_BITS = 12, TEAM_MASK = (1 << TEAM_BITS) - 1, IDLE_SECONDS = 1 };
enum { MOST_LEFT = (1 << LEFT_BITS) - 1, GENERATION_SHIFT = LEFT_BITS + TEAM_BITS + 1 };
_Static_assert(MAX_WORKERS + 1 == TCGEMM_MAX_THREADS && TCGEMM_MAX_THREADS <= TEAM_MASK,
               "the largest team fits into an offer");

static struct pool {
    pthread_mutex_t busy; /* held by a job from begin to end, and to make or end workers */
    pthread_t workers[MAX_WORKERS];
    int num_workers; /* that take offers */
    int num_ended;   /* that have been told to end: the first of `workers`, to be joined */
    double used;     /* when the last job ended */
    atomic_uint_fast64_t offer;
    atomic_uint changes;         /* of the generation: what sleepers wait for, ... */
    atomic_uint asleep;          /* ... and their bits */
    atomic_uint_fast64_t undone; /* items of the phase */
    int64_t count;               /* of the phase; an item of the offer is `stride` of these */
    int64_t stride;
    uint64_t job;
    tcgemm_work_t work;
    tcgemm_task_fn *task; /* instead of work */
    bool has_processors;
    tcgemm_cpu_mask_t processors; /* that the caller may run on */
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER, .offer = (uint64_t)1 << LEFT_BITS};

static int team_of(uint64_t offer) {
    return (int)(offer >> LEFT_BITS & TEAM_MASK);
}

static int64_t left_of(uint64_t offer) {
    return (int64_t)(offer & MOST_LEFT);
}

/* The bit that wakes worker `index`; the caller has the last one, workers from 30 on share one. */
#define CALLER_BIT  (1u << 31)
#define WORKER_BITS (~CALLER_BIT)

static unsigned worker_bit(int index) {
    return 1u << (index < 30 ? index : 30);
}

static unsigned bits_of_team(int team) {
    return team == 0 || team > 31 ? WORKER_BITS : (1u << (team - 1)) - 1u;
}

static void offer(int team, bool each, int64_t left) {
    const uint64_t generation = (atomic_load(&pool.offer) >> GENERATION_SHIFT) + 1;
    atomic_store(&pool.offer, generation << GENERATION_SHIFT |
                                  (uint64_t)each << (LEFT_BITS + TEAM_BITS) |
                                  (uint64_t)team << LEFT_BITS | (uint64_t)left);
    atomic_fetch_add(&pool.changes, 1);
    wake_sleepers(&pool.changes, &pool.asleep,
                  team == 1 ? CALLER_BIT : bits_of_team(team) | CALLER_BIT);
}

/* With `busy` held. */
static void end_workers(void) {
    if (pool.num_workers == 0)
        return;
    pool.num_ended = pool.num_workers;
    pool.num_workers = 0;
    offer(0, false, 0);
}

/* With `busy` held. The last thread of a process runs its destructors: it may be one of these. */
static void join_ended(void) {
    for (int i = 0; i < pool.num_ended; ++i)
        if (!pthread_equal(pool.workers[i], pthread_self()))
            (void)pthread_join(pool.workers[i], NULL);
    if (pool.num_ended > 0)
        offer(1, false, 0);
    pool.num_ended = 0;
}

static void end_if_idle(void) {
    if (pthread_mutex_trylock(&pool.busy) != 0)
        return;
    if (now_seconds() - pool.used >= 0.9 * IDLE_SECONDS)
        end_workers();
    (void)pthread_mutex_unlock(&pool.busy);
}

/* ---- items ---- */

/* Takes an item of the offer for `thread`, if there is one; then the job is ours to look at. A
 * thread does one of a generation where each has its own. */
static bool take(uint64_t *offer, int thread, uint64_t *had) {
    for (;;) {
        const uint64_t generation = *offer >> GENERATION_SHIFT;
        const bool each = (*offer >> (LEFT_BITS + TEAM_BITS) & 1) != 0;
        if (thread >= team_of(*offer) || left_of(*offer) == 0 || (each && *had == generation))
            return false;
        if (atomic_compare_exchange_weak(&pool.offer, offer, *offer - 1)) {
            *had = generation;
            return true;
        }
    }
}

/* The number of items in an offer of `count`, so that they can be told. */
static int64_t offered_items(int64_t count) {
    pool.count = count;
    pool.stride = (count + MOST_LEFT - 1) / MOST_LEFT;
    const int64_t items = (count + pool.stride - 1) / pool.stride;
    atomic_store(&pool.undone, (uint64_t)items);
    return items;
}

/* The last item of a phase is done: nobody looks at the job now. */
static void go_on(int team) {
    const int64_t count = pool.task ? 0 : pool.work.next_phase(pool.work.argument);
    if (count > 0)
        offer(team, false, offered_items(count));
    else
        offer(1, false, 0);
}

/* The item that `taken` gave us. */
static void do_taken(uint64_t taken, int thread) {
    const int team = team_of(taken);
    if (pool.task) {
        pool.task(pool.work.argument, thread, team);
    } else {
        const int64_t first = (left_of(taken) - 1) * pool.stride;
        for (int64_t i = first; i < first + pool.stride && i < pool.count; ++i)
            pool.work.do_item(pool.work.argument, thread, pool.count - 1 - i);
    }
    if (atomic_fetch_sub(&pool.undone, 1) == 1)
        go_on(team);
}

/* ---- workers ---- */

/* Where the caller may run, so may who works for it. */
static void follow_caller(tcgemm_cpu_mask_t *mine, uint64_t *job) {
    if (*job == pool.job)
        return;
    *job = pool.job;
    if (!pool.has_processors || memcmp(mine, &pool.processors, sizeof *mine) == 0)
        return;
    *mine = pool.processors;
    tcgemm_affinity_set(mine);
}

static void *worker_main(void *index_of_mine) {
    TCGEMM_DEFAULT_FP_MODES;
    const int index = (int)(uintptr_t)index_of_mine;
    uint64_t had = UINT64_MAX;
    uint64_t job = 0;
    tcgemm_cpu_mask_t mine;
    (void)tcgemm_affinity_get(&mine);
    for (;;) {
        const unsigned changes = atomic_load(&pool.changes);
        uint64_t seen = atomic_load(&pool.offer);
        if (team_of(seen) == 0)
            return NULL;
        if (take(&seen, index + 1, &had)) {
            follow_caller(&mine, &job);
            do_taken(seen, index + 1);
        } else if (wait_for_change(&pool.changes, changes, &pool.asleep, worker_bit(index),
                                   IDLE_SECONDS)) {
            end_if_idle();
        }
    }
}

static void reset_in_child(void) {
    (void)pthread_mutex_init(&pool.busy, NULL);
    pool.num_workers = 0;
    pool.num_ended = 0;
    atomic_store(&pool.offer, (uint64_t)1 << LEFT_BITS);
    atomic_store(&pool.changes, 0);
    atomic_store(&pool.asleep, 0);
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
        const uintptr_t index = (uintptr_t)pool.num_workers; /* nothing to allocate */
        if (pthread_create(&pool.workers[pool.num_workers], &attributes, worker_main,
                           (void *)index) != 0) /* NOLINT(performance-no-int-to-ptr) */
            break;
        ++pool.num_workers;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* ---- jobs ---- */

/* With `busy` held. */
static void run_team(int team, tcgemm_task_fn *task, const tcgemm_work_t *work) {
    const int64_t count = task ? team : work->next_phase(work->argument);
    uint64_t had = UINT64_MAX;
    if (count == 0)
        return;
    pool.task = task;
    pool.work = *work;
    pool.has_processors = tcgemm_affinity_get(&pool.processors);
    ++pool.job;
    offer(team, task != NULL, offered_items(count));
    for (;;) {
        const unsigned changes = atomic_load(&pool.changes);
        uint64_t seen = atomic_load(&pool.offer);
        if (team_of(seen) == 1)
            break;
        if (take(&seen, 0, &had))
            do_taken(seen, 0);
        else
            (void)wait_for_change(&pool.changes, changes, &pool.asleep, CALLER_BIT, 0);
    }
    pool.used = now_seconds();
}

/* Returns the size of the team that did it, 1 if the caller has to do it alone. */
static int run_together(int num_threads, tcgemm_task_fn *task, const tcgemm_work_t *work) {
    int team = 1;
    if (num_threads <= 1 || pthread_mutex_trylock(&pool.busy) != 0)
        return 1;
    if (pool.num_workers < num_threads - 1)
        add_workers(num_threads - 1);
    team = pool.num_workers + 1 < num_threads ? pool.num_workers + 1 : num_threads;
    if (team > 1)
        run_team(team, task, work);
    (void)pthread_mutex_unlock(&pool.busy);
    return team;
}

void tcgemm_pool_run(int num_threads, tcgemm_task_fn *task, void *argument) {
    const tcgemm_work_t work = {.argument = argument};
    if (run_together(num_threads, task, &work) == 1)
        task(argument, 0, 1);
}

void tcgemm_pool_work(int num_threads, const tcgemm_work_t *work) {
    if (run_together(num_threads, NULL, work) > 1)
        return;
    for (int64_t count; (count = work->next_phase(work->argument)) > 0;)
        for (int64_t i = 0; i < count; ++i)
            work->do_item(work->argument, 0, i);
}
