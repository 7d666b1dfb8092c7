/* Host matrices through very little GPU memory: every cut, every layout, and no memory at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver/harness.h"

typedef struct setup {
    fake_order_t order;
    uint64_t seed;
    int64_t most; /* of m, n and k */
    int64_t repeats;
} setup_t;

/* The limit must be read again for each product: it is read where the cut is made. */
static void set_limit(int64_t bytes) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)bytes);
    (void)setenv("TCGEMM_CUDA_MEMORY_LIMIT", text, 1);
}

static void small_memory(const void *argument) {
    const setup_t *s = argument;
    uint64_t random = s->seed;
    fake_set_order(s->order, s->seed);
    tcgemm_context_t *context = context_on(0);
    for (int i = 0; context && i < num_gpu_types(); ++i)
        for (int64_t repeat = 0; repeat < at_level(1, s->repeats, 20); ++repeat) {
            const testcase_t t = random_case(&random, gpu_type(i), s->most);
            const tcgemm_type_info_t *type = tcgemm_type_info(gpu_type(i));
            const bool widened = i >= num_common_types(); /* to bf16 */
            const int64_t element = widened ? 2 : tcgemm_dtype_bits(type->a) / 8;
            /* The least that a cut needs is tiles of 128 x 128, and all of k where D is narrow. */
            const bool narrow = type->d != type->accumulator;
            const int64_t least = 128 * 128 * 8 + 2 * 128 * (element + 1) * (narrow ? t.p.k : 256);
            set_limit(least + random_below(&random, 3) * 100000);
            (void)product_is_right(&t, context, 0, repeat % 2 ? HOST_STATS : HOST);
        }
    tcgemm_context_destroy(context);
    check_end();
}

/* Longer than the pinned buffers, lines of which some are longer, too: all buffers are filled and
 * emptied by turns; with pinned operands no buffer is made. D of more bytes than a piece of it has.
 */
static void long_blocks(const void *argument) {
    const way_t way = *(const way_t *)argument;
    tcgemm_context_t *context = context_on(0);
    tcgemm_problem_t shapes[] = {
        tcgemm_problem(TCGEMM_F64_F64, 2000, 64, 1060),  /* A: 17 MB in panels */
        tcgemm_problem(TCGEMM_F64_F64, 2, 4, 1100000),   /* lines of 9 MB */
        tcgemm_problem(TCGEMM_F64_F64, 2900, 2950, 1),   /* D: 69 MB in pieces */
        tcgemm_problem(TCGEMM_BF16_F32, 900, 1280, 700), /* panels of both */
        tcgemm_problem(TCGEMM_F64_F64, 3000, 64, 700),   /* items in panels, each after the other */
    };
    shapes[1].op_b = shapes[2].op_a = TCGEMM_OP_T; /* few long lines, not many short ones */
    shapes[4].batch = 3;
    shapes[4].stride_a = shapes[4].m * shapes[4].k;
    shapes[4].stride_c = shapes[4].stride_d = shapes[4].m * shapes[4].n;
    fake_set_order(FAKE_RANDOM, 9);
    const int count = test_level() == LEVEL_SANITIZE ? 1 : 5;
    for (int i = 0; context && i < count; i += way == HOST || i == 3 ? 1 : 3) {
        testcase_t t = testcase_make(NULL, shapes[i], 16 * (uint64_t)i);
        t.beta = i == 0;
        (void)product_is_right(&t, context, 0, way);
    }
    CHECK((fake_live().pinned == 0) == (way == HOST_STATS), "%d buffers", fake_live().pinned);
    tcgemm_context_destroy(context);
    check_end();
}

/* Only the first or the last bytes of A are registered, or both apart: not pinned. */
static void half_pinned(const void *argument) {
    (void)argument;
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 300, 160, 200), 1);
    tcgemm_context_t *context = context_on(0);
    tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
    CUcontext ours;
    CHECK(cuDevicePrimaryCtxRetain(&ours, 0) == CUDA_SUCCESS &&
              cuCtxPushCurrent(ours) == CUDA_SUCCESS,
          "the caller's context");
    for (int which = 1; which < 4; ++which) {
        operands_t x;
        operands_make(&t, &x);
        uint8_t *const last = x.a.block + x.a.block_bytes - 4096;
        CHECK((!(which & 1) || cuMemHostRegister(x.a.block, 4096, 0) == CUDA_SUCCESS) &&
                  (!(which & 2) || cuMemHostRegister(last, 4096, 0) == CUDA_SUCCESS),
              "registering");
        CHECK(tcgemm_run(plan, 1, x.a.data, x.b.data, 0, NULL, x.d.data) == TCGEMM_STATUS_OK,
              "product %d", which);
        (void)judge(&t, &x, plan);
        CHECK((!(which & 1) || cuMemHostUnregister(x.a.block) == CUDA_SUCCESS) &&
                  (!(which & 2) || cuMemHostUnregister(last) == CUDA_SUCCESS),
              "unregistering");
        operands_free(&x);
    }
    (void)cuCtxPopCurrent(&ours);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    check_end();
}

/* Not even the smallest panels fit: a sentence, D as it was, and the next product works. */
static void no_memory(const void *argument) {
    (void)argument;
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F16_F16, 300, 300, 300), 1);
    tcgemm_context_t *context = context_on(0);
    tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
    operands_t x;
    operands_make(&t, &x);
    set_limit(1000);
    CHECK(tcgemm_run(plan, 1, x.a.data, x.b.data, 0, NULL, x.d.data) == TCGEMM_STATUS_OUT_OF_MEMORY,
          "a product in 1000 bytes");
    CHECK(strstr(tcgemm_last_error(), "the smallest panels need"), "sentence");
    CHECK(memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0, "D was written");
    (void)unsetenv("TCGEMM_CUDA_MEMORY_LIMIT");
    (void)product_is_right(&t, context, 0, HOST);
    tcgemm_plan_destroy(plan);
    operands_free(&x);
    tcgemm_context_destroy(context);
    check_end();
}

/* A GPU with 1 MB, of which half is kept free: panels follow what there is. */
static void tiny_gpu(const void *argument) {
    (void)argument;
    fake_set_memory(0, 1 << 20);
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 500, 400, 600), 1);
    tcgemm_context_t *context = context_on(0);
    if (context)
        (void)product_is_right(&t, context, 0, HOST_STATS);
    CHECK(fake_live().device_bytes <= 1 << 19, "an arena of %zu bytes", fake_live().device_bytes);
    tcgemm_context_destroy(context);
    check_end();
}

int main(void) {
    int failed = 0;
    static const setup_t setups[] = {
        {FAKE_LAZY, 1, 420, 3}, {FAKE_RANDOM, 2, 420, 3}, {FAKE_RANDOM, 3, 620, 1}};
    failed += run_alone("little memory, lazy", small_memory, &setups[0]);
    failed += run_alone("little memory, at random", small_memory, &setups[1]);
    if (test_level() != LEVEL_SANITIZE)
        failed += run_alone("little memory, larger", small_memory, &setups[2]);
    static const way_t ways[] = {HOST, HOST_STATS};
    failed += run_alone("long blocks", long_blocks, &ways[0]);
    failed += run_alone("long blocks, pinned", long_blocks, &ways[1]);
    failed += run_alone("half of a matrix pinned", half_pinned, NULL);
    failed += run_alone("no memory", no_memory, NULL);
    failed += run_alone("a tiny GPU", tiny_gpu, NULL);
    return failed != 0;
}
