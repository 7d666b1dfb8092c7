/* bench_case.c - candidates, judgement, interleaved samples, rows. */
#include "bench/bench_case.h"

#include <stdio.h>
#include <string.h>

#include "bench/bench_plans.h"
#include "files/layout.h"
#include "support/exit_status.h"
#include "support/interrupt.h"
#include "support/message.h"

/* One problem with all its candidates; the peer is the last. */
typedef struct bench_case {
    tcgemm_problem_t problem;
    rotation_t data, peer_data;
    gpu_data_t gpu_data, gpu_peer_data;
    cublaslt_plan_t *lt_plan;
    tcgemm_plan_t *plans[BENCH_MAX_PLANS];
    int num_plans;
    tcgemm_plan_t *peer_plan;
    const char *peer_name; /* NULL: no peer */
    const char *peer_version;
    bool has_peer; /* false with a name: "none" */
    candidate_t candidates[BENCH_MAX_PLANS + 1];
} bench_case_t;

static const char f32_name[] = "tcgemm f32_f32";

/* ---- candidates ---- */

bool bench_is_on_gpu(const bench_t *b) {
    return b->device >= 0;
}

/* cuBLAS may cut what it takes as tf32 instead of rounding it; elements that are tf32 already meet
 * both alike. */
static void make_tf32(const tcgemm_problem_t *p, char operand, void *data) {
    const layout_t x = layout_of(p, operand);
    unsigned char *at = data;
    for (int64_t i = 0; i < x.elements; ++i, at += sizeof(uint32_t)) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        bits &= 0xFFFFE000u;
        memcpy(at, &bits, sizeof bits);
    }
}

/* Random operands: on the CPU in as many copies as --cold needs, for a GPU once here and the copies
 * there. */
static int make_data(const bench_t *b, const tcgemm_problem_t *problem, rotation_t *data,
                     gpu_data_t *gpu) {
    const settings_t *s = b->settings;
    int status = rotation_create(data, problem, (uint64_t)s->seed, s->beta != 0,
                                 bench_is_on_gpu(b) ? 0 : b->cold_bytes);
    if (status != CLI_OK || !bench_is_on_gpu(b))
        return status;
    if (problem->type == TCGEMM_TF32_F32) {
        make_tf32(problem, 'A', data->copies[0].a);
        make_tf32(problem, 'B', data->copies[0].b);
    }
    return gpu_data_create(gpu, b->device, &data->copies[0], b->cold_bytes);
}

static tcgemm_problem_t peer_problem(const tcgemm_problem_t *problem, tcgemm_type_t type) {
    tcgemm_problem_t theirs = *problem;
    theirs.type = type;
    theirs.flags &= TCGEMM_FLAG_REPRODUCIBLE;
    return theirs;
}

static int place_peer(const bench_t *b, bench_case_t *bc, tcgemm_type_t type,
                      tcgemm_problem_t *problem) {
    *problem = peer_problem(&bc->problem, type);
    const tcgemm_status_t status = layout_place(problem, 0);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    return make_data(b, problem, &bc->peer_data, &bc->gpu_peer_data);
}

static int add_openblas(const bench_t *b, bench_case_t *bc) {
    tcgemm_problem_t problem;
    if (!peer_can(&bc->problem))
        return CLI_OK;
    bc->peer_name = peer_name(bc->problem.type);
    bc->peer_version = peer_config(b->peer);
    bc->has_peer = true;
    peer_set_threads(b->peer, b->num_threads);
    return place_peer(b, bc, peer_type(bc->problem.type), &problem);
}

static int add_f32(const bench_t *b, bench_case_t *bc) {
    tcgemm_problem_t problem;
    const int status = place_peer(b, bc, TCGEMM_F32_F32, &problem);
    if (status != CLI_OK)
        return status;
    bc->peer_name = f32_name;
    bc->has_peer = true;
    const tcgemm_status_t made = tcgemm_plan_create(b->context, &problem, NULL, &bc->peer_plan);
    return made == TCGEMM_STATUS_OK ? CLI_OK : message_library(made);
}

static int judge_on_gpu(const bench_t *b, bench_case_t *bc, const tcgemm_plan_t *plan,
                        const cublaslt_plan_t *lt, tcgemm_verify_report_t *report);

/* Its result is judged, too: a wrong description of the problem would be a wrong comparison. */
static int add_cublaslt(const bench_t *b, bench_case_t *bc) {
    const settings_t *s = b->settings;
    bc->peer_name = "none";
    bc->lt_plan = cublaslt_plan(b->lt, &bc->problem, s->alpha, s->beta, &bc->gpu_data.sets[0]);
    if (!bc->lt_plan)
        return CLI_OK;
    bc->peer_name = "cublaslt";
    bc->peer_version = cublaslt_version(b->lt);
    bc->has_peer = true;
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    const int status = judge_on_gpu(b, bc, bc->plans[0], bc->lt_plan, &report);
    if (status == CLI_OK && report.num_wrong != 0)
        message_note("%s is beyond our bound for %s %lld x %lld x %lld: %.3g of it", bc->peer_name,
                     tcgemm_type_info(bc->problem.type)->name, (long long)bc->problem.m,
                     (long long)bc->problem.n, (long long)bc->problem.k, report.max_ratio);
    return status;
}

static int add_peer(const bench_t *b, bench_case_t *bc) {
    switch (b->settings->vs) {
    case PEER_OPENBLAS:
        return add_openblas(b, bc);
    case PEER_CUBLASLT:
        return add_cublaslt(b, bc);
    case PEER_F32:
        return add_f32(b, bc);
    default:
        return CLI_OK;
    }
}

/* ---- one case ---- */

/* Runs one plan, or cublasLt's, on operands that lie on the GPU, and judges a copy of D. */
static int judge_on_gpu(const bench_t *b, bench_case_t *bc, const tcgemm_plan_t *plan,
                        const cublaslt_plan_t *lt, tcgemm_verify_report_t *report) {
    const settings_t *s = b->settings;
    workload_t *w = &bc->data.copies[0];
    const gpu_set_t *set = &bc->gpu_data.sets[0];
    double seconds;
    int status = gpu_data_mark(&bc->gpu_data, w);
    if (status != CLI_OK)
        return status;
    bool good = gpu_clock_start(b->clock);
    if (lt)
        good = cublaslt_run(lt, set) && good;
    else {
        const tcgemm_status_t run =
            tcgemm_run_async(plan, s->alpha, set->a, set->b, s->beta, set->c, set->d, NULL, 0,
                             gpu_clock_stream(b->clock));
        if (run != TCGEMM_STATUS_OK)
            return message_library(run);
    }
    if (!gpu_clock_stop(b->clock, &seconds) || !good)
        return message_fail(CLI_NO_DEVICE, "the GPU failed in a product");
    status = gpu_data_fetch(&bc->gpu_data, w);
    if (status != CLI_OK)
        return status;
    const tcgemm_status_t judged = tcgemm_verify(plan, s->alpha, w->a, w->b, s->beta, w->c, w->d,
                                                 TCGEMM_VERIFY_SAMPLE, (uint64_t)s->seed, report);
    return judged == TCGEMM_STATUS_OK ? CLI_OK : message_library(judged);
}

static int judge_here(const bench_t *b, const bench_case_t *bc, const tcgemm_plan_t *plan,
                      tcgemm_verify_report_t *report) {
    const settings_t *s = b->settings;
    const workload_t *w = &bc->data.copies[0];
    tcgemm_status_t status = tcgemm_run(plan, s->alpha, w->a, w->b, s->beta, w->c, w->d);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_verify(plan, s->alpha, w->a, w->b, s->beta, w->c, w->d,
                               TCGEMM_VERIFY_SAMPLE, (uint64_t)s->seed, report);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

/* The first result of every plan is checked. A wrong one is reported and is not timed. */
static int check_plans(bench_t *b, bench_case_t *bc) {
    int kept = 0;
    for (int i = 0; i < bc->num_plans; ++i) {
        tcgemm_plan_t *plan = bc->plans[i];
        tcgemm_verify_report_t report = {.struct_size = sizeof report};
        const int status = interrupt_came()     ? CLI_INTERRUPTED
                           : bench_is_on_gpu(b) ? judge_on_gpu(b, bc, plan, NULL, &report)
                                                : judge_here(b, bc, plan, &report);
        if (status != CLI_OK)
            return status;
        if (report.num_wrong == 0) {
            bc->plans[i] = NULL;
            bc->plans[kept++] = plan;
            continue;
        }
        ++b->wrong;
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        (void)tcgemm_plan_get_info(plan, &info);
        (void)message_fail(CLI_WRONG, "%s is WRONG for %s %lld x %lld x %lld and is not timed",
                           info.kernel, tcgemm_type_info(bc->problem.type)->name,
                           (long long)bc->problem.m, (long long)bc->problem.n,
                           (long long)bc->problem.k);
        tcgemm_plan_destroy(plan);
        bc->plans[i] = NULL;
    }
    bc->num_plans = kept;
    return CLI_OK;
}

static int time_case(bench_t *b, bench_case_t *bc) {
    const settings_t *s = b->settings;
    const sampling_limits_t limits = {s->samples, s->min_seconds};
    candidate_t *c = bc->candidates;
    const int ours = bc->num_plans;
    const int count = ours + bc->has_peer;
    for (int i = 0; i < ours; ++i)
        c[i] = (candidate_t){.plan = bc->plans[i],
                             .data = &bc->data,
                             .clock = b->clock,
                             .gpu = &bc->gpu_data,
                             .alpha = s->alpha,
                             .beta = s->beta};
    if (bc->has_peer)
        c[ours] = (candidate_t){.plan = bc->peer_plan,
                                .peer = s->vs == PEER_OPENBLAS ? b->peer : NULL,
                                .lt = bc->lt_plan,
                                .data = &bc->peer_data,
                                .clock = b->clock,
                                .gpu = bc->lt_plan ? &bc->gpu_data : &bc->gpu_peer_data,
                                .alpha = s->alpha,
                                .beta = s->beta};
    int64_t num_samples = 0;
    int status = interleave_run(c, count, &limits, &num_samples);
    for (int i = 0; i < ours && status == CLI_OK; ++i) {
        const bench_row_t row = {.problem = &bc->problem,
                                 .ours = &c[i],
                                 .peer = bc->has_peer ? &c[ours] : NULL,
                                 .peer_name = bc->peer_name,
                                 .peer_version = bc->peer_version,
                                 .num_samples = num_samples,
                                 .num_threads = b->num_threads,
                                 .cold = s->cold};
        status = bench_rows_add(&b->rows, &row);
    }
    candidates_free(c, count);
    return status == CLI_OK ? bench_output_rows(&b->output, b->rows.table) : status;
}

/* What the column `peer` will say; "" without a peer, NULL where only cublasLt knows. */
static const char *name_of_peer(const bench_t *b, const tcgemm_problem_t *problem) {
    switch (b->settings->vs) {
    case PEER_OPENBLAS:
        return peer_can(problem) ? peer_name(problem->type) : "";
    case PEER_CUBLASLT:
        return NULL;
    case PEER_F32:
        return f32_name;
    default:
        return "";
    }
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
        const bench_key_t key = {.problem = &bc->problem,
                                 .plan = &info,
                                 .num_threads = b->num_threads,
                                 .cold = b->settings->cold,
                                 .peer = name_of_peer(b, &bc->problem),
                                 .cpu = b->rows.machine.cpu,
                                 .commit = b->rows.commit};
        bc->plans[i] = NULL;
        if (bench_table_has(&b->before, &key)) {
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
    int status = bench_plans(b->settings, b->context, bench_is_on_gpu(b), &bc->problem, bc->plans,
                             &bc->num_plans);
    if (status == CLI_OK)
        status = skip_known(b, bc);
    if (status == CLI_OK && bc->num_plans > 0)
        status = make_data(b, &bc->problem, &bc->data, &bc->gpu_data);
    if (status != CLI_OK || bc->num_plans == 0)
        return status;
    status = check_plans(b, bc);
    if (status == CLI_OK && bc->num_plans > 0)
        status = add_peer(b, bc);
    if (status == CLI_OK && bc->num_plans > 0)
        status = time_case(b, bc);
    return status;
}

static void free_case(bench_case_t *bc) {
    for (int i = 0; i < bc->num_plans; ++i)
        tcgemm_plan_destroy(bc->plans[i]);
    tcgemm_plan_destroy(bc->peer_plan);
    cublaslt_plan_free(bc->lt_plan);
    gpu_data_free(&bc->gpu_data);
    gpu_data_free(&bc->gpu_peer_data);
    rotation_free(&bc->data);
    rotation_free(&bc->peer_data);
}

static tcgemm_status_t place(const bench_t *b, tcgemm_type_t type, const size_shape_t *shape,
                             tcgemm_problem_t *problem) {
    *problem = tcgemm_problem(type, shape->m, shape->n, shape->k);
    setup_problem(b->settings, problem);
    if (shape->has_ops) {
        problem->op_a = shape->trans_a ? TCGEMM_OP_T : TCGEMM_OP_N;
        problem->op_b = shape->trans_b ? TCGEMM_OP_T : TCGEMM_OP_N;
    }
    return layout_place(problem, 0);
}

int bench_case_check(const bench_t *b, tcgemm_type_t type, const size_shape_t *shape) {
    const int vs = b->settings->vs;
    const double cold = bench_is_on_gpu(b) ? 0 : b->cold_bytes;
    tcgemm_problem_t problem;
    tcgemm_status_t placed = place(b, type, shape, &problem);
    if (placed != TCGEMM_STATUS_OK)
        return message_library(placed);
    double bytes = rotation_bytes(&problem, cold);
    if (vs == PEER_F32 || (vs == PEER_OPENBLAS && peer_can(&problem))) {
        tcgemm_problem_t theirs =
            peer_problem(&problem, vs == PEER_F32 ? TCGEMM_F32_F32 : peer_type(type));
        placed = layout_place(&theirs, 0);
        if (placed != TCGEMM_STATUS_OK)
            return message_library(placed);
        bytes += rotation_bytes(&theirs, cold);
    }
    char what[128];
    (void)snprintf(what, sizeof what, "the matrices of %s %lld x %lld x %lld",
                   tcgemm_type_info(type)->name, (long long)shape->m, (long long)shape->n,
                   (long long)shape->k);
    return workload_check_memory(bytes, what);
}

int bench_case_run(bench_t *b, tcgemm_type_t type, const size_shape_t *shape) {
    bench_case_t bc = {.num_plans = 0};
    const tcgemm_status_t placed = place(b, type, shape, &bc.problem);
    const int status = placed == TCGEMM_STATUS_OK ? run_case(b, &bc) : message_library(placed);
    free_case(&bc);
    return status;
}
