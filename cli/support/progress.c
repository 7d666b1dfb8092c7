/* progress.c - the bar is drawn by a thread of its own, because one product is one opaque call. */
#include "support/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/clock.h"

enum { BAR_WIDTH = 30 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running, stop, drawn;
    bool off;
    char label[40];
    double estimate; /* seconds; 0: `fraction` is set from outside */
    double start, fraction;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static bool terminal_draws(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void draw(double elapsed) {
    double fraction = bar.fraction;
    if (bar.estimate > 0)
        fraction = elapsed / bar.estimate;
    if (fraction > 0.99)
        fraction = 0.99;
    const int filled = (int)(fraction * BAR_WIDTH);
    char marks[BAR_WIDTH + 1];
    memset(marks, '.', BAR_WIDTH);
    memset(marks, '#', (size_t)filled);
    marks[BAR_WIDTH] = '\0';
    (void)fprintf(stderr, "\r%s [%s] %2d %%  %.0f s", bar.label, marks, (int)(100 * fraction),
                  elapsed);
    (void)fflush(stderr);
    bar.drawn = true;
}

static void *draw_until_stopped(void *unused) {
    (void)unused;
    pthread_mutex_lock(&bar.lock);
    while (!bar.stop) {
        const double elapsed = clock_seconds() - bar.start;
        if (elapsed >= 1.0)
            draw(elapsed);
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += 100000000; /* ten times a second */
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&bar.wake, &bar.lock, &next);
    }
    pthread_mutex_unlock(&bar.lock);
    return NULL;
}

void progress_enable(int enabled) {
    bar.off = !enabled;
}

void progress_begin(const char *label, double seconds) {
    progress_end();
    if (bar.off || !terminal_draws())
        return;
    (void)snprintf(bar.label, sizeof bar.label, "%s", label);
    bar.estimate = seconds;
    bar.fraction = 0;
    bar.start = clock_seconds();
    bar.stop = false;
    bar.drawn = false;
    bar.running = pthread_create(&bar.thread, NULL, draw_until_stopped, NULL) == 0;
}

void progress_set(double fraction) {
    pthread_mutex_lock(&bar.lock);
    bar.fraction = fraction;
    pthread_mutex_unlock(&bar.lock);
}

void progress_clear(void) {
    pthread_mutex_lock(&bar.lock);
    if (bar.running && bar.drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        bar.drawn = false;
    }
    pthread_mutex_unlock(&bar.lock);
}

void progress_end(void) {
    if (!bar.running)
        return;
    pthread_mutex_lock(&bar.lock);
    bar.stop = true;
    pthread_cond_signal(&bar.wake);
    pthread_mutex_unlock(&bar.lock);
    pthread_join(bar.thread, NULL);
    bar.running = false;
    if (bar.drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    }
}
