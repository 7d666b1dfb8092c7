/* A driver that lacks a symbol: without one of the core there is no GPU, with a sentence; without
 * any other a feature is gone or replaced, and all else works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "fake_driver/harness.h"

typedef struct symbol {
    const char *name;
    tcgemm_driver_feature_t feature;
} symbol_t;

#define TEXT(x)                        #x
#define ROW(member, function, feature) {TEXT(function), TCGEMM_DRIVER_##feature},
static const symbol_t symbols[] = {TCGEMM_DRIVER_FUNCTIONS(ROW)};
#undef ROW
#undef TEXT
enum { NUM_SYMBOLS = sizeof symbols / sizeof symbols[0] };

static testcase_t some_case(tcgemm_type_t type) {
    testcase_t t = testcase_make(NULL, tcgemm_problem(type, 70, 64, 48), 1);
    t.beta = 2;
    return t;
}

/* ---- the core ---- */

static void without_core(const void *argument) {
    const symbol_t *symbol = argument;
    const testcase_t t = some_case(TCGEMM_F32_F32);
    fake_hide(symbol->name);
    CHECK(tcgemm_device_count() == 0, "GPUs without %s", symbol->name);
    CHECK(strstr(tcgemm_device_reason(), symbol->name) &&
              strstr(tcgemm_device_reason(), "the NVIDIA driver (CUDA 1"),
          "reason: %s", tcgemm_device_reason());
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_CPU, HOST);
    CHECK(fake_count("cuInit") == 0, "the driver was initialised");
}

/* ---- what can be done without ---- */

static void check_device_way(tcgemm_context_t *context) {
    for (int i = 0; i < num_common_types(); ++i)
        for (int way = GPU; way <= GPU_ASYNC; ++way) {
            const testcase_t t = some_case(gpu_type(i));
            (void)product_is_right(&t, context, 0, (way_t)way);
        }
}

/* A plan with a workspace: its own only where it can wait, or where the stream gives memory. */
static void check_workspace(tcgemm_context_t *context, const symbol_t *symbol) {
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 40, 48, 3001), 1);
    operands_t x;
    on_gpu_t there;
    const way_t ways[] = {GPU, GPU_STATS, GPU_WORKSPACE};
    for (int i = 0; i < 3; ++i)
        (void)product_is_right(&t, context, 0, ways[i]);
    operands_make(&t, &x);
    tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
    CHECK(on_gpu_make(&x, 0, &there), "no memory on the GPU");
    const bool lacks = symbol->feature == TCGEMM_DRIVER_STREAM_MEMORY;
    const tcgemm_status_t status =
        tcgemm_run_async(plan, 1, on_gpu_data(&there, 0), on_gpu_data(&there, 1), 0, NULL,
                         on_gpu_data(&there, 3), NULL, 0, NULL);
    CHECK(status == (lacks ? TCGEMM_STATUS_UNSUPPORTED : TCGEMM_STATUS_OK), "a queued run: %s",
          tcgemm_status_name(status));
    CHECK(!lacks || strstr(tcgemm_last_error(), symbol->name), "sentence: %s", tcgemm_last_error());
    on_gpu_free(&there);
    tcgemm_plan_destroy(plan);
    operands_free(&x);
}

static void check_host_way(tcgemm_context_t *context, const symbol_t *symbol) {
    const testcase_t t = some_case(TCGEMM_F16_F32);
    if (symbol->feature != TCGEMM_DRIVER_STAGING) {
        (void)product_is_right(&t, context, 0, HOST);
        return;
    }
    operands_t x;
    operands_make(&t, &x);
    tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
    CHECK(tcgemm_run(plan, 1, x.a.data, x.b.data, 2, x.c.data, x.d.data) ==
              TCGEMM_STATUS_UNSUPPORTED,
          "host matrices without %s", symbol->name);
    CHECK(strstr(tcgemm_last_error(), "host matrices") && strstr(tcgemm_last_error(), symbol->name),
          "sentence: %s", tcgemm_last_error());
    CHECK(memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0, "D was written");
    tcgemm_plan_destroy(plan);
    operands_free(&x);
}

/* AUTO goes to the CPU with what the GPU cannot take. */
static void check_auto(const symbol_t *symbol) {
    (void)setenv("TCGEMM_ARCH", "any", 1); /* so that the GPU is much faster */
    (void)setenv("TCGEMM_NUM_THREADS", "1", 1);
    const testcase_t t = testcase_make(NULL, tcgemm_problem(TCGEMM_F64_F64, 350, 350, 350), 1);
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_AUTO, HOST);
    CHECK((fake_count("cuLaunchKernel") > 0) == (symbol->feature != TCGEMM_DRIVER_STAGING),
          "%ld launches without %s", fake_count("cuLaunchKernel"), symbol->name);
}

static void check_peak(const symbol_t *symbol) {
    double measured = 0.0;
    const bool needs =
        symbol->feature == TCGEMM_DRIVER_STAGING || symbol->feature == TCGEMM_DRIVER_TIMING;
    const tcgemm_status_t status = tcgemm_device_measure_peak(0, TCGEMM_F16_F32, &measured);
    if (status == TCGEMM_STATUS_OK)
        CHECK(measured > 0, "a peak of %g", measured);
    else
        CHECK(needs && status == TCGEMM_STATUS_UNSUPPORTED &&
                  strstr(tcgemm_last_error(), symbol->name),
              "%s without %s", tcgemm_status_name(status), symbol->name);
}

static void without(const void *argument) {
    const symbol_t *symbol = argument;
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    fake_hide(symbol->name);
    if (strcmp(symbol->name, "cuEventElapsedTime_v2") == 0)
        fake_hide("cuEventElapsedTime");
    if (symbol->feature == TCGEMM_DRIVER_STAGING || symbol->feature == TCGEMM_DRIVER_MEMORY_INFO)
        check_auto(symbol);
    CHECK(tcgemm_device_get_info(0, &info) == TCGEMM_STATUS_OK && info.num_kernels > 10,
          "no GPU without %s: %s", symbol->name, tcgemm_device_reason());
    CHECK(strcmp(info.name, symbol->feature == TCGEMM_DRIVER_NAMES ? "GPU 0" : "Fake H200") == 0,
          "name: %s", info.name);
    CHECK(info.smem_block_bytes == (symbol->feature == TCGEMM_DRIVER_LARGE_SMEM ? 49152 : 232448),
          "%zu bytes of shared memory", info.smem_block_bytes);
    tcgemm_context_t *context = context_on(0);
    if (context && symbol->feature != TCGEMM_DRIVER_LARGE_SMEM)
        check_device_way(context);
    if (context)
        check_host_way(context, symbol);
    if (context)
        check_workspace(context, symbol);
    check_peak(symbol);
    tcgemm_context_destroy(context);
    check_end();
}

/* The name that a header of CUDA 12.8 gives to an old function is not known to older drivers. */
static void older_name(const void *argument) {
    (void)argument;
    double measured = 0.0;
    fake_hide("cuEventElapsedTime_v2");
    CHECK(tcgemm_device_measure_peak(0, TCGEMM_F16_F32, &measured) == TCGEMM_STATUS_OK &&
              measured > 0,
          "a peak of %g", measured);
}

/* All that can be lacking at once: GPU matrices still work. */
static void the_core_alone(const void *argument) {
    (void)argument;
    for (int i = 0; i < NUM_SYMBOLS; ++i)
        if (symbols[i].feature != TCGEMM_DRIVER_CORE)
            fake_hide(symbols[i].name);
    fake_hide("cuEventElapsedTime");
    const testcase_t t = some_case(TCGEMM_BF16_F32);
    tcgemm_context_t *context = context_on(0);
    for (int way = GPU; context && way <= GPU_ASYNC; ++way)
        (void)product_is_right(&t, context, 0, (way_t)way);
    tcgemm_context_destroy(context);
    fake_fail("cuMemAlloc_v2", 1, CUDA_ERROR_OUT_OF_MEMORY);
    void *memory;
    CHECK(tcgemm_device_alloc(0, 10, &memory) == TCGEMM_STATUS_OUT_OF_MEMORY, "memory");
    CHECK(strstr(tcgemm_last_error(), "unknown error (CUDA error 2)"), "sentence: %s",
          tcgemm_last_error());
    check_end();
}

int main(void) {
    int failed = 0;
    for (int i = 0; i < NUM_SYMBOLS; ++i) {
        char name[96];
        const bool is_core = symbols[i].feature == TCGEMM_DRIVER_CORE;
        (void)snprintf(name, sizeof name, "without %s", symbols[i].name);
        if (strcmp(symbols[i].name, "cuDriverGetVersion") == 0)
            continue; /* without it sentences have no version: the_core_alone */
        failed += run_alone(name, is_core ? without_core : without, &symbols[i]);
    }
    failed += run_alone("an older name", older_name, NULL);
    failed += run_alone("the core alone", the_core_alone, NULL);
    return failed != 0;
}
