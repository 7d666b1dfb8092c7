/* bench_peers.c - opens them one after the other. */
#include "bench/bench_peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exit_status.h"
#include "support/message.h"

enum { NAME_SIZE = 1024 };

static int open_cublaslt(bench_peer_t *peer, gpu_clock_t *clock, int device) {
    const char *why;
    if (!clock)
        return message_usage("bench", "--vs cublaslt runs on a GPU: give --device 0");
    peer->lt = cublaslt_open(clock, device, &why);
    if (!peer->lt)
        return message_fail(CLI_NO_DEVICE, "no peer: %s", why);
    message_note("the peer is cublaslt %s, the best of its proposals for each problem",
                 cublaslt_version(peer->lt));
    return CLI_OK;
}

static int open_library(bench_peer_t *peer, const char *name, const gpu_clock_t *clock) {
    char why[PEER_WHY_SIZE];
    if (clock)
        return message_usage("bench", "--vs %s runs on the CPU: leave out --device", name);
    peer->library = peer_open(name, why);
    if (!peer->library)
        return message_fail(CLI_NO_DEVICE, "no peer: %s", why);
    message_note("a peer is %s%s%s; types it lacks run against its sgemm", peer_name(peer->library),
                 *peer_version(peer->library) ? ", " : "", peer_version(peer->library));
    return CLI_OK;
}

static int open_one(bench_peers_t *peers, const char *name, gpu_clock_t *clock, int device) {
    if (peers->count == BENCH_MAX_PEERS)
        return message_usage("bench", "--vs lists more than %d peers", BENCH_MAX_PEERS);
    bench_peer_t *peer = &peers->values[peers->count++];
    if (strcmp(name, "f32") == 0)
        return CLI_OK;
    if (strcmp(name, "cublaslt") == 0)
        return open_cublaslt(peer, clock, device);
    peers->has_library = true;
    return open_library(peer, name, clock);
}

int bench_peers_open(bench_peers_t *peers, const char *list, gpu_clock_t *clock, int device) {
    char name[NAME_SIZE];
    int status = CLI_OK;
    /* Threads of this OpenMP spin 200 ms unless told otherwise, which no pause could wait for; 20
     * ms are longer than anything between two calls of a block. */
    (void)setenv("KMP_BLOCKTIME", "20", 0);
    while (list && status == CLI_OK) {
        const size_t length = strcspn(list, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, list);
        status = open_one(peers, name, clock, device);
        list = list[length] ? list + length + 1 : NULL;
    }
    return status;
}

void bench_peers_close(bench_peers_t *peers) {
    for (int i = 0; i < peers->count; ++i) {
        peer_close(peers->values[i].library);
        cublaslt_close(peers->values[i].lt);
    }
    peers->count = 0;
}

void bench_peers_set_threads(const bench_peers_t *peers, int threads) {
    for (int i = 0; i < peers->count; ++i) {
        peer_t *library = peers->values[i].library;
        if (library && !peer_set_threads(library, threads))
            message_note("%s: its number of threads cannot be set; it runs on as many as it likes",
                         peer_name(library));
    }
}
