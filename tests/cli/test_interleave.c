/* Interleaved runs by a clock of our own, which only products move: whose turn it is, what counts
 * as a sample, when it is enough. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bench/interleave.h"
#include "files/layout.h"
#include "support/exit_status.h"

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
tcgemm_status_t __wrap_tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                  const void *b, double beta, const void *c, void *d);

enum { MAX_CALLS = 1 << 16 };

static int64_t nanoseconds;   /* the time */
static double pause_seconds;  /* of the next run */
static double steady_seconds; /* likewise */
static int64_t cost[3];       /* of a product of each candidate */
static char order[MAX_CALLS]; /* who multiplied: 'a', 'b'; '.' is a pause */
static const void *operands[MAX_CALLS];
static int num_calls;
static int fail_at; /* the call that fails; -1: none */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    *now = (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    (void)rest;
    assert_true(time->tv_sec == 0 && time->tv_nsec == 50000000);
    assert_true(num_calls < MAX_CALLS);
    order[num_calls++] = '.';
    nanoseconds += time->tv_nsec;
    return 0;
}

/* The plans are no plans: pointers to tell the candidates apart. */
static const char plans[3];

tcgemm_status_t __wrap_tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                  const void *b, double beta, const void *c, void *d) {
    (void)b, (void)c, (void)d;
    const int who = (int)((const char *)plan - plans);
    assert_true(alpha == 2 && beta == 3);
    assert_true(num_calls < MAX_CALLS);
    operands[num_calls] = a;
    order[num_calls++] = (char)('a' + who);
    nanoseconds += cost[who];
    return num_calls - 1 == fail_at ? TCGEMM_STATUS_INTERNAL : TCGEMM_STATUS_OK;
}

static rotation_t data;
static candidate_t both[2], three[3];

static int run(int64_t cost_a, int64_t cost_b, int64_t samples, double seconds, int64_t *rounds) {
    const sampling_limits_t limits = {samples, seconds, pause_seconds, steady_seconds};
    memset(both, 0, sizeof both);
    for (int i = 0; i < 2; ++i)
        both[i] =
            (candidate_t){.plan = (const void *)&plans[i], .data = &data, .alpha = 2, .beta = 3};
    cost[0] = cost_a;
    cost[1] = cost_b;
    num_calls = 0;
    nanoseconds = 0;
    return interleave_run(both, 2, &limits, rounds);
}

static void make_data(double min_bytes) {
    tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, 16, 16, 16);
    assert_int_equal(layout_place(&problem, 0), TCGEMM_STATUS_OK);
    assert_int_equal(rotation_create(&data, &problem, 0, false, min_bytes), CLI_OK);
}

/* Products of 1 ms and 3 ms: one call is a sample, and they take turns behind the warm-up. */
static void turns(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(0);
    assert_int_equal(run(1000000, 3000000, 5, 0, &rounds), CLI_OK);
    assert_int_equal(rounds, 5);
    assert_memory_equal(order + num_calls - 10, "ababababab", 10);
    for (int i = 0; i < 5; ++i) {
        assert_true(both[0].samples[i] > 0.99e-3 && both[0].samples[i] < 1.01e-3);
        assert_true(both[1].samples[i] > 2.99e-3 && both[1].samples[i] < 3.01e-3);
    }
    candidates_free(both, 2);
    rotation_free(&data);
}

/* Of three each has a turn in each round, and comes behind each of the others now and then. */
static void turns_of_three(void **state) {
    (void)state;
    const sampling_limits_t limits = {.min_samples = 40};
    int64_t rounds = 0;
    int behind[3][3] = {{0}};
    make_data(0);
    num_calls = 0;
    nanoseconds = 0;
    memset(three, 0, sizeof three);
    for (int i = 0; i < 3; ++i) {
        three[i] =
            (candidate_t){.plan = (const void *)&plans[i], .data = &data, .alpha = 2, .beta = 3};
        cost[i] = (i + 1) * 1000000;
    }
    assert_int_equal(interleave_run(three, 3, &limits, &rounds), CLI_OK);
    assert_int_equal(rounds, 40);
    const char *const first = order + num_calls - 3 * rounds;
    for (int64_t round = 0; round < rounds; ++round) {
        const char *const now = first + 3 * round;
        assert_int_equal((1 << (now[0] - 'a')) + (1 << (now[1] - 'a')) + (1 << (now[2] - 'a')), 7);
        ++behind[now[0] - 'a'][now[1] - 'a'];
        ++behind[now[1] - 'a'][now[2] - 'a'];
        for (int i = 0; i < 3; ++i)
            assert_true(fabs(three[i].samples[round] - (i + 1) * 1e-3) < 1e-5);
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            assert_true(i == j || behind[i][j] >= 6);
    candidates_free(three, 3);
    rotation_free(&data);
}

/* A product of 10 us is called 32 times for a sample of at least 0.2 ms, which is divided again. */
static void short_products_are_called_often(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(0);
    assert_int_equal(run(10000, 1000000, 3, 0, &rounds), CLI_OK);
    assert_int_equal(both[0].inner, 32);
    assert_int_equal(both[1].inner, 1);
    assert_true(both[0].samples[2] > 0.99e-5 && both[0].samples[2] < 1.01e-5);
    candidates_free(both, 2);
    rotation_free(&data);
}

/* So many samples, and so long per candidate without the warm-up; never beyond patience. */
static void when_it_is_enough(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(0);
    assert_int_equal(run(10000000, 20000000, 3, 0.0999, &rounds), CLI_OK);
    assert_int_equal(rounds, 10); /* the quicker one's 0.1 s */
    candidates_free(both, 2);
    assert_int_equal(run(10000000, 10000000, 25, 0.1, &rounds), CLI_OK);
    assert_int_equal(rounds, 25);
    candidates_free(both, 2);
    /* Rounds of 11 s: after the third the 30 s are over, though ten samples were asked for. */
    assert_int_equal(run(1000000000, 10000000000, 10, 0, &rounds), CLI_OK);
    assert_int_equal(rounds, 3);
    candidates_free(both, 2);
    rotation_free(&data);
}

/* --cold: the copies come one after the other, as many as lie beyond the bytes asked for. */
static void cold_operands(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(10 * 1024); /* a copy has 4 matrices of 1 KiB */
    assert_int_equal(data.count, 3);
    assert_int_equal(run(1000000, 1000000, 3, 0, &rounds), CLI_OK);
    for (int i = 3; i < num_calls; ++i) {
        assert_ptr_equal(operands[i], operands[i - 3]);
        assert_ptr_not_equal(operands[i], operands[i - 1]);
    }
    candidates_free(both, 2);
    assert_true(rotation_bytes(&data.copies[0].problem, 10 * 1024) == 3 * 4096);
    rotation_free(&data);
}

/* With pauses: each candidate's block behind a rest and a call that only wakes its threads. */
static void blocks_with_pauses(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(0);
    pause_seconds = 0.05;
    assert_int_equal(run(1000000, 3000000, 7, 0, &rounds), CLI_OK);
    assert_int_equal(rounds, 8); /* four blocks of two */
    static const char blocks[] = ".aaa.bbb.aaa.bbb.aaa.bbb.aaa.bbb";
    const int length = (int)sizeof blocks - 1;
    assert_memory_equal(order + num_calls - length, blocks, (size_t)length);
    for (int i = 0; i < 8; ++i) {
        assert_true(both[0].samples[i] > 0.99e-3 && both[0].samples[i] < 1.01e-3);
        assert_true(both[1].samples[i] > 2.99e-3 && both[1].samples[i] < 3.01e-3);
    }
    candidates_free(both, 2);
    /* Short products: longer blocks, and samples so long that four of them last 0.1 s. */
    assert_int_equal(run(10000, 100000, 3, 0.1, &rounds), CLI_OK);
    assert_int_equal(rounds, 32);
    assert_true(both[0].inner >= 312 && both[0].inner <= 314);
    assert_true(both[0].sum >= 0.1 && both[0].sum < 0.101 && both[1].sum >= 0.1 &&
                both[1].sum < 0.11);
    assert_true(both[0].samples[31] > 0.99e-5 && both[0].samples[31] < 1.01e-5);
    candidates_free(both, 2);
    pause_seconds = 0;
    rotation_free(&data);
}

static void a_failing_product_ends_it(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(0);
    fail_at = 9;
    assert_int_equal(run(1000000, 1000000, 100, 0, &rounds), CLI_INTERNAL);
    assert_int_equal(num_calls, 10);
    fail_at = -1;
    candidates_free(both, 2);
    rotation_free(&data);
}

/* Steady: each candidate works for 0.38 s; of 10 ms a product, 20 are not timed, and five make a
 * sample. */
static void steady_turns(void **state) {
    (void)state;
    int64_t rounds = 0;
    make_data(0);
    steady_seconds = 0.38;
    assert_int_equal(run(10000000, 50000000, 1, 0, &rounds), CLI_OK);
    assert_int_equal(rounds, 12);
    assert_int_equal(both[0].inner, 5);
    assert_int_equal(both[1].inner, 1);
    const int turn = 40 + 8; /* products of both */
    assert_true(num_calls >= 3 * turn);
    for (int i = 0; i < 3 * turn; ++i)
        assert_int_equal(order[num_calls - 3 * turn + i], i % turn < 40 ? 'a' : 'b');
    for (int i = 0; i < 12; ++i) {
        assert_true(both[0].samples[i] > 9.9e-3 && both[0].samples[i] < 10.1e-3);
        assert_true(both[1].samples[i] > 49.9e-3 && both[1].samples[i] < 50.1e-3);
    }
    candidates_free(both, 2);
    fail_at = 60; /* in a half that is not timed */
    assert_int_equal(run(10000000, 50000000, 1, 0, &rounds), CLI_INTERNAL);
    assert_int_equal(num_calls, 61);
    fail_at = -1;
    steady_seconds = 0;
    candidates_free(both, 2);
    rotation_free(&data);
}

int main(void) {
    fail_at = -1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns),
        cmocka_unit_test(turns_of_three),
        cmocka_unit_test(short_products_are_called_often),
        cmocka_unit_test(when_it_is_enough),
        cmocka_unit_test(cold_operands),
        cmocka_unit_test(blocks_with_pauses),
        cmocka_unit_test(steady_turns),
        cmocka_unit_test(a_failing_product_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
