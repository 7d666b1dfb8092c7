/* TCGEMM_FLAG_REPRODUCIBLE: what decides the bits of a row of D - the kernel, the parts of k, the
 * blocks of k - is the same for any m, any batch and any place of the matrices, on every known GPU
 * and on the CPU. Without the flag the planner may follow m. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/known_gpus.h"
#include "plan/planner.h"
#include "support/support.h"

/* What the bits of a row depend on. */
typedef struct decision {
    const tcgemm_kernel_t *kernel;
    const tcgemm_kernel_t *sums; /* the row that multiplies, if k is split */
    int splits, ranks;
    int64_t split_k;
    int64_t kc; /* of the CPU */
} decision_t;

static bool decide(const tcgemm_device_t *device, const tcgemm_problem_t *p, decision_t *x) {
    struct tcgemm_plan plan;
    memset(x, 0, sizeof *x);
    if (tcgemm_plan_make_on(device, p, NULL, 8, &plan) != TCGEMM_STATUS_OK)
        return false;
    const tcgemm_step_t *product = tcgemm_plan_product(&plan);
    x->kernel = plan.kernel;
    x->sums = product->kernel;
    x->splits = product->splits;
    x->ranks = product->ranks;
    x->split_k = product->split_k;
    x->kc = plan.cpu.kc;
    if (plan.if_unaligned.count > 0)
        for (int i = 0; i < plan.if_unaligned.count; ++i) {
            const tcgemm_step_t *other = &plan.if_unaligned.step[i];
            if (other->kind == TCGEMM_STEP_PRODUCT &&
                (other->splits != x->splits || other->ranks != x->ranks ||
                 other->split_k != x->split_k || other->kernel != x->sums))
                report_failure("unaligned pointers change the parts of k");
        }
    return true;
}

static bool is_same(const decision_t *x, const decision_t *y) {
    return x->kernel == y->kernel && x->sums == y->sums && x->splits == y->splits &&
           x->ranks == y->ranks && x->split_k == y->split_k && x->kc == y->kc;
}

static const int64_t rows[] = {1, 2, 7, 16, 63, 64, 129, 300, 1000, 1024, 2047, 2048, 4097, 16384};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

static const int64_t shapes[][2] = {{1, 7},       {64, 64},    {65, 8191},   {100, 100000},
                                    {256, 65536}, {1000, 999}, {1024, 1024}, {4096, 4096},
                                    {8191, 8191}, {16384, 64}};
enum { NUM_SHAPES = sizeof shapes / sizeof shapes[0] };

/* The variants of one problem that may not differ: m, batch, and strides that follow from them. */
static tcgemm_problem_t variant(const tcgemm_problem_t *base, int row, int64_t batch, int64_t pad) {
    tcgemm_problem_t p = *base;
    p.m = rows[row];
    p.batch = batch;
    const bool by_rows = p.order == TCGEMM_ROW_MAJOR;
    p.ldd = (by_rows ? p.n : p.m) + pad;
    if (!by_rows || p.op_a == TCGEMM_OP_T) /* rows of A as stored have m elements, or k ... */
        p.lda = ((by_rows == (p.op_a == TCGEMM_OP_N)) ? p.k : p.m) + pad;
    if (batch > 1) {
        p.stride_a = p.m * p.k + pad * (p.m + p.k);
        p.stride_d = p.m * p.n + pad * (p.m + p.n) + pad;
    }
    return p;
}

/* How many of the variants decide otherwise than the first. */
static int differences(const tcgemm_device_t *device, const tcgemm_problem_t *base,
                       tcgemm_problem_t *first_other) {
    decision_t first;
    decision_t other;
    int count = 0;
    const tcgemm_problem_t start = variant(base, 0, 1, 0);
    if (!decide(device, &start, &first))
        return 0;
    for (int row = 0; row < NUM_ROWS; ++row)
        for (int64_t batch = 1; batch <= 5; batch += 4)
            for (int64_t pad = 0; pad <= 3; pad += 3) {
                const tcgemm_problem_t p = variant(base, row, batch, pad);
                if (decide(device, &p, &other) && !is_same(&first, &other) && count++ == 0)
                    *first_other = p;
            }
    return count;
}

static void complain(const tcgemm_device_t *device, const tcgemm_problem_t *p) {
    report_failure("%s %s %s ops %d%d: m=%lld n=%lld k=%lld batch=%lld lda=%lld decides otherwise",
                   device ? device->name : "cpu", tcgemm_type_info(p->type)->name,
                   p->order ? "column" : "row", p->op_a, p->op_b, (long long)p->m, (long long)p->n,
                   (long long)p->k, (long long)p->batch, (long long)p->lda);
}

/* Counts the problems whose decision depends on m or the batch, and complains about those that may
 * not. */
static int check_device(const tcgemm_device_t *device, uint32_t flags, bool may_differ) {
    int found = 0;
    tcgemm_problem_t other = tcgemm_problem(TCGEMM_F32_F32, 0, 0, 0);
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int shape = 0; shape < NUM_SHAPES; ++shape)
            for (int layout = 0; layout < 8; ++layout) {
                tcgemm_problem_t p =
                    tcgemm_problem((tcgemm_type_t)type, 1, shapes[shape][0], shapes[shape][1]);
                p.order = layout & 1 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
                p.op_a = layout & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
                p.op_b = layout & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
                p.flags = flags;
                if (layout > 1 && shape % 3 != type % 3) /* not every layout of every shape */
                    continue;
                if (differences(device, &p, &other) == 0)
                    continue;
                found += 1;
                if (!may_differ)
                    complain(device, &other);
            }
    return found;
}

static void reproducible_rows_know_no_m(void **state) {
    (void)state;
    const tcgemm_device_t *gpu;
    (void)check_device(NULL, TCGEMM_FLAG_REPRODUCIBLE, false);
    for (int i = 0; (gpu = tcgemm_known_gpu(i)) != NULL; ++i) {
        (void)check_device(gpu, TCGEMM_FLAG_REPRODUCIBLE, false);
        /* Other types do not take this flag, and are passed over. */
        (void)check_device(gpu, TCGEMM_FLAG_REPRODUCIBLE | TCGEMM_FLAG_FAST_ACCUMULATE, false);
    }
    assert_no_failures();
}

/* Else this test could not fail. */
static void others_follow_m(void **state) {
    (void)state;
    const tcgemm_device_t *gpu = tcgemm_known_gpu_find("h200");
    assert_non_null(gpu);
    const int found = check_device(gpu, 0, true);
    print_message("without the flag %d decisions follow m or the batch\n", found);
    assert_true(found > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reproducible_rows_know_no_m),
        cmocka_unit_test(others_follow_m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
