/* call_log.c - see call_log.h.
 *
 * One pointer says who listens: NULL nobody, else a hook with its data. Such pairs are never freed,
 * for a call in another thread may be about to use one; there are as many as an application has
 * hooks, for the same pair is used again. */
#include "api/call_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

enum { LINE = 1024 };

static const tcgemm_listener_t unread; /* until the environment has been looked at */
static const tcgemm_listener_t lines_alone;
_Atomic(const tcgemm_listener_t *) tcgemm_listener = &unread;

/* ---- lines ---- */

static bool wants_lines;
static char path_of_lines[PATH_MAX]; /* "": the standard error */

static void write_error(const char *line, size_t length) {
    const ssize_t done = write(STDERR_FILENO, line, length);
    (void)done; /* there is nobody to tell */
}

static void say_cannot_open(void) {
    static atomic_bool said;
    char line[LINE];
    tcgemm_text_t t;
    const int why = errno;
    if (atomic_exchange(&said, true))
        return;
    tcgemm_text_begin(&t, line, sizeof line);
    tcgemm_text_add(&t, "tcgemm: TCGEMM_VERBOSE: %.800s: %s\n", path_of_lines, strerror(why));
    const size_t length = tcgemm_text_end(&t);
    write_error(line, length < sizeof line ? length : sizeof line - 1);
}

/* A whole line in one call of the system, at the end of the file as it is then: lines of threads
 * and of processes do not mix, and a file that was moved away is begun anew. */
static void write_line(const char *line, size_t length) {
    if (!path_of_lines[0]) {
        write_error(line, length);
        return;
    }
    const int fd = open(path_of_lines, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                        S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
    if (fd < 0 || write(fd, line, length) < 0)
        say_cannot_open();
    if (fd >= 0)
        (void)close(fd);
}

/* 1e9 operations a second; 0 where none were done, or nobody has waited for them. */
static double gflops(const tcgemm_call_info_t *c) {
    const tcgemm_problem_t *p = c->problem;
    const bool counts = c->status == TCGEMM_STATUS_OK && !c->is_async && c->packs == 0 &&
                        c->alpha != 0 && c->seconds > 0;
    const double products = (double)p->batch * (double)p->m * (double)p->n * (double)p->k;
    return counts ? 2e-9 * products / c->seconds : 0;
}

static void add_problem(tcgemm_text_t *t, const tcgemm_problem_t *p) {
    const char *const type = tcgemm_type_info(p->type)->name;
    tcgemm_text_add(t, "type=%s m=%lld n=%lld k=%lld batch=%lld", type, (long long)p->m,
                    (long long)p->n, (long long)p->k, (long long)p->batch);
    tcgemm_text_add(t, " op_a=%c op_b=%c order=%s flags=%u", "NT"[p->op_a == TCGEMM_OP_T],
                    "NT"[p->op_b == TCGEMM_OP_T], p -> order == TCGEMM_ROW_MAJOR ? "row" : "col",
                    p->flags);
    tcgemm_text_add(t, " lda=%lld ldb=%lld ldc=%lld ldd=%lld", (long long)p->lda, (long long)p->ldb,
                    (long long)p->ldc, (long long)p->ldd);
    tcgemm_text_add(t, " stride_a=%lld stride_b=%lld stride_c=%lld stride_d=%lld",
                    (long long)p->stride_a, (long long)p->stride_b, (long long)p->stride_c,
                    (long long)p->stride_d);
}

static void tell_line(const tcgemm_call_info_t *c) {
    char line[LINE];
    tcgemm_text_t t;
    tcgemm_text_begin(&t, line, sizeof line);
    tcgemm_text_add(&t, "tcgemm: call status=%s ", tcgemm_status_name(c->status));
    add_problem(&t, c->problem);
    tcgemm_text_add(&t, " alpha=%.17g beta=%.17g packs=%s", c->alpha, c->beta,
                    c->packs == TCGEMM_OPERAND_A   ? "a"
                    : c->packs == TCGEMM_OPERAND_B ? "b"
                                                   : "-");
    tcgemm_text_add(&t, " algo=%s kernel=%s threads=%d", c->algo, c->kernel, c->num_threads);
    if (c->device_index == TCGEMM_DEVICE_CPU)
        tcgemm_text_put(&t, " device=cpu");
    else
        tcgemm_text_add(&t, " device=%d", c->device_index);
    tcgemm_text_add(&t, " async=%d seconds=%.6g gflops=%.4g\n", c->is_async, c->seconds, gflops(c));
    const size_t length = tcgemm_text_end(&t);
    write_line(line, length < sizeof line ? length : sizeof line - 1);
}

/* ---- the environment ---- */

/* "1" or "1:FILE". */
static void read_variable(void) {
    const char *value = secure_getenv("TCGEMM_VERBOSE");
    if (!value || value[0] != '1' || (value[1] != '\0' && (value[1] != ':' || !value[2])))
        return;
    const char *path = value[1] ? value + 2 : "";
    if (strlen(path) >= sizeof path_of_lines)
        return;
    (void)strcpy(path_of_lines, path);
    wants_lines = true;
}

/* Once: getenv in the middle of a program races with any setenv of its other threads. */
static void read_environment(void) {
    const tcgemm_listener_t *old = &unread;
    read_variable();
    (void)atomic_compare_exchange_strong(&tcgemm_listener, &old, wants_lines ? &lines_alone : NULL);
}

static void read_environment_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, read_environment);
}

/* ---- hooks ---- */

/* The pair of `hook` and `data`, made if there was none; NULL without memory. No lock, which a
 * child forked meanwhile would wait for without end. */
static const tcgemm_listener_t *listener_of(tcgemm_call_hook_t hook, void *data) {
    static _Atomic(tcgemm_listener_t *) all;
    tcgemm_listener_t *first = atomic_load(&all);
    for (tcgemm_listener_t *found = first; found; found = found->next)
        if (found->hook == hook && found->data == data)
            return found;
    tcgemm_listener_t *const made = malloc(sizeof *made);
    if (!made)
        return NULL;
    do
        *made = (tcgemm_listener_t){hook, data, first};
    while (!atomic_compare_exchange_weak(&all, &first, made));
    return made;
}

tcgemm_status_t tcgemm_set_call_hook(tcgemm_call_hook_t hook, void *data) {
    read_environment_once();
    const tcgemm_listener_t *listener = wants_lines ? &lines_alone : NULL;
    if (hook)
        listener = listener_of(hook, data);
    TCGEMM_RETURN_IF(hook && !listener, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a hook");
    atomic_store(&tcgemm_listener, listener);
    return TCGEMM_STATUS_OK;
}

/* ---- telling ---- */

/* The packed operand as the caller counts: a problem in column order has A and B exchanged. */
static unsigned packs_of(const struct tcgemm_plan *plan) {
    if (!plan->packs)
        return 0;
    return (plan->packs == TCGEMM_OPERAND_B) != plan->g.swapped ? TCGEMM_OPERAND_B
                                                                : TCGEMM_OPERAND_A;
}

void tcgemm_call_tell(const struct tcgemm_plan *plan, double start, double alpha, double beta,
                      bool is_async, tcgemm_status_t status) {
    const double now = now_seconds();
    read_environment_once();
    const tcgemm_listener_t *listener = atomic_load(&tcgemm_listener);
    if (!listener)
        return;
    const tcgemm_call_info_t call = {
        .struct_size = sizeof call,
        .problem = &plan->problem,
        .alpha = alpha,
        .beta = beta,
        .packs = packs_of(plan),
        .algo = plan->kernel->family->algo,
        .kernel = plan->kernel->name,
        .device = plan->device ? plan->device->name : "cpu",
        .device_index = plan->device ? plan->device->index : TCGEMM_DEVICE_CPU,
        .num_threads = plan->num_threads,
        .is_async = is_async,
        .status = status,
        .seconds = start > 0 ? now - start : 0,
    };
    if (wants_lines)
        tell_line(&call);
    if (listener->hook)
        listener->hook(&call, listener->data);
}
