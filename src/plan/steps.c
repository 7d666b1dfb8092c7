/* steps.c - small questions about the steps of a plan. */
#include "plan/plan.h"

#include "base/dtype.h"

tcgemm_step_t tcgemm_whole_product(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    return (tcgemm_step_t){
        .kind = TCGEMM_STEP_PRODUCT,
        .kernel = plan->kernel,
        .a = {.home = TCGEMM_HOME_A, .at = g->a},
        .b = {.home = TCGEMM_HOME_B, .at = g->b},
        .d = {.home = TCGEMM_HOME_D,
              .at = {.dtype = g->type->d,
                     .row_stride = g->ldd,
                     .col_stride = 1,
                     .batch_stride = g->stride_d}},
        .area = {.rows = g->m, .cols = g->n},
        .splits = 1,
        .ranks = 1,
        .split_k = g->k,
        .written_bytes = (size_t)((double)g->batch * (double)g->m * (double)g->n *
                                  tcgemm_dtype_bits(g->type->d) / 8.0),
    };
}

tcgemm_steps_t tcgemm_single_step(const struct tcgemm_plan *plan, double seconds) {
    tcgemm_steps_t s = {.count = 1, .step[0] = tcgemm_whole_product(plan), .seconds = seconds};
    s.step[0].seconds = seconds;
    return s;
}

const tcgemm_step_t *tcgemm_plan_product(const struct tcgemm_plan *plan) {
    for (int i = 0; i < plan->steps.count; ++i)
        if (plan->steps.step[i].kind == TCGEMM_STEP_PRODUCT)
            return &plan->steps.step[i];
    return &plan->steps.step[0];
}

const tcgemm_step_t *tcgemm_plan_tail(const struct tcgemm_plan *plan) {
    const tcgemm_step_t *const last = &plan->steps.step[plan->steps.count] - 1;
    for (const tcgemm_step_t *s = tcgemm_plan_product(plan) + 1; s <= last; ++s)
        if (s->kind == TCGEMM_STEP_PRODUCT)
            return s;
    return NULL;
}

size_t tcgemm_plan_workspace(const struct tcgemm_plan *plan) {
    const size_t one = plan->steps.workspace_bytes;
    const size_t other = plan->if_unaligned.workspace_bytes;
    return one > other ? one : other;
}

double tcgemm_plan_sum_unit(const struct tcgemm_plan *plan) {
    switch (plan->kernel ? plan->kernel->needs : 0) {
    case TCGEMM_FLAG_F16_ACCUMULATE:
        return tcgemm_dtype_unit(TCGEMM_DTYPE_F16);
    case TCGEMM_FLAG_FAST_ACCUMULATE:
        return 0x1p-13;
    default:
        return tcgemm_dtype_unit(plan->g.type->accumulator);
    }
}
