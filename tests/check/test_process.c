/* The library in a process that is not its own: crash handlers, signals, ends of the main thread,
 * processors and the number of threads. Each case runs in a child, which an alarm ends if it hangs.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/affinity.h"
#include "host/pool.h"
#include "host/threads.h"
#include "support/support.h"
#include "tcgemm/tcgemm.h"

enum { CHILD_SECONDS = 30, HANDLED = 42, SIZE = 400 };

/* ---- children ---- */

/* Runs `body` in a child; the wait status of its end. */
static int end_of_child(void (*body)(void)) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        body();
        _exit(1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_exit(const char *what, int status, int expected) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
        report_failure("%s: %s %d, expected exit status %d", what,
                       WIFSIGNALED(status) ? "killed by signal" : "exit status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), expected);
}

static void *matrix(void) {
    float *const x = malloc((size_t)SIZE * SIZE * sizeof *x);
    for (int i = 0; x && i < SIZE * SIZE; ++i)
        x[i] = (float)(i % 7);
    return x;
}

/* A product on `num_threads` threads, or on the default number for 0. */
static tcgemm_status_t multiply(int num_threads, const void *a) {
    static void *b, *d;
    tcgemm_plan_t *plan;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    if (!b) {
        b = matrix();
        d = matrix();
    }
    tcgemm_status_t status =
        tcgemm_plan_create(num_threads ? context_of(num_threads) : NULL, &p, NULL, &plan);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_run(plan, 1, a ? a : b, b, 0, NULL, d);
    tcgemm_plan_destroy(plan);
    return status;
}

/* ---- faults ---- */

static void handle(int number) {
    (void)number;
    _exit(HANDLED);
}

static void handle_crashes(void) {
    struct sigaction action;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i)
        (void)sigaction(signals[i], &action, NULL);
}

static int raised_in_worker;

static void raise_in_worker(void *argument, int thread, int num_threads) {
    (void)argument;
    if (thread == num_threads - 1)
        (void)raise(raised_in_worker); /* of this thread, as a fault is */
    else
        (void)sleep(CHILD_SECONDS);
}

static void crash_in_worker(void) {
    handle_crashes();
    tcgemm_pool_run(3, raise_in_worker, NULL);
}

/* The first half of A cannot be read: whoever packs it faults. */
static void read_what_is_not_there(void) {
    const size_t bytes = (size_t)SIZE * SIZE * sizeof(float);
    void *const a = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle_crashes();
    (void)multiply(4, NULL);
    (void)multiply(4, a);
}

static void crash_handlers_run_every_time(void **state) {
    (void)state;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        raised_in_worker = signals[i];
        expect_exit(strsignal(signals[i]), end_of_child(crash_in_worker), HANDLED);
    }
    for (int64_t i = 0; i < at_level(2, 10, 50); ++i)
        expect_exit("matrix that cannot be read", end_of_child(read_what_is_not_there), HANDLED);
    assert_no_failures();
}

/* ---- the application's signals ---- */

static atomic_int profiled, applications;

static void count_profile(int number) {
    (void)number;
    atomic_fetch_add(&profiled, 1);
}

static void count_application(int number) {
    (void)number;
    atomic_fetch_add(&applications, 1);
}

static void signal_worker(void *argument, int thread, int num_threads) {
    static const int foreign[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGALRM, SIGVTALRM, SIGCHLD};
    (void)argument;
    if (thread != num_threads - 1)
        return;
    (void)raise(SIGPROF);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i)
        (void)raise(foreign[i]); /* stays pending for this thread */
}

static void take_signals(void) {
    struct sigaction action;
    static const int foreign[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGALRM, SIGVTALRM, SIGCHLD};
    memset(&action, 0, sizeof action);
    action.sa_handler = count_profile;
    (void)sigaction(SIGPROF, &action, NULL);
    action.sa_handler = count_application;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i)
        (void)sigaction(foreign[i], &action, NULL);
    tcgemm_pool_run(2, signal_worker, NULL);
    _exit(atomic_load(&profiled) == 1 && atomic_load(&applications) == 0 ? 0 : 2);
}

static void workers_take_a_profilers_signals_alone(void **state) {
    (void)state;
    expect_exit("signals of a worker", end_of_child(take_signals), 0);
    assert_no_failures();
}

/* ---- ends ---- */

/* By exec, so that the main thread's stack holds nothing but this. */
static void leave_by_pthread_exit(void) {
    (void)execl("/proc/self/exe", "test_check_process", "leave", (char *)NULL);
}

static void a_process_ends_when_its_main_thread_leaves(void **state) {
    (void)state;
    const double start = seconds_now();
    expect_exit("main thread left", end_of_child(leave_by_pthread_exit), 0);
    if (!(seconds_now() - start < 10))
        report_failure("it took %g s", seconds_now() - start);
    assert_no_failures();
}

static int num_threads_here(void) {
    char line[256];
    int count = -1;
    FILE *const file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Threads:", 8) == 0)
            count = atoi(line + 8);
    if (file)
        (void)fclose(file);
    return count;
}

/* Idle workers end, and come back. (What plays a processor may have a thread of its own.) */
static void rest_and_work_again(void) {
    const int others = num_threads_here() - 1;
    for (int round = 0; round < 2; ++round) {
        if (multiply(4, NULL) != TCGEMM_STATUS_OK || num_threads_here() != others + 4)
            _exit(2);
        (void)usleep(2500 * 1000);
        if (num_threads_here() != others + 1)
            _exit(3);
    }
    _exit(multiply(3, NULL) == TCGEMM_STATUS_OK ? 0 : 4);
}

static void idle_workers_end(void **state) {
    (void)state;
    expect_exit("workers at rest", end_of_child(rest_and_work_again), 0);
    assert_no_failures();
}

/* ---- processors ---- */

static void pin(int cpu) {
    tcgemm_cpu_mask_t mask;
    memset(&mask, 0, sizeof mask);
    mask.words[cpu / (8 * (int)sizeof mask.words[0])] |= 1ul
                                                         << cpu % (8 * (int)sizeof mask.words[0]);
    tcgemm_affinity_set(&mask);
}

static tcgemm_cpu_mask_t found[2];

static void note_processors(void *argument, int thread, int num_threads) {
    (void)argument;
    if (thread == num_threads - 1)
        (void)tcgemm_affinity_get(&found[num_threads == 2]);
}

static void *make_pool_pinned(void *unused) {
    pin(tcgemm_first_cpu());
    tcgemm_pool_run(2, note_processors, NULL);
    return unused;
}

static void serve_two_callers(void) {
    tcgemm_cpu_mask_t mine;
    pthread_t thread;
    (void)tcgemm_affinity_get(&mine);
    if (pthread_create(&thread, NULL, make_pool_pinned, NULL) != 0 ||
        pthread_join(thread, NULL) != 0 || memcmp(&found[1], &mine, sizeof mine) == 0)
        _exit(2); /* a pinned caller's worker is pinned, too */
    tcgemm_pool_run(2, note_processors, NULL);
    _exit(memcmp(&found[1], &mine, sizeof mine) == 0 ? 0 : 3);
}

static int planned_threads(void) {
    tcgemm_plan_t *plan;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2000, 2000, 2000);
    if (tcgemm_plan_create(NULL, &p, NULL, &plan) != TCGEMM_STATUS_OK ||
        tcgemm_plan_get_info(plan, &info) != TCGEMM_STATUS_OK)
        return -1;
    tcgemm_plan_destroy(plan);
    return info.num_threads;
}

/* More processors than the first call saw, and fewer: the plan follows. */
static void plan_where_it_runs(void) {
    tcgemm_cpu_mask_t all;
    (void)tcgemm_affinity_get(&all);
    const int most = tcgemm_default_threads();
    pin(tcgemm_first_cpu());
    if (planned_threads() != 1)
        _exit(2);
    tcgemm_affinity_set(&all);
    _exit(planned_threads() == most ? 0 : 3);
}

static void threads_follow_the_caller(void **state) {
    (void)state;
    if (tcgemm_cpu_count() < 2 || getenv("TCGEMM_NUM_THREADS") || getenv("OMP_NUM_THREADS"))
        skip();
    expect_exit("a pinned and a free caller", end_of_child(serve_two_callers), 0);
    expect_exit("plans of a caller that is pinned and freed", end_of_child(plan_where_it_runs), 0);
    assert_no_failures();
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "leave") == 0) {
        (void)multiply(4, NULL);
        pthread_exit(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crash_handlers_run_every_time),
        cmocka_unit_test(workers_take_a_profilers_signals_alone),
        cmocka_unit_test(a_process_ends_when_its_main_thread_leaves),
        cmocka_unit_test(idle_workers_end),
        cmocka_unit_test(threads_follow_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
