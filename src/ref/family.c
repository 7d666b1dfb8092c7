/* family.c - the reference as a family of one row: every type, any processor, on request alone. */
#include "table/family.h"
#include "plan/plan.h"

/* Cycles of a multiply-add and of an element of D in wide arithmetic, of one core at 3 GHz. */
static const double mac_seconds = 8.0 / 3e9;
static const double store_seconds = 20.0 / 3e9;

static const tcgemm_kernel_t rows[] = {{
    .name = "reference",
    .isa = "any",
    .family = &tcgemm_family_reference,
    .types = TCGEMM_TYPES_ALL,
    .mr = 1,
    .nr = 1,
    .ku = 1,
    .tile = {1, 1, 1},
    .bound = TCGEMM_BOUND_ONE_ROUNDING,
}};

static bool fits(const tcgemm_kernel_t *row, const tcgemm_device_t *device) {
    (void)row;
    return !device;
}

static void expand(const tcgemm_kernel_t *row, struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const double elements = (double)g->batch * (double)g->m * (double)g->n;
    (void)row;
    plan->num_threads = 1;
    plan->steps = tcgemm_single_step(plan, elements * ((double)g->k * mac_seconds + store_seconds));
}

const tcgemm_kernel_family_t tcgemm_family_reference = {
    .algo = "reference",
    .rows = rows,
    .num_rows = 1,
    .by_name_only = true,
    .fits = fits,
    .expand = expand,
};
