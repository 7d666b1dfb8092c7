/* bench.c - types x shapes x threads; for each the algos and the peer in turns. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_case.h"
#include "bench/bench_shapes.h"
#include "files/output_file.h"
#include "options/setup.h"
#include "plot/plot.h"
#include "support/exit_status.h"
#include "support/interrupt.h"
#include "support/message.h"
#include "support/progress.h"
#include "tcgemm/tcgemm.h"

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
    int status = setup_context_on(b->device, (int)threads, &b->context);
    if (status != CLI_OK)
        return status;
    b->num_threads = threads > 0 ? (int)threads : threads_of(b->context);
    for (int t = 0; t < b->num_types && status == CLI_OK; ++t)
        for (size_t i = 0; i < b->shapes.count && status == CLI_OK; ++i) {
            status = interrupt_came() ? CLI_INTERRUPTED
                                      : bench_case_run(b, b->types[t], &b->shapes.values[i]);
            b->done += status == CLI_OK;
            progress_set((double)b->done / (double)b->total);
        }
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

/* All sizes before the first measurement: what cannot be done at the end is told at the start. */
static int check_cases(const bench_t *b) {
    int status = CLI_OK;
    for (int t = 0; t < b->num_types && status == CLI_OK; ++t)
        for (size_t i = 0; i < b->shapes.count && status == CLI_OK; ++i)
            status = bench_case_check(b, b->types[t], &b->shapes.values[i]);
    return status;
}

/* What is drawn is the table as CSV, so that a kept file gives the same picture; a file that was
 * resumed holds more than was measured now. */
static int draw(const bench_t *b) {
    const char *path = b->settings->resume;
    char *text = NULL;
    size_t length = 0;
    int status = CLI_OK;
    if (path)
        status = setup_read_text(path, &text, &length);
    else {
        FILE *stream = open_memstream(&text, &length);
        bool written = stream && bench_rows_write(&b->rows, TABLE_FORMAT_CSV, stream);
        written = stream && fclose(stream) == 0 && written;
        status = written ? CLI_OK : message_fail(CLI_NO_MEMORY, "no memory for the table");
    }
    plot_data_t data = {0};
    if (status == CLI_OK)
        status = plot_data_add(&data, path ? path : "bench", text, length);
    if (status == CLI_OK)
        status = plot_draw(b->settings, &data, b->settings->plot);
    plot_data_free(&data);
    free(text);
    return status;
}

/* What the rows could not do as they came: the one document of JSON, and what became of the run. */
static int finish(bench_t *b, int status) {
    const settings_t *s = b->settings;
    const size_t rows = table_num_rows(b->rows.table);
    const int closed = bench_output_close(&b->output);
    if ((rows > 0 || status == CLI_OK) && !s->quiet && s->format == TABLE_FORMAT_JSON &&
        !bench_rows_write(&b->rows, TABLE_FORMAT_JSON, stdout))
        return message_fail(CLI_NO_MEMORY, "no memory for the table");
    if (b->skipped > 0)
        message_note("%lld row%s of %s need%s no other measurement", (long long)b->skipped,
                     b->skipped == 1 ? "" : "s", s->resume, b->skipped == 1 ? "s" : "");
    if (status != CLI_OK && rows + (size_t)b->done > 0)
        message_note("%lld of %lld problems are measured%s%s%s", (long long)b->done,
                     (long long)b->total, b->output.path ? ", their rows are in " : "",
                     b->output.path ? b->output.path : "",
                     b->output.path ? "; bench --resume goes on from there" : "");
    if (status == CLI_OK)
        status = closed;
    if (status == CLI_OK && s->plot)
        status = draw(b);
    return status == CLI_OK && b->wrong > 0 ? CLI_WRONG : status;
}

static int parse_threads(bench_t *b) {
    const char *text = b->settings->threads ? b->settings->threads : "0";
    char why[SIZES_ERROR_SIZE];
    if (!sizes_parse_list(text, strlen(text), &b->threads, why))
        return message_usage("bench", "--threads: %s", why);
    for (size_t i = 0; i < b->threads.count; ++i)
        if (b->threads.values[i] > TCGEMM_MAX_THREADS)
            return message_usage("bench", "--threads is %lld, more than %d",
                                 (long long)b->threads.values[i], TCGEMM_MAX_THREADS);
    return CLI_OK;
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
    if (s->csv && s->resume)
        return message_usage("bench", "--resume takes the place of --csv");
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
    if (s->vs == (bench_is_on_gpu(b) ? PEER_OPENBLAS : PEER_CUBLASLT))
        return message_usage("bench", "--vs %s",
                             bench_is_on_gpu(b) ? "openblas runs on the CPU: leave out --device"
                                                : "cublaslt runs on a GPU: give --device 0");
    if (!bench_is_on_gpu(b))
        return CLI_OK;
    b->gpu.struct_size = sizeof b->gpu;
    const tcgemm_status_t told = tcgemm_device_get_info(b->device, &b->gpu);
    return told == TCGEMM_STATUS_OK ? CLI_OK : message_library(told);
}

static int open_clock(bench_t *b) {
    const char *why;
    if (!bench_is_on_gpu(b))
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

/* Rows are printed before the last one is known: what is known of them beforehand makes room. */
static void set_widths(bench_t *b) {
    size_t shape = 0;
    size_t type = 0;
    for (size_t i = 0; i < b->shapes.count; ++i) {
        const size_shape_t *x = &b->shapes.values[i];
        const int length =
            snprintf(NULL, 0, "%lldx%lldx%lld", (long long)x->m, (long long)x->n, (long long)x->k);
        shape = (size_t)length > shape ? (size_t)length : shape;
    }
    for (int t = 0; t < b->num_types; ++t) {
        const size_t length = strlen(tcgemm_type_info(b->types[t])->name);
        type = length > type ? length : type;
    }
    table_set_width(b->rows.table, "type", type);
    table_set_width(b->rows.table, "shape", shape);
    table_set_width(b->rows.table, "algo", b->settings->algo ? sizeof "reference" - 1 : 3);
    table_set_width(b->rows.table, "time_median_seconds", sizeof "1.234e-05" - 1);
    if (b->settings->vs == PEER_NONE)
        return;
    table_set_width(b->rows.table, "peer", sizeof "openblas sgemm" - 1);
    table_set_width(b->rows.table, "ratio_spread_fraction", sizeof "0.0012" - 1);
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
        status = bench_rows_create(&b.rows, s, bench_is_on_gpu(&b) ? &b.gpu : NULL);
    if (status == CLI_OK)
        status = open_clock(&b);
    if (status == CLI_OK)
        status = open_peer(&b);
    if (status == CLI_OK && s->resume)
        status = bench_table_read(&b.before, s->resume, &b.rows);
    if (s->cold)
        b.cold_bytes = (bench_is_on_gpu(&b) ? 2 : 3) * bench_rows_last_cache(&b.rows);
    if (status == CLI_OK)
        status = check_cases(&b);
    if (status == CLI_OK) {
        bench_output_begin(&b.output, s, b.before.num_bytes);
        set_widths(&b);
        interrupt_defer();
        status = finish(&b, run_all(&b));
    }
    bench_table_free(&b.before);
    bench_rows_free(&b.rows);
    peer_close(b.peer);
    cublaslt_close(b.lt);
    gpu_clock_close(b.clock);
    sizes_free_shapes(&b.shapes);
    sizes_free_list(&b.threads);
    return status;
}
