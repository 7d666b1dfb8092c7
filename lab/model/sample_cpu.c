/* sample_cpu.c - measures the CPU's kernels over many sizes: the data that src/cpu/model.c is
 * fitted to, and judged by.
 *
 *     bash lab/model/run.sh sample-cpu [THREADS] >samples.csv      on an idle machine
 *
 * For each type and shape the least of some runs in at least 60 ms, data in place and warm.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tcgemm/tcgemm.h"

typedef struct shape {
    const char *ops;
    long long m, n, k, batch;
} shape_t;

static const shape_t shapes[] = {
    {"NN", 64, 64, 64, 1},      {"NN", 100, 100, 100, 1},    {"NN", 128, 128, 128, 1},
    {"NN", 192, 192, 192, 1},   {"NN", 256, 256, 256, 1},    {"NN", 384, 384, 384, 1},
    {"NN", 500, 500, 500, 1},   {"NN", 512, 512, 512, 1},    {"NN", 768, 768, 768, 1},
    {"NN", 1000, 1001, 999, 1}, {"NN", 1024, 1024, 1024, 1}, {"NT", 512, 512, 512, 1},
    {"TN", 512, 512, 512, 1},   {"TT", 512, 512, 512, 1},    {"NT", 1000, 1000, 1000, 1},
    {"NN", 2048, 64, 512, 1},   {"NN", 64, 2048, 512, 1},    {"NN", 8, 1024, 1024, 1},
    {"NN", 1024, 1024, 32, 1},  {"NN", 100, 100, 8000, 1},   {"NN", 64, 64, 64, 100},
    {"NN", 128, 128, 128, 20},  {"NT", 1, 1000, 1000, 1},    {"NN", 1500, 700, 900, 1},
};

enum { NUM_SHAPES = sizeof shapes / sizeof shapes[0], MOST_RUNS = 2000 };

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *random_matrix(tcgemm_dtype_t dtype, size_t count) {
    const size_t bytes = (count * (size_t)tcgemm_dtype_bits(dtype) + 7) / 8 + 64;
    unsigned char *const bits = malloc(bytes);
    double *const values = malloc(4096 * sizeof *values);
    unsigned long long state = 88172645463325252ull;
    if (!bits || !values)
        exit(1);
    for (size_t i = 0; i < bytes; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        bits[i] = (unsigned char)(state >> 56);
    }
    for (size_t at = 0; dtype < TCGEMM_DTYPE_S32 && at < count; at += 4096) {
        const size_t some = count - at < 4096 ? count - at : 4096;
        for (size_t i = 0; i < some; ++i) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            values[i] = (double)(long long)state * 0x1p-63;
        }
        (void)tcgemm_convert(dtype, bits + at * (size_t)tcgemm_dtype_bits(dtype) / 8,
                             TCGEMM_DTYPE_F64, values, (int64_t)some);
    }
    free(values);
    return bits;
}

static void print_parts(const tcgemm_plan_t *plan, const char *kernel) {
    for (int rank = 0; rank < tcgemm_plan_estimate_count(plan); ++rank) {
        tcgemm_estimate_t e = {.struct_size = sizeof e};
        if (tcgemm_plan_get_estimate(plan, rank, &e) != TCGEMM_STATUS_OK ||
            strcmp(e.kernel, kernel) != 0)
            continue;
        for (int part = 0; part < e.num_parts; ++part)
            (void)printf(",%.6g", e.parts[part].seconds);
    }
    (void)printf("\n");
}

static void measure(tcgemm_context_t *context, tcgemm_type_t type, const shape_t *s) {
    const tcgemm_type_info_t *t = tcgemm_type_info(type);
    tcgemm_problem_t p = tcgemm_problem(type, s->m, s->n, s->k);
    p.op_a = s->ops[0] == 'T' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = s->ops[1] == 'T' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.batch = s->batch;
    p.stride_a = s->m * s->k;
    p.stride_b = s->k * s->n;
    p.stride_c = p.stride_d = s->m * s->n;
    tcgemm_plan_t *plan = NULL;
    if (tcgemm_plan_create(context, &p, NULL, &plan) != TCGEMM_STATUS_OK)
        return; /* packed types want whole bytes or words in a row */
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    (void)tcgemm_plan_get_info(plan, &info);
    void *const a = random_matrix(t->a, (size_t)(s->m * s->k * s->batch));
    void *const b = random_matrix(t->b, (size_t)(s->k * s->n * s->batch));
    void *const d = random_matrix(t->d, (size_t)(s->m * s->n * s->batch));
    double least = HUGE_VAL;
    const double start = now();
    for (int i = 0; i < MOST_RUNS && (i < 5 || now() - start < 0.06); ++i) {
        const double begin = now();
        if (tcgemm_run(plan, 1, a, b, 0, NULL, d) != TCGEMM_STATUS_OK)
            exit(1);
        least = fmin(least, now() - begin);
    }
    (void)printf("%s,%s,%s,%lld,%lld,%lld,%lld,%d,%.6g,%.6g", info.kernel, t->name, s->ops, s->m,
                 s->n, s->k, s->batch, info.num_threads, least, info.predicted_seconds);
    print_parts(plan, info.kernel);
    free(a);
    free(b);
    free(d);
    tcgemm_plan_destroy(plan);
}

int main(int argc, char **argv) {
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    options.device = TCGEMM_DEVICE_CPU;
    options.num_threads = argc > 1 ? atoi(argv[1]) : 1;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", tcgemm_last_error());
        return 1;
    }
    (void)printf("kernel,type,ops,m,n,k,batch,threads,seconds,predicted_seconds,"
                 "pack,multiply,store,barrier\n");
    for (int t = 1; t <= tcgemm_type_count(); ++t)
        for (int i = 0; i < NUM_SHAPES; ++i)
            measure(context, (tcgemm_type_t)t, &shapes[i]);
    tcgemm_context_destroy(context);
    return 0;
}
