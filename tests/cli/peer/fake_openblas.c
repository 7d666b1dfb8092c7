/* fake_openblas.c - a peer of known speed, found through LD_LIBRARY_PATH as libopenblas.so.0.
 *
 * A product takes FAKE_PEER_SECONDS; what it was asked for, and how long it took, goes to the file
 * FAKE_PEER_LOG, one line a call. With FAKE_PEER_WRONG it writes no result. For
 * tests/cli/bench_peer.py and bench_suite.py. With FAKE_ANYBLAS it is a second library that has
 * sgemm alone and takes FAKE_ANY_SECONDS. */
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

#ifdef FAKE_ANYBLAS
#define SECONDS "FAKE_ANY_SECONDS"
#else
#define SECONDS "FAKE_PEER_SECONDS"
#endif

static int num_threads;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double element(const void *x, int wide, long index) {
    return wide ? ((const double *)x)[index] : (double)((const float *)x)[index];
}

/* What cblas.h says, one element after the other. */
static void multiply(int wide, const int *numbers, const int *lds, double alpha, const void *a,
                     const void *b, double beta, void *c) {
    const int by_rows = numbers[0] == 101;
    const int a_rows = (numbers[1] == 112) != by_rows; /* whether a step along k is 1 */
    const int b_rows = (numbers[2] == 112) != by_rows;
    for (long i = 0; i < numbers[3]; ++i)
        for (long j = 0; j < numbers[4]; ++j) {
            const long at = by_rows ? i * lds[2] + j : i + j * lds[2];
            double sum = 0;
            for (long l = 0; l < numbers[5]; ++l)
                sum += element(a, wide, a_rows ? i * lds[0] + l : i + l * lds[0]) *
                       element(b, wide, b_rows ? l * lds[1] + j : l + j * lds[1]);
            const double d = alpha * sum + (beta != 0 ? beta * element(c, wide, at) : 0);
            if (wide)
                ((double *)c)[at] = d;
            else
                ((float *)c)[at] = (float)d;
        }
}

/* The arguments behind the name, as cblas.h has them. */
static void work(char name, const int *numbers, const int *lds, double alpha, const void *a,
                 const void *b, double beta, void *c) {
    const char *seconds = getenv(SECONDS);
    const char *path = getenv("FAKE_PEER_LOG");
    const double start = now();
    const double end = start + (seconds ? strtod(seconds, NULL) : 0);
    if (!getenv("FAKE_PEER_WRONG"))
        multiply(name == 'd', numbers, lds, alpha, a, b, beta, c);
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
    work('s', (int[]){order, trans_a, trans_b, m, n, k}, (int[]){lda, ldb, ldc}, (double)alpha, a,
         b, (double)beta, c);
}

#ifndef FAKE_ANYBLAS
void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc) {
    work('d', (int[]){order, trans_a, trans_b, m, n, k}, (int[]){lda, ldb, ldc}, alpha, a, b, beta,
         c);
}

void openblas_set_num_threads(int threads) {
    num_threads = threads;
}

char *openblas_get_config(void) {
    static char text[] = "a fake of known speed";
    return text;
}
#endif
