/* What a product costs in calls of the driver, once everything is warm: printed, and held below the
 * figures of the day this test was written. Fewer are welcome; then lower the limit. Two of each
 * product are cuTensorMapEncodeTiled, which does not leave the process.
 */
#include <stdio.h>
#include <string.h>

#include "fake_driver/harness.h"

typedef struct warm {
    testcase_t t;
    operands_t x;
    on_gpu_t there;
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
} warm_t;

static tcgemm_status_t run(const warm_t *w) {
    return tcgemm_run(w->plan, 1, on_gpu_data(&w->there, 0), on_gpu_data(&w->there, 1), 0, NULL,
                      on_gpu_data(&w->there, 3));
}

static tcgemm_status_t run_timed(const warm_t *w) {
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    return tcgemm_run_with(w->plan, 1, on_gpu_data(&w->there, 0), on_gpu_data(&w->there, 1), 0,
                           NULL, on_gpu_data(&w->there, 3), NULL, 0, &stats);
}

static tcgemm_status_t run_async(const warm_t *w) {
    return tcgemm_run_async(w->plan, 1, on_gpu_data(&w->there, 0), on_gpu_data(&w->there, 1), 0,
                            NULL, on_gpu_data(&w->there, 3), NULL, 0, NULL);
}

static tcgemm_status_t one_call(const warm_t *w) {
    return tcgemm_gemm(&w->t.p, 1, on_gpu_data(&w->there, 0), on_gpu_data(&w->there, 1), 0, NULL,
                       on_gpu_data(&w->there, 3));
}

static tcgemm_status_t make_plan(const warm_t *w) {
    tcgemm_plan_t *plan = NULL;
    const tcgemm_status_t status = tcgemm_plan_create(w->context, &w->t.p, NULL, &plan);
    tcgemm_plan_destroy(plan);
    return status;
}

static tcgemm_status_t host_run(const warm_t *w) {
    return tcgemm_run(w->plan, 1, w->x.a.data, w->x.b.data, 0, NULL, w->x.d.data);
}

typedef struct row {
    const char *name;
    tcgemm_status_t (*call)(const warm_t *w);
    long limit;
} row_t;

/* Three maps among them: A, B and D, which leaves by boxes. */
static const row_t rows[] = {
    {"tcgemm_plan_create for a GPU", make_plan, 2},
    {"tcgemm_run, GPU matrices", run, 10},
    {"tcgemm_run_with and statistics, GPU matrices", run_timed, 17},
    {"tcgemm_run_async, GPU matrices", run_async, 9},
    {"tcgemm_gemm, GPU matrices", one_call, 10},
    {"tcgemm_run, host matrices in one piece", host_run, 27},
};

static void count_all(const void *argument) {
    (void)argument;
    warm_t w = {.t = testcase_make(NULL, tcgemm_problem(TCGEMM_BF16_F32, 256, 256, 64), 1)};
    fake_set_order(FAKE_EAGER, 1);
    operands_make(&w.t, &w.x);
    w.context = context_on(0);
    w.plan = plan_of(w.context, &w.t.p, NULL);
    CHECK(on_gpu_make(&w.x, 0, &w.there), "no memory on the GPU");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        for (int warm = 0; warm < 3; ++warm) /* as many as there are pinned buffers */
            CHECK(rows[i].call(&w) == TCGEMM_STATUS_OK, "%s", rows[i].name);
        fake_forget_counts();
        CHECK(rows[i].call(&w) == TCGEMM_STATUS_OK, "%s", rows[i].name);
        const long count = fake_count(NULL);
        (void)printf("%ld calls, at most %ld: %s\n", count, rows[i].limit, rows[i].name);
        fake_print_counts();
        CHECK(count > 0 && count <= rows[i].limit, "%s: %ld calls of the driver, at most %ld",
              rows[i].name, count, rows[i].limit);
    }
    on_gpu_free(&w.there);
    tcgemm_plan_destroy(w.plan);
    tcgemm_context_destroy(w.context);
    operands_free(&w.x);
    check_end();
}

int main(void) {
    return run_alone("calls of the driver", count_all, NULL);
}
