/* verify_case.c - one guarded product, compared element by element. */
#include "commands/verify_case.h"

#include <stdio.h>
#include <string.h>

#include "files/layout.h"
#include "measure/workload.h"
#include "support/exit_status.h"

static tcgemm_problem_t problem_of(const verify_case_t *c) {
    tcgemm_problem_t p = tcgemm_problem(c->type, c->m, c->n, c->k);
    p.order = c->col_major ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    p.op_a = c->trans_a ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = c->trans_b ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.flags = (c->xor ? TCGEMM_FLAG_XOR : 0) | c->needs_flags;
    p.batch = c->batch;
    return p;
}

/* Runs and judges; `w` is filled. */
static verify_outcome_t judge(const verify_case_t *c, const tcgemm_plan_t *plan,
                              const workload_t *w, double *ratio, char *why, size_t why_size) {
    if (tcgemm_run(plan, c->alpha, w->a, w->b, c->beta, workload_c(w), w->d) != TCGEMM_STATUS_OK) {
        (void)snprintf(why, why_size, "%s", tcgemm_last_error());
        return OUTCOME_WRONG;
    }
    const char *out_of_bounds = workload_out_of_bounds(w);
    if (out_of_bounds) {
        (void)snprintf(why, why_size, "%s", out_of_bounds);
        return OUTCOME_WRONG;
    }
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    if (tcgemm_verify(plan, c->alpha, w->a, w->b, c->beta, w->c, w->d, TCGEMM_VERIFY_FULL, c->seed,
                      &report) != TCGEMM_STATUS_OK) {
        (void)snprintf(why, why_size, "%s", tcgemm_last_error());
        return OUTCOME_WRONG;
    }
    *ratio = report.max_ratio;
    if (report.num_wrong == 0)
        return OUTCOME_RIGHT;
    (void)snprintf(why, why_size, "%lld wrong, first D[%lld][%lld]: got %.9g, expected %.9g",
                   (long long)report.num_wrong, (long long)report.wrong_row,
                   (long long)report.wrong_col, report.wrong_got, report.wrong_expected);
    return OUTCOME_WRONG;
}

int verify_case_run(const verify_case_t *c, tcgemm_context_t *context, verify_outcome_t *outcome,
                    double *ratio, char *why, size_t why_size) {
    tcgemm_problem_t problem = problem_of(c);
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.kernel = c->kernel;
    tcgemm_plan_t *plan = NULL;
    tcgemm_status_t status = layout_place(&problem, c->pad);
    *ratio = 0;
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_plan_create(context, &problem, &options, &plan);
    if (status != TCGEMM_STATUS_OK) {
        *outcome = status == TCGEMM_STATUS_UNSUPPORTED ? OUTCOME_SKIPPED : OUTCOME_WRONG;
        (void)snprintf(why, why_size, "%s", tcgemm_last_error());
        return CLI_OK;
    }
    workload_t w;
    const int made = workload_create(&w, &problem, c->seed, c->beta != 0, c->in_place);
    if (made == CLI_OK) {
        *outcome = judge(c, plan, &w, ratio, why, why_size);
        workload_free(&w);
    }
    tcgemm_plan_destroy(plan);
    return made;
}

void verify_case_command(const verify_case_t *c, char *text, size_t size) {
    char pad[32] = "";
    char batch[32] = "";
    char device[32] = "";
    if (c->device)
        (void)snprintf(device, sizeof device, " --device %.16s", c->device);
    if (c->pad)
        (void)snprintf(pad, sizeof pad, " --pad %lld", (long long)c->pad);
    if (c->batch != 1)
        (void)snprintf(batch, sizeof batch, " --batch %lld", (long long)c->batch);
    (void)snprintf(text, size,
                   "tcgemm run -m %lld -n %lld -k %lld --type %s%s%s%s --alpha %.9g --beta "
                   "%.9g%s%s%s%s%s%s%s --kernel %s --seed %llu --verify full",
                   (long long)c->m, (long long)c->n, (long long)c->k,
                   tcgemm_type_info(c->type)->name, c->trans_a ? " --trans-a" : "",
                   c->trans_b ? " --trans-b" : "", c->col_major ? " --order col" : "", c->alpha,
                   c->beta, pad, batch, c->in_place ? " --in-place" : "", c->xor ? " --xor" : "",
                   c->needs_flags & TCGEMM_FLAG_F16_ACCUMULATE ? " --f16-accumulate" : "",
                   c->needs_flags & TCGEMM_FLAG_FAST_ACCUMULATE ? " --fast-accumulate" : "", device,
                   c->kernel, (unsigned long long)c->seed);
}
