/* interrupt.c - everything here is async-signal-safe. */
#include "support/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "commands/cli.h"
#include "files/matrix.h"

static _Atomic(const char *) guarded;

static void stop(int number) {
    (void)number;
    matrix_save_abort();
    const char *path = atomic_load(&guarded);
    if (path)
        (void)unlink(path);
    _exit(CLI_INTERRUPTED);
}

void interrupt_guard(const char *path) {
    atomic_store(&guarded, path);
}

void interrupt_install(void) {
    struct sigaction action = {.sa_handler = stop};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* A closed pipe is a write error with a sentence, not a silent death. */
    (void)signal(SIGPIPE, SIG_IGN);
}
