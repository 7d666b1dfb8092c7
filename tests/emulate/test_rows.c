/* Every GPU row computes real products on the CPU: its own kernel, compiled for each architecture
 * on which it differs, in the emulator; all layouts, sizes around the tile and the ring, schedules,
 * alignments, batches. Real data are judged by the library's judge, element by element; whole
 * numbers must be exact. No fault may be told, and every element of D is written once.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/num.h"
#include "device/known_gpus.h"
#include "gpu/gpu_row.h"
#include "plan/planner.h"
#include "support/testcase.h"

/* ---- one product ---- */

/* Behind each of so many lines zeros up to 16 bytes, as behind those that travel to a GPU. */
static void end_in_zeros(const matrix_t *x, tcgemm_dtype_t dtype, bool in_rows, int64_t rows,
                         int64_t cols, int64_t batch) {
    const int bytes = tcgemm_dtype_bits(dtype) / 8;
    const int64_t lines = in_rows ? rows : cols, length = in_rows ? cols : rows;
    for (int64_t item = 0; item < batch; ++item)
        for (int64_t line = 0; line < lines; ++line) {
            const int64_t first = matrix_index(x, item, in_rows ? line : 0, in_rows ? 0 : line);
            memset(x->data + (first + length) * bytes, 0,
                   (size_t)(round_up(length * bytes, 16) - length * bytes));
        }
}

/* In the operand and in the copy that it is compared with afterwards. */
static void pad_operand(const testcase_t *t, const matrix_t *x, uint8_t *was, bool is_b) {
    const tcgemm_problem_t *p = &t->p;
    const tcgemm_type_info_t *info = tcgemm_type_info(p->type);
    const bool turns = (is_b ? p->op_b : p->op_a) != TCGEMM_OP_N;
    const int64_t rows = is_b ? p->k : p->m, cols = is_b ? p->n : p->k;
    matrix_t copy = *x;
    copy.data = was + (x->data - x->block);
    const matrix_t *const both[] = {x, &copy};
    for (int i = 0; i < 2; ++i)
        end_in_zeros(both[i], is_b ? info->b : info->a, p->order == TCGEMM_ROW_MAJOR,
                     turns ? cols : rows, turns ? rows : cols, p->batch);
}

static void emulate(const testcase_t *t, const struct tcgemm_plan *plan) {
    operands_t x;
    operands_make(t, &x);
    if (plan->g.a.padded) {
        pad_operand(t, &x.a, x.a_was, false);
        pad_operand(t, &x.b, x.b_was, true);
    }
    tcgemm_simulate_report_t r = {.struct_size = sizeof r};
    const tcgemm_status_t status =
        tcgemm_plan_simulate(plan, TCGEMM_DEPTH_DATA, t->alpha, x.a.data, x.b.data, t->beta,
                             t->beta != 0.0 ? x.c.data : NULL, x.d.data, NULL, NULL, &r);
    if (status != TCGEMM_STATUS_OK)
        testcase_fail(t, "%s: %s", tcgemm_status_name(status), tcgemm_last_error());
    else if (r.num_faults || r.num_wrong || r.num_written != t->p.m * t->p.n * t->p.batch)
        testcase_fail(t,
                      "sm_%d, seed %s: %lld faults (%s), %lld wrong, first (%lld, %lld): %g, "
                      "expected %g",
                      plan->device->cc, getenv("TCGEMM_EMULATOR_SEED"), (long long)r.num_faults,
                      r.fault, (long long)r.num_wrong, (long long)r.wrong_row,
                      (long long)r.wrong_col, r.wrong_got, r.wrong_expected);
    else if (testcase_untouched(t, &x) && testcase_is_exact(t))
        (void)testcase_compare_exact(t, &x);
    operands_free(&x);
}

/* The schedule that the next product is played in. */
static void choose_seed(uint64_t seed) {
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    (void)setenv("TCGEMM_EMULATOR_SEED", text, 1);
}

/* ---- the problems ---- */

static int64_t at_least_1(int64_t x) {
    return x > 1 ? x : 1;
}

/* Leading dimensions as they are tight, or longer by what leaves rows aligned to 16 bytes, to some
 * bytes, or to nothing. */
static int64_t padding(uint64_t *random, tcgemm_dtype_t dtype) {
    const int64_t in_16 = 128 / tcgemm_dtype_bits(dtype);
    const int64_t pads[] = {0, 0, in_16, in_16 / 2, in_16 / 4, 1};
    return pads[random_below(random, 6)];
}

static testcase_t make_case(const tcgemm_kernel_t *kernel, int64_t m, int64_t n, int64_t k,
                            int layout, uint64_t seed) {
    uint64_t random = seed;
    const tcgemm_type_info_t *info = tcgemm_type_info(kernel->gpu->type);
    const bool row = random_below(&random, 4) != 0;
    if (kernel->gpu->streams && !row) { /* rows of D are columns for the kernel */
        const int64_t rows = m;
        m = n;
        n = rows;
    }
    testcase_t t = testcase_make(kernel->name, tcgemm_problem(kernel->gpu->type, m, n, k), seed);
    tcgemm_problem_t *p = &t.p;
    p->op_a = layout & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p->op_b = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p->order = row ? TCGEMM_ROW_MAJOR : TCGEMM_COL_MAJOR;
    const bool tight = random_below(&random, 2);
    p->lda = at_least_1(row == !p->op_a ? k : m) + (tight ? 0 : padding(&random, info->a));
    p->ldb = at_least_1(row == !p->op_b ? n : k) + (tight ? 0 : padding(&random, info->b));
    p->ldc = at_least_1(row ? n : m) + (tight ? 0 : padding(&random, info->d));
    p->ldd = at_least_1(row ? n : m) + (tight ? 0 : padding(&random, info->d));
    const bool is_batched = kernel->gpu->items_a_warp;
    if (is_batched || (m * n < 5000 && random_below(&random, 3) == 0)) {
        p->batch = is_batched ? 1 + (int64_t)random_below(&random, 75) : 2;
        p->stride_a = random_below(&random, 3) ? p->lda * (row == !p->op_a ? m : k) : 0;
        p->stride_b = p->ldb * (row == !p->op_b ? k : n) + random_below(&random, 3);
        p->stride_c = p->ldc * (row ? m : n);
        p->stride_d = p->ldd * (row ? m : n) + random_below(&random, 2) * 16;
    }
    p->flags |= kernel->needs;
    t.fill = random_below(&random, 2) ? FILL_UNIFORM : FILL_SMALL_INT;
    t.beta = random_below(&random, 2) ? 0.0 : random_below(&random, 2) ? 1.0 : -2.0;
    t.alpha = random_below(&random, 2) ? 1.0 : 3.0;
    t.misalign = tight ? 0 : (int)random_below(&random, 3) * tcgemm_dtype_bits(info->d) / 8;
    return t;
}

/* A GPU of this architecture with few SMs, so that persistent blocks slide over several tiles. Rows
 * of FP8 that are not on sm_90 have the same code on sm_89. */
static bool device_of(const tcgemm_gpu_row_t *row, int cc, tcgemm_device_t *device) {
    *device = *tcgemm_known_gpu_find(cc < 80        ? "t4"
                                     : cc < 90      ? "a100"
                                     : row->fp8_mma ? "l40s"
                                                    : "h200");
    device->num_sms = 1;
    return tcgemm_gpu_row_fits(row, device);
}

/* Whether the row reads both operands in the layouts of the plan. */
static bool takes_layouts(const tcgemm_gpu_row_t *row, const struct tcgemm_plan *plan) {
    return tcgemm_gpu_takes_layout(row, false, plan->g.a.col_stride == 1) &&
           tcgemm_gpu_takes_layout(row, true, plan->g.b.row_stride == 1);
}

/* The product alone, however its rows lie: what a kernel does with rows that were not packed, if it
 * can read them. */
static void drop_other_steps(struct tcgemm_plan *plan) {
    const tcgemm_gpu_launch_t launch = tcgemm_plan_product(plan)->gpu;
    plan->steps = tcgemm_single_step(plan, 0.0);
    plan->steps.step[0].gpu = launch;
    plan->if_unaligned.count = 0;
}

/* Whether the planner would have it so or not: two blocks fetch B together. */
static void pair_blocks(tcgemm_steps_t *steps) {
    for (int i = 0; i < steps->count; ++i) {
        tcgemm_step_t *step = &steps->step[i];
        if (step->kind != TCGEMM_STEP_PRODUCT || !step->kernel->gpu->pairs)
            continue;
        step->in_pairs = !step->in_pairs;
        step->gpu.raster_group = (step->gpu.raster_group + 1) / 2 * 2;
    }
}

/* How operands lie: as drawn, as copies of host matrices do, or without any gap. */
typedef enum lies { DRAWN, PADDED, TIGHT } lies_t;

/* Rows on boundaries of so many bits, items without gaps. */
static void align_operands(tcgemm_problem_t *p, int bits_a, int bits_b) {
    const tcgemm_type_info_t *info = tcgemm_type_info(p->type);
    const bool row = p->order == TCGEMM_ROW_MAJOR;
    p->lda = round_up(row == !p->op_a ? p->k : p->m, bits_a / tcgemm_dtype_bits(info->a));
    p->ldb = round_up(row == !p->op_b ? p->n : p->k, bits_b / tcgemm_dtype_bits(info->b));
    p->stride_a = p->lda * (row == !p->op_a ? p->m : p->k);
    p->stride_b = p->ldb * (row == !p->op_b ? p->k : p->n);
}

static void check_as(const tcgemm_kernel_t *kernel, int cc, int64_t m, int64_t n, int64_t k,
                     int layout, uint64_t seed, lies_t lies) {
    tcgemm_device_t device;
    if (!device_of(kernel->gpu, cc, &device))
        return;
    testcase_t t = make_case(kernel, m, n, k, layout, seed);
    if (lies != DRAWN) {
        const tcgemm_type_info_t *info = tcgemm_type_info(t.p.type);
        align_operands(&t.p, lies == PADDED ? 128 : tcgemm_dtype_bits(info->a),
                       lies == PADDED ? 128 : tcgemm_dtype_bits(info->b));
        t.misalign = 0;
    }
    tcgemm_plan_options_t o = tcgemm_plan_options();
    o.kernel = kernel->name;
    struct tcgemm_plan plan;
    if (tcgemm_plan_make_on(&device, &t.p, &o, 1, &plan) != TCGEMM_STATUS_OK) {
        testcase_fail(&t, "no plan: %s", tcgemm_last_error());
        return;
    }
    if (!kernel->gpu->tensor_maps && !kernel->gpu->whole_rows && !tcgemm_gpu_widens(kernel->gpu) &&
        plan.steps.count > 1 && seed % 4 != 0)
        drop_other_steps(&plan);
    if (lies == PADDED && takes_layouts(kernel->gpu, &plan)) {
        plan.g.a.padded = plan.g.b.padded = true;
        drop_other_steps(&plan);
    }
    if (seed % 3 != 0) {
        pair_blocks(&plan.steps);
        pair_blocks(&plan.if_unaligned);
    }
    choose_seed(seed);
    emulate(&t, &plan);
}

static void check(const tcgemm_kernel_t *kernel, int cc, int64_t m, int64_t n, int64_t k,
                  int layout, uint64_t seed) {
    check_as(kernel, cc, m, n, k, layout, seed, DRAWN);
}

/* ---- every row ---- */

/* Beside 448 * 448 the short sum of FP8 has no room for a 1; where sums begin anew with each
 * product of 32 k, those of the other products are all there. C takes away what hides them. */
static void check_short_sums(const tcgemm_kernel_t *kernel, int cc) {
    enum { K = 160, ONES = K - 32 };
    static _Alignas(16) uint8_t a[K], b[K];
    float c = 0, d = 0; /* of either type of D */
    tcgemm_device_t device;
    if (!device_of(kernel->gpu, cc, &device))
        return;
    const tcgemm_type_info_t *info = tcgemm_type_info(kernel->gpu->type);
    for (int i = 0; i < K; ++i) {
        tcgemm_store_float(info->a, a, i, i ? 1.0 : 448.0);
        tcgemm_store_float(info->b, b, i, i ? 1.0 : 448.0);
    }
    tcgemm_store_float(info->d, &c, 0, -448.0 * 448.0);
    tcgemm_problem_t p = tcgemm_problem(info->type, 1, 1, K);
    p.op_b = TCGEMM_OP_T;
    p.flags = kernel->needs;
    tcgemm_plan_options_t o = tcgemm_plan_options();
    o.kernel = kernel->name;
    struct tcgemm_plan plan;
    tcgemm_simulate_report_t r = {.struct_size = sizeof r};
    assert_int_equal(tcgemm_plan_make_on(&device, &p, &o, 1, &plan), TCGEMM_STATUS_OK);
    assert_int_equal(
        tcgemm_plan_simulate(&plan, TCGEMM_DEPTH_DATA, 1.0, a, b, 1.0, &c, &d, NULL, NULL, &r),
        TCGEMM_STATUS_OK);
    const double sum = tcgemm_load_float(info->d, &d, 0);
    if (sum != ONES || r.num_faults)
        report_failure("%s: %lld faults (%s), %g, expected %d", kernel->name,
                       (long long)r.num_faults, r.fault, sum, ONES);
}

/* m and n around the tile and its edges, k around the blocks of k and the ring of stages; the pairs
 * are taken in turn, so that each row meets all sizes and all k. */
static void check_row(const tcgemm_kernel_t *kernel, int index, int cc) {
    const tcgemm_gpu_row_t *row = kernel->gpu;
    const int64_t bm = row->bm, bn = row->bn, bk = row->bk, stages = row->stages;
    const int64_t sizes[][2] = {{1, 1},   {bm - 1, bn - 1}, {bm + 1, 17}, {13, bn + 1},
                                {bm, bn}, {37, 41},         {16, 8},      {bm / 2 + 3, bn / 2}};
    const int64_t ks[] = {1,
                          bk,
                          bk - 1,
                          bk + 1,
                          (stages - 1) * bk,
                          stages * bk,
                          stages * bk + bk,
                          stages * bk + bk / 2 + 1};
    enum { SIZES = sizeof sizes / sizeof sizes[0], KS = sizeof ks / sizeof ks[0] };
    /* Kernels with tensor maps have a test of their own (test_hopper.c); here it is their plans. On
     * sm_90 other pairs of what sm_80 has played, for which alone f64 has other code. */
    const bool again = cc == 90 && row->min_cc <= 80 && row->type != TCGEMM_F64_F64;
    const int cases = (int)at_level(1, row->tensor_maps ? 2 : again ? 3 : 6, SIZES * KS);
    if (bm * bn <= 64 * 64) /* more tile rows than the raster sweeps together */
        check(kernel, cc, 9 * bm + 1, bn + 1, bk, index % 4, (uint64_t)index);
    if (kernel->needs == TCGEMM_FLAG_FAST_ACCUMULATE && !row->tensor_maps)
        check_short_sums(kernel, cc);
    if (row->pads_rows && !tcgemm_gpu_widens(row)) /* else it reads nothing but its own copies */
        for (int layout = 0; layout < 4; ++layout)
            if (row->takes_a || layout == index % 4)
                check_as(kernel, cc, bm - 3, bn + 5, bk + 3, layout, (uint64_t)index, PADDED);
    /* A line without gaps is a row as well as a column. */
    for (int layout = 0; (row->gathers_a || row->gathers_b) && layout < 4; ++layout) {
        check_as(kernel, cc, 1, bn - 3, bk + 8, layout, (uint64_t)index, TIGHT);
        check_as(kernel, cc, bm - 3, 1, bk + 8, layout, (uint64_t)index, TIGHT);
    }
    for (int layout = 0; layout < 4; ++layout)
        for (int i = 0; i < cases; ++i) {
            const int at = 5 * index + 3 * layout + i; /* of the sizes, with a k of its own */
            const int64_t *mn = sizes[at % SIZES];
            const int64_t k = ks[(at / SIZES + 3 * i + layout + index) % KS];
            check(kernel, cc, mn[0], mn[1], at_least_1(k), layout,
                  (uint64_t)(index * 1000 + layout * 100 + i + cc));
        }
}

/* TCGEMM_TEST_KERNEL=words: only rows with these in their name (kernel_mutation.sh). */
static bool is_chosen(const tcgemm_kernel_t *kernel) {
    const char *words = getenv("TCGEMM_TEST_KERNEL");
    return kernel->gpu && (!words || strstr(kernel->name, words));
}

/* Few rows (columns) of D, lines around the tile and two of them, k around the step, the round of
 * all warps (or a ring of boxes) and what is held of the small operand. */
static void check_streaming_row(const tcgemm_kernel_t *kernel, int index, int cc) {
    const tcgemm_gpu_row_t *row = kernel->gpu;
    const bool is_b = row->streams == TCGEMM_STREAMS_B;
    const int64_t few = is_b ? row->bm : row->bn, lines = is_b ? row->bn : row->bm;
    const int64_t bk = row->bk, round = (row->tensor_maps ? row->stages : 16) * bk;
    const int64_t held = row->tensor_maps ? round : 128 * 1024 / few * bk / 128;
    const int64_t sizes[][2] = {
        {1, 1},         {few, lines},          {3, lines + 1}, {few - 1, 2 * lines + 4},
        {2, lines - 1}, {few, 3 * lines + 20}, {5, 12}};
    const int64_t ks[] = {
        1, bk, bk - 1, bk + 1, round, round + bk / 2 + 1, 2 * round + bk, 2 * round - 3};
    enum { SIZES = sizeof sizes / sizeof sizes[0], KS = sizeof ks / sizeof ks[0] };
    const int cases = (int)at_level(1, 1, SIZES * KS); /* of four kernels a type, alike in all */
    for (int layout = 0; layout < 4; ++layout)
        for (int i = 0; i < cases; ++i) {
            const int at = 5 * index + 3 * layout + i;
            const int64_t f = sizes[at % SIZES][0], l = sizes[at % SIZES][1];
            const int64_t k = ks[(at / SIZES + 3 * i + layout + index) % KS];
            check(kernel, cc, is_b ? f : l, is_b ? l : f, k, layout,
                  (uint64_t)(index * 1000 + layout * 100 + i + cc));
        }
    /* A small operand along k, of whole loads but no whole step. */
    check(kernel, cc, is_b ? 3 : lines, is_b ? lines : 3, 3 * bk / 2, is_b ? 0 : 2,
          (uint64_t)(index + cc));
    if (at_level(0, index % 7 == 0, 1)) /* more k than is held, in two tiles */
        check(kernel, cc, is_b ? few : lines + 1, is_b ? lines + 1 : few, held + bk + 3, index % 4,
              (uint64_t)index);
}

/* Items up to the largest, several in a warp and one; k around what a stage holds. */
static void check_batched_row(const tcgemm_kernel_t *kernel, int index, int cc) {
    static const int64_t sizes[][2] = {{1, 1},  {32, 32}, {17, 17}, {31, 5}, {8, 16},
                                       {3, 29}, {4, 4},   {16, 16}, {2, 9}};
    static const int64_t ks[] = {1, 17, 8, 3, 33, 16, 100, 24, 300};
    enum { SIZES = sizeof sizes / sizeof sizes[0], KS = sizeof ks / sizeof ks[0] };
    const int cases = (int)at_level(1, cc == 90 ? 2 : 5, SIZES * KS);
    for (int layout = 0; layout < 4; ++layout)
        for (int i = 0; i < cases; ++i) {
            const int at = 5 * index + 3 * layout + i;
            const int64_t *mn = sizes[at % SIZES];
            check(kernel, cc, mn[0], mn[1], ks[(2 * at + at / SIZES + layout) % KS], layout,
                  (uint64_t)(index * 1000 + layout * 100 + i + cc));
            check_as(kernel, cc, mn[0], mn[1], ks[(at + layout) % KS], layout,
                     (uint64_t)(index * 1000 + layout * 100 + i), PADDED);
        }
}

static void check_architecture(int cc) {
    int rows = 0;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
        tcgemm_device_t device;
        if (!is_chosen(tcgemm_kernel_at(i)) || !device_of(row, cc, &device))
            continue;
        if (row->streams)
            check_streaming_row(tcgemm_kernel_at(i), i, cc);
        else if (row->items_a_warp)
            check_batched_row(tcgemm_kernel_at(i), i, cc);
        else
            check_row(tcgemm_kernel_at(i), i, cc);
        ++rows;
    }
    print_message("sm_%d: %d rows\n", cc, rows);
    assert_true(rows >= 15 || getenv("TCGEMM_TEST_KERNEL"));
    assert_no_failures();
}

static void rows_of_sm75(void **state) {
    (void)state;
    check_architecture(75);
}

static void rows_of_sm80(void **state) {
    (void)state;
    check_architecture(80);
}

static void rows_of_sm90(void **state) {
    (void)state;
    check_architecture(90);
}

/* The same product in every order of warps and blocks, and with the copies arriving otherwise. */
static void the_schedule_does_not_matter(void **state) {
    (void)state;
    for (int i = 0; i < tcgemm_num_kernels(); i += (int)at_level(9, 3, 1))
        if (is_chosen(tcgemm_kernel_at(i)))
            for (uint64_t seed = 0; seed < 8; ++seed) {
                const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
                check(tcgemm_kernel_at(i),
                      row->max_cc == 75 ? 75
                      : row->fp8_mma    ? 90
                                        : 80,
                      row->streams == TCGEMM_STREAMS_B ? 5 : 29,
                      row->streams == TCGEMM_STREAMS_A ? 5
                      : row->items_a_warp              ? 31
                                                       : 43,
                      row->bk * (row->stages + 1) + 3, i % 4, 8 * (uint64_t)i + seed);
            }
    assert_no_failures();
}

/* Plans of several steps: rows that are packed first, parts of k that are added up at the end. */
static void steps_of_a_plan(void **state) {
    (void)state;
    static const struct {
        tcgemm_type_t type;
        int64_t m, n, k;
        const char *kernel; /* NULL: the planner's choice */
        int num_sms;        /* 0: all of an H200 */
        int batch;
    } cases[] = {
        {TCGEMM_BF16_F32, 60, 50, 8200, NULL, 0, 1},
        {TCGEMM_BF16_BF16, 60, 50, 4200, NULL, 0, 3},
        {TCGEMM_F16_F16, 33, 64, 6000, NULL, 0, 1},
        {TCGEMM_S8_S32, 20, 40, 9001, NULL, 0, 1},
        {TCGEMM_F64_F64, 16, 24, 3001, NULL, 0, 1},
        {TCGEMM_F32_F32, 40, 30, 5000, NULL, 0, 1},
        {TCGEMM_TF32_F32, 64, 31, 5001, NULL, 0, 1},
        {TCGEMM_BF16_BF16, 300, 257, 301, NULL, 0, 1},
        {TCGEMM_F16_F32, 255, 511, 127, NULL, 0, 1},
        {TCGEMM_F32_F32, 130, 30, 2500, "gpu_mma_pipelined_f32_f32_128x128x32_tma", 0, 1},
        /* Tails: tiles that are one or two more than the blocks that are resident. */
        {TCGEMM_F32_F32, 520, 40, 600, "gpu_mma_pipelined_f32_f32_128x128x32_tma", 2, 1},
        {TCGEMM_F32_F32, 40, 580, 301, "gpu_mma_pipelined_f32_f32_128x128x16_ffma", 2, 1},
        {TCGEMM_BF16_BF16, 40, 260, 4200, "gpu_wgmma_bf16_bf16_64x64x64_share", 2, 1},
        {TCGEMM_TF32_F32, 196, 40, 2600, "gpu_wgmma_tf32_f32_64x64x32_deep", 3, 1},
        {TCGEMM_F64_F64, 390, 40, 601, "gpu_mma_pipelined_f64_f64_64x64x16_s4", 2, 1},
    };
    int tails = 0;
    int kinds[TCGEMM_STEP_REDUCE + 1] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (int layout = 0; layout < 4; ++layout) {
            tcgemm_device_t device = *tcgemm_known_gpu_find("h200");
            device.num_sms = cases[i].num_sms ? cases[i].num_sms : device.num_sms;
            testcase_t t = testcase_make(
                NULL, tcgemm_problem(cases[i].type, cases[i].m, cases[i].n, cases[i].k), i);
            t.p.op_a = layout & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.p.op_b = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.beta = layout & 1 ? 2.0 : 0.0;
            t.fill = layout & 2 ? FILL_UNIFORM : FILL_SMALL_INT;
            tcgemm_plan_options_t o = tcgemm_plan_options();
            o.algo = cases[i].kernel ? NULL : "mma-pipelined";
            o.kernel = cases[i].kernel;
            t.p.order = cases[i].num_sms && layout / 2 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
            t.p.ldc = t.p.ldd =
                (t.p.order == TCGEMM_COL_MAJOR ? cases[i].m : cases[i].n) + layout % 3;
            if (cases[i].batch > 1) {
                t.p.batch = cases[i].batch;
                t.p.stride_a = t.p.m * t.p.k;
                t.p.stride_b = t.p.k * t.p.n;
                t.p.stride_c = t.p.stride_d = t.p.m * t.p.ldd;
            }
            struct tcgemm_plan plan;
            assert_int_equal(tcgemm_plan_make_on(&device, &t.p, &o, 1, &plan), TCGEMM_STATUS_OK);
            for (int s = 0; s < plan.steps.count; ++s)
                ++kinds[plan.steps.step[s].kind];
            if ((tcgemm_plan_tail(&plan) != NULL) != (cases[i].num_sms > 0))
                report_failure("case %d, layout %d: a tail, or none", (int)i, layout);
            tails += tcgemm_plan_tail(&plan) != NULL;
            choose_seed(i * 4 + (uint64_t)layout);
            emulate(&t, &plan);
        }
    print_message("tails %d, packed A %d, packed B %d, reduced %d\n", tails,
                  kinds[TCGEMM_STEP_PACK_A], kinds[TCGEMM_STEP_PACK_B], kinds[TCGEMM_STEP_REDUCE]);
    assert_no_failures();
    assert_true(kinds[TCGEMM_STEP_REDUCE] > 0);
}

/* Every number of fp8, times 1: from a row that is widened in pieces, or in registers, wherever it
 * begins, or by products of fp8. What is no number comes out as none, infinities as themselves. */
static void every_number_of_fp8(void **state) {
    (void)state;
    static const struct {
        tcgemm_type_t type;
        uint8_t one;
    } types[] = {{TCGEMM_E4M3_F32, 0x38}, {TCGEMM_E5M2_F32, 0x3C}};
    enum { COUNT = 2 * 256 + 5, LONG = 2 * 8192 + COUNT }; /* 8192: what a block widens at once */
    static _Alignas(16) uint8_t a[LONG + 8];
    static float d[LONG];
    static const char *const kernels[] = {"gpu_mma_pipelined_e4m3_f32_128x128x64_s4",
                                          "gpu_mma_pipelined_e5m2_f32_64x64x128_s3"};
    tcgemm_plan_options_t o = tcgemm_plan_options();
    int seen = 0;
    for (int i = 0; i < 6; ++i)
        for (int skew = 0; skew < (i < 4 ? 8 : 2); ++skew) {
            const tcgemm_device_t device = *tcgemm_known_gpu_find(i < 4 ? "h200" : "l40s");
            o.algo = i < 2 ? "wgmma" : i < 4 ? "stream" : NULL;
            o.kernel = i < 4 ? NULL : kernels[i % 2];
            const int count = i < 2 && skew == 3 * i ? LONG : COUNT;
            tcgemm_problem_t p = tcgemm_problem(types[i % 2].type, count, 1, 1);
            p.flags = i < 4 ? 0 : TCGEMM_FLAG_FAST_ACCUMULATE;
            p.op_a = TCGEMM_OP_T;
            p.lda = count;
            for (int j = 0; j < count + 8; ++j)
                a[j] = (uint8_t)(j % 251 + j / 251); /* not the same again 8192 later */
            struct tcgemm_plan plan;
            tcgemm_simulate_report_t r = {.struct_size = sizeof r};
            assert_int_equal(tcgemm_plan_make_on(&device, &p, &o, 1, &plan), TCGEMM_STATUS_OK);
            assert_int_equal(tcgemm_plan_simulate(&plan, TCGEMM_DEPTH_DATA, 1.0, a + skew,
                                                  &types[i % 2].one, 0.0, NULL, d, NULL, NULL, &r),
                             TCGEMM_STATUS_OK);
            assert_string_equal(r.fault, "");
            for (int j = 0; j < count; ++j) {
                const double x = tcgemm_load_float(plan.g.type->a, a, skew + j);
                assert_true(isnan(x) ? isnan(d[j]) : (double)d[j] == x);
                seen += isnan(x) || isinf(x);
            }
        }
    assert_true(seen > 0);
}

/* With an argument, the test of that name alone. */
int main(int argc, char **argv) {
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_sm75),    cmocka_unit_test(rows_of_sm80),
        cmocka_unit_test(rows_of_sm90),    cmocka_unit_test(the_schedule_does_not_matter),
        cmocka_unit_test(steps_of_a_plan), cmocka_unit_test(every_number_of_fp8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
