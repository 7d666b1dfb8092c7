/* What the pool's workers take over from the thread that makes them, and what a child of fork()
 * takes over from its parent: no mask of signals, and no workers. (Not for the thread sanitizer,
 * which knows no threads in such a child.)
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/pool.h"
#include "support/support.h"

enum { TEAM = 3, CHILD_SECONDS = 20 };

/* ---- signals ---- */

static sigset_t masks[TEAM];

static void note_mask(void *argument, int thread, int num_threads) {
    (void)argument;
    (void)num_threads;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &masks[thread]);
}

/* Those that a thread's own instructions raise, and a profiler's clock. */
static bool is_open(int number) {
    static const int open[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGTRAP, SIGSYS,
                               SIGABRT, SIGPROF, SIGKILL, SIGSTOP}; /* nobody blocks these two */
    for (size_t i = 0; i < sizeof open / sizeof open[0]; ++i)
        if (number == open[i])
            return true;
    return false;
}

static void check_masks(const char *maker) {
    for (int thread = 1; thread < TEAM; ++thread)
        for (int number = 1; number < 32; ++number)
            if ((sigismember(&masks[thread], number) == 0) != is_open(number))
                report_failure("%s: worker %d has %s %s", maker, thread, strsignal(number),
                               is_open(number) ? "blocked" : "open");
}

static void *make_workers(void *argument) {
    sigset_t all;
    sigset_t after;
    const bool blocked = argument != NULL;
    (void)sigfillset(&all);
    (void)pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &all, NULL);
    tcgemm_pool_run(TEAM, note_mask, NULL);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    if (sigismember(&after, SIGUSR1) != blocked || sigismember(&after, SIGSEGV) != blocked)
        report_failure("the maker's own mask is another one after the call");
    return NULL;
}

static void in_a_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0 || pthread_join(thread, NULL) != 0)
        report_failure("no thread");
}

/* Runs `body` in a child, which has no workers yet; its exit status is the number of failures. */
static void in_a_child(const char *what, void (*body)(void)) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        body();
        _exit(num_failures());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        report_failure("%s: %s %d", what, WIFSIGNALED(status) ? "ended by signal" : "failures:",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void with_all_open(void) {
    in_a_thread(make_workers, NULL);
    check_masks("a maker with all signals open");
}

static void with_all_blocked(void) {
    static char yes;
    in_a_thread(make_workers, &yes);
    check_masks("a maker with all signals blocked");
}

static void workers_have_one_mask_whoever_makes_them(void **state) {
    (void)state;
    in_a_child("all open", with_all_open);
    in_a_child("all blocked", with_all_blocked);
    assert_no_failures();
}

/* ---- children ---- */

static atomic_int shares;

static void count_share(void *argument, int thread, int num_threads) {
    (void)argument;
    (void)thread;
    (void)num_threads;
    atomic_fetch_add(&shares, 1);
}

static void work(void) {
    atomic_store(&shares, 0);
    tcgemm_pool_run(TEAM, count_share, NULL);
    if (atomic_load(&shares) != TEAM)
        report_failure("%d of %d shares were done", atomic_load(&shares), TEAM);
}

static void work_and_have_a_child(void) {
    work();
    in_a_child("grandchild", work);
    work();
}

static void a_child_makes_workers_of_its_own(void **state) {
    (void)state;
    work(); /* now there are workers that the child does not have */
    in_a_child("child", work_and_have_a_child);
    work();
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_have_one_mask_whoever_makes_them),
        cmocka_unit_test(a_child_makes_workers_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
