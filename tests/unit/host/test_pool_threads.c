/* The pool: every member is called once, whatever was asked; callers at once, teams that grow and
 * shrink, the barrier; work in phases, whoever comes, beside threads that take the processors.
 * ("threads" in the name: the thread sanitizer runs it, too.)
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/num.h"
#include "host/pool.h"
#include "support/support.h"

enum { MOST = 64 };

typedef struct roll {
    atomic_int calls[MOST];
    atomic_int team;
    int plain[MOST]; /* written by members without any lock, read after the call */
} roll_t;

static void call_roll(void *argument, int thread, int num_threads) {
    roll_t *roll = argument;
    atomic_fetch_add(&roll->calls[thread], 1);
    atomic_store(&roll->team, num_threads);
    roll->plain[thread] = thread + 1;
}

static void check_roll(int wanted) {
    roll_t roll;
    memset(&roll, 0, sizeof roll);
    tcgemm_pool_run(wanted, call_roll, &roll);
    const int team = atomic_load(&roll.team);
    if (team < 1 || team > (wanted > 1 ? wanted : 1))
        report_failure("asked for %d threads, got %d", wanted, team);
    for (int t = 0; t < MOST; ++t)
        if (atomic_load(&roll.calls[t]) != (t < team) || roll.plain[t] != (t < team ? t + 1 : 0))
            report_failure("%d threads: member %d was called %d times", team, t,
                           atomic_load(&roll.calls[t]));
}

static void every_member_is_called_once(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 5, 3, 2, 16, 1, 4, 64, 2, 7, 0};
    for (int64_t round = 0; round < at_level(3, 40, 2000); ++round)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
            check_roll(sizes[i]);
    assert_no_failures();
}

static void *run_rolls(void *unused) {
    (void)unused;
    for (int64_t round = 0; round < at_level(50, 500, 10000); ++round)
        check_roll(1 + (int)(round % 5));
    return NULL;
}

static void callers_at_once(void **state) {
    (void)state;
    pthread_t threads[6];
    for (int i = 0; i < 6; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, run_rolls, NULL), 0);
    for (int i = 0; i < 6; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_no_failures();
}

/* A task may itself call the pool (a user's thread inside a user's task): it then runs alone. */
static void nested(void *argument, int thread, int num_threads) {
    (void)num_threads;
    roll_t *rolls = argument;
    tcgemm_pool_run(4, call_roll, &rolls[thread]);
}

static void nested_calls_run_alone(void **state) {
    (void)state;
    static roll_t rolls[MOST];
    tcgemm_pool_run(3, nested, rolls);
    for (int t = 0; t < MOST; ++t)
        for (int u = 0; u < MOST; ++u)
            assert_true(atomic_load(&rolls[t].calls[u]) <= 1);
    assert_int_equal(atomic_load(&rolls[0].calls[0]), 1);
}

/* ---- the barrier ---- */

typedef struct march {
    tcgemm_barrier_t barrier;
    int64_t steps;
    int position[MOST]; /* plain: the barrier alone orders the accesses */
    atomic_int faults;
} march_t;

static void march(void *argument, int thread, int num_threads) {
    march_t *m = argument;
    for (int64_t step = 1; step <= m->steps; ++step) {
        m->position[thread] = (int)step;
        tcgemm_barrier_wait(&m->barrier, num_threads);
        for (int t = 0; t < num_threads; ++t)
            if (m->position[t] != step)
                atomic_fetch_add(&m->faults, 1);
        tcgemm_barrier_wait(&m->barrier, num_threads);
    }
}

static void nobody_passes_the_barrier_early(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        march_t m;
        memset(&m, 0, sizeof m);
        m.steps = at_level(100, sizes[i] > 3 ? 300 : 2000, 50000);
        tcgemm_pool_run(sizes[i], march, &m);
        assert_int_equal(atomic_load(&m.faults), 0);
    }
}

/* ---- work in phases ---- */

enum { MOST_ITEMS = 300 };

typedef struct tour {
    int num_threads;
    int64_t phases, phase, count; /* plain: the phases alone order the accesses */
    unsigned char done[MOST_ITEMS];
    int sum;
    atomic_int faults;
} tour_t;

/* Each phase finds what the last one did, and all of it. */
static int64_t next_of_tour(void *argument) {
    tour_t *x = argument;
    for (int64_t i = 0; i < x->count; ++i)
        if (x->done[i] != 1)
            atomic_fetch_add(&x->faults, 1);
    x->sum += (int)x->count;
    memset(x->done, 0, sizeof x->done);
    if (x->phase == x->phases) {
        x->count = 0;
        return 0;
    }
    x->count = 1 + x->phase * 37 % MOST_ITEMS;
    ++x->phase;
    return x->count;
}

static void do_one(void *argument, int thread, int64_t item) {
    tour_t *x = argument;
    if (item < 0 || item >= x->count || thread < 0 || thread >= x->num_threads)
        atomic_fetch_add(&x->faults, 1);
    else
        x->done[item] += 1;
}

static void check_tour(int num_threads, int64_t phases) {
    tour_t tour = {.num_threads = num_threads, .phases = phases};
    int expected = 0;
    for (int64_t i = 0; i < phases; ++i)
        expected += (int)(1 + i * 37 % MOST_ITEMS);
    tcgemm_pool_work(num_threads, &(tcgemm_work_t){next_of_tour, do_one, &tour});
    if (atomic_load(&tour.faults) != 0 || tour.sum != expected)
        report_failure("%d threads, %d phases: %d faults, %d of %d items", num_threads, (int)phases,
                       atomic_load(&tour.faults), tour.sum, expected);
}

static void every_item_is_done_once(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 3, 16, 40, 2};
    for (int64_t round = 0; round < at_level(3, 30, 1000); ++round)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
            check_tour(sizes[i], round % 20);
    assert_no_failures();
}

static void *tours_and_rolls(void *unused) {
    (void)unused;
    for (int64_t round = 0; round < at_level(20, 200, 5000); ++round) {
        check_tour(2 + (int)(round % 5), 6);
        check_roll(1 + (int)(round % 4));
    }
    return NULL;
}

static void work_and_tasks_at_once(void **state) {
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, tours_and_rolls, NULL), 0);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_no_failures();
}

/* More items than an offer can tell: they are given out some at a time. */
static int64_t count_of_many(void *argument) {
    tour_t *x = argument;
    return x->phase++ == 0 ? x->count : 0;
}

static void count_one(void *argument, int thread, int64_t item) {
    atomic_llong *sums = ((void **)argument)[1];
    (void)thread;
    atomic_fetch_add_explicit(&sums[0], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sums[1], item, memory_order_relaxed);
}

static int64_t count_of_pair(void *argument) {
    return count_of_many(((void **)argument)[0]);
}

static void items_beyond_a_million(void **state) {
    (void)state;
    tour_t tour = {.count = at_level(1050000, 2500001, 30000000)};
    atomic_llong sums[2] = {0, 0};
    void *pair[] = {&tour, sums};
    tcgemm_pool_work(3, &(tcgemm_work_t){count_of_pair, count_one, pair});
    assert_int_equal(atomic_load(&sums[0]), tour.count);
    assert_int_equal(atomic_load(&sums[1]), tour.count * (tour.count - 1) / 2);
}

/* ---- others that take the processors ---- */

static atomic_bool is_over;

static void *keep_busy(void *unused) {
    (void)unused;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        ;
    return NULL;
}

/* Microseconds of work, cut into items. */
static void work_a_while(void *argument, int thread, int64_t item) {
    (void)argument;
    (void)thread;
    (void)item;
    for (volatile int i = 0; i < 1000; ++i)
        ;
}

static int64_t two_phases(void *argument) {
    int *phase = argument;
    return (*phase)++ < 2 ? 16 : 0;
}

static int compare_doubles(const void *x, const void *y) {
    const double a = *(const double *)x;
    const double b = *(const double *)y;
    return (a > b) - (a < b);
}

enum { MOST_RUNS = 201 };

static double median_seconds(int num_threads) {
    double seconds[MOST_RUNS];
    for (int i = 0; i < MOST_RUNS; ++i) {
        int phase = 0;
        const double start = now_seconds();
        tcgemm_pool_work(num_threads, &(tcgemm_work_t){two_phases, work_a_while, &phase});
        seconds[i] = now_seconds() - start;
    }
    qsort(seconds, MOST_RUNS, sizeof seconds[0], compare_doubles);
    return seconds[MOST_RUNS / 2];
}

/* Work for a team costs no more than the caller alone would need, and far from what a thread waits
 * for its turn (milliseconds), even if others keep all processors busy. */
static void nobody_waits_for_who_has_no_processor(void **state) {
    (void)state;
    enum { BUSY = 16 };
    pthread_t threads[BUSY];
    const int64_t busy = min_i64(sysconf(_SC_NPROCESSORS_ONLN), BUSY);
    const double alone = median_seconds(1);
    atomic_store(&is_over, false);
    for (int64_t i = 0; i < busy; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, NULL), 0);
    const double together = median_seconds((int)busy + 1);
    atomic_store(&is_over, true);
    for (int64_t i = 0; i < busy; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    if (!(together <= 10 * alone + 300e-6))
        report_failure("%.3g us beside %d busy threads, alone %.3g us", 1e6 * together, (int)busy,
                       1e6 * alone);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_called_once),
        cmocka_unit_test(callers_at_once),
        cmocka_unit_test(nested_calls_run_alone),
        cmocka_unit_test(nobody_passes_the_barrier_early),
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(work_and_tasks_at_once),
        cmocka_unit_test(items_beyond_a_million),
        cmocka_unit_test(nobody_waits_for_who_has_no_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
