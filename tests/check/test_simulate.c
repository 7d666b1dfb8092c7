/* The simulator: every kernel row, CPU and GPU, through the index arithmetic of its own headers;
 * loop nests over tiles of any size; and that planted defects are seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernels/ukernel.h"
#include "device/known_gpus.h"
#include "gpu/gpu_row.h"
#include "gpu/launch.h"
#include "plan/planner.h"
#include "support/testcase.h"

/* ---- one simulation ---- */

static bool is_right(const testcase_t *t, const char *what, tcgemm_status_t status,
                     const tcgemm_simulate_report_t *r) {
    if (status != TCGEMM_STATUS_OK) {
        testcase_fail(t, "%s: %s: %s", what, tcgemm_status_name(status), tcgemm_last_error());
        return false;
    }
    const int64_t elements = t->p.m * t->p.n * t->p.batch;
    if (r->num_faults == 0 && r->num_wrong == 0 && r->num_written == elements)
        return true;
    testcase_fail(t, "%s: %lld faults (%s), %lld wrong, first (%lld, %lld): %g, expected %g", what,
                  (long long)r->num_faults, r->fault, (long long)r->num_wrong,
                  (long long)r->wrong_row, (long long)r->wrong_col, r->wrong_got,
                  r->wrong_expected);
    return false;
}

/* Simulates the plan at one depth; the surroundings of D must stay as they are. */
static bool check_plan(const testcase_t *t, const struct tcgemm_plan *plan, tcgemm_depth_t depth,
                       tcgemm_simulate_report_t *report) {
    operands_t x;
    operands_make(t, &x);
    report->struct_size = sizeof *report;
    char what[32];
    (void)snprintf(what, sizeof what, "depth %d", (int)depth);
    const tcgemm_status_t status = tcgemm_plan_simulate(
        plan, depth, t->alpha, x.a.data, x.b.data, t->beta, x.c.data, x.d.data, NULL, NULL, report);
    const bool right = is_right(t, what, status, report) && testcase_untouched(t, &x);
    operands_free(&x);
    return right;
}

static bool plan_for(const testcase_t *t, const tcgemm_device_t *device, struct tcgemm_plan *plan) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    o.kernel = t->kernel;
    if (tcgemm_plan_make_on(device, &t->p, &o, 1, plan) == TCGEMM_STATUS_OK)
        return true;
    testcase_fail(t, "no plan: %s", tcgemm_last_error());
    return false;
}

/* ---- problems ---- */

static int64_t padding(uint64_t *random, int element_bits) {
    /* none; whole 16 bytes; so that rows are aligned to 8, 4 bytes or to nothing */
    const int64_t in_16 = element_bits < 128 ? 128 / element_bits : 1;
    const int64_t pads[] = {0, 0, in_16, in_16 / 2, in_16 / 4, 1};
    return pads[random_below(random, 6)];
}

static int64_t tight(int64_t x) {
    return x > 1 ? x : 1;
}

/* Rows that stream an operand take as few rows or columns of D as their tile has; those of a
 * column-major D are the other way round for them. Those that take items of a batch have no more
 * of either. */
static void make_few(const tcgemm_kernel_t *kernel, int layout, int64_t *m, int64_t *n) {
    const tcgemm_gpu_row_t *const row = kernel->gpu;
    if (row->items_a_warp) {
        *m = (*m - 1) % row->bm + 1;
        *n = (*n - 1) % row->bn + 1;
    }
    if (!row->streams)
        return;
    const bool are_rows = (row->streams == TCGEMM_STREAMS_B) == !(layout & 4);
    int64_t *const size = are_rows ? m : n;
    *size = (*size - 1) % (row->bm < row->bn ? row->bm : row->bn) + 1;
}

static testcase_t random_case(const char *kernel, tcgemm_type_t type, int64_t m, int64_t n,
                              int64_t k, int layout, uint64_t seed) {
    uint64_t random = seed;
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, m, n, k), seed);
    const tcgemm_type_info_t *info = tcgemm_type_info(type);
    tcgemm_problem_t *p = &t.p;
    p->op_a = layout & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p->op_b = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p->order = layout & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    const bool row = p->order == TCGEMM_ROW_MAJOR;
    p->lda = tight(row == !p->op_a ? k : m) + padding(&random, tcgemm_dtype_bits(info->a));
    p->ldb = tight(row == !p->op_b ? n : k) + padding(&random, tcgemm_dtype_bits(info->b));
    p->ldc = tight(row ? n : m) + padding(&random, tcgemm_dtype_bits(info->d));
    p->ldd = tight(row ? n : m) + padding(&random, tcgemm_dtype_bits(info->d));
    if (random_below(&random, 3) == 0) {
        p->batch = 2;
        p->stride_a = random_below(&random, 2) ? 0 : p->lda * (row == !p->op_a ? m : k);
        p->stride_b = p->ldb * (row == !p->op_b ? k : n) + random_below(&random, 3);
        p->stride_c = p->ldc * (row ? m : n);
        p->stride_d = p->ldd * (row ? m : n) + random_below(&random, 2) * 16;
    }
    if (type == TCGEMM_B1_S32 && random_below(&random, 2))
        p->flags |= TCGEMM_FLAG_XOR;
    t.fill = FILL_CYCLE;
    t.beta = random_below(&random, 2) ? 2.0 : 0.0;
    t.alpha = random_below(&random, 2) ? 1.0 : 3.0;
    t.misalign = (int)random_below(&random, 3) * tcgemm_dtype_bits(info->d) / 8;
    return t;
}

/* ---- every GPU row ---- */

static const tcgemm_device_t *gpu_for(const tcgemm_gpu_row_t *row, bool oldest) {
    const bool is_older = (row->max_cc && row->max_cc < 90) || row->not_on_90;
    const int wanted = oldest || is_older ? row->min_cc : 90;
    return tcgemm_known_gpu_find(row->fp8_mma   ? "l40s"
                                 : wanted >= 90 ? "h200"
                                 : wanted >= 80 ? "a100"
                                                : "t4");
}

/* A device for the row, with one SM, so that persistent blocks slide over several tiles. */
static tcgemm_device_t device_for(const tcgemm_gpu_row_t *row, bool oldest) {
    tcgemm_device_t device = *gpu_for(row, oldest);
    device.num_sms = 1;
    return device;
}

static void check_gpu_case(const tcgemm_kernel_t *kernel, int64_t m, int64_t n, int64_t k,
                           int layout, bool oldest, uint64_t seed) {
    const tcgemm_device_t device = device_for(kernel->gpu, oldest);
    if (!tcgemm_gpu_row_fits(kernel->gpu, &device))
        return;
    make_few(kernel, layout, &m, &n);
    testcase_t t = random_case(kernel->name, kernel->gpu->type, m, n, k, layout, seed);
    t.p.flags |= kernel->needs;
    struct tcgemm_plan plan;
    tcgemm_simulate_report_t report;
    if (!plan_for(&t, &device, &plan) || !check_plan(&t, &plan, TCGEMM_DEPTH_DATA, &report))
        return;
    if (report.num_products == 0 || report.memory_loads < t.p.batch * (m + n) * k / 2)
        testcase_fail(&t, "%lld products, %lld loads: too few to be true",
                      (long long)report.num_products, (long long)report.memory_loads);
}

/* Around the edges of the tile, through the ring more than once; m and n small where the tile is
 * large, so that most of it is edge; and whole tiles with aligned rows. */
static void check_gpu_row(const tcgemm_kernel_t *kernel) {
    const tcgemm_gpu_row_t *row = kernel->gpu;
    const int64_t ring = (row->stages + 1) * (int64_t)row->bk;
    for (int layout = 0; layout < 8; ++layout) {
        const uint64_t seed = (uint64_t)tcgemm_kernel_index(kernel) * 64 + (uint64_t)layout;
        if (test_level() != LEVEL_FULL && (seed / 64 + (uint64_t)layout) % 4 != 0)
            continue; /* emulate/rows meets all of them */
        check_gpu_case(kernel, 37, 41, ring + row->bk / 2 + 1, layout, false, seed);
        check_gpu_case(kernel, 32, 48, 2 * row->bk, layout, layout & 1, seed + 16);
        check_gpu_case(kernel, 1, 1, 1, layout, false, seed + 32);
        if (layout == 5 || layout == (int)(seed / 64 % 4))
            check_gpu_case(kernel, row->bm + 3, row->bn + 5, row->bk + 3, layout, true, seed + 48);
    }
}

/* Once is enough: check/simulate does, and matrix tiles are no GPU's. */
static bool plays_gpus(void) {
#ifdef TCGEMM_EMULATED_AMX
    return false;
#else
    return has_emulator();
#endif
}

static void every_gpu_row(void **state) {
    (void)state;
    if (!plays_gpus())
        skip();
    int rows = 0;
    for (int i = 0; i < tcgemm_num_kernels(); ++i)
        if (tcgemm_kernel_at(i)->gpu) {
            check_gpu_row(tcgemm_kernel_at(i));
            ++rows;
        }
    assert_true(rows > 60);
    assert_no_failures();
}

/* ---- every CPU row, whether this processor can run it or not ---- */

/* A plan made by hand: so that rows which this processor lacks are simulated too, and with blocks
 * so small that every loop goes round several times. */
static void plan_by_hand(const testcase_t *t, const tcgemm_kernel_t *kernel,
                         struct tcgemm_plan *plan) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    o.kernel = "reference";
    assert_int_equal(tcgemm_plan_make(&t->p, &o, 1, plan), TCGEMM_STATUS_OK);
    const tcgemm_cpu_ukernel_t *u = kernel->cpu;
    plan->kernel = kernel;
    plan->cpu =
        (tcgemm_cpu_blocking_t){.mc = u->mr,
                                .kc = 3 * (int64_t)u->ku,
                                .nc = 2 * (int64_t)u->nr,
                                .mt = 2 * (int64_t)u->mr,
                                .nb = u->nr,
                                .pack_a = true,
                                .pack_b = true,
                                .direct_output = plan->g.type->d == plan->g.type->accumulator};
}

static void check_cpu_case(const tcgemm_kernel_t *kernel, tcgemm_type_t type, int layout,
                           uint64_t seed) {
    const int64_t m = 2 * kernel->mr + 1, n = kernel->nr + 3, k = 3 * kernel->ku + 2;
    testcase_t t = random_case(kernel->name, type, m, n, k, layout, seed);
    struct tcgemm_plan plan;
    tcgemm_simulate_report_t report;
    plan_by_hand(&t, kernel, &plan);
    for (int depth = TCGEMM_DEPTH_BLOCKS; depth <= TCGEMM_DEPTH_DATA; ++depth)
        (void)check_plan(&t, &plan, (tcgemm_depth_t)depth, &report);
    if (kernel->family->fits(kernel, NULL) && plan_for(&t, NULL, &plan)) /* the planner's blocks */
        (void)check_plan(&t, &plan, TCGEMM_DEPTH_DATA, &report);
}

static void every_cpu_row(void **state) {
    (void)state;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        for (int type = 1; kernel->cpu && type <= tcgemm_type_count(); ++type)
            for (int layout = 0; layout < 8; ++layout)
                if (kernel->types & TCGEMM_TYPE_BIT(type))
                    check_cpu_case(kernel, (tcgemm_type_t)type, layout,
                                   1000 * (uint64_t)i + 10 * (uint64_t)type + (uint64_t)layout);
    }
    assert_no_failures();
}

/* The kernel of last resort has no tiles; its nest is one element at a time. */
static void the_reference(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const testcase_t t =
            random_case("reference", (tcgemm_type_t)type, 7, 9, 11, type % 8, (uint64_t)type);
        struct tcgemm_plan plan;
        tcgemm_simulate_report_t report;
        for (int depth = TCGEMM_DEPTH_BLOCKS; depth <= TCGEMM_DEPTH_DATA; ++depth)
            if (plan_for(&t, NULL, &plan))
                (void)check_plan(&t, &plan, (tcgemm_depth_t)depth, &report);
    }
    assert_no_failures();
}

/* ---- the nests of plans, and of tiles by chance ---- */

static void nests_of_plans(void **state) {
    (void)state;
    for (int i = 0; i < tcgemm_num_kernels(); i += 3) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        if (!kernel->gpu)
            continue;
        const tcgemm_device_t device = device_for(kernel->gpu, false);
        int64_t m = kernel->gpu->bm + 1, n = 70;
        make_few(kernel, i % 8, &m, &n);
        testcase_t t = random_case(kernel->name, kernel->gpu->type, m, n, 33, i % 8, (uint64_t)i);
        t.p.flags |= kernel->needs;
        struct tcgemm_plan plan;
        tcgemm_simulate_report_t report;
        if (!tcgemm_gpu_row_fits(kernel->gpu, &device) || !plan_for(&t, &device, &plan))
            continue;
        for (int depth = TCGEMM_DEPTH_BLOCKS; depth <= TCGEMM_DEPTH_THREADS; ++depth)
            (void)check_plan(&t, &plan, (tcgemm_depth_t)depth, &report);
    }
    assert_no_failures();
}

static int64_t tile_size(uint64_t *random) {
    return random_below(random, 8) == 0 ? INT64_MAX - random_below(random, 3)
                                        : 1 + random_below(random, 40);
}

static tcgemm_tiles_t random_tiles(uint64_t *random) {
    tcgemm_tiles_t s = tcgemm_tiles(tile_size(random), tile_size(random), tile_size(random));
    s.wm = tile_size(random);
    s.wn = tile_size(random);
    s.wk = tile_size(random);
    s.tm = tile_size(random);
    s.tn = tile_size(random);
    s.tk = tile_size(random);
    s.group = random_below(random, 5);
    return s;
}

/* What the counts must be, worked out from the sizes alone. */
static int64_t parts(int64_t size, int64_t tile) {
    return size / tile + (size % tile != 0);
}

static bool counts_are_right(const testcase_t *t, const tcgemm_tiles_t *s,
                             const tcgemm_simulate_report_t *r) {
    const int64_t m = t->p.order ? t->p.n : t->p.m, n = t->p.order ? t->p.m : t->p.n;
    const int64_t blocks = parts(m, s->bm) * parts(n, s->bn) * t->p.batch;
    const int64_t loads = (m * parts(n, s->bn) + n * parts(m, s->bm)) * t->p.k * t->p.batch;
    return r->num_blocks == blocks && r->num_steps == blocks * parts(t->p.k, s->bk) &&
           r->num_macs == m * n * t->p.k * t->p.batch && r->memory_loads == loads;
}

static void tiles_by_chance(void **state) {
    (void)state;
    uint64_t random = 2024;
    for (int i = 0; i < at_level(250, 1000, 5000); ++i) {
        const tcgemm_type_t type = (tcgemm_type_t)(1 + random_below(&random, tcgemm_type_count()));
        testcase_t t = random_case("reference", type, 1 + random_below(&random, 50),
                                   1 + random_below(&random, 50), 1 + random_below(&random, 50),
                                   i % 8, random_next(&random));
        const tcgemm_tiles_t tiles = random_tiles(&random);
        const tcgemm_depth_t depth = (tcgemm_depth_t)(1 + random_below(&random, 3));
        tcgemm_simulate_report_t report = {.struct_size = sizeof report};
        operands_t x;
        operands_make(&t, &x);
        const tcgemm_status_t status =
            tcgemm_simulate_tiles(&t.p, &tiles, depth, t.alpha, x.a.data, x.b.data, t.beta,
                                  x.c.data, x.d.data, NULL, NULL, &report);
        if (is_right(&t, "tiles", status, &report) && testcase_untouched(&t, &x) &&
            testcase_compare_exact(&t, &x) && !counts_are_right(&t, &tiles, &report))
            testcase_fail(&t, "%lld blocks, %lld steps, %lld loads", (long long)report.num_blocks,
                          (long long)report.num_steps, (long long)report.memory_loads);
        operands_free(&x);
    }
    assert_no_failures();
}

/* ---- what must be seen ---- */

/* A row of NaN in A makes a row of NaN in D and no more: what fills up tiles beyond m, n and k
 * never meets it. */
static void check_nan(const tcgemm_kernel_t *kernel) {
    const tcgemm_type_info_t *info = tcgemm_type_info(kernel->gpu->type);
    const tcgemm_device_t device = device_for(kernel->gpu, false);
    int64_t m = 9, n = 10;
    make_few(kernel, 0, &m, &n);
    testcase_t t = testcase_make(kernel->name, tcgemm_problem(info->type, m, n, 11), 1);
    t.p.flags |= kernel->needs;
    struct tcgemm_plan plan;
    if (!plan_for(&t, &device, &plan))
        return;
    operands_t x;
    operands_make(&t, &x);
    memset(x.a.data, 0xFF, (size_t)(11 * tcgemm_dtype_bits(info->a) / 8));
    tcgemm_simulate_report_t report = {.struct_size = sizeof report};
    const tcgemm_status_t status =
        tcgemm_plan_simulate(&plan, TCGEMM_DEPTH_DATA, 1.0, x.a.data, x.b.data, 0.0, NULL, x.d.data,
                             NULL, NULL, &report);
    (void)is_right(&t, "NaN", status, &report);
    operands_free(&x);
}

static void a_nan_stays_in_its_row(void **state) {
    (void)state;
    if (!plays_gpus())
        skip();
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
        if (row && tcgemm_type_info(row->type)->accumulator != TCGEMM_DTYPE_S32)
            check_nan(tcgemm_kernel_at(i));
    }
    assert_no_failures();
}

/* A copy of a row with one wrong column is found out. */
static void expect_fault(const tcgemm_kernel_t *kernel, const tcgemm_gpu_row_t *row,
                         const char *what) {
    const tcgemm_device_t device = *gpu_for(row, false);
    tcgemm_kernel_t liar = *kernel;
    liar.gpu = row;
    int64_t m = 200, n = 70;
    make_few(kernel, 0, &m, &n);
    testcase_t t = testcase_make(kernel->name, tcgemm_problem(row->type, m, n, 300), 7);
    t.fill = FILL_CYCLE;
    struct tcgemm_plan plan;
    assert_true(plan_for(&t, &device, &plan));
    plan.kernel = &liar;
    for (int i = 0; i < plan.steps.count; ++i)
        if (plan.steps.step[i].kernel)
            plan.steps.step[i].kernel = &liar;
    plan.if_unaligned.count = 0;
    operands_t x;
    operands_make(&t, &x);
    tcgemm_simulate_report_t report = {.struct_size = sizeof report};
    assert_int_equal(tcgemm_plan_simulate(&plan, TCGEMM_DEPTH_DATA, 1.0, x.a.data, x.b.data, 0.0,
                                          NULL, x.d.data, NULL, NULL, &report),
                     TCGEMM_STATUS_OK);
    if (report.num_faults == 0 || !report.fault[0])
        report_failure("%s: %s is not seen", kernel->name, what);
    operands_free(&x);
}

static void a_row_that_lies(void **state) {
    (void)state;
    if (!plays_gpus())
        skip();
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        if (!kernel->gpu || kernel->gpu->max_cc < 90 || kernel->needs)
            continue;
        tcgemm_gpu_row_t row = *kernel->gpu;
        if (row.smem_bytes > 0) {
            row.smem_bytes /= 2;
            expect_fault(kernel, &row, "too little shared memory");
        } else {
            row.bm *= 2;
            expect_fault(kernel, &row, "a block larger than its warps");
        }
    }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gpu_row),   cmocka_unit_test(every_cpu_row),
        cmocka_unit_test(the_reference),   cmocka_unit_test(a_nan_stays_in_its_row),
        cmocka_unit_test(a_row_that_lies), cmocka_unit_test(nests_of_plans),
        cmocka_unit_test(tiles_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
