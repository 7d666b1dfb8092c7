/* The pool: every member is called once, whatever was asked; callers at once, teams that grow and
 * shrink, the barrier. ("threads" in the name: the thread sanitizer runs it, too.)
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_called_once),
        cmocka_unit_test(callers_at_once),
        cmocka_unit_test(nested_calls_run_alone),
        cmocka_unit_test(nobody_passes_the_barrier_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
