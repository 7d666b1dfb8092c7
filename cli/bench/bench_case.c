/* bench_case.c - candidates, judgement, interleaved samples, rows. */
#include "bench/bench_case.h"

#include <stdio.h>
#include <string.h>

#include "bench/bench_plans.h"
#include "bench/case_peers.h"
#include "files/layout.h"
#include "support/exit_status.h"
#include "support/interrupt.h"
#include "support/message.h"

/* Unless --pause says another. */
static const double default_pause = 0.05;

bool bench_is_on_gpu(const bench_t *b) {
    return b->device >= 0;
}

static candidate_t candidate_of(const bench_t *b, bench_case_t *bc, const tcgemm_plan_t *plan) {
    return (candidate_t){.plan = plan,
                         .data = &bc->ours.data,
                         .clock = b->clock,
                         .gpu = &bc->ours.gpu,
                         .alpha = b->settings->alpha,
                         .beta = bc->item->beta};
}

/* The first result of every plan is checked. A wrong one is reported and is not timed. */
static int check_plans(bench_t *b, bench_case_t *bc) {
    int kept = 0;
    for (int i = 0; i < bc->num_plans; ++i) {
        tcgemm_plan_t *plan = bc->plans[i];
        tcgemm_verify_report_t report = {.struct_size = sizeof report};
        const candidate_t candidate = candidate_of(b, bc, plan);
        const int status = interrupt_came() ? CLI_INTERRUPTED
                                            : case_judge(b, &bc->ours, plan, &candidate, &report);
        if (status != CLI_OK)
            return status;
        bc->plans[i] = NULL;
        if (report.num_wrong == 0) {
            bc->candidates[kept] = candidate;
            bc->plans[kept++] = plan;
            continue;
        }
        ++b->wrong;
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        (void)tcgemm_plan_get_info(plan, &info);
        const tcgemm_problem_t *p = &bc->ours.problem;
        (void)message_fail(CLI_WRONG, "%s is WRONG for %s %lld x %lld x %lld and is not timed",
                           info.kernel, tcgemm_type_info(p->type)->name, (long long)p->m,
                           (long long)p->n, (long long)p->k);
        tcgemm_plan_destroy(plan);
    }
    bc->num_plans = kept;
    return CLI_OK;
}

/* On a GPU each plan has its workspace from the start, as the vendor's library wants it, too; a
 * call would take one from a pool and give it back. */
static int give_workspaces(const bench_t *b, bench_case_t *bc) {
    for (int i = 0; i < bc->num_plans && bench_is_on_gpu(b); ++i) {
        candidate_t *c = &bc->candidates[i];
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        tcgemm_status_t status = tcgemm_plan_get_info(c->plan, &info);
        if (status == TCGEMM_STATUS_OK && info.workspace_bytes > 0)
            status = tcgemm_device_alloc(b->device, info.workspace_bytes, &c->workspace);
        if (status != TCGEMM_STATUS_OK)
            return message_library(status);
        c->workspace_bytes = c->workspace ? info.workspace_bytes : 0;
    }
    return CLI_OK;
}

static void take_workspaces(const bench_t *b, bench_case_t *bc) {
    for (int i = 0; i < bc->num_plans; ++i)
        if (bc->candidates[i].workspace)
            (void)tcgemm_device_free(b->device, bc->candidates[i].workspace);
}

/* A row for each plan and peer; without a peer one that says so. */
static int add_rows(bench_t *b, bench_case_t *bc, int64_t num_samples) {
    const candidate_t *c = bc->candidates;
    const int best = case_peers_best(bc, num_samples);
    const int per_plan = bc->num_peers > 0 ? bc->num_peers : 1;
    int status = CLI_OK;
    for (int i = 0; i < bc->num_plans * per_plan && status == CLI_OK; ++i) {
        const int peer = bc->num_peers > 0 ? i % per_plan : -1;
        const bench_row_t row = {
            .problem = &bc->ours.problem,
            .ours = &c[i / per_plan],
            .peer = peer >= 0 ? &c[bc->num_plans + peer] : NULL,
            .peer_name = peer >= 0            ? bc->peers[peer].name
                         : b->peers.count > 0 ? "none"
                                              : NULL,
            .peer_version = peer >= 0 ? bc->peers[peer].version : NULL,
            .is_best = peer == best,
            .class_name = bc->item->class_name,
            .pad = bc->item->pad,
            .num_samples = num_samples,
            .num_threads = b->num_threads,
            .cold = bc->item->cold,
            .steady_seconds = b->settings->steady,
        };
        status = bench_rows_add(&b->rows, &row);
    }
    return status;
}

static int time_case(bench_t *b, bench_case_t *bc) {
    const settings_t *s = b->settings;
    const bool rested = b->peers.has_library && b->num_threads > 1;
    const sampling_limits_t limits = {.min_samples = b->min_samples,
                                      .min_seconds = b->min_seconds,
                                      .pause_seconds = !rested         ? 0
                                                       : s->pause >= 0 ? s->pause
                                                                       : default_pause,
                                      .steady_seconds = s->steady};
    const int count = bc->num_plans + bc->num_peers;
    int64_t num_samples = 0;
    int status = give_workspaces(b, bc);
    if (status == CLI_OK)
        status = interleave_run(bc->candidates, count, &limits, &num_samples);
    take_workspaces(b, bc);
    if (status == CLI_OK)
        status = add_rows(b, bc, num_samples);
    candidates_free(bc->candidates, count);
    return status == CLI_OK ? bench_output_rows(&b->output, b->rows.table) : status;
}

/* Whether --resume has found this plan beside all peers that the problem has. */
static bool is_known(const bench_t *b, const bench_case_t *bc, const tcgemm_plan_info_t *info) {
    bench_key_t key = {.problem = &bc->ours.problem,
                       .plan = info,
                       .num_threads = b->num_threads,
                       .cold = bc->item->cold,
                       .class_name = bc->item->class_name,
                       .pad = bc->item->pad,
                       .beta = bc->item->beta,
                       .peer = b->peers.count > 0 ? NULL : "",
                       .cpu = b->rows.machine.cpu,
                       .commit = b->rows.commit};
    bool known = true;
    for (int i = 0; i < bc->num_peers; ++i) {
        key.peer = bc->peers[i].name; /* NULL where only cublasLt knows */
        known = known && bench_table_has(&b->before, &key);
    }
    return known && (bc->num_peers > 0 || bench_table_has(&b->before, &key));
}

/* Plans whose rows --resume has found need no other measurement. */
static int skip_known(bench_t *b, bench_case_t *bc) {
    int kept = 0;
    for (int i = 0; i < bc->num_plans; ++i) {
        tcgemm_plan_t *plan = bc->plans[i];
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        const tcgemm_status_t status = tcgemm_plan_get_info(plan, &info);
        if (status != TCGEMM_STATUS_OK)
            return message_library(status);
        bc->plans[i] = NULL;
        if (is_known(b, bc, &info)) {
            tcgemm_plan_destroy(plan);
            ++b->skipped;
        } else {
            bc->plans[kept++] = plan;
        }
    }
    bc->num_plans = kept;
    return CLI_OK;
}

static int run_case(bench_t *b, bench_case_t *bc) {
    int status = bench_plans(b->settings, b->context, bench_is_on_gpu(b), &bc->ours.problem,
                             bc->plans, &bc->num_plans);
    if (status == CLI_OK)
        status = case_peers_name(b, bc);
    if (status == CLI_OK)
        status = skip_known(b, bc);
    if (status == CLI_OK && bc->num_plans > 0)
        status = operands_create(b, &bc->ours, bc->item);
    if (status != CLI_OK || bc->num_plans == 0)
        return status;
    status = check_plans(b, bc);
    if (status == CLI_OK && bc->num_plans > 0)
        status = case_peers_add(b, bc);
    if (status == CLI_OK && bc->num_plans > 0)
        status = time_case(b, bc);
    return status;
}

static void free_case(bench_case_t *bc) {
    for (int i = 0; i < bc->num_plans; ++i)
        tcgemm_plan_destroy(bc->plans[i]);
    case_peers_free(bc);
    operands_free(&bc->ours);
    operands_free(&bc->f32);
}

static tcgemm_status_t place(const bench_t *b, const bench_item_t *item,
                             tcgemm_problem_t *problem) {
    const size_shape_t *shape = &item->shape;
    *problem = tcgemm_problem(item->type, shape->m, shape->n, shape->k);
    setup_problem(b->settings, problem);
    if (item->fast_accumulate)
        problem->flags |= TCGEMM_FLAG_FAST_ACCUMULATE;
    if (item->beta != 0)
        problem->flags |= TCGEMM_FLAG_ADDS_C;
    problem->batch = item->batch;
    if (shape->has_ops) {
        problem->op_a = shape->trans_a ? TCGEMM_OP_T : TCGEMM_OP_N;
        problem->op_b = shape->trans_b ? TCGEMM_OP_T : TCGEMM_OP_N;
    }
    return layout_place(problem, item->pad);
}

int bench_case_check(const bench_t *b, const bench_item_t *item) {
    const double cold = item->cold && !bench_is_on_gpu(b) ? b->cold_bytes : 0;
    tcgemm_problem_t problem;
    tcgemm_status_t placed = place(b, item, &problem);
    if (placed != TCGEMM_STATUS_OK)
        return message_library(placed);
    double bytes = rotation_bytes(&problem, cold);
    bool stands_in = false;
    for (int i = 0; i < b->peers.count; ++i)
        stands_in |= !b->peers.values[i].lt;
    if (stands_in && item->type != TCGEMM_F32_F32 && item->type != TCGEMM_F64_F64) {
        problem.type = TCGEMM_F32_F32;
        problem.flags &= TCGEMM_FLAG_REPRODUCIBLE;
        placed = layout_place(&problem, item->pad);
        if (placed != TCGEMM_STATUS_OK)
            return message_library(placed);
        bytes += rotation_bytes(&problem, cold);
    }
    char what[128];
    (void)snprintf(what, sizeof what, "the matrices of %s %lld x %lld x %lld",
                   tcgemm_type_info(item->type)->name, (long long)item->shape.m,
                   (long long)item->shape.n, (long long)item->shape.k);
    return workload_check_memory(bytes, what);
}

int bench_case_run(bench_t *b, const bench_item_t *item) {
    bench_case_t bc = {.item = item, .num_plans = 0};
    const tcgemm_status_t placed = place(b, item, &bc.ours.problem);
    const int status = placed == TCGEMM_STATUS_OK ? run_case(b, &bc) : message_library(placed);
    free_case(&bc);
    return status;
}
