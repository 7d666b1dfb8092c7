/* Plans of several steps - packed rows, parts of k, both - and the choice between CPU and GPU: the
 * same bits wherever the matrices lie, nothing written beyond the workspace, no m in what is
 * promised to be reproducible, and a plan kept for tcgemm_gemm that outlives its GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fake_driver/harness.h"

/* ---- steps ---- */

enum { PACKS_A = 1, PACKS_B = 2, SPLITS = 4, ALL_KINDS = 8, CANARY = 512 };

/* Which steps the plan has, as bits. */
static int kinds_of(const tcgemm_plan_t *plan) {
    int kinds = 0;
    for (int i = 0; i < tcgemm_plan_step_count(plan); ++i) {
        tcgemm_step_info_t step = {.struct_size = sizeof step};
        CHECK(tcgemm_plan_get_step(plan, i, &step) == TCGEMM_STATUS_OK, "step %d", i);
        kinds |= strcmp(step.name, "pack A") == 0   ? PACKS_A
                 : strcmp(step.name, "pack B") == 0 ? PACKS_B
                 : strcmp(step.name, "reduce") == 0 ? SPLITS
                                                    : 0;
    }
    return kinds;
}

/* Whether the last rows or columns of D have a product of their own. */
static bool has_tail(const tcgemm_plan_t *plan) {
    int products = 0;
    for (int i = 0; i < tcgemm_plan_step_count(plan); ++i) {
        tcgemm_step_info_t step = {.struct_size = sizeof step};
        CHECK(tcgemm_plan_get_step(plan, i, &step) == TCGEMM_STATUS_OK, "step %d", i);
        products += strcmp(step.name, "product") == 0;
    }
    return products > 1;
}

/* Whether the ranks of clusters share k. */
static bool is_in_clusters(const tcgemm_plan_t *plan) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    CHECK(tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK, "no info");
    return strstr(info.kernel, "_cluster") != NULL;
}

/* Runs in a workspace of exactly the plan's bytes. */
static tcgemm_status_t run_between_canaries(const testcase_t *t, const tcgemm_plan_t *plan,
                                            const on_gpu_t *x) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    void *memory = NULL;
    CHECK(tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK, "plan");
    const size_t all = info.workspace_bytes + 2 * CANARY;
    CHECK(tcgemm_device_alloc(0, all, &memory) == TCGEMM_STATUS_OK, "%zu bytes", all);
    memset(fake_reach(memory, all), 0xC5, all);
    const tcgemm_status_t status = tcgemm_run_with(
        plan, t->alpha, on_gpu_data(x, 0), on_gpu_data(x, 1), t->beta, on_gpu_data(x, 2),
        on_gpu_data(x, 3), (char *)memory + CANARY, info.workspace_bytes, NULL);
    const uint8_t *const bytes = fake_reach(memory, all);
    int changed = 0;
    for (size_t i = 0; i < CANARY; ++i)
        changed += (bytes[i] != 0xC5) + (bytes[all - 1 - i] != 0xC5);
    CHECK(changed == 0, "%d bytes around the workspace were written", changed);
    CHECK(tcgemm_device_free(0, memory) == TCGEMM_STATUS_OK, "freeing");
    return status;
}

/* The case on the GPU; D's block comes back in x->d. Judged, and its surroundings, too. */
static bool run_there(const testcase_t *t, const tcgemm_plan_t *plan, operands_t *x) {
    on_gpu_t there;
    memcpy(x->d.block, x->d_was, x->d.block_bytes);
    if (!on_gpu_make(x, 0, &there)) {
        testcase_fail(t, "no memory on the GPU");
        return false;
    }
    const tcgemm_status_t status = run_between_canaries(t, plan, &there);
    const bool fetched = status == TCGEMM_STATUS_OK && on_gpu_fetch(&there);
    if (!fetched)
        testcase_fail(t, "%s: %s", tcgemm_status_name(status), tcgemm_last_error());
    on_gpu_free(&there);
    return fetched && judge(t, x, plan);
}

/* Bits of D's elements alone: blocks differ in where they begin. */
static uint64_t hash_of_d(const testcase_t *t, const matrix_t *d) {
    const int64_t bytes = tcgemm_dtype_bits(d->dtype) / 8;
    uint64_t hash = 0;
    for (int64_t item = 0; item < t->p.batch; ++item)
        for (int64_t i = 0; i < d->rows; ++i)
            for (int64_t j = 0; j < d->cols; ++j)
                hash = hash * 31 +
                       hash_bytes(d->data + matrix_index(d, item, i, j) * bytes, (size_t)bytes);
    return hash;
}

/* On the GPU, aligned and not, and from the host: the same bits each time. */
static void check_everywhere(testcase_t t, tcgemm_context_t *context, int *seen) {
    const int widest = tcgemm_dtype_bits(tcgemm_type_info(t.p.type)->d) / 8;
    tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
    uint64_t expected = 0;
    for (int place = 0; plan && place < 3; ++place) {
        operands_t x;
        t.misalign = place == 1 ? widest : 0;
        operands_make(&t, &x);
        if (place < 2) {
            (void)run_there(&t, plan, &x);
        } else {
            const tcgemm_status_t status =
                tcgemm_run(plan, t.alpha, x.a.data, x.b.data, t.beta, x.c.data, x.d.data);
            CHECK(status == TCGEMM_STATUS_OK, "from the host: %s", tcgemm_status_name(status));
        }
        const uint64_t hash = hash_of_d(&t, &x.d);
        expected = place == 0 ? hash : expected;
        if (hash != expected)
            testcase_fail(&t, "other bits %s", place == 1 ? "unaligned" : "from the host");
        operands_free(&x);
    }
    if (plan)
        seen[kinds_of(plan)] += 1;
    tcgemm_plan_destroy(plan);
}

static void steps_everywhere(const void *argument) {
    static const int64_t shapes[][3] = {
        {40, 48, 1600}, {41, 49, 1601}, {151, 149, 301}, {33, 64, 2099}, {64, 33, 2097}};
    int seen[ALL_KINDS] = {0};
    const fake_order_t order = *(const fake_order_t *)argument;
    fake_set_order(order, 5);
    tcgemm_context_t *context = context_on(0);
    const int stride = order == FAKE_LAZY ? (int)at_level(4, 1, 1) : 2;
    for (int i = 0; context && i < num_gpu_types(); i += stride)
        for (int shape = 0; shape < 5; ++shape) {
            const int64_t *s = shapes[shape];
            testcase_t t =
                testcase_make(NULL, tcgemm_problem(gpu_type(i), s[0], s[1], s[2]), (uint64_t)i);
            const int layout = i + shape;
            t.p.order = layout & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
            t.p.op_a = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.p.op_b = layout & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.beta = shape % 3;
            if (shape == 2) {
                t.p.batch = 3;
                t.p.stride_a = s[0] * s[2] + 1;
                t.p.stride_b = i % 2 ? s[1] * s[2] : 0;
                t.p.stride_c = t.p.stride_d = s[0] * s[1];
            }
            check_everywhere(t, context, seen);
        }
    for (int kind = 0; kind < ALL_KINDS; ++kind)
        (void)printf("  %d plans with steps %d\n", seen[kind], kind);
    CHECK(seen[SPLITS] > 0 && seen[SPLITS | PACKS_A | PACKS_B] > 0, "no plan splits, or both");
    CHECK(seen[PACKS_A] + seen[PACKS_B] + seen[PACKS_A | PACKS_B] > 0, "no plan packs alone");
    tcgemm_context_destroy(context);
    check_end();
}

/* Both mixtures of signs in both orders: a column-major product takes the other one's kernel. */
static void mixed_signs(const void *argument) {
    static const tcgemm_type_t types[] = {TCGEMM_U8S8_S32, TCGEMM_S8U8_S32};
    static const int64_t shapes[][3] = {{40, 48, 1601}, {150, 149, 301}, {64, 64, 64}};
    int seen[ALL_KINDS] = {0};
    tcgemm_context_t *context = context_on(0);
    (void)argument;
    for (int i = 0; context && i < 2; ++i)
        for (int shape = 0; shape < 3; ++shape)
            for (int layout = 0; layout < 8; ++layout) {
                const int64_t *s = shapes[shape];
                testcase_t t = testcase_make(NULL, tcgemm_problem(types[i], s[0], s[1], s[2]), 1);
                t.p.order = layout & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
                t.p.op_a = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
                t.p.op_b = layout & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
                check_everywhere(t, context, seen);
            }
    tcgemm_context_destroy(context);
    check_end();
}

/* FP8 as tensor cores sum it: by its own kernels where mma.sync multiplies it, which read whole
 * rows with k contiguous alone, else widened. From wherever it lies. */
static void fp8_by_mma_sync(const void *argument) {
    static const tcgemm_type_t types[] = {TCGEMM_E4M3_F32, TCGEMM_E4M3_BF16, TCGEMM_E5M2_F32,
                                          TCGEMM_E5M2_BF16};
    static const int64_t shapes[][3] = {
        {40, 48, 1600}, {41, 49, 1601}, {151, 149, 301}, {160, 64, 96}};
    const int cc = *(const int *)argument;
    fake_gpu_t gpu = fake_ampere;
    int seen[ALL_KINDS] = {0};
    gpu.cc = cc;
    gpu.smem_block_bytes = 99 * 1024;
    fake_set_gpus(1, &gpu);
    tcgemm_context_t *context = context_on(0);
    for (int i = 0; context && i < 4; ++i)
        for (int shape = 0; shape < 4; ++shape)
            for (int layout = i; layout < 8; layout += i ? 3 : 1) {
                const int64_t *s = shapes[shape];
                testcase_t t = testcase_make(NULL, tcgemm_problem(types[i], s[0], s[1], s[2]), 1);
                t.p.order = layout & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
                t.p.op_a = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
                t.p.op_b = layout & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
                t.p.flags = TCGEMM_FLAG_FAST_ACCUMULATE;
                t.beta = shape % 2;
                check_everywhere(t, context, seen);
                tcgemm_plan_info_t info = {.struct_size = sizeof info};
                tcgemm_plan_t *plan = plan_of(context, &t.p, NULL);
                CHECK(plan && tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK, "a plan");
                const bool is_own =
                    strstr(info.kernel, "x128x64_s4") || strstr(info.kernel, "x64x128_s3");
                CHECK(is_own == (cc != 86), "%s on sm_%d", info.kernel, cc);
                tcgemm_plan_destroy(plan);
            }
    CHECK(cc == 86 || seen[0] > 0, "no product of operands where they lie");
    CHECK(seen[PACKS_A | PACKS_B] + seen[PACKS_A | PACKS_B | SPLITS] > 0, "no plan packs both");
    tcgemm_context_destroy(context);
    check_end();
}

/* ---- panels ---- */

static void set_limit(int64_t bytes) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)bytes);
    (void)setenv("TCGEMM_CUDA_MEMORY_LIMIT", text, 1);
}

static bool is_split(const tcgemm_plan_t *plan) {
    return (kinds_of(plan) & SPLITS) || is_in_clusters(plan);
}

/* Widens a product by 10 columns at a time until its plan splits k, and has a tail or none, as is
 * wanted: at which size is the model's to say. */
static tcgemm_plan_t *split_plan(tcgemm_context_t *context, tcgemm_problem_t *p, bool wants_tail) {
    enum { TRIES = 60, WIDER = 10 };
    tcgemm_plan_t *plan = plan_of(context, p, NULL);
    for (int i = 0; i < TRIES && plan && !(is_split(plan) && has_tail(plan) == wants_tail); ++i) {
        tcgemm_plan_destroy(plan);
        p->n += WIDER;
        plan = plan_of(context, p, NULL);
    }
    return plan;
}

/* Host matrices in ever smaller pieces, as long as the smallest panels of all of k fill no more
 * than half of the limit (host_panels.c, whole_k): the bits of the matrices on the GPU. */
static void pieces_of_split_products(int64_t m, int64_t n, int64_t k, bool have_tails) {
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_BF16_F32, TCGEMM_BF16_BF16,
                                          TCGEMM_F64_F64};
    tcgemm_context_t *context = context_on(0);
    int cuts = 0;
    for (int i = 0; context && i < at_level(1, 4, 4); ++i) {
        testcase_t t = testcase_make(NULL, tcgemm_problem(types[i], m, n, k), (uint64_t)i);
        operands_t x;
        t.beta = 1;
        t.p.op_a = have_tails && i % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.order = have_tails && i / 2 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        tcgemm_plan_t *plan = split_plan(context, &t.p, have_tails);
        operands_make(&t, &x);
        CHECK(plan && is_split(plan), "type %d: k is neither split nor shared", types[i]);
        CHECK(has_tail(plan) == have_tails, "type %d: %s tail", types[i], have_tails ? "no" : "a");
        (void)run_there(&t, plan, &x);
        const uint64_t expected = hash_of_d(&t, &x.d);
        const int64_t element = tcgemm_dtype_bits(tcgemm_type_info(types[i])->a) / 8;
        const int64_t panels = 4 * 2 * 128 * t.p.k * element; /* no cut of k from here on */
        for (int64_t limit = panels; limit < 40000000; limit = limit * 5 / 4) {
            memcpy(x.d.block, x.d_was, x.d.block_bytes);
            set_limit(limit);
            const tcgemm_status_t status =
                tcgemm_run(plan, 1, x.a.data, x.b.data, 1, x.c.data, x.d.data);
            if (status != TCGEMM_STATUS_OK || hash_of_d(&t, &x.d) != expected)
                testcase_fail(&t, "limit %lld: %s, or other bits", (long long)limit,
                              tcgemm_status_name(status));
            cuts += 1;
        }
        (void)unsetenv("TCGEMM_CUDA_MEMORY_LIMIT");
        tcgemm_plan_destroy(plan);
        operands_free(&x);
    }
    CHECK(cuts > 4, "%d cuts", cuts);
    tcgemm_context_destroy(context);
    check_end();
}

static void pieces_of_a_split_product(const void *argument) {
    (void)argument;
    pieces_of_split_products(200, 210, 3000, false);
}

/* GPUs so small that the tiles do not come out even. */
static void pieces_of_a_tail(const void *argument) {
    fake_gpu_t small = fake_hopper;
    const bool is_wide = *(const bool *)argument;
    small.num_sms = is_wide ? 3 : 4;
    fake_set_gpus(1, &small);
    if (is_wide) /* pieces as wide lie in the tail and ahead of it */
        pieces_of_split_products(126, 1180, 3600, true);
    else
        pieces_of_split_products(380, 272, 3300, true);
}

/* ---- the choice of the device ---- */

static int device_of(const tcgemm_problem_t *p) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_t *plan = NULL;
    CHECK(tcgemm_plan_create(NULL, p, NULL, &plan) == TCGEMM_STATUS_OK, "a plan anywhere");
    CHECK(tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK, "its description");
    tcgemm_plan_destroy(plan);
    return info.device_index;
}

/* How often m, the batch or the strides change the device. */
static int changes_of_device(uint32_t flags) {
    static const int64_t rows[] = {1, 33, 500, 2047, 16384};
    static const int64_t shapes[][2] = {{64, 64}, {500, 501}, {1001, 1000}, {8192, 8192}};
    int changes = 0;
    for (int type = 0; type < num_gpu_types(); ++type)
        for (int shape = 0; shape < 4; ++shape)
            for (int layout = 0; layout < 4; ++layout) {
                int first = 0;
                for (int i = 0; i < 10; ++i) {
                    tcgemm_problem_t p = tcgemm_problem(gpu_type(type), rows[i / 2],
                                                        shapes[shape][0], shapes[shape][1]);
                    p.flags = flags;
                    p.order = layout & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
                    p.op_a = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
                    if (i % 2) {
                        p.batch = 3;
                        p.stride_a = p.m * p.k + 1;
                        p.stride_d = p.m * p.n;
                    }
                    const int device = device_of(&p);
                    first = i == 0 ? device : first;
                    changes += device != first;
                }
            }
    return changes;
}

static void device_of_reproducible_rows(const void *argument) {
    (void)argument;
    const int others = changes_of_device(0);
    const int reproducible = changes_of_device(TCGEMM_FLAG_REPRODUCIBLE);
    CHECK(others > 20, "only %d problems follow m", others);
    CHECK(reproducible == 0, "%d reproducible problems follow m", reproducible);
}

/* The smallest square product that the planner gives to the GPU. */
static tcgemm_problem_t problem_for_the_gpu(void) {
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F64_F64, 200, 200, 200);
    while (device_of(&p) != 0 && p.m < 3000)
        p.m = p.n = p.k = p.m + 50;
    CHECK(p.m < 3000, "no product goes to the GPU");
    return p;
}

typedef struct one_call {
    testcase_t t;
    operands_t x;
} one_call_t;

static tcgemm_status_t gemm(one_call_t *c) {
    memcpy(c->x.d.block, c->x.d_was, c->x.d.block_bytes);
    return tcgemm_gemm(&c->t.p, 1, c->x.a.data, c->x.b.data, 0, NULL, c->x.d.data);
}

static void child_of_one_call(const void *argument) {
    one_call_t *const c = (one_call_t *)(uintptr_t)argument;
    const tcgemm_status_t status = gemm(c);
    CHECK(status == TCGEMM_STATUS_OK, "in a child: %s", tcgemm_status_name(status));
    CHECK(testcase_judge(&c->t, &c->x, NULL), "its product");
}

/* A kept plan for a GPU that a child may not use, or that is lost: the CPU does it. */
static void kept_plans_without_their_gpu(const void *argument) {
    (void)argument;
    one_call_t c = {.t = testcase_make(NULL, problem_for_the_gpu(), 1)};
    operands_make(&c.t, &c.x);
    CHECK(gemm(&c) == TCGEMM_STATUS_OK && fake_count("cuLaunchKernel") > 0, "on the GPU");
    CHECK(passes_alone("child", child_of_one_call, &c), "the child of a process with a GPU");
    fake_fault_kernel(1, CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(gemm(&c) == TCGEMM_STATUS_DEVICE_LOST, "a kernel that faults");
    CHECK(gemm(&c) == TCGEMM_STATUS_OK, "after the GPU is lost");
    CHECK(testcase_judge(&c.t, &c.x, NULL), "the CPU's product");
    operands_free(&c.x);
}

/* ---- sentences and places ---- */

/* A tile that only GPU rows have, without the name of an algorithm. */
static void tile_of_a_gpu(const void *argument) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F16_F32, 300, 300, 300);
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    (void)argument;
    CHECK(tcgemm_run(NULL, 1, NULL, NULL, 0, NULL, NULL) != TCGEMM_STATUS_OK, "no plan");
    o.tile = "16x16x16";
    CHECK(tcgemm_plan_create(NULL, &p, &o, &plan) == TCGEMM_STATUS_OK, "a tile of the GPU");
    CHECK(strcmp(tcgemm_last_error(), "plan is NULL") == 0, "a call that succeeds has spoken");
    tcgemm_plan_destroy(plan);
    o.tile = "7x7x7";
    CHECK(tcgemm_plan_create(NULL, &p, &o, &plan) == TCGEMM_STATUS_UNSUPPORTED, "no tile");
    CHECK(strstr(tcgemm_last_error(), "7x7x7"), "sentence");
    o.tile = NULL;
    CHECK(tcgemm_run(NULL, 1, NULL, NULL, 0, NULL, NULL) != TCGEMM_STATUS_OK, "no plan");
    const tcgemm_problem_t large = problem_for_the_gpu();
    CHECK(device_of(&large) == 0 && strcmp(tcgemm_last_error(), "plan is NULL") == 0,
          "a call that succeeds has spoken");
}

/* Packing ahead is the CPU's: it cannot reach what lies on a GPU. */
static void packing_of_gpu_matrices(const void *argument) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 20, 30, 40);
    const testcase_t t = testcase_make(NULL, p, 1);
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_t *packer = NULL;
    on_gpu_t there;
    operands_t x;
    (void)argument;
    operands_make(&t, &x);
    CHECK(tcgemm_device_count() == 1 && on_gpu_make(&x, 0, &there), "memory on the GPU");
    o.pack = TCGEMM_OPERAND_B;
    CHECK(tcgemm_plan_create(NULL, &p, &o, &packer) == TCGEMM_STATUS_OK, "a plan that packs");
    CHECK(tcgemm_plan_get_info(packer, &info) == TCGEMM_STATUS_OK, "its description");
    void *const ahead = aligned_alloc(64, info.packed_bytes);
    CHECK(tcgemm_run(packer, 1, NULL, on_gpu_data(&there, 1), 0, NULL, ahead) ==
              TCGEMM_STATUS_BAD_ARGUMENT,
          "B on the GPU");
    CHECK(tcgemm_run(packer, 1, NULL, x.b.data, 0, NULL, ahead) == TCGEMM_STATUS_OK, "B here");
    tcgemm_context_t *context = context_on(0);
    tcgemm_plan_t *none = NULL;
    CHECK(tcgemm_plan_create(context, &p, &o, &none) == TCGEMM_STATUS_UNSUPPORTED && !none,
          "packing for a GPU");
    free(ahead);
    on_gpu_free(&there);
    tcgemm_context_destroy(context);
    tcgemm_plan_destroy(packer);
    operands_free(&x);
    check_end();
}

/* A bias and an activation are the CPU's: a plan for a GPU says so, wherever the matrices lie, and
 * leaves D alone; so does a group before its first product. */
static void epilogues_are_refused(const void *argument) {
    (void)argument;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 40, 50, 60);
    const testcase_t t = testcase_make(NULL, p, 5);
    tcgemm_context_t *const context = context_on(0);
    tcgemm_plan_t *plan = NULL;
    operands_t x;
    operands_make(&t, &x);
    CHECK(context && tcgemm_plan_create(context, &p, NULL, &plan) == TCGEMM_STATUS_OK, "a plan");
    tcgemm_data_t data[2];
    data[0] = tcgemm_data(x.a.data, x.b.data, x.d.data);
    data[1] = data[0];
    data[1].bias = x.b.data;
    CHECK(tcgemm_execute(plan, &data[1], NULL) == TCGEMM_STATUS_UNSUPPORTED &&
              strstr(tcgemm_last_error(), "data->bias is set, but no kernel of a GPU"),
          "a bias: %s", tcgemm_last_error());
    const tcgemm_plan_t *const plans[] = {plan, plan};
    CHECK(tcgemm_execute_group(plans, data, 2, NULL) == TCGEMM_STATUS_UNSUPPORTED, "a group");
    data[1].bias = NULL;
    data[1].activation = TCGEMM_ACTIVATION_RELU;
    CHECK(tcgemm_execute(plan, &data[1], NULL) == TCGEMM_STATUS_UNSUPPORTED &&
              strstr(tcgemm_last_error(), "data->activation is set"),
          "an activation: %s", tcgemm_last_error());
    CHECK(memcmp(x.d.block, x.d_was, x.d.block_bytes) == 0, "D was written");
    data[1].activation = TCGEMM_ACTIVATION_NONE;
    CHECK(tcgemm_execute_group(plans, data, 2, NULL) == TCGEMM_STATUS_OK, "a group of two: %s",
          tcgemm_last_error());
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    operands_free(&x);
    check_end();
}

int main(void) {
    int failed = 0;
    static const fake_order_t orders[] = {FAKE_LAZY, FAKE_RANDOM};
    failed += run_alone("steps everywhere, lazy", steps_everywhere, &orders[0]);
    if (test_level() != LEVEL_SANITIZE)
        failed += run_alone("steps everywhere, at random", steps_everywhere, &orders[1]);
    failed += run_alone("mixed signs", mixed_signs, NULL);
    failed += run_alone("FP8 on sm_86", fp8_by_mma_sync, &(const int){86});
    failed += run_alone("FP8 on sm_89", fp8_by_mma_sync, &(const int){89});
    failed += run_alone("FP8 on sm_120", fp8_by_mma_sync, &(const int){120});
    failed += run_alone("pieces of a split product", pieces_of_a_split_product, NULL);
    failed += run_alone("pieces of a tail of rows", pieces_of_a_tail, &(const bool){false});
    failed += run_alone("pieces of a tail of columns", pieces_of_a_tail, &(const bool){true});
    failed += run_alone("the device of reproducible rows", device_of_reproducible_rows, NULL);
    failed += run_alone("kept plans without their GPU", kept_plans_without_their_gpu, NULL);
    failed += run_alone("a tile of a GPU", tile_of_a_gpu, NULL);
    failed += run_alone("packing of GPU matrices", packing_of_gpu_matrices, NULL);
    failed += run_alone("epilogues are refused", epilogues_are_refused, NULL);
    return failed != 0;
}
