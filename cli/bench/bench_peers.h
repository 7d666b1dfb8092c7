/* bench_peers.h - the peers that --vs names, opened once for all problems. */
#ifndef CLI_BENCH_PEERS_H
#define CLI_BENCH_PEERS_H

#include <stdbool.h>

#include "bench/gpu_clock.h"
#include "bench/peer.h"
#include "bench/peer_cublaslt.h"

enum { BENCH_MAX_PEERS = 8 };

/* One of the two, or neither: our own f32. */
typedef struct bench_peer {
    peer_t *library;
    cublaslt_t *lt;
} bench_peer_t;

typedef struct bench_peers {
    bench_peer_t values[BENCH_MAX_PEERS];
    int count;
    bool has_library; /* whose threads may spin after a call */
} bench_peers_t;

/* The list "openblas,mkl,./libfoo.so", NULL for none. `clock` is NULL on the CPU. Returns an exit
 * status; the caller closes anyway. */
int bench_peers_open(bench_peers_t *peers, const char *list, gpu_clock_t *clock, int device);
void bench_peers_close(bench_peers_t *peers);

/* Gives each library so many threads, and says so where that cannot be. */
void bench_peers_set_threads(const bench_peers_t *peers, int threads);

#endif
