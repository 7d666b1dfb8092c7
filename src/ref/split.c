/* split.c - see split.h. */
#include "ref/split.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/fpmode.h"
#include "host/thread_signals.h"

typedef struct piece {
    void (*work)(void *context, int worker, int64_t begin, int64_t end);
    void *context;
    int worker;
    int64_t begin, end;
    pthread_t thread;
    bool is_started;
} piece_t;

static void *run_piece(void *argument) {
    TCGEMM_DEFAULT_FP_MODES;
    const piece_t *piece = argument;
    if (piece->begin < piece->end)
        piece->work(piece->context, piece->worker, piece->begin, piece->end);
    return NULL;
}

void tcgemm_split(int num_workers, int64_t count,
                  void (*work)(void *context, int worker, int64_t begin, int64_t end),
                  void *context) {
    piece_t pieces[TCGEMM_SPLIT_MAX] = {{0}};
    const int64_t share = count / num_workers;
    const int64_t longer = count % num_workers; /* so many pieces are one longer */
    int64_t begin = 0;
    for (int w = 0; w < num_workers; ++w) {
        const int64_t end = begin + share + (w < longer);
        pieces[w] =
            (piece_t){.work = work, .context = context, .worker = w, .begin = begin, .end = end};
        begin = end;
    }
    sigset_t signals;
    tcgemm_thread_signals(&signals);
    for (int w = 1; w < num_workers; ++w)
        pieces[w].is_started = pthread_create(&pieces[w].thread, NULL, run_piece, &pieces[w]) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
    (void)run_piece(&pieces[0]);
    for (int w = 1; w < num_workers; ++w) {
        if (pieces[w].is_started)
            (void)pthread_join(pieces[w].thread, NULL);
        else
            (void)run_piece(&pieces[w]);
    }
}
