/* Matrices on a GPU, in host, pinned, managed and mixed memory: the products and the refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver/harness.h"

static void all_ways(const void *argument) {
    const fake_order_t order = *(const fake_order_t *)argument;
    uint64_t random = 1 + (uint64_t)order;
    fake_set_order(order, 77);
    tcgemm_context_t *context = context_on(0);
    for (int i = 0; context && i < num_gpu_types(); ++i)
        for (int way = HOST; way <= GPU_ASYNC; ++way) {
            const testcase_t t = random_case(&random, gpu_type(i), 150);
            (void)product_is_right(&t, context, 0, (way_t)way);
        }
    tcgemm_context_destroy(context);
    check_end();
}

/* Few tiles and a long k, or rows that wide loads cannot take: several launches, a workspace. */
static void many_steps(const void *argument) {
    const tcgemm_problem_t shapes[] = {tcgemm_problem(TCGEMM_F32_F32, 40, 48, 3001),
                                       tcgemm_problem(TCGEMM_F32_F32, 151, 149, 301)};
    size_t workspaces = 0;
    fake_set_order(*(const fake_order_t *)argument, 5);
    tcgemm_context_t *context = context_on(0);
    for (int i = 0; context && i < num_gpu_types(); ++i)
        for (int way = HOST; way <= GPU_WORKSPACE; ++way) {
            testcase_t t = testcase_make(NULL, shapes[(i + way) % 2], (uint64_t)i);
            tcgemm_plan_info_t info = {.struct_size = sizeof info};
            t.p.type = gpu_type(i);
            t.p.op_b = way % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.beta = way % 3;
            tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
            if (plan && tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK)
                workspaces += info.workspace_bytes > 0;
            tcgemm_plan_destroy(plan);
            (void)product_is_right(&t, context, 0, (way_t)way);
        }
    CHECK(workspaces > 10, "only %zu plans with a workspace", workspaces);
    tcgemm_context_destroy(context);
    check_end();
}

/* alpha or k is 0: D = beta * C, A and B unread. */
static void scaling(const void *argument) {
    (void)argument;
    tcgemm_context_t *context = context_on(0);
    for (int i = 0; context && i < num_gpu_types(); ++i)
        for (int way = HOST; way <= GPU_ASYNC; ++way)
            for (int beta = 0; beta < 3; ++beta) {
                tcgemm_problem_t p = tcgemm_problem(gpu_type(i), 33, 40, beta == 1 ? 0 : 20);
                p.ldd = 41;
                p.batch = 1 + beta;
                p.stride_a = 33 * 20;
                p.stride_c = p.stride_d = 33 * 41 + 1;
                testcase_t t = testcase_make(NULL, p, 3);
                t.alpha = 0;
                t.beta = beta;
                (void)product_is_right(&t, context, 0, (way_t)way);
            }
    tcgemm_context_destroy(context);
    check_end();
}

/* ---- every mixture ---- */

typedef enum place { ON_HOST, ON_PINNED, ON_MANAGED, ON_GPU0, ON_GPU1, NUM_PLACES } place_t;

enum { SIZE = 24, BYTES = SIZE * SIZE * 4 };

static CUcontext contexts[2];

static float *memory_in(place_t place) {
    CUdeviceptr managed = 0;
    void *memory = NULL;
    CHECK(cuCtxPushCurrent(contexts[0]) == CUDA_SUCCESS, "the caller's context");
    if (place == ON_HOST)
        memory = malloc(BYTES);
    else if (place == ON_PINNED)
        CHECK(cuMemHostAlloc(&memory, BYTES, 0) == CUDA_SUCCESS, "pinned memory");
    else if (place == ON_MANAGED)
        CHECK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS, "managed");
    else
        CHECK(tcgemm_device_alloc(place == ON_GPU1, BYTES, &memory) == TCGEMM_STATUS_OK, "GPU");
    CHECK(cuCtxPopCurrent(&contexts[0]) == CUDA_SUCCESS, "the caller's context");
    return place == ON_MANAGED ? (float *)(uintptr_t)managed : memory;
}

static void free_in(place_t place, float *memory) {
    (void)cuCtxPushCurrent(contexts[0]);
    if (place == ON_HOST)
        free(memory);
    else if (place == ON_PINNED)
        (void)cuMemFreeHost(memory);
    else if (place == ON_MANAGED)
        (void)cuMemFree((CUdeviceptr)(uintptr_t)memory);
    else
        (void)tcgemm_device_free(place == ON_GPU1, memory);
    (void)cuCtxPopCurrent(&contexts[0]);
}

static void set_all(float *memory, float value) {
    float *const bytes = fake_reach(memory, BYTES);
    for (int i = 0; i < SIZE * SIZE; ++i)
        bytes[i] = value;
}

/* True if the call may succeed: matrices of one GPU with managed ones, or none on any GPU. */
static bool fit_together(const place_t at[4]) {
    bool on[3] = {false, false, false};
    for (int i = 0; i < 4; ++i)
        if (at[i] != ON_MANAGED)
            on[at[i] == ON_GPU0 ? 0 : at[i] == ON_GPU1 ? 1 : 2] = true;
    return on[0] + on[1] + on[2] <= 1;
}

/* Ones times ones, plus C of twos. */
static void check_mixture(float *memory[NUM_PLACES][4], const place_t at[4]) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    float *data[4];
    for (int i = 0; i < 4; ++i) {
        data[i] = memory[at[i]][i];
        set_all(data[i], i == 2 ? 2.0F : i == 3 ? -1.0F : 1.0F);
    }
    const tcgemm_status_t status = tcgemm_gemm(&p, 1, data[0], data[1], 1, data[2], data[3]);
    const float *d = fake_reach(data[3], BYTES);
    const float expected = status == TCGEMM_STATUS_OK ? SIZE + 2.0F : -1.0F;
    CHECK(status == (fit_together(at) ? TCGEMM_STATUS_OK : TCGEMM_STATUS_BAD_ARGUMENT),
          "places %d %d %d %d: %s", at[0], at[1], at[2], at[3], tcgemm_status_name(status));
    CHECK(status == TCGEMM_STATUS_OK || strstr(tcgemm_last_error(), " lies "), "sentence: %s",
          tcgemm_last_error());
    CHECK(d[0] == expected && d[SIZE * SIZE - 1] == expected, "places %d %d %d %d: %g, expected %g",
          at[0], at[1], at[2], at[3], (double)d[0], (double)expected);
}

static void all_mixtures(const void *argument) {
    (void)argument;
    const fake_gpu_t gpus[] = {fake_ampere, fake_hopper};
    float *memory[NUM_PLACES][4];
    place_t at[4];
    fake_set_gpus(2, gpus);
    CHECK(tcgemm_device_count() == 2, "%d GPUs", tcgemm_device_count());
    for (int i = 0; i < 2; ++i)
        CHECK(cuDevicePrimaryCtxRetain(&contexts[i], i) == CUDA_SUCCESS, "context %d", i);
    for (int place = 0; place < NUM_PLACES; ++place)
        for (int i = 0; i < 4; ++i)
            memory[place][i] = memory_in((place_t)place);
    for (int code = 0; code < NUM_PLACES * NUM_PLACES * NUM_PLACES * NUM_PLACES; ++code) {
        for (int i = 0, rest = code; i < 4; ++i, rest /= NUM_PLACES)
            at[i] = (place_t)(rest % NUM_PLACES);
        check_mixture(memory, at);
    }
    for (int place = 0; place < NUM_PLACES; ++place)
        for (int i = 0; i < 4; ++i)
            free_in((place_t)place, memory[place][i]);
    check_end();
}

static void note_flags(const tcgemm_call_info_t *call, void *flags) {
    *(uint32_t *)flags = call->problem->flags;
}

/* One call sees whether there will be a C: on a GPU the plan is one for that. */
static void one_call_hints(const void *argument) {
    (void)argument;
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 20, 30, 40), 1);
    operands_t x;
    on_gpu_t there;
    uint32_t flags = UINT32_MAX;
    operands_make(&t, &x);
    CHECK(on_gpu_make(&x, 0, &there), "memory on GPU 0");
    void *at[4];
    for (int i = 0; i < 4; ++i)
        at[i] = on_gpu_data(&there, i);
    CHECK(tcgemm_set_call_hook(note_flags, &flags) == TCGEMM_STATUS_OK, "no hook");
    for (int i = 0; i < 4; ++i) {
        const double beta = i % 2;
        CHECK(tcgemm_gemm(&t.p, 1, at[0], at[1], beta, at[2], at[3]) == TCGEMM_STATUS_OK, "%s",
              tcgemm_last_error());
        CHECK(flags == (i % 2 ? TCGEMM_FLAG_ADDS_C : 0), "beta %g: flags %u", beta, flags);
    }
    CHECK(tcgemm_gemm(&t.p, 1, x.a.data, x.b.data, 1, x.c.data, x.d.data) == TCGEMM_STATUS_OK &&
              flags == 0,
          "host matrices: flags %u", flags);
    CHECK(tcgemm_set_call_hook(NULL, NULL) == TCGEMM_STATUS_OK, "the hook");
    on_gpu_free(&there);
    operands_free(&x);
    check_end();
}

/* ---- what a caller may get wrong ---- */

static void refusals(const void *argument) {
    (void)argument;
    const fake_gpu_t gpus[] = {fake_ampere, fake_hopper};
    fake_set_gpus(2, gpus);
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 20, 30, 40), 1);
    operands_t x;
    on_gpu_t there;
    operands_make(&t, &x);
    tcgemm_context_t *const on[] = {context_on(0), context_on(1)};
    tcgemm_plan_t *plan = plan_of(on[0], &t.p, NULL);
    tcgemm_plan_t *cpu = plan_of(context_of(1), &t.p, NULL);
    CHECK(on_gpu_make(&x, 1, &there), "memory on GPU 1");
    void *const a = on_gpu_data(&there, 0);
    void *const b = on_gpu_data(&there, 1);
    void *const d = on_gpu_data(&there, 3);
    CHECK(tcgemm_run(plan, 1, a, b, 0, NULL, d) == TCGEMM_STATUS_BAD_ARGUMENT, "wrong GPU");
    CHECK(strstr(tcgemm_last_error(), "on GPU 1, but the plan is for GPU 0"), "sentence");
    CHECK(tcgemm_run_async(plan, 1, a, b, 0, NULL, d, NULL, 0, NULL) == TCGEMM_STATUS_BAD_ARGUMENT,
          "wrong GPU in a stream");
    CHECK(tcgemm_run(cpu, 1, a, b, 0, NULL, d) == TCGEMM_STATUS_BAD_ARGUMENT, "no GPU");
    CHECK(strstr(tcgemm_last_error(), "the plan is for the CPU"), "sentence");
    CHECK(tcgemm_run_async(plan, 1, x.a.data, x.b.data, 0, NULL, x.d.data, NULL, 0, NULL) ==
              TCGEMM_STATUS_BAD_ARGUMENT,
          "host matrices in a stream");
    CHECK(tcgemm_run_async(cpu, 1, x.a.data, x.b.data, 0, NULL, x.d.data, NULL, 0, NULL) ==
              TCGEMM_STATUS_BAD_ARGUMENT,
          "a CPU in a stream");
    CHECK(on_gpu_fetch(&there) && memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0,
          "D was written");
    on_gpu_free(&there);
    tcgemm_plan_destroy(plan);
    tcgemm_plan_destroy(cpu);
    tcgemm_context_destroy(on[0]);
    tcgemm_context_destroy(on[1]);
    operands_free(&x);
    check_end();
}

/* A stream of another GPU's context, and one that is none. */
static void wrong_streams(const void *argument) {
    (void)argument;
    const fake_gpu_t gpus[] = {fake_ampere, fake_hopper};
    fake_set_gpus(2, gpus);
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 20, 30, 40), 1);
    operands_t x;
    on_gpu_t there;
    CUstream stream = NULL;
    operands_make(&t, &x);
    tcgemm_context_t *context = context_on(0);
    tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
    CHECK(on_gpu_make(&x, 0, &there), "memory on GPU 0");
    CHECK(cuDevicePrimaryCtxRetain(&contexts[1], 1) == CUDA_SUCCESS &&
              cuCtxPushCurrent(contexts[1]) == CUDA_SUCCESS &&
              cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS,
          "a stream of GPU 1");
    void *const streams[] = {stream, (void *)&x};
    for (int i = 0; i < 2; ++i)
        CHECK(tcgemm_run_async(plan, 1, on_gpu_data(&there, 0), on_gpu_data(&there, 1), 0, NULL,
                               on_gpu_data(&there, 3), NULL, 0,
                               streams[i]) == TCGEMM_STATUS_BAD_ARGUMENT,
              "stream %d", i);
    CUcontext current = NULL;
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == contexts[1],
          "the caller's context is another");
    (void)cuCtxPopCurrent(&current);
    CHECK(on_gpu_fetch(&there) && memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0,
          "D was written");
    on_gpu_free(&there);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    operands_free(&x);
    check_end();
}

int main(void) {
    int failed = 0;
    static const fake_order_t orders[] = {FAKE_EAGER, FAKE_LAZY, FAKE_RANDOM};
    failed += run_alone("every type and way, eager", all_ways, &orders[0]);
    failed += run_alone("every type and way, lazy", all_ways, &orders[1]);
    failed += run_alone("every type and way, at random", all_ways, &orders[2]);
    failed += run_alone("several steps, lazy", many_steps, &orders[1]);
    failed += run_alone("several steps, at random", many_steps, &orders[2]);
    failed += run_alone("D = beta * C", scaling, NULL);
    failed += run_alone("every mixture of places", all_mixtures, NULL);
    failed += run_alone("a hint that there is a C", one_call_hints, NULL);
    failed += run_alone("refusals", refusals, NULL);
    failed += run_alone("wrong streams", wrong_streams, NULL);
    return failed != 0;
}
