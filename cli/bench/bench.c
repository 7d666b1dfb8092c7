/* bench.c - one item after the other; for each the algos and the peers in turns. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_case.h"
#include "bench/bench_items.h"
#include "bench/class_summary.h"
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

/* The context of an item; that of the item before where it has as many threads. */
static int take_context(bench_t *b, int64_t threads) {
    if (b->context && b->context_for == threads)
        return CLI_OK;
    tcgemm_context_destroy(b->context);
    const int status = setup_context_on(b->device, (int)threads, &b->context);
    if (status != CLI_OK)
        return status;
    b->context_for = threads;
    b->num_threads = threads > 0 ? (int)threads : threads_of(b->context);
    bench_peers_set_threads(&b->peers, b->num_threads);
    return CLI_OK;
}

static int run_all(bench_t *b) {
    int status = CLI_OK;
    b->total = (int64_t)b->items.count;
    progress_begin("measuring", 0);
    for (size_t i = 0; i < b->items.count && status == CLI_OK; ++i) {
        status = interrupt_came() ? CLI_INTERRUPTED : take_context(b, b->items.values[i].threads);
        if (status == CLI_OK)
            status = bench_case_run(b, &b->items.values[i]);
        b->done += status == CLI_OK;
        progress_set((double)b->done / (double)b->total);
    }
    progress_end();
    tcgemm_context_destroy(b->context);
    b->context = NULL;
    return status;
}

/* All sizes before the first measurement: what cannot be done at the end is told at the start. */
static int check_cases(const bench_t *b) {
    int status = CLI_OK;
    for (size_t i = 0; i < b->items.count && status == CLI_OK; ++i)
        status = bench_case_check(b, &b->items.values[i]);
    return status;
}

/* The table as CSV, so that a kept file says the same as the rows of this run; a file that was
 * resumed holds more than was measured now. */
static int read_rows(const bench_t *b, char **text, size_t *length) {
    if (b->settings->resume)
        return setup_read_text(b->settings->resume, text, length);
    FILE *stream = open_memstream(text, length);
    bool written = stream && bench_rows_write(&b->rows, TABLE_FORMAT_CSV, stream);
    written = stream && fclose(stream) == 0 && written;
    return written ? CLI_OK : message_fail(CLI_NO_MEMORY, "no memory for the table");
}

static int draw(const bench_t *b) {
    const char *path = b->settings->resume;
    char *text = NULL;
    size_t length = 0;
    int status = read_rows(b, &text, &length);
    plot_data_t data = {0};
    if (status == CLI_OK)
        status = plot_data_add(&data, path ? path : "bench", text, length);
    if (status == CLI_OK)
        status = plot_draw(b->settings, &data, b->settings->plot);
    plot_data_free(&data);
    free(text);
    return status;
}

/* What the suite's classes make of the rows; NULL, having told why, without memory. */
static table_t *make_classes(const bench_t *b) {
    const class_key_t key = {.commit = b->rows.commit,
                             .cpu = b->rows.machine.cpu,
                             .device = bench_is_on_gpu(b) ? b->gpu.name : "cpu"};
    char why[CSV_ERROR_SIZE];
    char *text = NULL;
    size_t length = 0;
    csv_t csv = {0};
    table_t *table = NULL;
    if (read_rows(b, &text, &length) == CLI_OK) {
        if (csv_parse(text, length, &csv, why)) {
            table = class_table(&b->suite, &b->items, &csv, &key);
            csv_free(&csv);
        }
        if (!table)
            (void)message_fail(CLI_NO_MEMORY, "no memory for the table of classes");
    }
    free(text);
    return table;
}

/* One document: the rows and, of a suite, its classes. */
static bool write_json(const bench_t *b, const table_t *classes) {
    json_t *rows = table_rows(b->rows.table);
    json_t *lines = classes ? table_rows(classes) : NULL;
    json_t *document =
        rows ? json_pack("{s:s, s:O}", "schema", "tcgemm.bench/1", "rows", rows) : NULL;
    bool good = document && (!classes || json_object_set(document, "classes", lines) == 0);
    good = good && table_write_json(document, TABLE_FORMAT_JSON, stdout);
    json_decref(document);
    json_decref(lines);
    json_decref(rows);
    return good;
}

/* Behind the rows, where a reader or a document has a place for it. */
static int write_classes(const bench_t *b, table_t *classes) {
    const table_format_t format = (table_format_t)b->settings->format;
    if (!classes || (format != TABLE_FORMAT_TEXT && format != TABLE_FORMAT_MD))
        return CLI_OK;
    (void)putchar('\n');
    return table_write(classes, format, "", stdout)
               ? CLI_OK
               : message_fail(CLI_NO_MEMORY, "no memory for the table");
}

/* The tables that are written at the end. */
static int write_end(const bench_t *b, int status) {
    const settings_t *s = b->settings;
    const bool any = table_num_rows(b->rows.table) > 0 || b->skipped > 0;
    table_t *classes = s->suite && any ? make_classes(b) : NULL;
    int written = s->suite && any && !classes ? CLI_NO_MEMORY : CLI_OK;
    if (!s->quiet && written == CLI_OK) {
        written = write_classes(b, classes);
        if ((any || status == CLI_OK) && s->format == TABLE_FORMAT_JSON && !write_json(b, classes))
            written = message_fail(CLI_NO_MEMORY, "no memory for the table");
    }
    table_free(classes);
    return written;
}

/* What the rows could not do as they came, and what became of the run. */
static int finish(bench_t *b, int status) {
    const settings_t *s = b->settings;
    const size_t rows = table_num_rows(b->rows.table);
    const int closed = bench_output_close(&b->output);
    const int written = write_end(b, status);
    if (written != CLI_OK)
        return written;
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

static int check_settings(const settings_t *s) {
    if ((s->min_seconds < 0 && s->min_seconds != OPTIONS_NOT_SAID) || isnan(s->min_seconds) ||
        isinf(s->min_seconds))
        return message_usage("bench", "--min-seconds is %g, below 0 or endless", s->min_seconds);
    if ((s->pause < 0 && s->pause != OPTIONS_NOT_SAID) || !(s->pause <= 60))
        return message_usage("bench", "--pause is %g, below 0 or above 60 seconds", s->pause);
    if (!(s->steady >= 0 && s->steady <= 60))
        return message_usage("bench", "--steady is %g, below 0 or above 60 seconds", s->steady);
    if (s->classes && !s->suite)
        return message_usage("bench", "--class chooses among the classes of a --suite");
    if (s->csv && s->resume)
        return message_usage("bench", "--resume takes the place of --csv");
    const int status = s->csv ? output_check(s->csv, s->force) : CLI_OK;
    return status == CLI_OK && s->plot ? plot_check(s, s->plot) : status;
}

/* Unless a GPU is asked for, or `auto` finds one, the CPU is measured. */
static int choose_device(bench_t *b) {
    const settings_t *s = b->settings;
    b->device = b->suite.on_gpu ? 0 : TCGEMM_DEVICE_CPU;
    const int status = s->device ? setup_device(s, &b->device) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (b->device == TCGEMM_DEVICE_AUTO)
        b->device = tcgemm_device_count() > 0 ? 0 : TCGEMM_DEVICE_CPU;
    if (s->suite && b->suite.on_gpu != bench_is_on_gpu(b))
        return message_usage("bench", "the suite %s is one of %s", s->suite,
                             b->suite.on_gpu ? "a GPU: give --device 0"
                                             : "the CPU: leave out --device");
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

/* Rows are printed before the last one is known: what is known of them beforehand makes room. */
static void set_widths(bench_t *b) {
    size_t shape = 0;
    size_t type = 0;
    size_t class = 0;
    for (size_t i = 0; i < b->items.count; ++i) {
        const bench_item_t *item = &b->items.values[i];
        const size_shape_t *x = &item->shape;
        const int length =
            snprintf(NULL, 0, "%lldx%lldx%lld", (long long)x->m, (long long)x->n, (long long)x->k);
        const size_t name = strlen(tcgemm_type_info(item->type)->name);
        const size_t class_name = item->class_name ? strlen(item->class_name) : 0;
        shape = (size_t)length > shape ? (size_t)length : shape;
        type = name > type ? name : type;
        class = class_name > class ? class_name : class;
    }
    table_set_width(b->rows.table, "type", type);
    table_set_width(b->rows.table, "shape", shape);
    table_set_width(b->rows.table, "class", class);
    table_set_width(b->rows.table, "algo", b->settings->algo ? sizeof "reference" - 1 : 3);
    table_set_width(b->rows.table, "time_median_seconds", sizeof "1.234e-05" - 1);
    if (b->peers.count == 0)
        return;
    for (int i = 0; i < b->peers.count; ++i) {
        const peer_t *library = b->peers.values[i].library;
        table_set_width(b->rows.table, "peer",
                        library ? (size_t)peer_label_width(library) : sizeof "cublaslt" - 1);
    }
    table_set_width(b->rows.table, "ratio_spread_fraction", sizeof "0.0012" - 1);
}

/* What an option says, else the suite, else what is usual. */
static void choose_limits(bench_t *b) {
    const settings_t *s = b->settings;
    b->min_seconds = s->min_seconds >= 0    ? s->min_seconds
                     : b->suite.seconds > 0 ? b->suite.seconds
                                            : 0.5;
    b->min_samples = s->samples > 0 ? s->samples : b->suite.samples > 0 ? b->suite.samples : 10;
}

/* Everything that can be refused before something is opened. */
static int prepare(bench_t *b) {
    const settings_t *s = b->settings;
    int status = check_settings(s);
    if (status == CLI_OK && s->suite)
        status = bench_suite_read(s, &b->suite);
    choose_limits(b);
    if (status == CLI_OK)
        status = choose_device(b);
    if (status == CLI_OK)
        status = bench_rows_create(&b->rows, s, bench_is_on_gpu(b) ? &b->gpu : NULL);
    if (status == CLI_OK)
        status = bench_items_make(s, &b->suite, b->rows.machine.num_processors, &b->items);
    return status;
}

int command_bench(const settings_t *s) {
    bench_t b = {.settings = s, .device = TCGEMM_DEVICE_CPU};
    int status = prepare(&b);
    if (status == CLI_OK)
        status = open_clock(&b);
    if (status == CLI_OK)
        status = bench_peers_open(&b.peers, s->vs, b.clock, b.device);
    if (status == CLI_OK && s->resume)
        status = bench_table_read(&b.before, s->resume, &b.rows);
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
    bench_peers_close(&b.peers);
    gpu_clock_close(b.clock);
    bench_items_free(&b.items);
    suite_free(&b.suite);
    return status;
}
