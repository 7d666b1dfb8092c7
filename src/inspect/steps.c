/* steps.c - the public view of the steps of a plan. */
#include "base/error.h"
#include "base/struct.h"
#include "plan/plan.h"

int tcgemm_plan_step_count(const tcgemm_plan_t *plan) {
    return plan ? plan->steps.count : 0;
}

/* A column-major problem is solved as its transpose, with A and B in each other's place. */
static const char *name_of(const struct tcgemm_plan *plan, const tcgemm_view_t *view) {
    const bool swapped = plan->g.swapped;
    switch (view->home) {
    case TCGEMM_HOME_A:
        return swapped ? "B" : "A";
    case TCGEMM_HOME_B:
        return swapped ? "A" : "B";
    case TCGEMM_HOME_D:
        return "D";
    case TCGEMM_HOME_WORKSPACE:
    default:
        return "workspace";
    }
}

static const char *title_of(const struct tcgemm_plan *plan, tcgemm_step_kind_t kind) {
    switch (kind) {
    case TCGEMM_STEP_PACK_A:
        return plan->g.swapped ? "pack B" : "pack A";
    case TCGEMM_STEP_PACK_B:
        return plan->g.swapped ? "pack A" : "pack B";
    case TCGEMM_STEP_REDUCE:
        return "reduce";
    case TCGEMM_STEP_PRODUCT:
    default:
        return "product";
    }
}

tcgemm_status_t tcgemm_plan_get_step(const tcgemm_plan_t *plan, int index,
                                     tcgemm_step_info_t *step) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("step", step, sizeof *step));
    TCGEMM_RETURN_IF(index < 0 || index >= plan->steps.count, TCGEMM_STATUS_BAD_ARGUMENT,
                     "step %d is not in 0 .. %d", index, plan->steps.count - 1);
    const tcgemm_step_t *s = &plan->steps.step[index];
    const bool is_product = s->kind == TCGEMM_STEP_PRODUCT;
    const tcgemm_area_t *area = &s->area;
    const bool swapped = plan->g.swapped;
    const tcgemm_step_info_t filled = {
        .struct_size = sizeof filled,
        .name = title_of(plan, s->kind),
        .kernel = is_product ? s->kernel->name : NULL,
        .reads = {name_of(plan, &s->a), is_product ? name_of(plan, &s->b) : NULL},
        .writes = name_of(plan, &s->d),
        .splits = s->splits,
        .split_k = is_product ? s->split_k : 0,
        .written_bytes = s->written_bytes,
        .seconds = s->seconds,
        .row = swapped ? area->col : area->row,
        .rows = swapped ? area->cols : area->rows,
        .col = swapped ? area->row : area->col,
        .cols = swapped ? area->rows : area->cols,
    };
    tcgemm_struct_write(step, &filled, sizeof filled);
    return TCGEMM_STATUS_OK;
}
