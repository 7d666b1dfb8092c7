/* Threads that call at once, children of fork, and the caller's own contexts. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver/harness.h"

enum { NUM_THREADS = 6 };

/* ---- threads ---- */

typedef struct job {
    tcgemm_context_t *contexts[2];
    uint64_t seed;
} job_t;

/* Every thread with both GPUs, all ways by turns, the first call of a process among them. */
static void *work(void *argument) {
    const job_t *job = argument;
    uint64_t random = job->seed;
    for (int64_t i = 0; i < at_level(4, 12, 60); ++i) {
        const int device = (int)random_below(&random, 2);
        const tcgemm_type_t type = gpu_type((int)random_below(&random, num_common_types()));
        const testcase_t t = random_case(&random, type, 90);
        const way_t way = (way_t)random_below(&random, GPU_STATS + 1);
        (void)product_is_right(&t, job->contexts[device], device, way);
    }
    return NULL;
}

static void threads_at_once(const void *argument) {
    const fake_gpu_t gpus[] = {fake_ampere, fake_hopper};
    fake_set_gpus(2, gpus);
    fake_set_order(*(const fake_order_t *)argument, 3);
    pthread_t threads[NUM_THREADS];
    job_t jobs[NUM_THREADS];
    tcgemm_context_t *const contexts[] = {context_on(0), context_on(1)};
    for (int i = 0; i < NUM_THREADS; ++i) {
        jobs[i] = (job_t){{contexts[0], contexts[1]}, (uint64_t)i};
        CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0, "thread %d", i);
    }
    for (int i = 0; i < NUM_THREADS; ++i)
        (void)pthread_join(threads[i], NULL);
    CHECK(fake_count("cuInit") == 1, "%ld times initialised", fake_count("cuInit"));
    const long retained =
        fake_count("cuDevicePrimaryCtxRetain") - fake_count("cuDevicePrimaryCtxRelease_v2");
    CHECK(retained == 2, "%ld contexts retained", retained);
    tcgemm_context_destroy(contexts[0]);
    tcgemm_context_destroy(contexts[1]);
    check_end();
}

/* The very first call of a process in many threads. */
static atomic_int first_answers;

static void *ask_first(void *unused) {
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    if (tcgemm_device_get_info(0, &info) == TCGEMM_STATUS_OK && info.num_sms == 132)
        atomic_fetch_add(&first_answers, 1);
    return unused;
}

static void first_calls(const void *argument) {
    (void)argument;
    pthread_t threads[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; ++i)
        CHECK(pthread_create(&threads[i], NULL, ask_first, NULL) == 0, "thread %d", i);
    for (int i = 0; i < NUM_THREADS; ++i)
        (void)pthread_join(threads[i], NULL);
    CHECK(atomic_load(&first_answers) == NUM_THREADS, "%d answers", atomic_load(&first_answers));
    CHECK(fake_count("cuInit") == 1, "%ld times initialised", fake_count("cuInit"));
}

/* ---- forks ---- */

/* In the child every door to the GPU says AFTER_FORK and calls no driver; the CPU works. */
static tcgemm_context_t *parents_context;
static tcgemm_plan_t *parents_plan;
static testcase_t parents_case;

static void child_of_user(const void *argument) {
    const operands_t *x = argument;
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    void *memory = NULL;
    double measured;
    const testcase_t *t = &parents_case;
    fake_forget_counts();
    options.device = 0;
    const tcgemm_status_t statuses[] = {
        tcgemm_context_create(&options, &context),
        tcgemm_plan_create(parents_context, &t->p, NULL, &plan),
        tcgemm_run(parents_plan, 1, x->a.data, x->b.data, 0, NULL, x->d.data),
        tcgemm_run_async(parents_plan, 1, x->a.data, x->b.data, 0, NULL, x->d.data, NULL, 0, NULL),
        tcgemm_device_get_info(0, &info),
        tcgemm_device_measure_peak(0, t->p.type, &measured),
        tcgemm_device_alloc(0, 100, &memory),
        tcgemm_device_free(0, &info),
        tcgemm_device_copy(0, x->d.data, x->a.data, 4),
    };
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
        CHECK(statuses[i] == TCGEMM_STATUS_AFTER_FORK, "door %zu: %s", i,
              tcgemm_status_name(statuses[i]));
    CHECK(memcmp(x->d.block, x->d_was, x->d.block_bytes) == 0, "D was written");
    (void)product_is_right(t, NULL, TCGEMM_DEVICE_AUTO, HOST);
    CHECK(fake_count(NULL) == 0, "%ld driver calls in a child", fake_count(NULL));
}

static void fork_after_use(const void *argument) {
    (void)argument;
    operands_t x;
    parents_case = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 50, 60, 70), 1);
    parents_context = context_on(0);
    (void)product_is_right(&parents_case, parents_context, 0, GPU);
    parents_plan = plan_of(parents_context, &parents_case.p, NULL);
    operands_make(&parents_case, &x);
    CHECK(passes_alone("child", child_of_user, &x), "the child of a process with a GPU");
    for (int way = HOST; way <= GPU_ASYNC; ++way)
        (void)product_is_right(&parents_case, parents_context, 0, (way_t)way);
    tcgemm_plan_destroy(parents_plan);
    tcgemm_context_destroy(parents_context);
    operands_free(&x);
    check_end();
}

/* A process that only planned for the CPU may fork, and its child use the GPU. */
static void child_uses_gpu(const void *argument) {
    const testcase_t *t = argument;
    tcgemm_context_t *context = context_on(0);
    if (context)
        (void)product_is_right(t, context, 0, GPU);
    tcgemm_context_destroy(context);
    check_end();
}

static void fork_before_use(const void *argument) {
    (void)argument;
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 50, 60, 70), 1);
    (void)testcase_check(&t);
    CHECK(passes_alone("child", child_uses_gpu, &t), "the child of a process without a GPU");
}

/* ---- the caller's contexts ---- */

static void callers_context(const void *argument) {
    (void)argument;
    const fake_gpu_t gpus[] = {fake_ampere, fake_hopper};
    fake_set_gpus(2, gpus);
    CUcontext own = NULL;
    CUcontext current = NULL;
    tcgemm_context_t *context = context_on(0);
    CHECK(cuDevicePrimaryCtxRetain(&own, 1) == CUDA_SUCCESS &&
              cuCtxPushCurrent(own) == CUDA_SUCCESS,
          "the caller's context");
    for (int way = HOST; way <= GPU_STATS; ++way) {
        const testcase_t t =
            testcase_make(NULL, tcgemm_problem(TCGEMM_F16_F32, 50, 60, 70), (uint64_t)way);
        (void)product_is_right(&t, context, 0, (way_t)way);
        CHECK(fake_depth() == 1 && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == own,
              "way %d changes the caller's context", way);
    }
    CHECK(cuCtxPopCurrent(&current) == CUDA_SUCCESS && current == own, "the caller's context");
    tcgemm_context_destroy(context);
    check_end();
}

int main(void) {
    int failed = 0;
    static const fake_order_t orders[] = {FAKE_LAZY, FAKE_RANDOM};
    failed += run_alone("threads at once, lazy", threads_at_once, &orders[0]);
    failed += run_alone("threads at once, at random", threads_at_once, &orders[1]);
    failed += run_alone("first calls at once", first_calls, NULL);
    failed += run_alone("fork after use", fork_after_use, NULL);
    failed += run_alone("fork before use", fork_before_use, NULL);
    failed += run_alone("the caller's contexts", callers_context, NULL);
    return failed != 0;
}
