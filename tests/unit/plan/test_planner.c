/* The planner's blocks: multiples of the register tile, every element of D in exactly one unit of
 * work, steps of k that depend on k and the kernel alone, and TCGEMM_ARCH.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cpu/gemm.h"
#include "cpu/kernels/ukernel.h"
#include "device/known_gpus.h"
#include "gpu/encode.h"
#include "gpu/gpu_row.h"
#include "host/caches.h"
#include "host/features.h"
#include "plan/planner.h"
#include "support/support.h"

static void fail_plan(const struct tcgemm_plan *plan, const char *why) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    report_failure(
        "%s %s m=%lld n=%lld k=%lld batch=%lld threads=%d: mc %lld kc %lld nc %lld mt %lld "
        "nb %lld: %s",
        plan->kernel->name, plan->g.type->name, (long long)plan->g.m, (long long)plan->g.n,
        (long long)plan->g.k, (long long)plan->g.batch, plan->num_threads, (long long)s->mc,
        (long long)s->kc, (long long)s->nc, (long long)s->mt, (long long)s->nb, why);
}

/* Walks the loops of gemm.c and counts how often each row (column) is in a unit. */
static bool covers_once(int64_t size, int64_t panel, int64_t unit, int64_t tile) {
    int64_t next = 0;
    for (int64_t p = 0; p < size; p += panel) {
        const int64_t in_panel = panel < size - p ? panel : size - p;
        for (int64_t u = 0; u < in_panel; u += unit) {
            const int64_t in_unit = unit < in_panel - u ? unit : in_panel - u;
            for (int64_t t = 0; t < in_unit; t += tile) {
                if (p + u + t != next)
                    return false;
                next += tile < in_unit - t ? tile : in_unit - t;
            }
        }
    }
    return next == size;
}

/* Of units with all rows it is the sums that have to stay in a cache, of a B that is copied all of
 * it. */
static bool unit_is_too_wide(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (s->copies_b && !s->packs_units)
        return (double)plan->g.n * (double)plan->g.k * u->lane_bytes > (double)tcgemm_near_bytes();
    if (!s->packs_units)
        return s->nb > u->nb;
    return s->kb < 1 || s->kb % u->ku || s->nb > 4096 + u->nr ||
           s->mc * s->nb * (u->family == TCGEMM_FAMILY_F64 ? 8 : 4) > 1 << 20;
}

/* Of A: units of a few columns and steps of k have more rows than others, but no more elements. */
static bool panel_is_too_large(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double cols = fmin((double)plan->g.n, (double)s->nc);
    const double most = fmax(u->mc, (1 << 18) / (cols * (double)plan->g.k));
    return (double)s->mc > most || (double)s->mc * (double)s->kc > (double)u->mc * (double)u->kc;
}

static void check_plan(const struct tcgemm_plan *plan, int max_threads) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_canonical_t *g = &plan->g;
    if (s->mc <= 0 || s->kc <= 0 || s->nc <= 0 || s->mt <= 0 || s->nb <= 0)
        fail_plan(plan, "a block is empty");
    else if (s->mc % u->mr || s->mt % u->mr || s->nb % u->nr || s->nc % u->nr || s->kc % u->ku)
        fail_plan(plan, "a block is not a multiple of the register tile");
    else if (panel_is_too_large(plan) || unit_is_too_wide(plan) || s->kc > u->kc)
        fail_plan(plan, "a block is larger than its cache");
    else if (!covers_once(g->m, s->mt, s->mc, u->mr) || !covers_once(g->n, s->nc, s->nb, u->nr))
        fail_plan(plan, "units do not cover D once");
    else if (plan->num_threads < 1 || plan->num_threads > max_threads)
        fail_plan(plan, "threads out of range");
    else if (tcgemm_plan_workspace(plan) != tcgemm_cpu_sizes(plan).workspace_bytes)
        fail_plan(plan, "the workspace is not what gemm.c needs");
    else if ((!s->pack_a || !s->pack_b) && !s->dots && !u->strided)
        fail_plan(plan, "reads in place without a kernel for it");
    else if (!s->pack_b && !s->dots && g->b.col_stride != 1)
        fail_plan(plan, "reads columns of B in place that do not lie side by side");
}

static void check_problem(const tcgemm_problem_t *p, const char *kernel) {
    static const int threads[] = {1, 2, 3, 8, 64};
    int64_t kc = 0;
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; ++i) {
        struct tcgemm_plan plan;
        tcgemm_plan_options_t o = tcgemm_plan_options();
        o.kernel = kernel;
        assert_int_equal(tcgemm_plan_make(p, &o, threads[i], &plan), TCGEMM_STATUS_OK);
        check_plan(&plan, threads[i]);
        if (i > 0 && plan.cpu.kc != kc)
            fail_plan(&plan, "kc depends on the number of threads");
        kc = plan.cpu.kc;
        tcgemm_problem_t other = *p; /* ... or on m, n, batch, transposes */
        other.m = p->m + 1000;
        other.n = 1;
        other.op_a = TCGEMM_OP_T;
        struct tcgemm_plan second;
        assert_int_equal(tcgemm_plan_make(&other, &o, threads[i], &second), TCGEMM_STATUS_OK);
        if (second.cpu.kc != kc)
            fail_plan(&second, "kc depends on m, n or a transpose");
    }
}

static void blocks_cover_the_problem(void **state) {
    (void)state;
    static const int64_t sizes[] = {1,   7,   8,   9,    48,   49,   100,
                                    193, 480, 481, 2048, 2049, 5000, 100003};
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type) {
            if (!kernel_does(row, (tcgemm_type_t)type, &info) || strcmp(info.algo, "cpu") != 0)
                continue;
            uint64_t random = (uint64_t)(row * 100 + type);
            for (int64_t i = 0; i < at_level(30, 300, 3000); ++i) {
                tcgemm_problem_t p = tcgemm_problem(
                    (tcgemm_type_t)type, sizes[random_below(&random, 14)],
                    sizes[random_below(&random, 14)], sizes[random_below(&random, 14)]);
                p.order = random_below(&random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
                p.op_b = random_below(&random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
                check_problem(&p, info.name);
            }
        }
    assert_no_failures();
}

/* The best row of each type is taken, and never the reference. */
static void the_choice_is_a_cpu_kernel(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const tcgemm_problem_t p = tcgemm_problem((tcgemm_type_t)type, 100, 100, 100);
        tcgemm_plan_options_t o = tcgemm_plan_options();
        o.algo = "cpu";
        struct tcgemm_plan plan;
        assert_int_equal(tcgemm_plan_make(&p, &o, 1, &plan), TCGEMM_STATUS_OK);
        assert_string_equal(plan.kernel->family->algo, "cpu");
        for (int row = 0; row < tcgemm_num_kernels(); ++row)
            if (tcgemm_kernel_at(row)->cpu &&
                tcgemm_kernel_at(row)->family->fits(tcgemm_kernel_at(row), NULL) &&
                (tcgemm_kernel_at(row)->types >> (type - 1) & 1))
                assert_true(tcgemm_family_cpu.rate(tcgemm_kernel_at(row), &plan) <=
                            tcgemm_family_cpu.rate(plan.kernel, &plan));
    }
}

static bool has_tiles(tcgemm_problem_t p, const tcgemm_plan_options_t *o) {
    struct tcgemm_plan plan;
    assert_int_equal(tcgemm_plan_make(&p, o, 1, &plan), TCGEMM_STATUS_OK);
    return tcgemm_is_matrix(plan.kernel->cpu);
}

/* Small products of bytes, whose sums are exact, go to vectors where those have dot products. With
 * operands packed ahead, for any size, they stay where the packing plan is. */
static void small_bytes_go_to_vectors(void **state) {
    (void)state;
    const tcgemm_problem_t large = tcgemm_problem(TCGEMM_S8_S32, 100, 100, 100);
    const uint64_t dots = TCGEMM_CPU_AVX512 | TCGEMM_CPU_AVX512_VNNI;
    tcgemm_plan_options_t o = tcgemm_plan_options();
    if (!has_tiles(large, &o) || (tcgemm_cpu_features() & dots) != dots)
        skip();
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_S8_S32, 32, 32, 32);
    assert_false(has_tiles(p, &o));
    o.pack = TCGEMM_OPERAND_B;
    assert_true(has_tiles(p, &o));
    o.pack = 0;
    o.packed = TCGEMM_OPERAND_B;
    assert_true(has_tiles(p, &o));
    o.packed = 0;
    p.m = 33;
    assert_true(has_tiles(p, &o));
    p = tcgemm_problem(TCGEMM_BF16_F32, 8, 8, 8); /* whose bits would be others */
    assert_int_equal(has_tiles(p, &o), has_tiles(tcgemm_problem(TCGEMM_BF16_F32, 99, 99, 99), &o));
}

/* ---- TCGEMM_ARCH: a lesser processor, in a process of its own ---- */

#ifdef __aarch64__
static const char *const rank[] = {"any", "neon", "dotprod", "i8mm", "bf16", "sve"};
#else
static const char *const rank[] = {"any", "avx2", "avx512", "amx"};
#endif
enum { RANKS = sizeof rank / sizeof rank[0] };

/* The rank whose name the kernel set's begins with: sve256 is of "sve". */
static int rank_of(const char *isa) {
    for (int i = 0; i < RANKS; ++i)
        if (strncmp(isa, rank[i], strlen(rank[i])) == 0)
            return i;
    return -1;
}

/* In the child: no row above `arch` is runnable, and the machine says so. Returns an exit status.
 */
static int report_arch(const char *arch) {
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    if (tcgemm_machine_get_info(&machine) != TCGEMM_STATUS_OK)
        return 2;
    if (rank_of(machine.isa) > rank_of(arch))
        return 3;
    for (int row = 0; row < tcgemm_num_kernels(); ++row)
        if (tcgemm_kernel_at(row)->cpu &&
            tcgemm_kernel_at(row)->family->fits(tcgemm_kernel_at(row), NULL) &&
            rank_of(tcgemm_kernel_at(row)->isa) > rank_of(arch))
            return 4;
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const tcgemm_problem_t p = tcgemm_problem((tcgemm_type_t)type, 30, 30, 30);
        struct tcgemm_plan plan;
        if (tcgemm_plan_make(&p, NULL, 1, &plan) != TCGEMM_STATUS_OK ||
            rank_of(plan.kernel->isa) > rank_of(arch))
            return 5;
    }
    if (strcmp(arch, "avx512") == 0 && strstr(machine.features, "avx512_"))
        return 6;
    for (int i = rank_of(arch) + 1; i < RANKS; ++i)
        if (strstr(machine.features, rank[i]))
            return 7;
    return 0;
}

/* A processor's widest vectors are used for the types that several sets compute. (They were not
 * once: AVX2 and AVX-512 have the same rate in the table, and the first of equals was taken.) */
static void the_best_kernel_set_is_taken(void **state) {
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64, TCGEMM_F16_F32};
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    (void)state;
    assert_int_equal(tcgemm_machine_get_info(&machine), TCGEMM_STATUS_OK);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        const tcgemm_problem_t problem = tcgemm_problem(types[i], 512, 512, 512);
        struct tcgemm_plan plan;
        assert_int_equal(tcgemm_plan_make(&problem, NULL, 1, &plan), TCGEMM_STATUS_OK);
        /* Matrix tiles are for other types. */
        const bool has_tiles = strcmp(machine.isa, "amx") == 0;
        assert_string_equal(plan.kernel->isa, has_tiles ? "avx512" : machine.isa);
    }
}

static void the_environment_lowers_the_processor(void **state) {
    (void)state;
    for (int i = 0; i < RANKS; ++i) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)setenv("TCGEMM_TEST_ARCH_CHILD", rank[i], 1);
            (void)setenv("TCGEMM_ARCH", rank[i], 1);
            (void)execl("/proc/self/exe", "test_planner", (char *)NULL);
            _exit(99);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            report_failure("TCGEMM_ARCH=%s: the child's status is %#x", rank[i], status);
    }
    assert_no_failures();
}

/* A thread must have work that is worth waking it; large products get all of them. */
static void small_products_take_one_thread(void **state) {
    (void)state;
    const tcgemm_problem_t small = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    const tcgemm_problem_t large = tcgemm_problem(TCGEMM_F32_F32, 2000, 2000, 2000);
    struct tcgemm_plan plan;
    assert_int_equal(tcgemm_plan_make(&small, NULL, 8, &plan), TCGEMM_STATUS_OK);
    assert_int_equal(plan.num_threads, 1);
    assert_int_equal(tcgemm_plan_make(&large, NULL, 8, &plan), TCGEMM_STATUS_OK);
    assert_int_equal(plan.num_threads, 8);
}

static void a_batch_takes_its_time(void **state) {
    (void)state;
    struct tcgemm_plan plan;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 64, 64, 64);
    assert_int_equal(tcgemm_plan_make(&p, NULL, 1, &plan), TCGEMM_STATUS_OK);
    const double one = plan.steps.seconds;
    p.batch = 100;
    p.stride_a = p.stride_b = p.stride_c = p.stride_d = 64 * 64;
    assert_int_equal(tcgemm_plan_make(&p, NULL, 1, &plan), TCGEMM_STATUS_OK);
    assert_true(plan.steps.seconds > 90 * one && plan.steps.seconds < 110 * one);
}

/* Boxes are fetched from 32-bit places: beyond 2^31 another family takes the product. */
static void sizes_beyond_boxes_go_elsewhere(void **state) {
    (void)state;
    const tcgemm_device_t *const h200 = tcgemm_known_gpu_find("h200");
    const tcgemm_problem_t deep = tcgemm_problem(TCGEMM_BF16_F32, 1, 8, (int64_t)1 << 31);
    const tcgemm_problem_t usual = tcgemm_problem(TCGEMM_BF16_F32, 4096, 4096, 4096);
    tcgemm_plan_options_t named = tcgemm_plan_options();
    struct tcgemm_plan plan;
    assert_int_equal(tcgemm_plan_make_on(h200, &usual, NULL, 1, &plan), TCGEMM_STATUS_OK);
    assert_string_equal(plan.kernel->family->algo, "wgmma");
    named.kernel = plan.kernel->name;
    assert_int_equal(tcgemm_plan_make_on(h200, &deep, NULL, 1, &plan), TCGEMM_STATUS_OK);
    assert_string_not_equal(plan.kernel->family->algo, "wgmma");
    assert_int_equal(tcgemm_plan_make_on(h200, &deep, &named, 1, &plan), TCGEMM_STATUS_UNSUPPORTED);
    assert_non_null(strstr(tcgemm_last_error(), "below 2^31"));
}

static tcgemm_problem_t batch_of(tcgemm_type_t type, int64_t m, int64_t n, int64_t k,
                                 int64_t batch) {
    tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    p.batch = batch;
    p.stride_a = m * k;
    p.stride_b = k * n;
    p.stride_c = p.stride_d = m * n;
    return p;
}

/* Warps bring what no box can fetch and copies would hold up; who begins on 16 bytes has boxes. */
static void warps_bring_what_boxes_cannot(void **state) {
    (void)state;
    const tcgemm_device_t *const h200 = tcgemm_known_gpu_find("h200");
    const tcgemm_problem_t odd[] = {batch_of(TCGEMM_BF16_BF16, 612, 100, 362, 256),
                                    batch_of(TCGEMM_TF32_F32, 199, 199, 199, 1024),
                                    /* the first loads of others are late */
                                    batch_of(TCGEMM_BF16_F32, 74, 53, 62, 4)};
    tcgemm_problem_t p;
    struct tcgemm_plan plan;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
        assert_int_equal(tcgemm_plan_make_on(h200, &odd[i], NULL, 1, &plan), TCGEMM_STATUS_OK);
        assert_true(plan.kernel->gpu->by_warps);
        assert_int_equal(plan.steps.count, 1);
        assert_int_equal(plan.if_unaligned.count, 0);
    }
    for (int64_t m = 8; m <= 8192; m += 8 * (1 + m / 64))
        for (int64_t k = 8; k <= 1024; k *= 2) {
            p = tcgemm_problem(TCGEMM_F16_F32, m, 800, k);
            p.op_a = m % 16 ? TCGEMM_OP_T : TCGEMM_OP_N;
            assert_int_equal(tcgemm_plan_make_on(h200, &p, NULL, 1, &plan), TCGEMM_STATUS_OK);
            assert_false(plan.kernel->gpu->by_warps);
        }
    p = tcgemm_problem(TCGEMM_BF16_BF16, 4095, 4095, 4095);
    assert_int_equal(tcgemm_plan_make_on(h200, &p, NULL, 1, &plan), TCGEMM_STATUS_OK);
    assert_false(plan.kernel->gpu->by_warps);
}

/* The planner looks at these alone. */
static void rows_by_type_are_those_of_the_table(void **state) {
    (void)state;
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int gpu = 0; gpu < 2; ++gpu) {
            const tcgemm_kernel_t *const *const first =
                tcgemm_kernels_for((tcgemm_type_t)type, gpu);
            const tcgemm_kernel_t *const *row = first;
            for (int i = 0; i < tcgemm_num_kernels(); ++i)
                if ((tcgemm_kernel_at(i)->gpu != NULL) == gpu &&
                    (tcgemm_kernel_at(i)->types & TCGEMM_TYPE_BIT(type)) != 0)
                    assert_ptr_equal(*row++, tcgemm_kernel_at(i));
            assert_null(*row);
            assert_true(row - first <= TCGEMM_MOST_ROWS);
        }
}

/* One in three with sizes up to 600, rows of A and B that begin anywhere, some few rows or columns,
 * deep k, or batches whose items may share an operand. */
static tcgemm_problem_t any_problem(uint64_t *random, tcgemm_type_t type) {
    const int64_t limit = random_below(random, 3) ? 9000 : 600;
    int64_t m = 1 + random_below(random, limit), n = 1 + random_below(random, limit),
            k = 1 + random_below(random, limit);
    switch (random_below(random, 8)) {
    case 0:
        m = 1 + m % 40;
        break;
    case 1:
        n = 1 + n % 40;
        break;
    case 2:
        m = 1 + m % 400, n = 1 + n % 400, k *= 10;
        break;
    }
    tcgemm_problem_t p = tcgemm_problem(type, m, n, k);
    p.op_a = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    if (random_below(random, 2)) {
        const int64_t to = random_below(random, 2) ? 64 : 1; /* elements */
        p.lda = ((p.op_a == TCGEMM_OP_T ? m : k) / to + 1) * to;
        p.ldb = ((p.op_b == TCGEMM_OP_T ? k : n) / to + 1) * to;
    } else if (random_below(random, 4) == 0) {
        p.batch = 1 + random_below(random, 500);
        p.stride_a = random_below(random, 4) ? m * k : 0;
        p.stride_b = random_below(random, 4) ? k * n : 0;
        p.stride_c = p.stride_d = m * n;
    }
    p.flags = random_below(random, 8) ? 0 : TCGEMM_FLAG_REPRODUCIBLE;
    p.flags |= random_below(random, 4) ? 0 : TCGEMM_FLAG_ADDS_C;
    return p;
}

/* Rows that are passed over for a bound from below would not have been chosen: of all rows that do
 * the product none takes less than its bound, and the row of the plan is the first of the fastest.
 */
static void no_row_is_faster_than_its_bound(void **state) {
    (void)state;
    static const char *const gpus[] = {"h200", "a100", "orin", "t4", "rtx4090", "b200"};
    uint64_t random = 11;
    int rows = 0, close = 0;
    for (int i = 0; i < 6000; ++i) {
        const tcgemm_device_t *const gpu = tcgemm_known_gpu_find(gpus[i % 6]);
        const tcgemm_type_t type = (tcgemm_type_t)(1 + random_below(&random, tcgemm_type_count()));
        const tcgemm_problem_t p = any_problem(&random, type);
        struct tcgemm_plan plan;
        if (tcgemm_plan_make_on(gpu, &p, NULL, 1, &plan) != TCGEMM_STATUS_OK)
            continue; /* a type that no GPU row does */
        const double chosen = plan.kernel->family->predict(plan.kernel, &plan);
        const tcgemm_kernel_t *const *row = tcgemm_kernels_for(plan.g.type->type, true);
        for (bool is_before = true; *row; ++row) {
            const tcgemm_kernel_family_t *const family = (*row)->family;
            is_before = is_before && *row != plan.kernel;
            if (family->by_name_only || (*row)->needs || !family->fits(*row, gpu) ||
                (family->takes && !family->takes(*row, &plan.g)))
                continue;
            const double seconds = family->predict(*row, &plan);
            const double bound = family->bound(*row, &plan);
            assert_true(bound > 0.0 && bound <= seconds);
            assert_true(is_before ? seconds > chosen : seconds >= chosen);
            close += bound > 0.7 * seconds;
            ++rows;
        }
    }
    print_message("%d of %d bounds within 30 %%\n", close, rows);
    assert_true(rows > 25000 && close > 0.8 * rows);
}

/* Products of no element have no time: some row is chosen. */
static void a_row_for_no_element(void **state) {
    (void)state;
    const tcgemm_device_t *const h200 = tcgemm_known_gpu_find("h200");
    for (int i = 0; i < 4; ++i) {
        tcgemm_problem_t p =
            tcgemm_problem(TCGEMM_BF16_F32, i != 0 ? 100 : 0, i != 1 ? 100 : 0, i != 2 ? 100 : 0);
        struct tcgemm_plan plan;
        p.batch = i != 3;
        assert_int_equal(tcgemm_plan_make_on(h200, &p, NULL, 1, &plan), TCGEMM_STATUS_OK);
        assert_non_null(plan.kernel);
    }
}

/* FP8 by its own tensor cores, on GPUs that have them for mma.sync and for who allows their sums:
 * large products in about half of the time that widening takes, and bits of nobody else's. */
static void fp8_by_mma_sync(void **state) {
    (void)state;
    static const struct {
        const char *gpu;
        bool has_rows;
    } gpus[] = {{"l4", true},    {"l40s", true},  {"rtx4090", true}, {"rtx5090", true},
                {"b200", false}, {"h200", false}, {"a100", false},   {"rtx3090", false}};
    static const tcgemm_type_t types[] = {TCGEMM_E4M3_F32, TCGEMM_E4M3_BF16, TCGEMM_E5M2_F32,
                                          TCGEMM_E5M2_BF16};
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; ++i)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
            const tcgemm_device_t *const gpu = tcgemm_known_gpu_find(gpus[i].gpu);
            tcgemm_problem_t p = tcgemm_problem(types[t], 4096, 4096, 4096);
            struct tcgemm_plan wide, fast;
            p.op_b = TCGEMM_OP_T;
            assert_int_equal(tcgemm_plan_make_on(gpu, &p, NULL, 1, &wide), TCGEMM_STATUS_OK);
            assert_int_equal(wide.kernel->needs, 0);
            p.flags = TCGEMM_FLAG_FAST_ACCUMULATE;
            assert_int_equal(tcgemm_plan_make_on(gpu, &p, NULL, 1, &fast), TCGEMM_STATUS_OK);
            const bool is_own = strcmp(fast.kernel->family->algo, "mma-pipelined") == 0 &&
                                fast.kernel->gpu->code == types[t];
            assert_int_equal(is_own, gpus[i].has_rows);
            if (!is_own)
                continue;
            assert_int_equal(fast.kernel->bound, TCGEMM_BOUND_SHORT);
            assert_int_equal(fast.steps.count, 1);
            assert_true(fast.steps.seconds < 0.65 * wide.steps.seconds);
            assert_true(fast.steps.seconds > 0.3 * wide.steps.seconds);
            /* B is turned round, and rows of A that are no whole pieces are packed. */
            p.op_b = TCGEMM_OP_N;
            p.lda = 4100;
            assert_int_equal(tcgemm_plan_make_on(gpu, &p, NULL, 1, &fast), TCGEMM_STATUS_OK);
            assert_int_equal(fast.kernel->gpu->code, types[t]);
            assert_int_equal(fast.steps.count, 3);
            assert_true(fast.steps.seconds < 0.75 * wide.steps.seconds);
        }
}

/* The products of a plan share D: each element is one's, and what is summed up in the workspace is
 * the reduction's next to it. With TCGEMM_FLAG_REPRODUCIBLE there is one product. */
static void products_share_d(void **state) {
    (void)state;
    uint64_t random = 7;
    int tails = 0, columns = 0;
    for (int i = 0; i < 4000; ++i) {
        const tcgemm_device_t *const gpu = tcgemm_known_gpu_find(i % 3 ? "h200" : "a100");
        const tcgemm_type_t type = (tcgemm_type_t)(1 + random_below(&random, tcgemm_type_count()));
        const int64_t m = 1 + random_below(&random, i % 2 ? 6000 : 700);
        tcgemm_problem_t p = tcgemm_problem(type, m, 1 + random_below(&random, 9000),
                                            1 + random_below(&random, 6000));
        p.flags = i % 4 ? 0 : TCGEMM_FLAG_REPRODUCIBLE;
        struct tcgemm_plan plan;
        if (tcgemm_plan_make_on(gpu, &p, NULL, 1, &plan) != TCGEMM_STATUS_OK)
            continue; /* a type that no GPU row does */
        const tcgemm_step_t *const tail = tcgemm_plan_tail(&plan);
        double elements = 0;
        for (int s = 0; s < plan.steps.count; ++s) {
            const tcgemm_step_t *const step = &plan.steps.step[s];
            const tcgemm_area_t *const area = &step->area;
            if (step->kind == TCGEMM_STEP_REDUCE)
                assert_memory_equal(area, &plan.steps.step[s - 1].area, sizeof *area);
            if (step->kind != TCGEMM_STEP_PRODUCT)
                continue;
            assert_true(area->rows > 0 && area->cols > 0);
            assert_true(area->row + area->rows <= p.m && area->col + area->cols <= p.n);
            elements += (double)area->rows * (double)area->cols;
            assert_true((step->d.home == TCGEMM_HOME_D) == (step->splits == 1));
        }
        assert_true(elements == (double)p.m * (double)p.n);
        assert_true(!tail || !p.flags);
        if (tail) {
            const tcgemm_area_t *const rest = &tcgemm_plan_product(&plan)->area;
            assert_int_equal(tail->area.row, tail->area.col ? 0 : rest->rows);
            assert_int_equal(tail->area.col, tail->area.row ? 0 : rest->cols);
            assert_true(tail->splits > 1);
            ++tails;
            columns += tail->area.col > 0;
        }
    }
    print_message("%d tails, %d of columns\n", tails, columns);
    assert_true(tails > 50 && columns > 5 && columns < tails);
}

/* Blocks fetch B in pairs where rows begin inside a line of the L2 and products do not hide it, and
 * the bits are those of the same tiles alone: parts of k do not change. */
static void pairs_where_blocks_wait_for_boxes(void **state) {
    (void)state;
    static const tcgemm_call_t no_matrices;
    static const struct {
        int64_t m, n, k;
        bool in_pairs;
    } cases[] = {{3000, 3000, 3000, true},  {2008, 3000, 3000, true},  {1400, 3000, 3000, true},
                 {4096, 4096, 4096, false}, {2048, 2048, 2048, false}, {3008, 3008, 3008, false},
                 {128, 5000, 3000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (int layout = 0; layout < 4; ++layout) {
            tcgemm_problem_t p =
                tcgemm_problem(TCGEMM_BF16_BF16, cases[i].m, cases[i].n, cases[i].k);
            tcgemm_plan_options_t o = tcgemm_plan_options();
            struct tcgemm_plan plan, reproducible;
            p.op_a = layout & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.op_b = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            p.lda = p.op_a ? p.m : p.k;
            p.ldb = p.op_b ? p.k : p.n;
            o.kernel = "gpu_wgmma_bf16_bf16_128x192x64_turns";
            const tcgemm_device_t *const gpu = tcgemm_known_gpu_find("h200");
            assert_int_equal(tcgemm_plan_make_on(gpu, &p, &o, 1, &plan), TCGEMM_STATUS_OK);
            const tcgemm_step_t *const product = tcgemm_plan_product(&plan);
            assert_int_equal(product->in_pairs, cases[i].in_pairs);
            assert_true(!product->in_pairs || product->gpu.grid_blocks % 2 == 0);
            const int64_t down = cases[i].in_pairs ? 256 : 128;
            const tcgemm_gpu_args_t x = tcgemm_gpu_encode(&plan, product, &no_matrices, NULL);
            assert_int_equal(x.raster.tiles.by, (product->area.rows + down - 1) / down *
                                                    ((product->area.cols + 191) / 192));
            p.flags |= TCGEMM_FLAG_REPRODUCIBLE;
            assert_int_equal(tcgemm_plan_make_on(gpu, &p, &o, 1, &reproducible), TCGEMM_STATUS_OK);
            assert_int_equal(tcgemm_plan_product(&reproducible)->in_pairs, cases[i].in_pairs);
        }
}

/* ... and where two have the B of an item each for itself, of a batch that the L2 does not hold. */
static void pairs_share_the_b_of_a_large_batch(void **state) {
    (void)state;
    static const struct {
        int64_t m, n, k, batch;
        bool b_is_shared, in_pairs;
    } cases[] = {{256, 256, 256, 128, false, true},  {192, 512, 256, 128, false, true},
                 {256, 256, 256, 90, false, false},  {128, 256, 256, 256, false, false},
                 {384, 256, 256, 128, false, false}, {256, 256, 256, 256, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_BF16_BF16, cases[i].m, cases[i].n, cases[i].k);
        tcgemm_plan_options_t o = tcgemm_plan_options();
        struct tcgemm_plan plan;
        p.batch = cases[i].batch;
        p.stride_a = p.m * p.k;
        p.stride_b = cases[i].b_is_shared ? 0 : p.k * p.n;
        p.stride_d = p.m * p.n;
        o.kernel = "gpu_wgmma_bf16_bf16_128x128x64_turns";
        assert_int_equal(tcgemm_plan_make_on(tcgemm_known_gpu_find("h200"), &p, &o, 1, &plan),
                         TCGEMM_STATUS_OK);
        assert_int_equal(tcgemm_plan_product(&plan)->in_pairs, cases[i].in_pairs);
    }
}

/* What one block reads, or few do side by side, leaves the L2 first where D is small beside it. */
static void what_is_read_once_leaves_the_l2_first(void **state) {
    (void)state;
    enum { NEITHER, A, B, BOTH };
    static const tcgemm_call_t no_matrices;
    static const struct {
        const char *kernel; /* of bf16_bf16 */
        int64_t m, n, k, batch;
        bool b_is_shared;
        uint32_t leaves;
    } cases[] = {{"16x64x64_deep", 16, 4096, 4096, 1, false, B}, /* A: 64 readers */
                 {"64x16x64_deep", 4096, 16, 4096, 1, false, A},
                 {"64x64x64_deep", 256, 4096, 4096, 1, false, B}, /* four, and D a sixteenth */
                 {"64x64x64_deep", 320, 4096, 8192, 1, false, NEITHER},
                 {"64x64x64_deep", 256, 4096, 2048, 1, false, NEITHER}, /* D is an eighth of B */
                 {"128x128x64_turns", 65536, 128, 512, 1, false, A},
                 {"128x128x64_turns", 65536, 128, 256, 1, false, NEITHER}, /* D is half as large */
                 {"64x64x64_share", 64, 64, 512, 100, false, BOTH},
                 {"64x64x64_share", 64, 64, 512, 100, true, A}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_BF16_BF16, cases[i].m, cases[i].n, cases[i].k);
        tcgemm_plan_options_t o = tcgemm_plan_options();
        struct tcgemm_plan plan;
        char kernel[80];
        p.batch = cases[i].batch;
        p.stride_a = p.batch > 1 ? p.m * p.k : 0;
        p.stride_b = p.batch > 1 && !cases[i].b_is_shared ? p.k * p.n : 0;
        p.stride_d = p.batch > 1 ? p.m * p.n : 0;
        (void)snprintf(kernel, sizeof kernel, "gpu_wgmma_bf16_bf16_%s", cases[i].kernel);
        o.kernel = kernel;
        assert_int_equal(tcgemm_plan_make_on(tcgemm_known_gpu_find("h200"), &p, &o, 1, &plan),
                         TCGEMM_STATUS_OK);
        const tcgemm_step_t *const product = tcgemm_plan_product(&plan);
        assert_int_equal(tcgemm_gpu_encode(&plan, product, &no_matrices, NULL).leaves_l2,
                         cases[i].leaves);
    }
}

/* Parts of k that boxes bring leave some of the 132 SMs idle, at most three eighths, but those of
 * one tile do not; parts that threads bring fill all. */
static void boxes_bring_fewer_parts(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        tcgemm_type_t type;
        int64_t size, k;
        int tiles, least_blocks, most_blocks;
    } cases[] = {
        {"gpu_wgmma_bf16_f32_64x128x64_swap", TCGEMM_BF16_F32, 256, 65536, 8, 80, 120},
        {"gpu_wgmma_e4m3_f32_128x128x128_share", TCGEMM_E4M3_F32, 512, 32768, 16, 80, 120},
        {"gpu_wgmma_bf16_f32_64x64x64_deep", TCGEMM_BF16_F32, 64, 131072, 1, 64, 132},
        {"gpu_mma_pipelined_f32_f32_128x128x16_ffma", TCGEMM_F32_F32, 256, 65536, 4, 125, 264}};
    const tcgemm_device_t *const gpu = tcgemm_known_gpu_find("h100");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tcgemm_problem_t p =
            tcgemm_problem(cases[i].type, cases[i].size, cases[i].size, cases[i].k);
        tcgemm_plan_options_t o = tcgemm_plan_options();
        struct tcgemm_plan plan;
        p.op_b = TCGEMM_OP_T;
        p.flags = cases[i].type == TCGEMM_E4M3_F32 ? TCGEMM_FLAG_FAST_ACCUMULATE : 0;
        o.kernel = cases[i].kernel;
        assert_int_equal(tcgemm_plan_make_on(gpu, &p, &o, 1, &plan), TCGEMM_STATUS_OK);
        const int blocks = cases[i].tiles * tcgemm_plan_product(&plan)->splits;
        print_message("%s: %d blocks\n", cases[i].kernel, blocks);
        assert_in_range(blocks, cases[i].least_blocks, cases[i].most_blocks);
    }
}

/* Where a C will be added, rows to which it comes by boxes take the place of others, which are the
 * faster ones without. A plan takes longer with it, of parts of k what adds them up. */
static void a_c_has_rows_of_its_own(void **state) {
    (void)state;
    static const struct {
        tcgemm_type_t type;
        tcgemm_op_t op_b;
        int64_t m, n, k;
        bool moves;
    } cases[] = {{TCGEMM_BF16_BF16, TCGEMM_OP_T, 1536, 6144, 1024, true},
                 {TCGEMM_F16_F32, TCGEMM_OP_T, 1536, 6144, 1024, true},
                 {TCGEMM_S8_S32, TCGEMM_OP_T, 3072, 3072, 3072, true},
                 {TCGEMM_TF32_F32, TCGEMM_OP_N, 4096, 4096, 256, true},
                 {TCGEMM_BF16_F32, TCGEMM_OP_T, 4096, 4096, 4096, false},
                 {TCGEMM_BF16_F32, TCGEMM_OP_T, 256, 256, 65536, false},
                 {TCGEMM_F64_F64, TCGEMM_OP_N, 4096, 4096, 64, false}};
    const tcgemm_device_t *const gpu = tcgemm_known_gpu_find("h100");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tcgemm_problem_t p = tcgemm_problem(cases[i].type, cases[i].m, cases[i].n, cases[i].k);
        struct tcgemm_plan without, with;
        p.op_b = cases[i].op_b;
        if (p.op_b)
            p.ldb = p.k;
        assert_int_equal(tcgemm_plan_make_on(gpu, &p, NULL, 1, &without), TCGEMM_STATUS_OK);
        p.flags = TCGEMM_FLAG_ADDS_C;
        assert_int_equal(tcgemm_plan_make_on(gpu, &p, NULL, 1, &with), TCGEMM_STATUS_OK);
        print_message("%s %.1f us, with a C %s %.1f us\n", without.kernel->name,
                      1e6 * without.steps.seconds, with.kernel->name, 1e6 * with.steps.seconds);
        assert_true(with.steps.seconds > without.steps.seconds);
        if (tcgemm_plan_product(&with)->splits > 1) {
            assert_string_equal(with.kernel->name, without.kernel->name);
            assert_true(tcgemm_plan_product(&with)->seconds ==
                        tcgemm_plan_product(&without)->seconds);
        }
        if (cases[i].moves) {
            assert_false(without.kernel->gpu->boxes_of_c);
            assert_true(with.kernel->gpu->boxes_of_c);
        }
    }
}

int main(void) {
    const char *child = getenv("TCGEMM_TEST_ARCH_CHILD");
    if (child)
        return report_arch(child);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_cover_the_problem),
        cmocka_unit_test(the_choice_is_a_cpu_kernel),
        cmocka_unit_test(small_bytes_go_to_vectors),
        cmocka_unit_test(the_best_kernel_set_is_taken),
        cmocka_unit_test(the_environment_lowers_the_processor),
        cmocka_unit_test(small_products_take_one_thread),
        cmocka_unit_test(a_batch_takes_its_time),
        cmocka_unit_test(sizes_beyond_boxes_go_elsewhere),
        cmocka_unit_test(rows_by_type_are_those_of_the_table),
        cmocka_unit_test(no_row_is_faster_than_its_bound),
        cmocka_unit_test(a_row_for_no_element),
        cmocka_unit_test(fp8_by_mma_sync),
        cmocka_unit_test(products_share_d),
        cmocka_unit_test(pairs_where_blocks_wait_for_boxes),
        cmocka_unit_test(pairs_share_the_b_of_a_large_batch),
        cmocka_unit_test(what_is_read_once_leaves_the_l2_first),
        cmocka_unit_test(boxes_bring_fewer_parts),
        cmocka_unit_test(a_c_has_rows_of_its_own),
        cmocka_unit_test(warps_bring_what_boxes_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
