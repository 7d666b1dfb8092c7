/* F1: a child of fork() may multiply, whatever the parent was doing. F3: signals change nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/oracle.h"
#include "support/testcase.h"

enum { CHILD_SECONDS = 20 }; /* an alarm ends a child that hangs */

static testcase_t threaded_case(tcgemm_type_t type) {
    testcase_t t = testcase_make(NULL, tcgemm_problem(type, 220, 230, 240), 9);
    t.num_threads = 3;
    return t;
}

static bool multiplies_right(void) {
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_S8_S32, TCGEMM_BF16_BF16};
    bool right = true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        const testcase_t t = threaded_case(types[i]);
        right = testcase_check(&t) && right;
    }
    return right;
}

/* Forks; the child says by its status whether what it did is right. */
static bool child_succeeds(bool (*does)(int), int argument) {
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        _exit(does(argument) && num_failures() == 0 ? 0 : 1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Multiplies, and forks on to `depth` more generations. */
static bool multiplies_on(int depth) {
    return multiplies_right() &&
           (depth <= 1 || (child_succeeds(multiplies_on, depth - 1) && multiplies_right()));
}

static void child_and_parent_both_multiply(void **state) {
    (void)state;
    assert_true(multiplies_right());
    for (int64_t i = 0; i < at_level(3, 40, 200) && num_failures() == 0; ++i) {
        if (!child_succeeds(multiplies_on, 1))
            report_failure("child %lld of a parent that has multiplied", (long long)i);
        assert_true(multiplies_right());
    }
    assert_no_failures();
}

static void ten_generations(void **state) {
    (void)state;
    assert_true(child_succeeds(multiplies_on, (int)at_level(3, 10, 10)));
}

/* ---- a fork in the middle of another thread's product ---- */

static atomic_bool stop;

static void *multiply_until_stopped(void *unused) {
    (void)unused;
    testcase_t t = threaded_case(TCGEMM_F32_F32);
    operands_t x;
    operands_make(&t, &x);
    while (!atomic_load(&stop))
        if (testcase_run_on(&t, &x) != TCGEMM_STATUS_OK)
            testcase_fail(&t, "%s", tcgemm_last_error());
    operands_free(&x);
    return NULL;
}

static void fork_while_others_multiply(void **state) {
    (void)state;
    pthread_t threads[2];
    atomic_store(&stop, false);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, multiply_until_stopped, NULL), 0);
    for (int64_t i = 0; i < at_level(3, 40, 200) && num_failures() == 0; ++i) {
        uint64_t random = (uint64_t)i;
        (void)usleep((unsigned)random_below(&random, 3000));
        if (!child_succeeds(multiplies_on, 1))
            report_failure("child %lld, born during a product", (long long)i);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_no_failures();
}

/* ---- a fork while another thread measures the clock, which takes it 10 ms or more ---- */

static bool knows_the_clock(int unused) {
    (void)unused;
    tcgemm_machine_info_t info = {.struct_size = sizeof info};
    return tcgemm_machine_get_info(&info) == TCGEMM_STATUS_OK && info.clock_hz > 0.0;
}

static void *ask_for_the_clock(void *unused) {
    if (!knows_the_clock(0))
        report_failure("a machine without a clock");
    return unused;
}

static bool forks_while_measuring(int microseconds) {
    pthread_t thread;
    bool right = pthread_create(&thread, NULL, ask_for_the_clock, NULL) == 0;
    (void)usleep((unsigned)microseconds);
    right = child_succeeds(knows_the_clock, 0) && right;
    return pthread_join(thread, NULL) == 0 && right;
}

/* In children, for a process measures its clock once. */
static void fork_while_another_measures(void **state) {
    (void)state;
    for (int microseconds = 0; microseconds < 10000; microseconds += 2000)
        assert_true(child_succeeds(forks_while_measuring, microseconds));
}

/* ---- a storm of signals ---- */

static volatile sig_atomic_t num_signals;

static void count_signal(int number) {
    (void)number;
    num_signals += 1;
}

static void signals_change_nothing(void **state) {
    (void)state;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal; /* no SA_RESTART: system calls are interrupted */
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    const struct itimerval storm = {{0, 1000}, {0, 1000}};
    assert_int_equal(setitimer(ITIMER_REAL, &storm, NULL), 0);
    for (int64_t i = 0; i < at_level(3, 30, 300); ++i)
        if (!multiplies_right())
            report_failure("products under a storm of SIGALRM, round %lld", (long long)i);
    const struct itimerval calm = {{0, 0}, {0, 0}};
    assert_int_equal(setitimer(ITIMER_REAL, &calm, NULL), 0);
    (void)signal(SIGALRM, SIG_DFL);
    assert_true(num_signals > 0);
    assert_no_failures();
}

/* The library's own threads take no signals: all of them reach the thread that has them open. */
static void workers_take_no_signals(void **state) {
    (void)state;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    sigset_t blocked;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGUSR1);
    assert_true(multiplies_right()); /* workers exist, made with SIGUSR1 open in their maker */
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
    num_signals = 0;
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    assert_true(multiplies_right());
    assert_int_equal(num_signals, 0);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &blocked, NULL), 0);
    assert_int_equal(num_signals, 1);
    (void)signal(SIGUSR1, SIG_DFL);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_and_parent_both_multiply),
        cmocka_unit_test(ten_generations),
        cmocka_unit_test(fork_while_others_multiply),
        cmocka_unit_test(fork_while_another_measures),
        cmocka_unit_test(signals_change_nothing),
        cmocka_unit_test(workers_take_no_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
