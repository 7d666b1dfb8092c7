/* dots.h - a few rows or columns of D times lines of the other operand, that are read where they
 * are. */
#ifndef TCGEMM_CPU_DOTS_H
#define TCGEMM_CPU_DOTS_H

#include "cpu/kernels/ukernel.h"
#include "plan/plan.h"
#include "problem/canonical.h"
#include "table/table.h"

static inline bool tcgemm_dots_are_integers(const struct tcgemm_plan *plan) {
    return plan->g.type->accumulator == TCGEMM_DTYPE_S32;
}

/* Rows, or columns, of D that are few, ... */
static inline int64_t tcgemm_dots_few(const struct tcgemm_plan *plan) {
    return plan->cpu.dots == TCGEMM_DOTS_ROWS ? plan->g.m : plan->g.n;
}

/* ... those that are computed at a time, ... */
static inline int tcgemm_dots_at_a_time(const struct tcgemm_plan *plan) {
    enum { MOST_CROWDED = 8 }; /* of more what lies in one set is not fetched (across_tmpl.h) */
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    if (s->dots_in_lanes)
        return tcgemm_is_matrix(u) ? u->nr : u->dots_width;
    if (!s->across)
        return u->dots_width;
    /* What takes several instructions to widen is widened once for more rows. */
    const bool is_tf32 = plan->g.type->type == TCGEMM_TF32_F32; /* which AVX2 alone rounds */
    const bool is_slow = tcgemm_dtype_bits(plan->g.a.dtype) == 8 || is_tf32;
    const int most = is_slow ? u->dots_width : u->across_width;
    const bool is_crowded = s->is_crowded && s->is_roomy;
    return (is_tf32 || is_crowded) && most > MOST_CROWDED ? MOST_CROWDED : most;
}

/* ... or in one pass over lines along k, of lanes of k (inner_tmpl.h), ... */
static inline int tcgemm_inner_at_a_time(const tcgemm_cpu_ukernel_t *u) {
    return tcgemm_is_wide(u) ? 6 : 2;
}

/* ... and the lines that they are multiplied by. */
static inline int64_t tcgemm_dots_lines(const struct tcgemm_plan *plan) {
    return plan->cpu.dots == TCGEMM_DOTS_ROWS ? plan->g.n : plan->g.m;
}

/* Bytes of workspace that the plan's blocking takes, whose `dots` says which are few. */
size_t tcgemm_dots_bytes(const struct tcgemm_plan *plan);

/* Items first .. end of the batch, by the plan's threads, or by the caller alone where threads take
 * whole items; the workspace begins on 64 bytes. */
void tcgemm_run_dots(const struct tcgemm_plan *plan, const tcgemm_call_t *call, char *workspace,
                     int64_t first, int64_t end);

#endif
