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

/* Longer than the pinned buffers: both are filled and drained by turns. */
static void long_blocks(const void *argument) {
    (void)argument;
    tcgemm_context_t *context = context_on(0);
    const tcgemm_problem_t shapes[] = {
        tcgemm_problem(TCGEMM_F64_F64, 4000, 5, 1060), /* A: 34 MB */
        tcgemm_problem(TCGEMM_F64_F64, 2000, 2150, 3), /* D: 34 MB */
    };
    for (int i = 0; context && i < 2; ++i) {
        testcase_t t = testcase_make(NULL, shapes[i], (uint64_t)i);
        t.beta = i;
        (void)product_is_right(&t, context, 0, HOST);
    }
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
    failed += run_alone("long blocks", long_blocks, NULL);
    failed += run_alone("no memory", no_memory, NULL);
    failed += run_alone("a tiny GPU", tiny_gpu, NULL);
    return failed != 0;
}
