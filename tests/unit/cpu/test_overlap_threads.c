/* Where there are threads enough, the panels of the next step of k are packed beside the units of
 * this one, into memory of their own. Here a unit's last tile waits until they all lie there, and
 * multiplies only then: it must find its own panels, and D must have the bits that one thread gives
 * it. ("threads" in the name: the thread sanitizer runs it, too.)
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernels/ukernel.h"
#include "plan/plan.h"
#include "support/support.h"
#include "support/testcase.h"

enum { NUM_STEPS = 4, NUM_THREADS = 4 };

static const tcgemm_cpu_ukernel_t *real;
static atomic_int num_packed, num_waits, num_overtaken;
static int panels_of_step;    /* 0: nobody waits */
static const uint8_t *last_d; /* the last element of D */

static bool packs(const tcgemm_pack_t *pack, int64_t first, int lines, int width, void *panel,
                  uint32_t *terms) {
    const bool special = real->pack(pack, first, lines, width, panel, terms);
    atomic_fetch_add(&num_packed, 1);
    return special;
}

/* A second is for machines that are busy with other things: nothing is wrong if nobody packs by
 * then. */
static void wait_for_panels(int count) {
    const double start = seconds_now();
    while (atomic_load(&num_packed) < count && seconds_now() - start < 1)
        (void)sched_yield();
    if (atomic_load(&num_packed) >= count)
        atomic_fetch_add(&num_overtaken, 1);
}

static void multiplies(const tcgemm_tile_t *tile) {
    const uint8_t *const end = (const uint8_t *)tile->d +
                               ((tile->m - 1) * tile->ldd + tile->n - 1) * (int64_t)sizeof(float);
    if (panels_of_step > 0 && end == last_d) {
        const int step = atomic_fetch_add(&num_waits, 1);
        if (step + 1 < NUM_STEPS)
            wait_for_panels((step + 2) * panels_of_step);
    }
    real->packed(tile);
}

static void panels_in_use_are_left_alone(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 200, 1000, 64);
    tcgemm_plan_t *const any = plan_of(context_of(1), &p, NULL);
    real = any->kernel->cpu;
    tcgemm_plan_destroy(any);
    p = tcgemm_problem(TCGEMM_F32_F32, 200, 1000, (int64_t)NUM_STEPS * real->kc);
    p.op_a = TCGEMM_OP_T; /* rows along k may stay where they are, and B of fewer rows (model.c) */
    const testcase_t t = testcase_make(NULL, p, 3);
    operands_t x;
    operands_make(&t, &x);
    const size_t d_bytes = (size_t)x.d.span * sizeof(float);
    assert_int_equal(testcase_run_on(&t, &x), TCGEMM_STATUS_OK);
    uint8_t *const expected = malloc(d_bytes);
    assert_non_null(expected);
    memcpy(expected, x.d.data, d_bytes);

    tcgemm_plan_t *const found = plan_of(context_of(NUM_THREADS), &t.p, NULL);
    tcgemm_cpu_ukernel_t ukernel = *real;
    ukernel.packed = multiplies;
    ukernel.pack = packs;
    tcgemm_kernel_t kernel = *found->kernel;
    kernel.cpu = &ukernel;
    tcgemm_plan_t plan = *found;
    plan.kernel = &kernel;
    assert_true(plan.cpu.overlaps && plan.cpu.pack_a && plan.cpu.pack_b);
    last_d = x.d.data + (x.d.span - 1) * (int64_t)sizeof(float);
    for (int is_waiting = 0; is_waiting < 2; ++is_waiting) {
        panels_of_step = is_waiting ? atomic_load(&num_packed) / NUM_STEPS : 0;
        atomic_store(&num_packed, 0);
        memset(x.d.data, 0xFF, d_bytes);
        assert_int_equal(tcgemm_run(&plan, 1.0, x.a.data, x.b.data, 0.0, NULL, x.d.data),
                         TCGEMM_STATUS_OK);
        if (memcmp(expected, x.d.data, d_bytes) != 0)
            testcase_fail(&t, "%s: other bits than with one thread",
                          is_waiting ? "the last tile waits" : "nobody waits");
    }
    assert_int_equal(atomic_load(&num_packed), NUM_STEPS * panels_of_step);
    assert_int_equal(atomic_load(&num_waits), NUM_STEPS);
    print_message("the panels of %d of %d steps lay there before the step was over\n",
                  atomic_load(&num_overtaken), NUM_STEPS - 1);
    tcgemm_plan_destroy(found);
    free(expected);
    operands_free(&x);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(panels_in_use_are_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
