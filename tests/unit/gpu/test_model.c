/* The GPU model where its answer is known: memory that is in the way, a last round for one tile,
 * rows that are not aligned, packing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tcgemm/tcgemm.h"

static tcgemm_context_t *context;

static tcgemm_plan_t *plan_for(const char *gpu, const char *kernel, tcgemm_type_t type, int64_t m,
                               int64_t n, int64_t k) {
    tcgemm_context_options_t where = tcgemm_context_options();
    tcgemm_plan_options_t how = tcgemm_plan_options();
    const tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    tcgemm_plan_t *plan;
    where.known_gpu = gpu;
    how.kernel = kernel;
    assert_int_equal(tcgemm_context_create(&where, &context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(context, &p, &how, &plan), TCGEMM_STATUS_OK);
    return plan;
}

static void end(tcgemm_plan_t *plan) {
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
}

static double predicted(const char *gpu, const char *kernel, tcgemm_type_t type, int64_t m,
                        int64_t n, int64_t k) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_t *plan = plan_for(gpu, kernel, type, m, n, k);
    assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
    end(plan);
    return info.predicted_seconds;
}

/* Seconds of a part of the H200's estimate of that kernel, 0 if it has none. */
static double part(const char *kernel, tcgemm_type_t type, int64_t m, int64_t n, int64_t k,
                   const char *name) {
    tcgemm_estimate_t e = {.struct_size = sizeof e};
    tcgemm_plan_t *plan = plan_for("h200", kernel, type, m, n, k);
    double seconds = 0;
    for (int i = 0; i == 0 || strcmp(e.kernel, kernel) != 0; ++i)
        assert_int_equal(tcgemm_plan_get_estimate(plan, i, &e), TCGEMM_STATUS_OK);
    for (int i = 0; i < e.num_parts; ++i)
        seconds += strcmp(e.parts[i].name, name) == 0 ? e.parts[i].seconds : 0;
    end(plan);
    return seconds;
}

/* Of the step `index` on an H200, which has this name. */
static double step_seconds(const char *kernel, tcgemm_type_t type, int64_t size, int index,
                           const char *name) {
    tcgemm_step_info_t step = {.struct_size = sizeof step};
    tcgemm_plan_t *plan = plan_for("h200", kernel, type, size, size, size);
    assert_int_equal(tcgemm_plan_get_step(plan, index, &step), TCGEMM_STATUS_OK);
    assert_string_equal(step.name, name);
    end(plan);
    return step.seconds;
}

/* D of 8192 x 8192 alone is 268 MB: no less than its way to the memory. */
static void memory_takes_its_time(void **state) {
    (void)state;
    static const char *const gpus[] = {"h200", "rtx5090", "orin"};
    static const double bandwidths[] = {4.8e12, 1.792e12, 204.8e9};
    for (int i = 0; i < 3; ++i) {
        const double least = 8192.0 * 8192.0 * 4.0 / bandwidths[i];
        assert_true(predicted(gpus[i], NULL, TCGEMM_F32_F32, 8192, 8192, 16) > least);
        assert_true(predicted(gpus[i], NULL, TCGEMM_F32_F32, 8192, 8192, 1) > least);
    }
}

static const char row[] = "gpu_mma_pipelined_f16_f32_64x64x64_s3";

/* A row of tiles more than 132 SMs hold at once takes a round more; a round takes time however few
 * its tiles are. */
static void every_round_takes_time(void **state) {
    (void)state;
    const double one = predicted("h200", row, TCGEMM_F16_F32, 128, 128, 4096);
    const double full = predicted("h200", row, TCGEMM_F16_F32, 128 * 132, 128 * 8, 4096);
    const double more = predicted("h200", row, TCGEMM_F16_F32, 128 * 132 + 1, 128 * 8, 4096);
    assert_true(one > 5e-6); /* a launch alone takes 2 */
    assert_true(more > 1.02 * full);
}

static void rows_that_are_not_aligned_take_longer(void **state) {
    (void)state;
    const double aligned = predicted("h200", row, TCGEMM_F16_F32, 4096, 4096, 4096);
    assert_true(predicted("h200", row, TCGEMM_F16_F32, 4096, 4096, 4095) > 1.02 * aligned);
    assert_true(predicted("h200", row, TCGEMM_F16_F32, 4096, 4095, 4096) > 1.02 * aligned);
}

/* Bytes that take about as long as the products stand out, whoever brings them; beside many
 * products they do not. */
static void bytes_hide_behind_products(void **state) {
    (void)state;
    static const char few[] = "gpu_wgmma_bf16_f32_16x64x64_deep";
    static const char many[] = "gpu_wgmma_bf16_f32_128x192x64_turns";
    static const char copies[] = "gpu_mma_pipelined_f64_f64_32x32x64_k4";
    assert_true(part(copies, TCGEMM_F64_F64, 16, 4096, 4096, "exposed") > 1e-6);
    assert_true(part(few, TCGEMM_BF16_F32, 16, 4096, 4096, "exposed") > 2e-7);
    assert_true(part(many, TCGEMM_BF16_F32, 8192, 8192, 8192, "exposed") <
                0.1 * part(many, TCGEMM_BF16_F32, 8192, 8192, 8192, "multiply"));
}

/* A and B of 333 x 333 are packed in one launch, which takes microseconds and not their bytes; of
 * 8 bit, NN, one is turned round: two launches. */
static void packing_is_one_launch_or_two(void **state) {
    (void)state;
    static const char one[] = "gpu_wgmma_bf16_f32_64x64x64_share";
    static const char two[] = "gpu_wgmma_s8_s32_64x64x128_share";
    assert_true(step_seconds(one, TCGEMM_BF16_F32, 333, 0, "pack A") > 2e-6);
    assert_true(step_seconds(one, TCGEMM_BF16_F32, 333, 1, "pack B") < 1e-6);
    assert_true(step_seconds(two, TCGEMM_S8_S32, 333, 0, "pack A") > 2e-6);
    assert_true(step_seconds(two, TCGEMM_S8_S32, 333, 1, "pack B") > 2e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_takes_its_time),
        cmocka_unit_test(every_round_takes_time),
        cmocka_unit_test(rows_that_are_not_aligned_take_longer),
        cmocka_unit_test(bytes_hide_behind_products),
        cmocka_unit_test(packing_is_one_launch_or_two),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
