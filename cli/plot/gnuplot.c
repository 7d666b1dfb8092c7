/* gnuplot.c - the script goes in through a pipe, the picture comes out into the open file:
 *
 *     tcgemm --script--> stdin [gnuplot -d] stdout --> file
 *
 * so that no name of a file needs quoting. -d leaves out what a user's .gnuplot would change. */
#include "plot/gnuplot.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/exit_status.h"
#include "support/message.h"

extern char **environ;

/* The first file of that name on the PATH that may be run. */
static bool find(char path[PATH_MAX]) {
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const int length = (int)strcspn(folder, ":");
        const int used = snprintf(path, PATH_MAX, "%.*s/gnuplot", length, folder);
        if (length > 0 && used < PATH_MAX && access(path, X_OK) == 0)
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

static int report_missing(void) {
    return message_fail(CLI_NO_DEVICE,
                        "plots are drawn by gnuplot, which is not on the PATH; Debian has it in "
                        "the package gnuplot-nox");
}

int gnuplot_check(void) {
    char path[PATH_MAX];
    return find(path) ? CLI_OK : report_missing();
}

static int report_errno(int reason) {
    return message_fail(CLI_INTERNAL, "gnuplot cannot be run: %s", strerror(reason));
}

/* Starts gnuplot between two descriptors; 0 or an errno. */
static int start(const char *path, const int script[2], int out, pid_t *child) {
    char *const arguments[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    (void)posix_spawn_file_actions_adddup2(&actions, script[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, script[0]);
    (void)posix_spawn_file_actions_addclose(&actions, script[1]);
    reason = posix_spawn(child, path, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return reason;
}

/* A gnuplot that ends early closes the pipe; its exit status then says more than ours. */
static void send(int to, const char *script, size_t length) {
    while (length > 0) {
        const ssize_t done = write(to, script, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return;
        script += done;
        length -= (size_t)done;
    }
}

static int await(pid_t child) {
    int state;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return report_errno(errno);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return CLI_OK;
    return message_fail(CLI_INTERNAL, "gnuplot failed with status %d",
                        WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state));
}

int gnuplot_run(const char *script, size_t length, FILE *out) {
    char path[PATH_MAX];
    int ends[2];
    pid_t child;
    if (!find(path))
        return report_missing();
    if (pipe(ends) != 0)
        return report_errno(errno);
    const int reason = start(path, ends, fileno(out), &child);
    (void)close(ends[0]);
    if (reason == 0)
        send(ends[1], script, length);
    (void)close(ends[1]);
    return reason == 0 ? await(child) : report_errno(reason);
}
