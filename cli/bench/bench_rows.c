/* bench_rows.c - one row for each candidate of ours. */
#include "bench/bench_rows.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files/layout.h"
#include "measure/statistics.h"
#include "measure/stream.h"
#include "report/report.h"
#include "support/build_fact.h"
#include "support/exit_status.h"
#include "support/message.h"

static const table_column_t columns[BENCH_NUM_COLUMNS] = {
    {"type", "type", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"ops", "ops", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"order", "order", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"shape", "m x n x k", TABLE_LEFT, 0, TABLE_SCREEN_ONLY},
    {"m", "m", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"n", "n", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"k", "k", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"batch", "batch", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"algo", "algo", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"kernel", "kernel", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"threads", "thr", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"pad", "pad", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"beta", "beta", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"class", "class", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"cold", "cold", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"steady_seconds", "steady", TABLE_RIGHT, 3, TABLE_MACHINES_ONLY},
    {"samples", "samples", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"time_median_seconds", "median s", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"time_min_seconds", "least s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"time_spread_fraction", "spread", TABLE_RIGHT, 2, TABLE_MACHINES_ONLY},
    {"predicted_seconds", "predicted s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"gflops", "GFLOP/s", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"tflops", "TFLOP/s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"peak_gflops", "peak", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"peak_kind", "peak is", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"peak_fraction", "of peak", TABLE_RIGHT, 3, TABLE_EVERYWHERE},
    {"peer", "peer", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"peer_version", "version", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"peer_is_best", "best", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"peer_time_median_seconds", "peer s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"peer_time_min_seconds", "peer least s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"peer_time_spread_fraction", "peer spread", TABLE_RIGHT, 2, TABLE_MACHINES_ONLY},
    {"peer_gflops", "peer GFLOP/s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"peer_tflops", "TFLOP/s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"peer_peak_fraction", "peer of peak", TABLE_RIGHT, 3, TABLE_MACHINES_ONLY},
    {"ratio_median", "ratio", TABLE_RIGHT, 3, TABLE_EVERYWHERE},
    {"ratio_spread_fraction", "+-", TABLE_RIGHT, 2, TABLE_EVERYWHERE},
    {"memory_gb_per_second", "GB/s", TABLE_RIGHT, 4, TABLE_MACHINES_ONLY},
    {"memory_kind", "GB/s is", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"roof", "roof", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"roof_fraction", "of roof", TABLE_RIGHT, 3, TABLE_MACHINES_ONLY},
    {"commit", "commit", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"cpu", "cpu", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"device", "device", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"driver", "driver", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"compiler", "compiler", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"date_utc", "date", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
};

typedef struct placed_column {
    const char *name;
    table_place_t place;
} placed_column_t;

static void place_columns(bench_rows_t *rows, const placed_column_t *places, size_t count) {
    for (size_t i = 0; i < BENCH_NUM_COLUMNS; ++i)
        for (size_t j = 0; j < count; ++j)
            if (strcmp(rows->columns[i].name, places[j].name) == 0)
                rows->columns[i].place = places[j].place;
}

/* A GPU's speed reads in TFLOP/s, and no threads take part; a suite shows its classes. */
static void choose_columns(bench_rows_t *rows) {
    static const placed_column_t of_gpu[] = {
        {"gflops", TABLE_MACHINES_ONLY},
        {"threads", TABLE_MACHINES_ONLY},
        {"tflops", TABLE_EVERYWHERE},
        {"peer_tflops", TABLE_EVERYWHERE},
        {"ratio_spread_fraction", TABLE_MACHINES_ONLY},
    };
    static const placed_column_t of_suite[] = {
        {"class", TABLE_EVERYWHERE},
        {"algo", TABLE_MACHINES_ONLY},
        {"ratio_spread_fraction", TABLE_MACHINES_ONLY},
        {"peer_tflops", TABLE_MACHINES_ONLY},
    };
    memcpy(rows->columns, columns, sizeof columns);
    if (rows->gpu)
        place_columns(rows, of_gpu, sizeof of_gpu / sizeof *of_gpu);
    if (rows->settings->suite)
        place_columns(rows, of_suite, sizeof of_suite / sizeof *of_suite);
}

int bench_rows_create(bench_rows_t *rows, const settings_t *settings,
                      const tcgemm_device_info_t *gpu) {
    *rows = (bench_rows_t){
        .settings = settings, .gpu = gpu, .machine = {.struct_size = sizeof rows->machine}};
    choose_columns(rows);
    const tcgemm_status_t status = tcgemm_machine_get_info(&rows->machine);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    build_fact("commit", rows->commit, sizeof rows->commit);
    build_fact("compiler", rows->compiler, sizeof rows->compiler);
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        (void)strftime(rows->date, sizeof rows->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    rows->table = table_new(rows->columns, BENCH_NUM_COLUMNS);
    return rows->table ? CLI_OK : message_fail(CLI_NO_MEMORY, "no memory for the table");
}

void bench_rows_free(bench_rows_t *rows) {
    table_free(rows->table);
    rows->table = NULL;
}

double bench_rows_last_cache(const bench_rows_t *rows) {
    if (rows->gpu)
        return rows->gpu->l2_bytes > 0 ? (double)rows->gpu->l2_bytes : 64e6;
    if (rows->machine.l3_bytes > 0)
        return (double)rows->machine.l3_bytes;
    return rows->machine.l2_bytes > 0 ? (double)rows->machine.l2_bytes : 64e6;
}

/* The peak of a type in operations a second, or 0: measured on so many threads, of a GPU in theory.
 */
static double peak_of(bench_rows_t *rows, tcgemm_type_t type, int num_threads) {
    if (rows->gpu)
        return rows->gpu->peak[type];
    for (int i = 0; i < rows->num_peaks; ++i)
        if (rows->peaks[i].type == type && rows->peaks[i].num_threads == num_threads)
            return rows->peaks[i].measured;
    double theoretical = 0;
    double measured = 0;
    if (tcgemm_measure_peak(type, num_threads, &theoretical, &measured) != TCGEMM_STATUS_OK)
        measured = 0;
    if (rows->num_peaks < BENCH_MAX_PEAKS)
        rows->peaks[rows->num_peaks++] = (bench_peak_t){type, num_threads, measured};
    return measured;
}

/* Of the memory, in bytes a second, or 0: of a GPU in theory; of the CPU measured, which takes a
 * while. */
static double bandwidth_of(bench_rows_t *rows, int num_threads) {
    if (rows->gpu)
        return rows->gpu->bandwidth;
    for (int i = 0; i < rows->num_bandwidths; ++i)
        if (rows->bandwidths[i].num_threads == num_threads)
            return rows->bandwidths[i].measured;
    const double measured = stream_bandwidth(num_threads, bench_rows_last_cache(rows));
    if (rows->num_bandwidths < BENCH_MAX_BANDWIDTHS)
        rows->bandwidths[rows->num_bandwidths++] = (bench_bandwidth_t){num_threads, measured};
    return measured;
}

static void real_or_empty(table_t *table, bool known, double value) {
    if (known)
        table_real(table, value);
    else
        table_empty(table);
}

static void add_problem(table_t *table, const tcgemm_problem_t *p) {
    const char ops[3] = {p->op_a == TCGEMM_OP_T ? 'T' : 'N', p->op_b == TCGEMM_OP_T ? 'T' : 'N', 0};
    char shape[80];
    (void)snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)p->m, (long long)p->n,
                   (long long)p->k);
    table_text(table, tcgemm_type_info(p->type)->name);
    table_text(table, ops);
    table_text(table, p->order == TCGEMM_ROW_MAJOR ? "row" : "col");
    table_text(table, shape);
    table_integer(table, p->m);
    table_integer(table, p->n);
    table_integer(table, p->k);
    table_integer(table, p->batch);
}

static void add_times(bench_rows_t *rows, const bench_row_t *row, double predicted) {
    const summary_t time = statistics_summarize(row->ours->samples, row->num_samples);
    const double rate = statistics_rate(report_flop(row->problem), time.median);
    const double peak = peak_of(rows, row->problem->type, row->num_threads);
    const bool timed = time.median > 0;
    table_integer(rows->table, row->num_samples);
    table_real(rows->table, time.median);
    table_real(rows->table, time.least);
    table_real(rows->table, time.spread);
    table_real(rows->table, predicted);
    real_or_empty(rows->table, timed, rate * 1e-9);
    real_or_empty(rows->table, timed, rate * 1e-12);
    real_or_empty(rows->table, peak > 0, peak * 1e-9);
    table_text(rows->table, rows->gpu ? "theory" : "measured");
    real_or_empty(rows->table, peak > 0 && timed, statistics_fraction(rate, peak));
}

static void text_or_empty(table_t *table, const char *text) {
    if (text)
        table_text(table, text);
    else
        table_empty(table);
}

static void add_peer(bench_rows_t *rows, const bench_row_t *row) {
    text_or_empty(rows->table, row->peer_name);
    text_or_empty(rows->table, row->peer ? row->peer_version : NULL);
    if (!row->peer) {
        for (int i = 0; i < 9; ++i)
            table_empty(rows->table);
        return;
    }
    const summary_t time = statistics_summarize(row->peer->samples, row->num_samples);
    const summary_t ratio =
        statistics_ratio(row->ours->samples, row->peer->samples, row->num_samples);
    const double peak = rows->gpu ? peak_of(rows, row->problem->type, row->num_threads) : 0;
    const double rate = statistics_rate(report_flop(row->problem), time.median);
    table_truth(rows->table, row->is_best);
    table_real(rows->table, time.median);
    table_real(rows->table, time.least);
    table_real(rows->table, time.spread);
    real_or_empty(rows->table, rate > 0, rate * 1e-9);
    real_or_empty(rows->table, rate > 0, rate * 1e-12);
    real_or_empty(rows->table, peak > 0 && rate > 0, statistics_fraction(rate, peak));
    table_real(rows->table, ratio.median);
    table_real(rows->table, ratio.spread);
}

/* Whether someone will read it: on the CPU where the table is kept. */
static bool is_kept(const bench_rows_t *rows) {
    const settings_t *s = rows->settings;
    return rows->gpu || s->csv || s->resume || s->plot;
}

static void add_memory(bench_rows_t *rows, int num_threads) {
    const double bandwidth = is_kept(rows) ? bandwidth_of(rows, num_threads) : 0;
    real_or_empty(rows->table, bandwidth > 0, bandwidth * 1e-9);
    text_or_empty(rows->table, bandwidth <= 0 ? NULL : rows->gpu ? "theory" : "measured");
}

/* What no product can beat: all its operations at the peak, or each matrix moved once, unless they
 * may lie in a cache. */
static void add_roof(bench_rows_t *rows, const bench_row_t *row) {
    const tcgemm_problem_t *p = row->problem;
    const double median = statistics_summarize(row->ours->samples, row->num_samples).median;
    const double peak = peak_of(rows, p->type, row->num_threads);
    double bytes = 0;
    for (const char *x = row->ours->beta != 0 ? "ABCD" : "ABD"; *x; ++x)
        bytes += (double)layout_of(p, *x).bytes;
    const bool from_memory = (is_kept(rows) || rows->settings->suite) &&
                             (row->cold || bytes > bench_rows_last_cache(rows));
    const double by_peak = statistics_fraction(report_flop(p), peak);
    const double by_memory =
        from_memory ? statistics_fraction(bytes, bandwidth_of(rows, row->num_threads)) : 0;
    const double least = by_memory > by_peak ? by_memory : by_peak;
    text_or_empty(rows->table, least <= 0 ? NULL : by_memory > by_peak ? "memory" : "peak");
    real_or_empty(rows->table, least > 0 && median > 0, statistics_fraction(least, median));
}

int bench_rows_add(bench_rows_t *rows, const bench_row_t *row) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    const tcgemm_status_t status = tcgemm_plan_get_info(row->ours->plan, &info);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    add_problem(rows->table, row->problem);
    table_text(rows->table, info.algo);
    table_text(rows->table, info.kernel);
    table_integer(rows->table, row->num_threads);
    table_integer(rows->table, row->pad);
    table_real(rows->table, row->ours->beta);
    text_or_empty(rows->table, row->class_name);
    table_truth(rows->table, row->cold);
    table_real(rows->table, row->steady_seconds);
    add_times(rows, row, info.predicted_seconds);
    add_peer(rows, row);
    add_memory(rows, row->num_threads);
    add_roof(rows, row);
    table_text(rows->table, rows->commit);
    table_text(rows->table, rows->machine.cpu);
    table_text(rows->table, info.device);
    table_text(rows->table, rows->driver);
    table_text(rows->table, rows->compiler);
    table_text(rows->table, rows->date);
    if (row->peer && !row->is_best)
        table_hide_row(rows->table);
    return CLI_OK;
}

bool bench_rows_write(const bench_rows_t *rows, table_format_t format, FILE *out) {
    return table_write(rows->table, format, "tcgemm.bench/1", out);
}
