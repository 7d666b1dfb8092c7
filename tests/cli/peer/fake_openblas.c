/* fake_openblas.c - a peer of known speed, found through LD_LIBRARY_PATH as libopenblas.so.0.
 *
 * A product takes FAKE_PEER_SECONDS and computes nothing; what it was asked for, and how long
 * it took, goes to the file FAKE_PEER_LOG, one line a call. For tests/cli/bench_peer.py. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);
void openblas_set_num_threads(int threads);
char *openblas_get_config(void);

static int num_threads;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The arguments behind the name, as cblas.h has them. */
static void work(char name, const int *numbers, const int *lds, double alpha, double beta) {
    const char *seconds = getenv("FAKE_PEER_SECONDS");
    const char *path = getenv("FAKE_PEER_LOG");
    const double start = now();
    const double end = start + (seconds ? strtod(seconds, NULL) : 0);
    while (now() < end)
        continue;
    const double took = now() - start;
    FILE *log = path ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, "%cgemm threads=%d order=%d ta=%d tb=%d m=%d n=%d k=%d", name, num_threads,
                numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
        fprintf(log, " lda=%d ldb=%d ldc=%d alpha=%g beta=%g seconds=%.9f\n", lds[0], lds[1],
                lds[2], alpha, beta, took);
        fclose(log);
    }
}

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc) {
    (void)a, (void)b, (void)c;
    work('s', (int[]){order, trans_a, trans_b, m, n, k}, (int[]){lda, ldb, ldc}, (double)alpha,
         (double)beta);
}

void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc) {
    (void)a, (void)b, (void)c;
    work('d', (int[]){order, trans_a, trans_b, m, n, k}, (int[]){lda, ldb, ldc}, alpha, beta);
}

void openblas_set_num_threads(int threads) {
    num_threads = threads;
}

char *openblas_get_config(void) {
    static char text[] = "a fake of known speed";
    return text;
}
