/* sample_cpu.c - times products of random shapes on the CPU: the data that src/cpu/cost.def is
 * fitted to, and judged by (run.sh cpu).
 *
 *     sample_cpu SEED COUNT [THREADS [TYPE]] >samples.csv      on an idle machine
 *
 * COUNT shapes of each type whose name has TYPE in it, their layouts too by SEED; the least time of
 * some runs in at least 30 ms, data in place and warm; and what the plan counts (src/cpu/cost.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cost.h"
#include "host/clock.h"
#include "sample_cpu.h"
#include "tcgemm/tcgemm.h"

typedef struct shape {
    const char *ops;
    long long m, n, k, batch;
} shape_t;

enum { MOST_RUNS = 3000, NUM_KINDS = 10 };

/* Each octave as often as another; one half are multiples of 8. */
static long long size_between(double least, double most) {
    const long long size = llround(least * pow(most / least, uniform()));
    return uniform() < 0.5 && size > 8 ? size / 8 * 8 : size;
}

static shape_t random_shape(int kind) {
    static const char *const layouts[] = {"NN", "NT", "TN", "TT"};
    const double most_volume = 8e8;
    shape_t s = {layouts[(int)(uniform() * 4)], 0, 0, 0, 1};
    do {
        if (kind < 5) { /* anything */
            s.m = size_between(16, 2500);
            s.n = size_between(16, 2500);
            s.k = size_between(16, 2500);
        } else if (kind == 5) { /* small */
            s.m = size_between(4, 130);
            s.n = size_between(4, 130);
            s.k = size_between(4, 130);
        } else if (kind == 6 || kind == 7) { /* few rows, few columns */
            const long long few = uniform() < 0.3 ? 1 : size_between(2, 64);
            const long long many = size_between(300, 5000);
            s.m = kind == 6 ? few : many;
            s.n = kind == 6 ? many : few;
            s.k = size_between(300, 5000);
        } else if (kind == 8) { /* deep */
            s.m = size_between(16, 200);
            s.n = size_between(16, 200);
            s.k = size_between(2000, 30000);
        } else {
            s.m = size_between(8, 130);
            s.n = size_between(8, 130);
            s.k = size_between(8, 130);
            s.batch = size_between(2, 60);
        }
    } while ((double)s.m * (double)s.n * (double)s.k * (double)s.batch > most_volume);
    return s;
}

/* A plan's counts stand in its struct alone. */
static void print_counts(const tcgemm_plan_t *plan) {
    double count[TCGEMM_NUM_COUNTS];
    tcgemm_cpu_work((const struct tcgemm_plan *)plan, count);
    for (int i = 0; i < TCGEMM_NUM_COUNTS; ++i)
        (void)printf(",%.9g", count[i]);
    (void)printf("\n");
    (void)fflush(stdout);
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
    for (int i = 0; i < MOST_RUNS && (i < 5 || now() - start < 0.03); ++i) {
        const double begin = now();
        if (tcgemm_run(plan, 1, a, b, 0, NULL, d) != TCGEMM_STATUS_OK)
            exit(1);
        least = fmin(least, now() - begin);
    }
    (void)printf("%s,%s,%s,%lld,%lld,%lld,%lld,%d,%.6g,%.6g,%.6g", info.kernel, t->name, s->ops,
                 s->m, s->n, s->k, s->batch, info.num_threads, least, info.predicted_seconds,
                 tcgemm_nominal_clock_hz());
    print_counts(plan);
    free(a);
    free(b);
    free(d);
    tcgemm_plan_destroy(plan);
}

int main(int argc, char **argv) {
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    if (argc < 3) {
        (void)fprintf(stderr, "usage: sample_cpu SEED COUNT [THREADS [TYPE]]\n");
        return 2;
    }
    options.device = TCGEMM_DEVICE_CPU;
    options.num_threads = argc > 3 ? atoi(argv[3]) : 1;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", tcgemm_last_error());
        return 1;
    }
    (void)printf(
        "kernel,type,ops,m,n,k,batch,threads,time_min_seconds,predicted_seconds,clock_hz,"
        "%s\n",
        "call,item,tile,edge,multiply,a_along,a_across,b_along,b_across,panel,"
        "a_piece,b_piece,row,in_place,own,store,far,far_a,far_b,far_d,again,line,dot,across,"
        "across_dot,tile_line,inner,inner_sum");
    const int count = atoi(argv[2]);
    for (int i = 0; i < count; ++i)
        for (int t = 1; t <= tcgemm_type_count(); ++t) {
            if (argc > 4 && !strstr(tcgemm_type_info((tcgemm_type_t)t)->name, argv[4]))
                continue;
            state = strtoull(argv[1], NULL, 10) * 1000003ull + (unsigned long long)(i * 100 + t);
            for (int warm = 0; warm < 8; ++warm)
                (void)uniform();
            const shape_t s = random_shape(i % NUM_KINDS);
            measure(context, (tcgemm_type_t)t, &s);
        }
    tcgemm_context_destroy(context);
    return 0;
}
