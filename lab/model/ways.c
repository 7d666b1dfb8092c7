/* ways.c - times products of a few rows or columns each way that there is: the data that
 * src/cpu/ways_zen4.def and its like are fitted to (run.sh ways).
 *
 *     ways [TYPE [SEED]] >ways.csv                             on an idle machine
 *
 * Of TYPE, or of all types that have several ways, the sizes below, a tenth more or less by SEED; a
 * line for each way and one for what is chosen: the least time of some runs in at least 8 ms, data
 * in place and warm, and what is counted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/ways.h"
#include "host/clock.h"
#include "sample_cpu.h"
#include "tcgemm/tcgemm.h"

enum { LEAST_RUNS = 5, MOST_RUNS = 3000, MOST_BYTES = 10 << 20 };

/* Seconds; negative if there is no such plan. */
static double time_of(tcgemm_context_t *context, const tcgemm_problem_t *p, const void *a,
                      const void *b, void *d, tcgemm_plan_t **plan) {
    if (tcgemm_plan_create(context, p, NULL, plan) != TCGEMM_STATUS_OK)
        return -1.0;
    double least = HUGE_VAL;
    int at_once = 1; /* so many that a sample is long beside the clock's steps */
    const double start = now();
    for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || now() - start < 0.008); ++i) {
        const double begin = now();
        for (int run = 0; run < at_once; ++run)
            if (tcgemm_run(*plan, 1, a, b, 0, NULL, d) != TCGEMM_STATUS_OK)
                exit(1);
        const double each = (now() - begin) / at_once;
        least = fmin(least, each);
        at_once = each < 5e-6 ? (int)ceil(5e-6 / each) : 1;
    }
    return least;
}

static void measure(tcgemm_context_t *context, tcgemm_type_t type, const char *ops, long long m,
                    long long n, long long k) {
    static const char *const names[] = {"tiles", "dots", "parts", "inner", "across", "chosen"};
    const tcgemm_type_info_t *t = tcgemm_type_info(type);
    tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    p.op_a = ops[0] == 'T' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = ops[1] == 'T' ? TCGEMM_OP_T : TCGEMM_OP_N;
    if ((m + n) * k * tcgemm_dtype_bits(t->a) / 8 > MOST_BYTES)
        return;
    void *const a = random_matrix(t->a, (size_t)(m * k));
    void *const b = random_matrix(t->b, (size_t)(k * n));
    void *const d = random_matrix(t->d, (size_t)(m * n));
    const tcgemm_few_t few = {m < n ? TCGEMM_DOTS_ROWS : TCGEMM_DOTS_COLUMNS,
                              (m < n ? p.op_b : p.op_a) != (m < n ? TCGEMM_OP_T : TCGEMM_OP_N)};
    for (int w = 0; w <= TCGEMM_NUM_WAYS; ++w) {
        tcgemm_plan_t *plan = NULL;
        tcgemm_forced_way = (tcgemm_cpu_way_t)w;
        const double seconds = time_of(context, &p, a, b, d, &plan);
        const struct tcgemm_plan *const it = (const struct tcgemm_plan *)plan;
        const bool is_this =
            it && !it->cpu.small_turned &&
            (w == TCGEMM_WAY_TILES || w == TCGEMM_NUM_WAYS || it->cpu.dots != TCGEMM_DOTS_NONE);
        if (is_this) {
            double count[TCGEMM_NUM_WAY_COUNTS] = {0};
            if (w < TCGEMM_NUM_WAYS)
                tcgemm_count_way(it, few, tcgemm_forced_way, count);
            (void)printf("%s,%s,%lld,%lld,%lld,%s,%.6g,%.6g", t->name, ops, m, n, k, names[w],
                         seconds, tcgemm_nominal_clock_hz());
            for (int i = 0; i < TCGEMM_NUM_WAY_COUNTS; ++i)
                (void)printf(",%.9g", count[i]);
            (void)printf("\n");
            (void)fflush(stdout);
        }
        tcgemm_plan_destroy(plan);
    }
    free(a);
    free(b);
    free(d);
}

int main(int argc, char **argv) {
    static const int few[] = {2, 3, 4, 5, 7, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32};
    static const int many[] = {12, 40, 300, 1000, 3000, 12000}, steps[] = {20, 60, 130, 500, 2000};
    enum {
        NUM_FEW = sizeof few / sizeof *few,
        NUM_MANY = sizeof many / sizeof *many,
        NUM_STEPS = 5
    };
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    options.device = TCGEMM_DEVICE_CPU;
    options.num_threads = 1;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", tcgemm_last_error());
        return 1;
    }
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    (void)printf("type,ops,m,n,k,way,time_min_seconds,clock_hz");
    for (int i = 0; i < TCGEMM_NUM_WAY_COUNTS; ++i)
        (void)printf(",c%d", i);
    (void)printf("\n");
    for (int t = 1; t <= tcgemm_type_count(); ++t)
        for (int i = 0; i < NUM_FEW * NUM_MANY * NUM_STEPS; ++i) {
            const long long f = few[i % NUM_FEW];
            const long long l = llround(many[i / NUM_FEW % NUM_MANY] * (0.9 + 0.2 * uniform()));
            const long long k = llround(steps[i / NUM_FEW / NUM_MANY] * (0.9 + 0.2 * uniform()));
            if (f >= l ||
                (argc > 1 && strcmp(tcgemm_type_info((tcgemm_type_t)t)->name, argv[1]) != 0))
                continue;
            static const char *const layouts[] = {"NN", "NT", "TN", "TT"};
            for (int o = 0; o < 4; ++o) {
                measure(context, (tcgemm_type_t)t, layouts[o], f, l, k);
                measure(context, (tcgemm_type_t)t, layouts[o], l, f, k);
            }
        }
    tcgemm_context_destroy(context);
    return 0;
}
