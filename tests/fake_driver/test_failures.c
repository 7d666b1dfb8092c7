/* Each call of the driver failing once, memory that ends, kernels that fault.
 *
 * A scenario runs in a fresh process with its n-th driver call failing, for n = 1, 2, ... until no
 * call is left to fail. Whatever fails: no crash, a status with a sentence, D's rule kept, nothing
 * left over, and the next try works - or, after an error that CUDA does not forgive, is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_driver/harness.h"

typedef tcgemm_status_t scenario_t(const testcase_t *t, const operands_t *x);

/* ---- the scenarios; D comes out in x ---- */

static tcgemm_status_t first(tcgemm_status_t status, tcgemm_status_t next) {
    return status != TCGEMM_STATUS_OK ? status : next;
}

static tcgemm_status_t make_plan(const testcase_t *t, tcgemm_context_t **context,
                                 tcgemm_plan_t **plan) {
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    options.num_threads = 1;
    *plan = NULL;
    const tcgemm_status_t status = tcgemm_context_create(&options, context);
    return status != TCGEMM_STATUS_OK ? status : tcgemm_plan_create(*context, &t->p, NULL, plan);
}

/* Whatever tcgemm_run_with returns, it has waited: the caller may free the matrices. */
static void check_waited(tcgemm_status_t status) {
    CHECK(status == TCGEMM_STATUS_DEVICE_LOST || fake_live().pending == 0,
          "%s, and %d operations still to come", tcgemm_status_name(status), fake_live().pending);
}

static tcgemm_status_t host_product(const testcase_t *t, const operands_t *x,
                                    tcgemm_run_stats_t *stats) {
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    tcgemm_status_t status = make_plan(t, &context, &plan);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_run_with(plan, t->alpha, x->a.data, x->b.data, t->beta, x->c.data,
                                 x->d.data, NULL, 0, stats);
    check_waited(status);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    return status;
}

static tcgemm_status_t host(const testcase_t *t, const operands_t *x) {
    return host_product(t, x, NULL);
}

static tcgemm_status_t host_timed(const testcase_t *t, const operands_t *x) {
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    return host_product(t, x, &stats);
}

/* Memory, a copy, a product by `run`, the copy back. */
typedef tcgemm_status_t run_t(const testcase_t *t, const on_gpu_t *x);

static tcgemm_status_t free_surely(void *memory) {
    const tcgemm_status_t status = tcgemm_device_free(0, memory);
    return status == TCGEMM_STATUS_OK ? status : first(tcgemm_device_free(0, memory), status);
}

static tcgemm_status_t on_device(const testcase_t *t, const operands_t *x, run_t *run) {
    const matrix_t *const from[] = {&x->a, &x->b, &x->c, &x->d};
    on_gpu_t there = {.host = x};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 4 && status == TCGEMM_STATUS_OK; ++i) {
        status = tcgemm_device_alloc(0, from[i]->block_bytes, &there.block[i]);
        if (status == TCGEMM_STATUS_OK)
            status = tcgemm_device_copy(0, there.block[i], from[i]->block, from[i]->block_bytes);
    }
    if (status == TCGEMM_STATUS_OK)
        status = run(t, &there);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_device_copy(0, x->d.block, there.block[3], x->d.block_bytes);
    for (int i = 0; i < 4 && status != TCGEMM_STATUS_DEVICE_LOST; ++i)
        status = first(status, free_surely(there.block[i]));
    return status;
}

static tcgemm_status_t run_one_call(const testcase_t *t, const on_gpu_t *x) {
    return tcgemm_gemm(&t->p, t->alpha, on_gpu_data(x, 0), on_gpu_data(x, 1), t->beta,
                       on_gpu_data(x, 2), on_gpu_data(x, 3));
}

static tcgemm_status_t run_timed(const testcase_t *t, const on_gpu_t *x) {
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    tcgemm_status_t status = make_plan(t, &context, &plan);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_run_with(plan, t->alpha, on_gpu_data(x, 0), on_gpu_data(x, 1), t->beta,
                                 on_gpu_data(x, 2), on_gpu_data(x, 3), NULL, 0, &stats);
    check_waited(status);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    return status;
}

static tcgemm_status_t run_queued(const testcase_t *t, const on_gpu_t *x) {
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    tcgemm_status_t status = make_plan(t, &context, &plan);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_run_async(plan, t->alpha, on_gpu_data(x, 0), on_gpu_data(x, 1), t->beta,
                                  on_gpu_data(x, 2), on_gpu_data(x, 3), NULL, 0, NULL);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    return status;
}

static tcgemm_status_t gpu_one_call(const testcase_t *t, const operands_t *x) {
    return on_device(t, x, run_one_call);
}

static tcgemm_status_t gpu_timed(const testcase_t *t, const operands_t *x) {
    return on_device(t, x, run_timed);
}

static tcgemm_status_t gpu_queued(const testcase_t *t, const operands_t *x) {
    return on_device(t, x, run_queued);
}

static tcgemm_status_t peak(const testcase_t *t, const operands_t *x) {
    double measured;
    memcpy(x->d.block, x->d_was, x->d.block_bytes);
    return tcgemm_device_measure_peak(0, t->p.type, &measured);
}

/* ---- one failing call ---- */

typedef struct setup {
    const char *name;
    scenario_t *scenario;
    const char *limit; /* TCGEMM_CUDA_MEMORY_LIMIT */
    int64_t k;         /* a long one makes several steps of a product */
    bool computes;
} setup_t;

typedef struct trial {
    const setup_t *setup;
    long call;
    CUresult result;
    char *failed; /* shared: the function that failed, "" if there was no such call any more */
} trial_t;

/* Large enough for panels that cut all three sizes if memory is limited. */
static testcase_t trial_case(const setup_t *setup) {
    const tcgemm_problem_t p = setup->limit ? tcgemm_problem(TCGEMM_F32_F32, 260, 30, setup->k)
                                            : tcgemm_problem(TCGEMM_F32_F32, 70, 66, setup->k);
    testcase_t t = testcase_make(NULL, p, 3);
    t.alpha = 2;
    t.beta = -1;
    return t;
}

/* The status of a failing call is one of those that tcgemm.h names, with a sentence; D is written
 * only under the last four. */
static void check_status(const trial_t *trial, tcgemm_status_t status, const operands_t *x) {
    const bool may_write =
        status == TCGEMM_STATUS_OUT_OF_MEMORY || status == TCGEMM_STATUS_DEVICE_ERROR ||
        status == TCGEMM_STATUS_DEVICE_LOST || status == TCGEMM_STATUS_AFTER_FORK;
    CHECK(may_write || status == TCGEMM_STATUS_UNSUPPORTED || status == TCGEMM_STATUS_NO_DEVICE ||
              status == TCGEMM_STATUS_BAD_ARGUMENT,
          "%s, call %ld (%s): %s", trial->setup->name, trial->call, trial->failed,
          tcgemm_status_name(status));
    CHECK(strlen(tcgemm_last_error()) > 10, "no sentence");
    CHECK(may_write || memcmp(x->d.block, x->d_was, x->d.block_bytes) == 0,
          "%s, call %ld (%s): %s, but D was written", trial->setup->name, trial->call,
          trial->failed, tcgemm_status_name(status));
}

/* What is right after the calls that succeed. */
static void check_right(const trial_t *trial, const testcase_t *t, const operands_t *x) {
    tcgemm_plan_t *plan = plan_of(context_of(1), &t->p, NULL);
    if (trial->setup->computes && plan && !judge(t, x, plan))
        report_failure("  ^ %s, call %ld (%s)", trial->setup->name, trial->call, trial->failed);
    tcgemm_plan_destroy(plan);
}

static bool is_sticky(CUresult result) {
    return result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_UNKNOWN;
}

static void check_again(const trial_t *trial, const testcase_t *t) {
    operands_t x;
    operands_make(t, &x);
    const tcgemm_status_t status = trial->setup->scenario(t, &x);
    const bool is_search = strcmp(trial->failed, "cuInit") == 0 ||
                           (strncmp(trial->failed, "cuDevice", 8) == 0 &&
                            strcmp(trial->failed, "cuDevicePrimaryCtxRetain") != 0);
    if (status == TCGEMM_STATUS_OK)
        check_right(trial, t, &x);
    else if (is_sticky(trial->result) || is_search)
        check_status(trial, status, &x);
    else
        report_failure("%s, call %ld (%s): the next try gives %s (%s)", trial->setup->name,
                       trial->call, trial->failed, tcgemm_status_name(status), tcgemm_last_error());
    operands_free(&x);
}

/* The driver cannot free what it refuses to free. */
static void check_leaks(const trial_t *trial) {
    const fake_live_t live = fake_live();
    const int kept = strcmp(trial->failed, "cuMemFree_v2") == 0 ? 2 : 1;
    const int events = strcmp(trial->failed, "cuEventDestroy_v2") == 0 ? 47 : 46;
    CHECK(fake_complaints() == 0, "%d complaints", fake_complaints());
    CHECK(fake_depth() == 0, "%d contexts on the stack", fake_depth());
    if (is_sticky(trial->result))
        return;
    CHECK(live.pending == 0 && live.device <= kept && live.pinned <= 6 && live.streams <= 4 &&
              live.events <= events,
          "%s, call %ld (%s) leaves %d operations, %d + %d allocations, %d streams, %d events",
          trial->setup->name, trial->call, trial->failed, live.pending, live.device, live.pinned,
          live.streams, live.events);
}

static void try_one(const void *argument) {
    const trial_t *trial = argument;
    const testcase_t t = trial_case(trial->setup);
    operands_t x;
    if (trial->setup->limit)
        (void)setenv("TCGEMM_CUDA_MEMORY_LIMIT", trial->setup->limit, 1);
    operands_make(&t, &x);
    fake_fail(NULL, trial->call, trial->result);
    const tcgemm_status_t status = trial->setup->scenario(&t, &x);
    (void)snprintf(trial->failed, 64, "%s", fake_failed() ? fake_failed() : "");
    CHECK(fake_depth() == 0, "%d contexts on the stack", fake_depth());
    if (status == TCGEMM_STATUS_OK)
        check_right(trial, &t, &x);
    else
        check_status(trial, status, &x);
    CHECK(status == TCGEMM_STATUS_OK || fake_failed(), "it fails all by itself: %s",
          tcgemm_last_error());
    operands_free(&x);
    fake_fail(NULL, 0, CUDA_SUCCESS);
    check_again(trial, &t);
    check_leaks(trial);
}

/* Every call of the scenario, by an error that CUDA forgives and one that it does not. */
static int try_all(const setup_t *setup) {
    char *const failed = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const double start = seconds_now();
    int num_failed = 0;
    long call = 0;
    if (failed == MAP_FAILED)
        return 1;
    do {
        call += 1;
        const CUresult results[] = {call % 2 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE,
                                    CUDA_ERROR_LAUNCH_FAILED};
        for (int i = 0; i < (test_level() == LEVEL_SANITIZE ? 1 : 2); ++i) {
            const trial_t trial = {setup, call, results[i], failed};
            (void)strcpy(failed, "the end");
            if (!passes_alone(setup->name, try_one, &trial)) {
                (void)printf("%s: call %ld (%s) returning %d\n", setup->name, call, failed,
                             (int)results[i]);
                num_failed += 1;
            }
        }
    } while (failed[0] != '\0' && num_failed < 10);
    (void)printf("%-6s %s: %ld driver calls, each failing (%.2f s)\n", num_failed ? "FAILED" : "ok",
                 setup->name, call - 1, seconds_now() - start);
    (void)munmap(failed, 64);
    return num_failed;
}

/* ---- memory that ends ---- */

/* Room for ever more: the product fails with a sentence until all of it fits. */
static void memory_ends(const void *argument) {
    const setup_t *setup = argument;
    const testcase_t t = trial_case(setup);
    operands_t x;
    tcgemm_status_t status = TCGEMM_STATUS_INTERNAL;
    for (size_t bytes = 0; bytes < 4 << 20 && status != TCGEMM_STATUS_OK; bytes += 20000) {
        fake_set_free_memory(0, bytes);
        operands_make(&t, &x);
        status = setup->scenario(&t, &x);
        CHECK(status == TCGEMM_STATUS_OK || status == TCGEMM_STATUS_OUT_OF_MEMORY, "%zu bytes: %s",
              bytes, tcgemm_status_name(status));
        const trial_t trial = {setup, 0, CUDA_SUCCESS, (char[]){"memory"}};
        if (status == TCGEMM_STATUS_OK)
            check_right(&trial, &t, &x);
        operands_free(&x);
    }
    CHECK(status == TCGEMM_STATUS_OK, "4 MB are too little");
    check_end();
}

/* ---- kernels that fault ---- */

/* The first kernel faults: the GPU is lost from then on, with a sentence; the CPU is not. */
static void kernel_faults(const void *argument) {
    const setup_t *setup = argument;
    const testcase_t t = trial_case(setup);
    operands_t x;
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    fake_fault_kernel(1, CUDA_ERROR_ILLEGAL_ADDRESS);
    for (int repeat = 0; repeat < 3; ++repeat) {
        operands_make(&t, &x);
        const tcgemm_status_t status = setup->scenario(&t, &x);
        CHECK(status == TCGEMM_STATUS_DEVICE_LOST, "%s: try %d: %s", setup->name, repeat,
              tcgemm_status_name(status));
        CHECK(strstr(tcgemm_last_error(), repeat ? "failed earlier" : "illegal memory access"),
              "%s: sentence: %s", setup->name, tcgemm_last_error());
        CHECK(memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0, "D was written");
        operands_free(&x);
    }
    CHECK(tcgemm_device_get_info(0, &info) == TCGEMM_STATUS_DEVICE_LOST, "info of a lost GPU");
    CHECK(tcgemm_device_count() == 1, "%d GPUs", tcgemm_device_count());
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_CPU, HOST);
    CHECK(fake_complaints() == 0 && fake_depth() == 0, "complaints or contexts");
}

int main(void) {
    int failed = 0;
    static const setup_t setups[] = {
        {"host matrices", host, NULL, 40, true},
        {"host matrices in panels", host_timed, "300000", 270, true},
        {"GPU matrices, one call", gpu_one_call, NULL, 40, true},
        {"GPU matrices, timed", gpu_timed, NULL, 40, true},
        {"GPU matrices in a stream", gpu_queued, NULL, 40, true},
        {"GPU matrices, several steps", gpu_one_call, NULL, 401, true},
        {"GPU matrices, several steps in a stream", gpu_queued, NULL, 401, true},
        {"the measurement of a peak", peak, NULL, 40, false},
    };
    enum { NUM_SETUPS = sizeof setups / sizeof setups[0] };
    for (int i = 0; i < NUM_SETUPS; ++i)
        failed += try_all(&setups[i]);
    for (int i = 0; i < NUM_SETUPS - 1; ++i) {
        failed += run_alone("memory that ends", memory_ends, &setups[i]);
        failed += run_alone("a kernel that faults", kernel_faults, &setups[i]);
    }
    return failed != 0;
}
