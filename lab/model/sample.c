/* sample.c - measures GPU rows over many sizes: the data that the planner's model is fitted to.
 *
 *     bash lab/model/run.sh sample [substring of kernel names] >samples.csv
 *
 * For each row of the table and each shape below, matrices on the GPU, random data: the median of
 * three times 15 ms, by the GPU's own clock. Plans that pack or split are left out. Rows are not
 * checked here; `make test-gpu` does that.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "timing.h"

typedef struct shape {
    const char *ops;
    long long m, n, k, batch;
} shape_t;

static const shape_t shapes[] = {
    {"NN", 256, 256, 256, 1},    {"NN", 512, 512, 512, 1},    {"NN", 768, 768, 768, 1},
    {"NN", 1000, 1000, 1000, 1}, {"NN", 1024, 1024, 1024, 1}, {"NN", 1536, 1536, 1536, 1},
    {"NN", 2048, 2048, 2048, 1}, {"NN", 3072, 3072, 3072, 1}, {"NN", 4096, 4096, 4096, 1},
    {"NN", 6144, 6144, 6144, 1}, {"NN", 8192, 8192, 8192, 1}, {"NT", 4096, 4096, 4096, 1},
    {"TN", 4096, 4096, 4096, 1}, {"TT", 4096, 4096, 4096, 1}, {"NT", 1024, 1024, 1024, 1},
    {"NN", 4095, 4095, 4095, 1}, {"NT", 4095, 4095, 4095, 1}, {"NN", 1001, 1001, 1001, 1},
    {"NN", 4096, 4096, 256, 1},  {"NN", 256, 256, 16384, 1},  {"NN", 16384, 256, 1024, 1},
    {"NN", 128, 8192, 4096, 1},  {"NN", 64, 14336, 4096, 1},  {"NN", 16384, 16384, 64, 1},
    {"NN", 512, 512, 512, 32},   {"NN", 128, 128, 128, 512},  {"NN", 2304, 2304, 4096, 1},
    {"NN", 2048, 6144, 4096, 1}, {"NN", 1280, 1280, 1280, 1}, {"NT", 128, 4096, 14336, 1},
    {"NT", 512, 512, 224, 1},    {"NT", 1024, 1024, 224, 1},  {"NT", 2048, 2048, 224, 1},
    {"NT", 2048, 2048, 448, 1},  {"NT", 8192, 8192, 8192, 1}, {"NT", 1, 4096, 4096, 1},
    {"NT", 16, 4096, 4096, 1},   {"NT", 32, 8192, 8192, 1},   {"NT", 16, 14336, 4096, 1},
    {"NT", 64, 14336, 4096, 1},  {"NT", 8, 28672, 8192, 1},   {"NT", 64, 28672, 8192, 1},
    {"NT", 256, 256, 2048, 1},   {"NT", 256, 256, 8192, 1},   {"NT", 64, 64, 4096, 1},
    {"NT", 512, 512, 512, 1},    {"NT", 2048, 2048, 2048, 1}, {"NT", 16384, 256, 256, 1},
    {"NT", 65536, 128, 512, 1},  {"NT", 256, 65536, 320, 1},  {"NT", 1536, 1536, 1536, 1},
    {"NT", 3072, 3072, 3072, 1}, {"NT", 64, 64, 64, 512},     {"NN", 1, 4096, 4096, 1},
    {"NT", 4, 4096, 4096, 1},    {"NT", 8, 4096, 4096, 1},    {"NT", 2, 8192, 8192, 1},
    {"NN", 8, 8192, 8192, 1},    {"NN", 3, 28672, 8192, 1},   {"NT", 4, 1024, 1024, 1},
    {"NN", 16, 8192, 8192, 1},   {"NT", 8, 2048, 16384, 1},   {"NN", 4096, 1, 4096, 1},
    {"NN", 8192, 5, 4096, 1},    {"NT", 8192, 3, 8192, 1},    {"NN", 8192, 13, 4096, 1},
    {"TN", 8192, 8, 8192, 1},    {"NT", 3, 4095, 4095, 1},    {"NN", 8191, 2, 8191, 1},
};

enum { NUM_SHAPES = sizeof shapes / sizeof shapes[0] };
static const double sample_seconds = 0.015; /* each of three */

/* The steps of a plan beside the product. */
static bool has_other_steps(const tcgemm_plan_t *plan, const char *first_letters) {
    tcgemm_step_info_t step = {.struct_size = sizeof step};
    for (int i = 0; tcgemm_plan_get_step(plan, i, &step) == TCGEMM_STATUS_OK; ++i)
        if (strncmp(step.name, first_letters, strlen(first_letters)) == 0 &&
            strcmp(step.name, "product") != 0)
            return true;
    return false;
}

/* One row for one shape. A product of several steps says nothing of the row itself. */
static void measure(const tcgemm_kernel_info_t *row, tcgemm_type_t type, const shape_t *s) {
    const char *const kernel = row->name;
    tcgemm_problem_t p = tight_problem(type, s->ops, s->m, s->n, s->k, s->batch);
    p.flags |= row->needs_flags;
    tcgemm_plan_options_t o = tcgemm_plan_options();
    o.kernel = kernel;
    tcgemm_plan_t *plan = NULL;
    if (tcgemm_plan_create(timing_context, &p, &o, &plan) != TCGEMM_STATUS_OK) {
        if (strncmp(kernel, "gpu_stream", 10) != 0 && /* few rows or columns alone */
            strncmp(kernel, "gpu_batched", 11) != 0)  /* few of both */
            (void)fprintf(stderr, "%s: %s\n", kernel, tcgemm_last_error());
        return;
    }
    if (has_other_steps(plan, "")) {
        shape_t turned = *s;
        turned.ops = "NT"; /* some rows want k contiguous */
        if (strcmp(s->ops, "NN") == 0 && has_other_steps(plan, "pack"))
            measure(row, type, &turned);
        tcgemm_plan_destroy(plan);
        return;
    }
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    (void)tcgemm_plan_get_info(plan, &info);
    const double seconds = timing_of(plan, &p, sample_seconds);
    if (seconds > 0)
        (void)printf("%s,%s,%lld,%lld,%lld,%lld,%.6g,%.6g,%d,%d\n", kernel, s->ops, s->m, s->n,
                     s->k, s->batch, seconds, info.predicted_seconds, info.registers_per_thread,
                     info.blocks_per_sm);
    (void)fflush(stdout);
    tcgemm_plan_destroy(plan);
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : "";
    if (!timing_start())
        return 77;
    (void)printf("kernel,ops,m,n,k,batch,seconds,predicted_seconds,registers,blocks_per_sm\n");
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t k = {.struct_size = sizeof k};
        if (tcgemm_kernel_get_info(i, &k) != TCGEMM_STATUS_OK || !k.runnable ||
            strcmp(k.device, "gpu") != 0 || !strstr(k.name, part))
            continue;
        const bool fast = strcmp(k.algo, "mma-pipelined") == 0 || strcmp(k.algo, "wgmma") == 0 ||
                          strcmp(k.algo, "stream") == 0;
        for (int t = 1; t <= tcgemm_type_count(); ++t)
            for (int s = 0; k.types >> (t - 1) & 1 && s < NUM_SHAPES; ++s)
                if (fast || shapes[s].m * shapes[s].n < 6144LL * 6144 || shapes[s].k < 1024)
                    measure(&k, (tcgemm_type_t)t, &shapes[s]);
    }
    return 0;
}
