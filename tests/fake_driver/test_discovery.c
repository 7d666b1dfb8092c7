/* Which GPUs there are, what is known of them, and what must not wake the driver. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/module.h"
#include "fake_driver/harness.h"
#include "gpu/gpu_row.h"
#include "table/table.h"

static testcase_t small_case(void) {
    return testcase_make(NULL, tcgemm_problem(TCGEMM_F32_F32, 65, 66, 67), 1);
}

/* A machine without a usable GPU: the reason says `why`, a GPU is refused, the CPU computes. */
static void check_none(const char *why) {
    const testcase_t t = small_case();
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    CHECK(tcgemm_device_count() == 0, "%d GPUs", tcgemm_device_count());
    CHECK(strstr(tcgemm_device_reason(), why), "reason: %s", tcgemm_device_reason());
    options.device = 0;
    CHECK(tcgemm_context_create(&options, &context) == TCGEMM_STATUS_NO_DEVICE, "a context");
    CHECK(strstr(tcgemm_last_error(), why), "sentence: %s", tcgemm_last_error());
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_CPU, HOST);
    check_end();
}

static void no_gpu(const void *argument) {
    (void)argument;
    fake_set_gpus(0, NULL);
    check_none("no CUDA-capable device is detected (CUDA error 100)");
}

static void no_driver_function_works(const void *argument) {
    (void)argument;
    fake_fail("cuInit", 1, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    check_none("unsupported display driver");
}

static void unknown_error_of_init(const void *argument) {
    (void)argument;
    fake_fail("cuInit", 1, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
    check_none("unknown error (CUDA error 804)");
}

static void no_count(const void *argument) {
    (void)argument;
    fake_fail("cuDeviceGetCount", 1, CUDA_ERROR_OUT_OF_MEMORY);
    check_none("sees no GPU");
}

/* A GPU without its number of SMs is none; the one before it is. */
static void silent_gpus(const void *argument) {
    const fake_gpu_t silent = {"Fake", 80, 0, (size_t)1 << 30, 166912};
    const bool is_first = *(const int *)argument == 0;
    const fake_gpu_t gpus[] = {is_first ? silent : fake_ampere, silent};
    fake_set_gpus(2, gpus);
    if (is_first) {
        check_none("does not tell what its GPU can do");
    } else {
        CHECK(tcgemm_device_count() == 1, "%d GPUs", tcgemm_device_count());
        CHECK(strcmp(tcgemm_device_reason(), "") == 0, "reason: %s", tcgemm_device_reason());
    }
}

static void one_gpu(const void *argument) {
    (void)argument;
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    CHECK(tcgemm_device_count() == 1 && strcmp(tcgemm_device_reason(), "") == 0, "%d GPUs",
          tcgemm_device_count());
    CHECK(tcgemm_device_get_info(0, &info) == TCGEMM_STATUS_OK, "no info");
    CHECK(strcmp(info.name, "Fake H200") == 0 && info.cc_major == 9 && info.cc_minor == 0 &&
              info.num_sms == 132 && info.memory_bytes == fake_hopper.memory_bytes &&
              info.smem_block_bytes == 232448 && info.clock_hz == 1.5e9 &&
              info.bandwidth == 2e3 * 2e6 * 4096 / 8 && info.num_kernels > 50,
          "info of %s", info.name);
    CHECK(tcgemm_device_get_info(1, &info) == TCGEMM_STATUS_NO_DEVICE, "GPU 1");
    CHECK(tcgemm_device_get_info(-1, &info) == TCGEMM_STATUS_NO_DEVICE, "GPU -1");
    check_end();
}

static void three_gpus(const void *argument) {
    (void)argument;
    const fake_gpu_t gpus[] = {fake_ampere, fake_turing, fake_hopper};
    fake_set_gpus(3, gpus);
    for (int i = 0; i < 3; ++i) {
        uint64_t random = (uint64_t)i;
        tcgemm_device_info_t info = {.struct_size = sizeof info};
        CHECK(tcgemm_device_get_info(i, &info) == TCGEMM_STATUS_OK &&
                  10 * info.cc_major + info.cc_minor == gpus[i].cc,
              "GPU %d is %d.%d", i, info.cc_major, info.cc_minor);
        tcgemm_context_t *context = context_on(i);
        for (int way = HOST; context && way <= GPU_ASYNC; ++way) {
            const testcase_t t = random_case(&random, TCGEMM_F16_F32, 100);
            (void)product_is_right(&t, context, i, (way_t)way);
        }
        tcgemm_context_destroy(context);
    }
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    options.device = 3;
    CHECK(tcgemm_context_create(&options, &context) == TCGEMM_STATUS_NO_DEVICE, "GPU 3");
    CHECK(strstr(tcgemm_last_error(), "0 .. 2"), "sentence: %s", tcgemm_last_error());
    check_end();
}

/* A GPU for which there is no kernel. */
static void old_gpu(const void *argument) {
    (void)argument;
    const testcase_t t = small_case();
    fake_set_gpus(1, &fake_pascal);
    tcgemm_context_t *context = context_on(0);
    tcgemm_plan_t *plan = NULL;
    CHECK(tcgemm_plan_create(context, &t.p, NULL, &plan) == TCGEMM_STATUS_UNSUPPORTED && !plan,
          "a plan");
    CHECK(strstr(tcgemm_last_error(), "on this GPU"), "sentence: %s", tcgemm_last_error());
    tcgemm_context_destroy(context);
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_CPU, HOST);
    check_end();
}

/* The library's code is newer than the driver: its kernels are refused, the CPU computes. */
static void code_too_new(const void *argument) {
    (void)argument;
    const testcase_t t = small_case();
    tcgemm_context_t *context = context_on(0);
    tcgemm_plan_t *plan = NULL;
    fake_fail("cuModuleLoadData", 1, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    CHECK(tcgemm_plan_create(context, &t.p, NULL, &plan) == TCGEMM_STATUS_UNSUPPORTED && !plan,
          "a plan");
    CHECK(strstr(tcgemm_last_error(), "CUDA error 222"), "sentence: %s", tcgemm_last_error());
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_CPU, HOST);
    (void)product_is_right(&t, context, 0, GPU); /* it was only once */
    tcgemm_context_destroy(context);
    check_end();
}

/* TCGEMM_CUDA_ARCH: the GPU appears older and runs PTX; what cannot be is ignored. */
static void plays(const void *argument) {
    const char *const text = argument;
    const int value = atoi(text); /* NOLINT(cert-err34-c) */
    const int expected = value >= 50 && value < 90 ? value : 90;
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    uint64_t random = 5;
    (void)setenv("TCGEMM_CUDA_ARCH", text, 1);
    CHECK(tcgemm_device_get_info(0, &info) == TCGEMM_STATUS_OK &&
              10 * info.cc_major + info.cc_minor == expected,
          "it plays %d.%d", info.cc_major, info.cc_minor);
    tcgemm_context_t *context = context_on(0);
    for (int way = HOST; context && way <= GPU_ASYNC; ++way) {
        const testcase_t t = random_case(&random, TCGEMM_S8_S32, 100);
        (void)product_is_right(&t, context, 0, (way_t)way);
    }
    tcgemm_context_destroy(context);
    check_end();
}

/* Everything that is about the CPU, a known GPU or a problem alone. */
static void sleeping_driver(const void *argument) {
    (void)argument;
    testcase_t t = small_case();
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *known = NULL;
    tcgemm_plan_t *plan = NULL;
    tcgemm_kernel_info_t info = {.struct_size = sizeof info};
    for (int i = 0; i < tcgemm_num_kernels(); ++i)
        if (!tcgemm_kernel_at(i)->gpu) /* whether those can run only the driver knows */
            CHECK(tcgemm_kernel_get_info(i, &info) == TCGEMM_STATUS_OK, "kernel %d", i);
    (void)product_is_right(&t, NULL, TCGEMM_DEVICE_CPU, HOST);
    (void)testcase_check(&t);
    options.known_gpu = "h200";
    CHECK(tcgemm_context_create(&options, &known) == TCGEMM_STATUS_OK, "a known GPU");
    CHECK(tcgemm_plan_create(known, &t.p, NULL, &plan) == TCGEMM_STATUS_OK, "its plan");
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(known);
    CHECK(fake_count(NULL) == 0, "%ld calls of the driver", fake_count(NULL));
}

/* The plan of a GPU that is not here runs in no way. */
static void known_gpu_does_not_run(const void *argument) {
    (void)argument;
    const testcase_t t = small_case();
    operands_t x;
    operands_make(&t, &x);
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *known = NULL;
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    options.known_gpu = "h200";
    CHECK(tcgemm_context_create(&options, &known) == TCGEMM_STATUS_OK, "a known GPU");
    tcgemm_plan_t *plan = plan_of(known, &t.p, NULL);
    for (int alpha = 0; alpha < 2; ++alpha) {
        CHECK(tcgemm_run_with(plan, alpha, x.a.data, x.b.data, 0, NULL, x.d.data, NULL, 0,
                              &stats) == TCGEMM_STATUS_NO_DEVICE,
              "tcgemm_run_with, alpha %d", alpha);
        CHECK(tcgemm_run(plan, alpha, x.a.data, x.b.data, 0, NULL, x.d.data) ==
                  TCGEMM_STATUS_NO_DEVICE,
              "tcgemm_run, alpha %d", alpha);
        CHECK(tcgemm_run_async(plan, alpha, x.a.data, x.b.data, 0, NULL, x.d.data, NULL, 0, NULL) ==
                  TCGEMM_STATUS_NO_DEVICE,
              "tcgemm_run_async, alpha %d", alpha);
    }
    CHECK(memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0, "D was written");
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(known);
    operands_free(&x);
}

/* A step of a peak kernel takes 1 us on the fake, so that the figure is known: peak.cu's
 * multiply-adds of a warp and step, 2 blocks of 8 warps an SM. */
static void peaks(const void *argument) {
    (void)argument;
    static const struct {
        tcgemm_type_t type;
        double macs;
    } expected[] = {
        {TCGEMM_F16_F32, 8.0 * 16 * 8 * 16},
        {TCGEMM_BF16_F32, 8.0 * 16 * 8 * 16},
        {TCGEMM_TF32_F32, 8.0 * 16 * 8 * 8},
        {TCGEMM_S8_S32, 8.0 * 16 * 8 * 32},
        {TCGEMM_F64_F64, 8.0 * 16 * 8 * 16},
        {TCGEMM_F32_F32, 64.0 * 32},
        {TCGEMM_B1_S32, 0.0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        const double rate = 2.0 * expected[i].macs * 132 * 2 * 8 / 1e-6;
        double measured = -1.0;
        CHECK(tcgemm_device_measure_peak(0, expected[i].type, &measured) == TCGEMM_STATUS_OK,
              "no peak");
        CHECK(measured >= 0.99 * rate && measured <= 1.01 * rate, "%g, expected %g", measured,
              rate);
    }
    check_end();
}

/* No module is compiled for an architecture that is older than all rows that it holds. */
static void no_useless_images(const void *argument) {
    (void)argument;
    for (int i = 0; i < tcgemm_num_images; ++i) {
        int least = INT_MAX;
        for (int j = 0; j < tcgemm_num_kernels(); ++j) {
            const tcgemm_gpu_row_t *row = tcgemm_kernel_at(j)->gpu;
            if (row && strcmp(row->module, tcgemm_images[i].module) == 0 && row->min_cc < least)
                least = row->min_cc;
        }
        CHECK(least == INT_MAX || tcgemm_images[i].arch >= least,
              "%s for sm_%d, but its rows are "
              "for sm_%d and newer",
              tcgemm_images[i].module, tcgemm_images[i].arch, least);
    }
    check_end();
}

int main(void) {
    int failed = 0;
    failed += run_alone("no GPU", no_gpu, NULL);
    failed += run_alone("driver and kernel module differ", no_driver_function_works, NULL);
    failed += run_alone("an error without words", unknown_error_of_init, NULL);
    failed += run_alone("GPUs cannot be counted", no_count, NULL);
    failed += run_alone("a silent GPU", silent_gpus, &(int){0});
    failed += run_alone("a silent second GPU", silent_gpus, &(int){1});
    failed += run_alone("one GPU", one_gpu, NULL);
    failed += run_alone("three GPUs", three_gpus, NULL);
    failed += run_alone("a GPU too old", old_gpu, NULL);
    failed += run_alone("code too new for the driver", code_too_new, NULL);
    failed += run_alone("it plays 8.0", plays, "80");
    failed += run_alone("it plays 7.5", plays, "75");
    failed += run_alone("it cannot play 10.0", plays, "100");
    failed += run_alone("it cannot play words", plays, "hopper");
    failed += run_alone("the driver sleeps on", sleeping_driver, NULL);
    failed += run_alone("a known GPU does not run", known_gpu_does_not_run, NULL);
    failed += run_alone("peaks", peaks, NULL);
    failed += run_alone("no useless images", no_useless_images, NULL);
    return failed != 0;
}
