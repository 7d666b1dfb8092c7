/* bench.c - types x shapes x threads; for each the algos and the peer in one contest. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_plans.h"
#include "bench/bench_rows.h"
#include "bench/bench_shapes.h"
#include "bench/contest.h"
#include "bench/peer.h"
#include "commands/cli.h"
#include "commands/setup.h"
#include "files/layout.h"
#include "files/output_file.h"
#include "plot/plot.h"
#include "support/message.h"
#include "support/progress.h"
#include "tcgemm/tcgemm.h"

typedef struct bench {
    const settings_t *settings;
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int num_types;
    size_shapes_t shapes;
    size_list_t threads;
    peer_t *peer;
    int device;               /* a GPU's number, or TCGEMM_DEVICE_CPU */
    tcgemm_device_info_t gpu; /* on a GPU: its facts, */
    gpu_clock_t *clock;       /* its time, */
    cublaslt_t *lt;           /* and the peer there */
    tcgemm_context_t *context;
    int num_threads; /* of the context */
    double cold_bytes;
    bench_rows_t rows;
    int64_t done, total, wrong;
} bench_t;

/* One problem with all its contestants; the peer is the last. */
typedef struct heat {
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
    contestant_t contestants[BENCH_MAX_PLANS + 1];
} heat_t;

/* ---- contestants ---- */

static bool is_on_gpu(const bench_t *b) {
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
                                 is_on_gpu(b) ? 0 : b->cold_bytes);
    if (status != CLI_OK || !is_on_gpu(b))
        return status;
    if (problem->type == TCGEMM_TF32_F32) {
        make_tf32(problem, 'A', data->copies[0].a);
        make_tf32(problem, 'B', data->copies[0].b);
    }
    return gpu_data_create(gpu, b->device, &data->copies[0], b->cold_bytes);
}

static int place_peer(const bench_t *b, heat_t *heat, tcgemm_type_t type,
                      tcgemm_problem_t *problem) {
    *problem = heat->problem;
    problem->type = type;
    problem->flags &= TCGEMM_FLAG_REPRODUCIBLE;
    const tcgemm_status_t status = layout_place(problem, 0);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    return make_data(b, problem, &heat->peer_data, &heat->gpu_peer_data);
}

static int add_openblas(const bench_t *b, heat_t *heat) {
    tcgemm_problem_t problem;
    if (!peer_can(&heat->problem))
        return CLI_OK;
    heat->peer_name = peer_name(heat->problem.type);
    heat->peer_version = peer_config(b->peer);
    heat->has_peer = true;
    peer_set_threads(b->peer, b->num_threads);
    return place_peer(b, heat, peer_type(heat->problem.type), &problem);
}

static int add_f32(const bench_t *b, heat_t *heat) {
    tcgemm_problem_t problem;
    const int status = place_peer(b, heat, TCGEMM_F32_F32, &problem);
    if (status != CLI_OK)
        return status;
    heat->peer_name = "tcgemm f32_f32";
    heat->has_peer = true;
    const tcgemm_status_t made = tcgemm_plan_create(b->context, &problem, NULL, &heat->peer_plan);
    return made == TCGEMM_STATUS_OK ? CLI_OK : message_library(made);
}

static int judge_on_gpu(const bench_t *b, heat_t *heat, const tcgemm_plan_t *plan,
                        const cublaslt_plan_t *lt, tcgemm_verify_report_t *report);

/* Its result is judged, too: a wrong description of the problem would be a wrong comparison. */
static int add_cublaslt(const bench_t *b, heat_t *heat) {
    const settings_t *s = b->settings;
    heat->peer_name = "none";
    heat->lt_plan =
        cublaslt_plan(b->lt, &heat->problem, s->alpha, s->beta, &heat->gpu_data.sets[0]);
    if (!heat->lt_plan)
        return CLI_OK;
    heat->peer_name = "cublaslt";
    heat->peer_version = cublaslt_version(b->lt);
    heat->has_peer = true;
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    const int status = judge_on_gpu(b, heat, heat->plans[0], heat->lt_plan, &report);
    if (status == CLI_OK && report.num_wrong != 0)
        message_note("%s is beyond our bound for %s %lld x %lld x %lld: %.3g of it",
                     heat->peer_name, tcgemm_type_info(heat->problem.type)->name,
                     (long long)heat->problem.m, (long long)heat->problem.n,
                     (long long)heat->problem.k, report.max_ratio);
    return status;
}

static int add_peer(const bench_t *b, heat_t *heat) {
    switch (b->settings->vs) {
    case PEER_OPENBLAS:
        return add_openblas(b, heat);
    case PEER_CUBLASLT:
        return add_cublaslt(b, heat);
    case PEER_F32:
        return add_f32(b, heat);
    default:
        return CLI_OK;
    }
}

/* ---- one heat ---- */

/* Runs one plan, or cublasLt's, on operands that lie on the GPU, and judges a copy of D. */
static int judge_on_gpu(const bench_t *b, heat_t *heat, const tcgemm_plan_t *plan,
                        const cublaslt_plan_t *lt, tcgemm_verify_report_t *report) {
    const settings_t *s = b->settings;
    workload_t *w = &heat->data.copies[0];
    const gpu_set_t *set = &heat->gpu_data.sets[0];
    double seconds;
    int status = gpu_data_mark(&heat->gpu_data, w);
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
    status = gpu_data_fetch(&heat->gpu_data, w);
    if (status != CLI_OK)
        return status;
    const tcgemm_status_t judged = tcgemm_verify(plan, s->alpha, w->a, w->b, s->beta, w->c, w->d,
                                                 TCGEMM_VERIFY_SAMPLE, (uint64_t)s->seed, report);
    return judged == TCGEMM_STATUS_OK ? CLI_OK : message_library(judged);
}

static int judge_here(const bench_t *b, const heat_t *heat, const tcgemm_plan_t *plan,
                      tcgemm_verify_report_t *report) {
    const settings_t *s = b->settings;
    const workload_t *w = &heat->data.copies[0];
    tcgemm_status_t status = tcgemm_run(plan, s->alpha, w->a, w->b, s->beta, w->c, w->d);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_verify(plan, s->alpha, w->a, w->b, s->beta, w->c, w->d,
                               TCGEMM_VERIFY_SAMPLE, (uint64_t)s->seed, report);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

/* The first result of every plan is checked. A wrong one is told and leaves the contest. */
static int check_plans(bench_t *b, heat_t *heat) {
    int kept = 0;
    for (int i = 0; i < heat->num_plans; ++i) {
        tcgemm_plan_t *plan = heat->plans[i];
        tcgemm_verify_report_t report = {.struct_size = sizeof report};
        const int status = is_on_gpu(b) ? judge_on_gpu(b, heat, plan, NULL, &report)
                                        : judge_here(b, heat, plan, &report);
        if (status != CLI_OK)
            return status;
        if (report.num_wrong == 0) {
            heat->plans[i] = NULL;
            heat->plans[kept++] = plan;
            continue;
        }
        ++b->wrong;
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        (void)tcgemm_plan_get_info(plan, &info);
        (void)message_fail(CLI_WRONG, "%s is WRONG for %s %lld x %lld x %lld and is not timed",
                           info.kernel, tcgemm_type_info(heat->problem.type)->name,
                           (long long)heat->problem.m, (long long)heat->problem.n,
                           (long long)heat->problem.k);
        tcgemm_plan_destroy(plan);
        heat->plans[i] = NULL;
    }
    heat->num_plans = kept;
    return CLI_OK;
}

static int time_heat(bench_t *b, heat_t *heat) {
    const settings_t *s = b->settings;
    const contest_limits_t limits = {s->samples, s->min_seconds};
    contestant_t *c = heat->contestants;
    const int ours = heat->num_plans;
    const int count = ours + heat->has_peer;
    for (int i = 0; i < ours; ++i)
        c[i] = (contestant_t){.plan = heat->plans[i],
                              .data = &heat->data,
                              .clock = b->clock,
                              .gpu = &heat->gpu_data,
                              .alpha = s->alpha,
                              .beta = s->beta};
    if (heat->has_peer)
        c[ours] = (contestant_t){.plan = heat->peer_plan,
                                 .peer = s->vs == PEER_OPENBLAS ? b->peer : NULL,
                                 .lt = heat->lt_plan,
                                 .data = &heat->peer_data,
                                 .clock = b->clock,
                                 .gpu = heat->lt_plan ? &heat->gpu_data : &heat->gpu_peer_data,
                                 .alpha = s->alpha,
                                 .beta = s->beta};
    int64_t num_samples = 0;
    int status = contest_run(c, count, &limits, &num_samples);
    for (int i = 0; i < ours && status == CLI_OK; ++i) {
        const bench_row_t row = {.problem = &heat->problem,
                                 .ours = &c[i],
                                 .peer = heat->has_peer ? &c[ours] : NULL,
                                 .peer_name = heat->peer_name,
                                 .peer_version = heat->peer_version,
                                 .num_samples = num_samples,
                                 .num_threads = b->num_threads,
                                 .cold = s->cold};
        status = bench_rows_add(&b->rows, &row);
    }
    contest_free(c, count);
    return status;
}

static int run_heat(bench_t *b, heat_t *heat) {
    int status = bench_plans(b->settings, b->context, is_on_gpu(b), &heat->problem, heat->plans,
                             &heat->num_plans);
    if (status == CLI_OK && heat->num_plans > 0)
        status = make_data(b, &heat->problem, &heat->data, &heat->gpu_data);
    if (status != CLI_OK || heat->num_plans == 0)
        return status;
    status = check_plans(b, heat);
    if (status == CLI_OK && heat->num_plans > 0)
        status = add_peer(b, heat);
    if (status == CLI_OK && heat->num_plans > 0)
        status = time_heat(b, heat);
    return status;
}

static void free_heat(heat_t *heat) {
    for (int i = 0; i < heat->num_plans; ++i)
        tcgemm_plan_destroy(heat->plans[i]);
    tcgemm_plan_destroy(heat->peer_plan);
    cublaslt_plan_free(heat->lt_plan);
    gpu_data_free(&heat->gpu_data);
    gpu_data_free(&heat->gpu_peer_data);
    rotation_free(&heat->data);
    rotation_free(&heat->peer_data);
}

static int one_problem(bench_t *b, tcgemm_type_t type, const size_shape_t *shape) {
    heat_t heat = {.problem = tcgemm_problem(type, shape->m, shape->n, shape->k)};
    setup_problem(b->settings, &heat.problem);
    if (shape->has_ops) {
        heat.problem.op_a = shape->trans_a ? TCGEMM_OP_T : TCGEMM_OP_N;
        heat.problem.op_b = shape->trans_b ? TCGEMM_OP_T : TCGEMM_OP_N;
    }
    const tcgemm_status_t placed = layout_place(&heat.problem, 0);
    const int status = placed == TCGEMM_STATUS_OK ? run_heat(b, &heat) : message_library(placed);
    free_heat(&heat);
    progress_set((double)++b->done / (double)b->total);
    return status;
}

/* ---- all of them ---- */

/* How many threads a context has, which a large plan tells. */
static int threads_of(tcgemm_context_t *context) {
    const tcgemm_problem_t large = tcgemm_problem(TCGEMM_F32_F32, 8192, 8192, 8192);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_t *plan;
    if (tcgemm_plan_create(context, &large, NULL, &plan) != TCGEMM_STATUS_OK)
        return 1;
    (void)tcgemm_plan_get_info(plan, &info);
    tcgemm_plan_destroy(plan);
    return info.num_threads;
}

static int one_thread_count(bench_t *b, int64_t threads) {
    if (threads > TCGEMM_MAX_THREADS)
        return message_usage("bench", "--threads is %lld, more than %d", (long long)threads,
                             TCGEMM_MAX_THREADS);
    int status = setup_context_on(b->device, (int)threads, &b->context);
    if (status != CLI_OK)
        return status;
    b->num_threads = threads > 0 ? (int)threads : threads_of(b->context);
    for (int t = 0; t < b->num_types && status == CLI_OK; ++t)
        for (size_t i = 0; i < b->shapes.count && status == CLI_OK; ++i)
            status = one_problem(b, b->types[t], &b->shapes.values[i]);
    tcgemm_context_destroy(b->context);
    b->context = NULL;
    return status;
}

static int run_all(bench_t *b) {
    int status = CLI_OK;
    b->total = b->num_types * (int64_t)b->shapes.count * (int64_t)b->threads.count;
    progress_begin("measuring", 0);
    for (size_t i = 0; i < b->threads.count && status == CLI_OK; ++i)
        status = one_thread_count(b, b->threads.values[i]);
    progress_end();
    return status;
}

static int write_csv(const bench_t *b) {
    output_t output;
    const int status = output_open(&output, b->settings->csv);
    if (status != CLI_OK)
        return status;
    if (bench_rows_write(&b->rows, TABLE_FORMAT_CSV, output.stream))
        return output_close(&output, true);
    (void)output_close(&output, false);
    return message_fail(CLI_NO_MEMORY, "no memory for the table");
}

/* What is drawn is the table as CSV, so that a kept file gives the same picture. */
static int draw(const bench_t *b) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    bool written = stream && bench_rows_write(&b->rows, TABLE_FORMAT_CSV, stream);
    written = stream && fclose(stream) == 0 && written;
    plot_data_t data = {0};
    int status = written ? plot_data_add(&data, "bench", text, length)
                         : message_fail(CLI_NO_MEMORY, "no memory for the table");
    if (status == CLI_OK)
        status = plot_draw(b->settings, &data, b->settings->plot);
    plot_data_free(&data);
    free(text);
    return status;
}

static int write_results(const bench_t *b) {
    const settings_t *s = b->settings;
    if (!s->quiet && !bench_rows_write(&b->rows, (table_format_t)s->format, stdout))
        return message_fail(CLI_NO_MEMORY, "no memory for the table");
    int status = s->csv ? write_csv(b) : CLI_OK;
    if (status == CLI_OK && s->plot)
        status = draw(b);
    return b->wrong > 0 ? CLI_WRONG : status;
}

static int parse_threads(bench_t *b) {
    const char *text = b->settings->threads ? b->settings->threads : "0";
    char why[SIZES_ERROR_SIZE];
    if (sizes_parse_list(text, strlen(text), &b->threads, why))
        return CLI_OK;
    return message_usage("bench", "--threads: %s", why);
}

static int parse_types(bench_t *b) {
    if (b->settings->type)
        return setup_types(b->settings, b->types, &b->num_types);
    b->types[0] = TCGEMM_F32_F32;
    b->num_types = 1;
    return CLI_OK;
}

static int check_settings(const settings_t *s) {
    if (!(s->min_seconds >= 0) || isinf(s->min_seconds))
        return message_usage("bench", "--min-seconds is %g, below 0 or endless", s->min_seconds);
    const int status = s->csv ? output_check(s->csv, s->force) : CLI_OK;
    return status == CLI_OK && s->plot ? plot_check(s, s->plot) : status;
}

/* Unless a GPU is asked for, or `auto` finds one, the CPU is measured. */
static int choose_device(bench_t *b) {
    const settings_t *s = b->settings;
    b->device = TCGEMM_DEVICE_CPU;
    const int status = s->device ? setup_device(s, &b->device) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (b->device == TCGEMM_DEVICE_AUTO)
        b->device = tcgemm_device_count() > 0 ? 0 : TCGEMM_DEVICE_CPU;
    if (s->vs == (is_on_gpu(b) ? PEER_OPENBLAS : PEER_CUBLASLT))
        return message_usage("bench", "--vs %s",
                             is_on_gpu(b) ? "openblas runs on the CPU: leave out --device"
                                          : "cublaslt runs on a GPU: give --device 0");
    if (!is_on_gpu(b))
        return CLI_OK;
    b->gpu.struct_size = sizeof b->gpu;
    const tcgemm_status_t told = tcgemm_device_get_info(b->device, &b->gpu);
    return told == TCGEMM_STATUS_OK ? CLI_OK : message_library(told);
}

static int open_clock(bench_t *b) {
    const char *why;
    if (!is_on_gpu(b))
        return CLI_OK;
    b->clock = gpu_clock_open(b->device, &why);
    if (!b->clock)
        return message_fail(CLI_NO_DEVICE, "GPU %d cannot be timed: %s", b->device, why);
    gpu_clock_driver(b->clock, b->rows.driver, sizeof b->rows.driver);
    return CLI_OK;
}

static int open_cublaslt(bench_t *b) {
    const char *why;
    b->lt = cublaslt_open(b->clock, b->device, &why);
    if (!b->lt)
        return message_fail(CLI_NO_DEVICE, "no peer: %s", why);
    message_note("the peer is cublaslt %s, the best of its proposals for each problem",
                 cublaslt_version(b->lt));
    return CLI_OK;
}

static int open_peer(bench_t *b) {
    if (b->settings->vs == PEER_CUBLASLT)
        return open_cublaslt(b);
    if (b->settings->vs != PEER_OPENBLAS)
        return CLI_OK;
    const char *why;
    b->peer = peer_open(&why);
    if (!b->peer)
        return message_fail(CLI_NO_DEVICE, "no peer: %s", why);
    message_note("the peer is %s; types it lacks run against its sgemm", peer_config(b->peer));
    return CLI_OK;
}

int command_bench(const settings_t *s) {
    bench_t b = {.settings = s};
    int status = check_settings(s);
    if (status == CLI_OK)
        status = parse_types(&b);
    if (status == CLI_OK)
        status = parse_threads(&b);
    if (status == CLI_OK)
        status = bench_shapes(s, &b.shapes);
    if (status == CLI_OK)
        status = choose_device(&b);
    if (status == CLI_OK)
        status = bench_rows_create(&b.rows, s, is_on_gpu(&b) ? &b.gpu : NULL);
    if (status == CLI_OK)
        status = open_clock(&b);
    if (status == CLI_OK)
        status = open_peer(&b);
    if (s->cold)
        b.cold_bytes = (is_on_gpu(&b) ? 2 : 3) * bench_rows_last_cache(&b.rows);
    if (status == CLI_OK)
        status = run_all(&b);
    if (status == CLI_OK)
        status = write_results(&b);
    bench_rows_free(&b.rows);
    peer_close(b.peer);
    cublaslt_close(b.lt);
    gpu_clock_close(b.clock);
    sizes_free_shapes(&b.shapes);
    sizes_free_list(&b.threads);
    return status;
}
