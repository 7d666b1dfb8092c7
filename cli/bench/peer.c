/* peer.c - the few functions of OpenBLAS that the bench needs. */
#include "bench/peer.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "files/layout.h"

/* cblas.h's numbers: 101 row-major, 102 column-major; 111 as stored, 112 transposed. */
typedef void sgemm_t(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                     const float *a, int lda, const float *b, int ldb, float beta, float *c,
                     int ldc);
typedef void dgemm_t(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                     const double *a, int lda, const double *b, int ldb, double beta, double *c,
                     int ldc);
typedef void set_threads_t(int threads);
typedef char *get_config_t(void);

struct peer {
    void *library;
    sgemm_t *sgemm;
    dgemm_t *dgemm;
    set_threads_t *set_threads;
    get_config_t *get_config;
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal bits. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

peer_t *peer_open(const char **why) {
    peer_t *peer = calloc(1, sizeof *peer);
    if (!peer) {
        *why = "no memory";
        return NULL;
    }
    peer->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!peer->library)
        peer->library = dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
    *why = "libopenblas.so.0 is not installed (Debian: libopenblas0-pthread)";
    if (peer->library && find(peer->library, "cblas_sgemm", &peer->sgemm) &&
        find(peer->library, "cblas_dgemm", &peer->dgemm) &&
        find(peer->library, "openblas_set_num_threads", &peer->set_threads) &&
        find(peer->library, "openblas_get_config", &peer->get_config))
        return peer;
    if (peer->library)
        *why = "libopenblas.so.0 lacks cblas_sgemm, cblas_dgemm or openblas_set_num_threads";
    peer_close(peer);
    return NULL;
}

/* The library stays open: its threads may still be on their way to sleep. */
void peer_close(peer_t *peer) {
    free(peer);
}

const char *peer_config(const peer_t *peer) {
    return peer->get_config();
}

const char *peer_name(tcgemm_type_t type) {
    return type == TCGEMM_F64_F64 ? "openblas dgemm" : "openblas sgemm";
}

tcgemm_type_t peer_type(tcgemm_type_t type) {
    return type == TCGEMM_F64_F64 ? TCGEMM_F64_F64 : TCGEMM_F32_F32;
}

bool peer_can(const tcgemm_problem_t *p) {
    return p->m <= INT_MAX && p->n <= INT_MAX && p->k <= INT_MAX && p->lda <= INT_MAX &&
           p->ldb <= INT_MAX && p->ldd <= INT_MAX;
}

void peer_set_threads(peer_t *peer, int threads) {
    peer->set_threads(threads);
}

void peer_run(const peer_t *peer, const tcgemm_problem_t *p, double alpha, const void *a,
              const void *b, double beta, void *c) {
    const int order = p->order == TCGEMM_ROW_MAJOR ? 101 : 102;
    const int op_a = p->op_a == TCGEMM_OP_T ? 112 : 111;
    const int op_b = p->op_b == TCGEMM_OP_T ? 112 : 111;
    const int m = (int)p->m;
    const int n = (int)p->n;
    const int k = (int)p->k;
    const int lda = (int)layout_of(p, 'A').ld;
    const int ldb = (int)layout_of(p, 'B').ld;
    const int ldd = (int)layout_of(p, 'D').ld;
    for (int64_t t = 0; t < p->batch; ++t) {
        if (p->type == TCGEMM_F64_F64)
            peer->dgemm(order, op_a, op_b, m, n, k, alpha, (const double *)a + t * p->stride_a, lda,
                        (const double *)b + t * p->stride_b, ldb, beta,
                        (double *)c + t * p->stride_d, ldd);
        else
            peer->sgemm(order, op_a, op_b, m, n, k, (float)alpha,
                        (const float *)a + t * p->stride_a, lda, (const float *)b + t * p->stride_b,
                        ldb, (float)beta, (float *)c + t * p->stride_d, ldd);
    }
}
