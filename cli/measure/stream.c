/* stream.c - each thread owns a piece of the three arrays, which it touches first, so that the
 * pieces lie at its own memory. A pass begins and ends with all threads at a barrier. */
#include "measure/stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "measure/statistics.h"
#include "support/clock.h"

enum { NUM_PASSES = 6, MAX_THREADS = 256, NUM_ARRAYS = 3 };

typedef struct team {
    double *a, *b, *c;
    size_t length;
    pthread_mutex_t gate; /* held until it is known how many we are */
    int num_threads;
    pthread_barrier_t barrier;
    double best_seconds;
} team_t;

typedef struct member {
    team_t *team;
    int index;
} member_t;

static void triad(const team_t *t, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
        t->a[i] = t->b[i] + 3.0 * t->c[i];
}

static void *work(void *argument) {
    const member_t *me = argument;
    team_t *t = me->team;
    (void)pthread_mutex_lock(&t->gate);
    (void)pthread_mutex_unlock(&t->gate);
    const size_t first = t->length * (size_t)me->index / (size_t)t->num_threads;
    const size_t last = t->length * ((size_t)me->index + 1) / (size_t)t->num_threads;
    for (size_t i = first; i < last; ++i) {
        t->b[i] = (double)i;
        t->c[i] = 1;
    }
    triad(t, first, last);
    for (int pass = 0; pass < NUM_PASSES; ++pass) {
        (void)pthread_barrier_wait(&t->barrier);
        const double begin = clock_seconds();
        triad(t, first, last);
        (void)pthread_barrier_wait(&t->barrier);
        const double seconds = clock_seconds() - begin;
        if (me->index == 0 && (pass == 0 || seconds < t->best_seconds))
            t->best_seconds = seconds;
    }
    return NULL;
}

/* As many threads as can be had up to `wanted`, this one among them. */
static void run_team(team_t *team, int wanted) {
    pthread_t threads[MAX_THREADS];
    member_t members[MAX_THREADS];
    int count = 1;
    (void)pthread_mutex_init(&team->gate, NULL);
    (void)pthread_mutex_lock(&team->gate);
    for (int i = 0; i < wanted; ++i)
        members[i] = (member_t){team, i};
    while (count < wanted && pthread_create(&threads[count], NULL, work, &members[count]) == 0)
        ++count;
    team->num_threads = count;
    (void)pthread_barrier_init(&team->barrier, NULL, (unsigned)count);
    (void)pthread_mutex_unlock(&team->gate);
    (void)work(&members[0]);
    for (int i = 1; i < count; ++i)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_barrier_destroy(&team->barrier);
    (void)pthread_mutex_destroy(&team->gate);
}

double stream_bandwidth(int num_threads, double cache_bytes) {
    const double most = 0x1p30;
    const double least = 0x1p27;
    double bytes = 8 * cache_bytes;
    bytes = bytes < least ? least : bytes > most ? most : bytes;
    double *const arrays = malloc((size_t)bytes);
    if (!arrays)
        return 0;
    team_t team = {.length = (size_t)bytes / NUM_ARRAYS / sizeof(double)};
    team.a = arrays;
    team.b = arrays + team.length;
    team.c = arrays + 2 * team.length;
    const int wanted = num_threads < 1 ? 1 : num_threads;
    run_team(&team, wanted < MAX_THREADS ? wanted : MAX_THREADS);
    free(arrays);
    return statistics_rate(statistics_triad_bytes((double)team.length), team.best_seconds);
}
