/* interrupt.c - everything here is async-signal-safe. */
#include "support/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "support/exit_status.h"

static _Atomic(const char *) guarded;
static void (*_Atomic cleaner)(void);

static atomic_bool deferred;
static atomic_bool came;

static void stop(int number) {
    (void)number;
    if (atomic_load(&deferred) && !atomic_exchange(&came, true)) {
        static const char text[] =
            "\ntcgemm: stopping behind the product that is under way; again to stop at once\n";
        const int reason = errno;
        const ssize_t done = write(STDERR_FILENO, text, sizeof text - 1);
        (void)done;
        errno = reason;
        return;
    }
    void (*const clean_up)(void) = atomic_load(&cleaner);
    if (clean_up)
        clean_up();
    const char *path = atomic_load(&guarded);
    if (path)
        (void)unlink(path);
    _exit(CLI_INTERRUPTED);
}

static atomic_bool pipe_broke;

static void hear(int number) {
    (void)number;
    atomic_store(&pipe_broke, true);
}

bool interrupt_pipe_broke(void) {
    return atomic_load(&pipe_broke);
}

void interrupt_defer(void) {
    atomic_store(&deferred, true);
}

bool interrupt_came(void) {
    return atomic_load(&came);
}

void interrupt_on_stop(void (*clean_up)(void)) {
    atomic_store(&cleaner, clean_up);
}

void interrupt_guard(const char *path) {
    atomic_store(&guarded, path);
}

void interrupt_install(void) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* Not ignored, but heard: what is under way, a file for instance, is finished first. */
    action.sa_handler = hear;
    (void)sigaction(SIGPIPE, &action, NULL);
}
