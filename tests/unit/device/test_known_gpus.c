/* Plans for GPUs that are known, but not here: the vendor's peaks, occupancy worked out by hand,
 * the model's laws, the order of estimates, and that such plans cannot run.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "device/known_gpus.h"
#include "gpu/launch.h"
#include "gpu/model.h"
#include "support/support.h"
#include "table/table.h"

/* Dense TFLOP/s or TOP/s of the vendor's data sheets, to the figures that they print. */
static void peaks_are_the_vendors(void **state) {
    (void)state;
    static const struct {
        const char *key;
        tcgemm_type_t type;
        double tops, tolerance;
    } sheets[] = {
        {"v100", TCGEMM_F16_F32, 125, 0.5},      {"v100", TCGEMM_F64_F64, 7.8, 0.1},
        {"t4", TCGEMM_F16_F32, 65, 0.5},         {"t4", TCGEMM_S8_S32, 130, 0.5},
        {"a100", TCGEMM_BF16_F32, 312, 0.5},     {"a100", TCGEMM_TF32_F32, 156, 0.5},
        {"a100", TCGEMM_F64_F64, 19.5, 0.1},     {"a100", TCGEMM_S8_S32, 624, 1},
        {"a10", TCGEMM_F16_F32, 125, 0.5},       {"a10", TCGEMM_F32_F32, 31.2, 0.1},
        {"rtx3090", TCGEMM_F16_F32, 71, 0.5},    {"rtx3090", TCGEMM_F32_F32, 35.6, 0.1},
        {"orin", TCGEMM_S8_S32, 85, 0.5},        {"orin", TCGEMM_F32_F32, 5.3, 0.1},
        {"l4", TCGEMM_F16_F32, 121, 0.5},        {"l4", TCGEMM_E4M3_F32, 242, 1},
        {"l40s", TCGEMM_F32_F32, 91.6, 0.1},     {"l40s", TCGEMM_BF16_F32, 366, 1},
        {"rtx4090", TCGEMM_F16_F32, 165.2, 0.1}, {"rtx4090", TCGEMM_S8_S32, 660.6, 0.1},
        {"h100", TCGEMM_F32_F32, 66.9, 0.1},     {"h200", TCGEMM_F64_F64, 66.9, 0.1},
        {"b200", TCGEMM_F32_F32, 74.4, 0.5},     {"rtx5090", TCGEMM_BF16_F32, 209.5, 0.1},
    };
    for (size_t i = 0; i < sizeof sheets / sizeof sheets[0]; ++i) {
        const tcgemm_device_t *gpu = tcgemm_known_gpu_find(sheets[i].key);
        assert_non_null(gpu);
        const double peak = tcgemm_device_peak(gpu, sheets[i].type) * 1e-12;
        if (fabs(peak - sheets[i].tops) > sheets[i].tolerance)
            report_failure("%s %s: %.2f, the data sheet says %.2f", sheets[i].key,
                           tcgemm_type_info(sheets[i].type)->name, peak, sheets[i].tops);
    }
    assert_no_failures();
}

static void occupancy_is_that_of_the_guide(void **state) {
    (void)state;
    const tcgemm_device_t *h200 = tcgemm_known_gpu_find("h200");
    const tcgemm_device_t *t4 = tcgemm_known_gpu_find("t4");
    /* 256 threads of 168 registers: 168 * 256 = 43,008 of 65,536; 96 + 1 KiB of 228. */
    tcgemm_gpu_row_t row = {.threads = 256, .smem_bytes = 96 << 10};
    tcgemm_occupancy_t o = tcgemm_gpu_occupancy(&row, 168, h200);
    assert_int_equal(o.by_threads, 8);
    assert_int_equal(o.by_registers, 1);
    assert_int_equal(o.by_smem, 2);
    assert_int_equal(o.by_slots, 32);
    assert_int_equal(o.blocks, 1);
    /* 33 registers count as 40: 40 * 128 = 5,120, twelve times in 65,536; 1024 threads on a T4. */
    row = (tcgemm_gpu_row_t){.threads = 128, .smem_bytes = 0};
    o = tcgemm_gpu_occupancy(&row, 33, t4);
    assert_int_equal(o.by_registers, 12);
    assert_int_equal(o.by_threads, 8);
    assert_int_equal(o.by_smem, 16);
    assert_int_equal(o.blocks, 8);
}

static void rows_are_as_aligned_as_all_that_moves_them(void **state) {
    (void)state;
    const char *const at = (const char *)4096;
    const tcgemm_dtype_t f16 = TCGEMM_DTYPE_F16;
    assert_int_equal(tcgemm_gpu_alignment(at, f16, 9, 1000, 1, 0), 16);
    assert_int_equal(tcgemm_gpu_alignment(at, f16, 9, 1001, 1, 0), 2);
    assert_int_equal(tcgemm_gpu_alignment(at, f16, 1, 1001, 1, 0), 16); /* one row */
    assert_int_equal(tcgemm_gpu_alignment(at + 8, f16, 9, 1000, 1, 0), 8);
    assert_int_equal(tcgemm_gpu_alignment(at, f16, 9, 1000, 3, 10002), 4);
    assert_int_equal(tcgemm_gpu_alignment(at, f16, 9, 1000, 1, 10002), 16); /* one item */
    assert_int_equal(tcgemm_gpu_alignment(at, TCGEMM_DTYPE_S8, 9, 1004, 1, 0), 4);
    assert_int_equal(tcgemm_gpu_alignment(at + 1, TCGEMM_DTYPE_S8, 1, 0, 1, 0), 1);
}

static tcgemm_plan_t *plan_for(tcgemm_context_t *context, tcgemm_type_t type, int64_t size) {
    tcgemm_plan_t *plan = NULL;
    const tcgemm_problem_t p = tcgemm_problem(type, size, size, size);
    assert_int_equal(tcgemm_plan_create(context, &p, NULL, &plan), TCGEMM_STATUS_OK);
    return plan;
}

static tcgemm_context_t *context_for(const char *key) {
    tcgemm_context_t *context = NULL;
    tcgemm_context_options_t o = tcgemm_context_options();
    o.known_gpu = key;
    assert_int_equal(tcgemm_context_create(&o, &context), TCGEMM_STATUS_OK);
    return context;
}

/* Whether the part of an estimate goes on beside the memory, or is its launch. */
static bool is_of_product(const char *part) {
    static const char *const names[] = {"launch", "start", "wait", "multiply", "finish"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcmp(part, names[i]) == 0)
            return true;
    return false;
}

/* Each GPU that has a kernel for a type gives a plan that fits it, estimates in order, the first of
 * which is the plan's own, parts that add up, and no run. */
static void every_known_gpu_plans(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F16_F32, TCGEMM_F32_F32, TCGEMM_S8_S32};
    for (int i = 0; i < tcgemm_known_gpu_count(); ++i) {
        tcgemm_context_t *context = context_for(tcgemm_known_gpu_key(i));
        const tcgemm_device_t *gpu = tcgemm_known_gpu(i);
        for (size_t t = 0; t < 3 && gpu->cc >= 75; ++t) {
            tcgemm_plan_t *plan = plan_for(context, types[t], 3000);
            tcgemm_plan_info_t info = {.struct_size = sizeof info};
            assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
            assert_int_equal(info.device_index, TCGEMM_DEVICE_KNOWN);
            assert_string_equal(info.device, gpu->name);
            assert_true(info.blocks_per_sm >= 1 && info.grid_blocks >= 1);
            assert_true(info.smem_bytes <= gpu->smem_block_bytes);
            double last = 0;
            const int count = tcgemm_plan_estimate_count(plan);
            assert_true(count >= 1);
            for (int rank = 0; rank < count; ++rank) {
                tcgemm_estimate_t e = {.struct_size = sizeof e};
                assert_int_equal(tcgemm_plan_get_estimate(plan, rank, &e), TCGEMM_STATUS_OK);
                if (rank == 0)
                    assert_string_equal(e.kernel, info.kernel);
                assert_true(e.seconds >= last);
                last = e.seconds;
                double sum = 0, beside = e.parts[0].seconds; /* the launch, and other steps */
                for (int part = 0; part < e.num_parts; ++part) {
                    sum += e.parts[part].seconds;
                    beside += is_of_product(e.parts[part].name) ? 0 : e.parts[part].seconds;
                }
                assert_true(fabs(e.seconds - fmax(sum, beside + e.memory_seconds)) <=
                            1e-9 * e.seconds);
                assert_true(e.tile_efficiency > 0 && e.tile_efficiency <= 1);
                assert_true(e.wave_efficiency > 0 && e.wave_efficiency <= 1);
            }
            tcgemm_estimate_t none = {.struct_size = sizeof none};
            assert_int_equal(tcgemm_plan_get_estimate(plan, count, &none),
                             TCGEMM_STATUS_BAD_ARGUMENT);
            float x = 0;
            assert_int_equal(tcgemm_run(plan, 1, &x, &x, 0, NULL, &x), TCGEMM_STATUS_NO_DEVICE);
            assert_non_null(strstr(tcgemm_last_error(), gpu->name));
            tcgemm_plan_destroy(plan);
        }
        tcgemm_context_destroy(context);
    }
}

/* More work never takes less time, and nothing beats the peak. */
static void the_model_obeys_its_laws(void **state) {
    (void)state;
    const tcgemm_device_t *h200 = tcgemm_known_gpu_find("h200");
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
        if (!row || !tcgemm_gpu_row_fits(row, h200))
            continue;
        double last = 0;
        /* Of items that are small, many; rows of less than a line of the L2 do not stream well. */
        for (int64_t size = 64; size <= 16384; size *= 2) {
            tcgemm_problem_t p = tcgemm_problem(row->type, size, size, size);
            if (row->items_a_warp) {
                p = tcgemm_problem(row->type, row->bm, row->bn, row->bm);
                p.batch = size * size * size / ((int64_t)row->bm * row->bn * row->bm);
                p.stride_a = p.stride_b = p.stride_c = p.stride_d = (int64_t)row->bm * row->bn;
            }
            tcgemm_canonical_t g;
            assert_int_equal(tcgemm_canonicalize(&p, &g), TCGEMM_STATUS_OK);
            const double seconds = tcgemm_gpu_time(tcgemm_kernel_at(i), &g, 1, false, h200).total;
            const double floor = 2.0 * (double)size * (double)size * (double)size /
                                 tcgemm_device_peak(h200, row->type);
            if (!(seconds >= last && seconds > floor)) /* alike within one tile */
                report_failure("%s at %lld: %g s, before %g s, at the peak %g s",
                               tcgemm_kernel_at(i)->name, (long long)size, seconds, last, floor);
            last = seconds;
        }
    }
    assert_no_failures();
}

static void a_context_refuses_what_is_not_known(void **state) {
    (void)state;
    tcgemm_context_t *context = NULL;
    tcgemm_context_options_t o = tcgemm_context_options();
    o.known_gpu = "voodoo2";
    assert_int_equal(tcgemm_context_create(&o, &context), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_null(context);
    assert_non_null(strstr(tcgemm_last_error(), "voodoo2"));
    assert_non_null(strstr(tcgemm_last_error(), "orin"));
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    assert_int_equal(tcgemm_known_gpu_get_info(tcgemm_known_gpu_count(), &info),
                     TCGEMM_STATUS_BAD_ARGUMENT);
    assert_null(tcgemm_known_gpu_key(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_the_vendors),
        cmocka_unit_test(occupancy_is_that_of_the_guide),
        cmocka_unit_test(rows_are_as_aligned_as_all_that_moves_them),
        cmocka_unit_test(every_known_gpu_plans),
        cmocka_unit_test(the_model_obeys_its_laws),
        cmocka_unit_test(a_context_refuses_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
