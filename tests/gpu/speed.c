/* speed.c - the speed of GPU rows, matrices on the GPU, in a table of comma-separated values.
 *
 *     speed [--size N | --shape MxNxK] [--algo NAME] [--type NAME] [--rows] [--seconds S] [--layout
 * nt]
 *
 * One line for each algorithm and type (with --rows: for each row). Random data; medians of the
 * GPU's own time. `tcgemm bench` is the thorough tool; this one needs nothing but the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_random.h"
#include "tcgemm/tcgemm.h"

typedef struct settings {
    long long m, n, k;
    const char *algo, *type, *layout;
    int rows;
    double seconds;
} settings_t;

enum { MAX_RUNS = 400 };

static tcgemm_context_t *context;
static tcgemm_device_info_t device = {.struct_size = sizeof device};

static int by_value(const void *x, const void *y) {
    const double a = *(const double *)x;
    const double b = *(const double *)y;
    return (a > b) - (a < b);
}

/* `kernel` NULL: the row that the planner picks of `algo`. */
static void measure(const settings_t *s, tcgemm_type_t type, const char *algo,
                    const tcgemm_kernel_info_t *kernel) {
    const tcgemm_type_info_t *t = tcgemm_type_info(type);
    tcgemm_problem_t p = tcgemm_problem(type, s->m, s->n, s->k);
    p.op_a = s->layout[0] == 't' ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = s->layout[1] == 't' ? TCGEMM_OP_T : TCGEMM_OP_N;
    tcgemm_plan_options_t o = tcgemm_plan_options();
    o.algo = algo;
    if (kernel) {
        o.kernel = kernel->name;
        p.flags |= kernel->needs_flags;
    }
    tcgemm_plan_t *plan = NULL;
    if (tcgemm_plan_create(context, &p, &o, &plan) != TCGEMM_STATUS_OK)
        return;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    (void)tcgemm_plan_get_info(plan, &info);
    void *const a = random_matrix(t->a, (size_t)(s->m * s->k));
    void *const b = random_matrix(t->b, (size_t)(s->k * s->n));
    void *const d = random_matrix(t->d, (size_t)(s->m * s->n));
    double seconds[MAX_RUNS];
    double total = 0;
    int count = 0;
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 3 && status == TCGEMM_STATUS_OK; ++i)
        status = tcgemm_run(plan, 1, a, b, 0, NULL, d);
    while (status == TCGEMM_STATUS_OK && count < MAX_RUNS && (count < 5 || total < s->seconds)) {
        tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
        status = tcgemm_run_with(plan, 1, a, b, 0, NULL, d, NULL, 0, &stats);
        seconds[count++] = stats.product_seconds;
        total += stats.product_seconds;
    }
    if (status != TCGEMM_STATUS_OK) {
        (void)printf("%s,%s: %s\n", info.kernel, t->name, tcgemm_last_error());
    } else {
        qsort(seconds, (size_t)count, sizeof *seconds, by_value);
        const double median = seconds[count / 2];
        const double rate = 2.0 * (double)s->m * (double)s->n * (double)s->k / median;
        (void)printf("%s,%s,%s,%lldx%lldx%lld,%s,%.6g,%.2f,%.3f,%d,%d,%.6g\n", info.algo,
                     info.kernel, t->name, s->m, s->n, s->k, s->layout, median, rate * 1e-12,
                     device.peak[type] > 0 ? rate / device.peak[type] : 0,
                     info.registers_per_thread, info.blocks_per_sm, info.predicted_seconds);
    }
    (void)fflush(stdout);
    (void)tcgemm_device_free(0, a);
    (void)tcgemm_device_free(0, b);
    (void)tcgemm_device_free(0, d);
    tcgemm_plan_destroy(plan);
}

static void each_row(const settings_t *s) {
    static const char *done[64][64];
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t k = {.struct_size = sizeof k};
        if (tcgemm_kernel_get_info(i, &k) != TCGEMM_STATUS_OK || !k.runnable ||
            strcmp(k.device, "gpu") != 0 || (s->algo && strcmp(s->algo, k.algo) != 0))
            continue;
        for (int t = 1; t <= tcgemm_type_count() && t < 64; ++t) {
            if (!(k.types >> (t - 1) & 1) ||
                (s->type && strcmp(s->type, tcgemm_type_info((tcgemm_type_t)t)->name) != 0))
                continue;
            int known = 0;
            while (!s->rows && done[t][known] && strcmp(done[t][known], k.algo) != 0)
                ++known;
            if (s->rows)
                measure(s, (tcgemm_type_t)t, NULL, &k);
            else if (!done[t][known])
                measure(s, (tcgemm_type_t)t, done[t][known] = k.algo, NULL);
        }
    }
}

int main(int argc, char **argv) {
    settings_t s = {8192, 8192, 8192, NULL, NULL, "nn", 0, 0.5};
    for (int i = 1; i < argc; ++i) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        if (strcmp(argv[i], "--size") == 0)
            s.m = s.n = s.k = strtoll(value, NULL, 10), ++i;
        else if (strcmp(argv[i], "--shape") == 0)
            s.m = strtoll(value, &end, 10), s.n = strtoll(end + 1, &end, 10),
            s.k = strtoll(end + 1, NULL, 10), ++i;
        else if (strcmp(argv[i], "--algo") == 0)
            s.algo = value, ++i;
        else if (strcmp(argv[i], "--type") == 0)
            s.type = value, ++i;
        else if (strcmp(argv[i], "--layout") == 0)
            s.layout = value, ++i;
        else if (strcmp(argv[i], "--seconds") == 0)
            s.seconds = strtod(value, NULL), ++i;
        else if (strcmp(argv[i], "--rows") == 0)
            s.rows = 1;
    }
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK ||
        tcgemm_device_get_info(0, &device) != TCGEMM_STATUS_OK) {
        (void)printf("skipped: %s\n", tcgemm_last_error());
        return 77;
    }
    (void)printf("algo,kernel,type,shape,layout,seconds,tflops,of_peak,registers,blocks_per_sm,"
                 "predicted\n");
    each_row(&s);
    tcgemm_context_destroy(context);
    return 0;
}
