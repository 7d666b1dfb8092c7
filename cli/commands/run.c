/* run.c - one product from start to end: operands, plan, runs, verification, output, report. */
#include "commands/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/job.h"
#include "files/layout.h"
#include "files/matrix.h"
#include "measure/statistics.h"
#include "options/setup.h"
#include "report/report.h"
#include "support/clock.h"
#include "support/exit_status.h"
#include "support/interrupt.h"
#include "support/message.h"
#include "support/progress.h"

/* Runs `repeat` times; `times` has room for four values each. */
static int time_runs(job_t *job, const tcgemm_plan_t *plan, run_facts_t *facts, double *times) {
    const int64_t repeat = job->settings->repeat;
    for (int64_t i = 0; i < repeat; ++i) {
        if (i > 0)
            job_reset(job);
        tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
        tcgemm_run_options_t options = tcgemm_run_options();
        options.stats = &stats;
        const tcgemm_data_t data = job_data(job);
        const tcgemm_status_t status = tcgemm_execute(plan, &data, &options);
        if (status != TCGEMM_STATUS_OK)
            return message_library(status);
        times[i] = stats.pack_seconds;
        times[repeat + i] = stats.product_seconds;
        times[2 * repeat + i] = stats.total_seconds;
        times[3 * repeat + i] = stats.transfer_seconds;
    }
    facts->stats.pack_seconds = statistics_median(times, repeat);
    facts->stats.product_seconds = statistics_median(times + repeat, repeat);
    facts->stats.total_seconds = statistics_median(times + 2 * repeat, repeat);
    facts->stats.transfer_seconds = statistics_median(times + 3 * repeat, repeat);
    return CLI_OK;
}

static int multiply(job_t *job, const tcgemm_plan_t *plan, run_facts_t *facts) {
    double *times = calloc((size_t)job->settings->repeat, 4 * sizeof *times);
    if (!times)
        return message_fail(CLI_NO_MEMORY, "no memory for the times of %lld runs",
                            (long long)job->settings->repeat);
    progress_begin("multiplying", facts->plan.predicted_seconds * (double)job->settings->repeat);
    const int status = time_runs(job, plan, facts, times);
    progress_end();
    free(times);
    return status;
}

/* The clock's estimate of a full check: the reference does about 2^29 products a second. */
static double check_seconds(const run_facts_t *f) {
    const double products = report_flop(&f->problem) / 2;
    const bool full = f->settings->verify == VERIFY_FULL || products <= 0x1p31;
    return full ? products * 0x1p-29 : 1e-9 * report_input_bytes(f) + 1;
}

static int check(const job_t *job, const tcgemm_plan_t *plan, run_facts_t *facts) {
    static const tcgemm_verify_mode_t modes[] = {
        [VERIFY_AUTO] = TCGEMM_VERIFY_AUTO,
        [VERIFY_SAMPLE] = TCGEMM_VERIFY_SAMPLE,
        [VERIFY_FULL] = TCGEMM_VERIFY_FULL,
    };
    const settings_t *s = job->settings;
    if (s->verify == VERIFY_NONE)
        return CLI_OK;
    facts->check.struct_size = sizeof facts->check;
    tcgemm_data_t data = job_data(job);
    data.c = job->c_before;
    progress_begin("verifying", check_seconds(facts));
    const tcgemm_status_t status =
        tcgemm_verify_data(plan, &data, modes[s->verify], (uint64_t)s->seed, &facts->check);
    progress_end();
    facts->verified = true;
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

/* A wrong result is not written: nobody should find it later and trust it. */
static int save(const job_t *job, run_facts_t *facts) {
    const settings_t *s = job->settings;
    facts->extraction_seconds = -1;
    if (!s->output)
        return CLI_OK;
    if (facts->verified && facts->check.num_wrong > 0) {
        message_note("%s is not written: the result is wrong", s->output);
        return CLI_OK;
    }
    const matrix_t d = job_result(job);
    const double start = clock_seconds();
    file_error_t err;
    (void)fflush(stdout);
    if (!matrix_save(s->output, &d, s->force, &err))
        return interrupt_pipe_broke() ? CLI_BAD_FILE /* whoever read has read enough */
                                      : message_fail(err.exit_status, "%s", err.message);
    facts->extraction_seconds = clock_seconds() - start;
    return CLI_OK;
}

static int print_matrices(const job_t *job) {
    const settings_t *s = job->settings;
    bool (*const print)(const print_view_t *, FILE *) =
        s->print == PRINT_PYTHON ? print_python : print_table;
    bool good = true;
    for (const char *name = "ABCD"; *name && good; ++name) {
        const print_view_t view = job_view(job, *name);
        if (*name != 'C' || s->beta != 0)
            good = print(&view, stdout);
    }
    return good ? CLI_OK : message_fail(CLI_NO_MEMORY, "no memory to print the matrices");
}

/* The text with "# " before each line: a comment below matrices that go into Python. */
static int report_as_comment(const run_facts_t *facts) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return message_fail(CLI_NO_MEMORY, "no memory for the report");
    report_text(facts, memory);
    (void)fclose(memory);
    for (char *line = text; line && *line;) {
        const size_t length = strcspn(line, "\n");
        (void)printf(length > 0 ? "# %.*s\n" : "#%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    free(text);
    return CLI_OK;
}

static int report(const job_t *job, const run_facts_t *facts) {
    const settings_t *s = job->settings;
    int status = CLI_OK;
    if (s->print != PRINT_NOTHING)
        status = print_matrices(job);
    if (status != CLI_OK || s->quiet)
        return status;
    if (s->print == PRINT_PYTHON)
        return report_as_comment(facts);
    if (s->print != PRINT_NOTHING)
        (void)putchar('\n');
    FILE *const out = s->output && strcmp(s->output, "-") == 0 ? stderr : stdout;
    if (s->format == TABLE_FORMAT_TEXT)
        report_text(facts, out);
    else if (!report_data(facts, (table_format_t)s->format, out))
        return message_fail(CLI_NO_MEMORY, "no memory for the report");
    return CLI_OK;
}

static int run_plan(job_t *job, const tcgemm_plan_t *plan) {
    run_facts_t facts = {.settings = job->settings,
                         .type = tcgemm_type_info(job->problem.type),
                         .problem = job->problem,
                         .c_is_read = job->settings->beta != 0};
    facts.plan.struct_size = sizeof facts.plan;
    const tcgemm_status_t told = tcgemm_plan_get_info(plan, &facts.plan);
    int status = told == TCGEMM_STATUS_OK ? CLI_OK : message_library(told);
    if (status == CLI_OK)
        status = multiply(job, plan, &facts);
    if (status == CLI_OK)
        status = check(job, plan, &facts);
    if (status == CLI_OK)
        status = save(job, &facts);
    if (status == CLI_OK)
        status = report(job, &facts);
    if (status == CLI_OK && facts.verified && facts.check.num_wrong > 0)
        status = CLI_WRONG;
    return status;
}

static int run_job(job_t *job, tcgemm_context_t *context) {
    const settings_t *s = job->settings;
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.algo = s->algo;
    options.kernel = s->kernel;
    options.tile = s->tile;
    tcgemm_plan_t *plan;
    const tcgemm_status_t status = tcgemm_plan_create(context, &job->problem, &options, &plan);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    const int result = run_plan(job, plan);
    tcgemm_plan_destroy(plan);
    return result;
}

/* Faults that can be told before any work is done. */
static int check_settings(const settings_t *s) {
    if (s->print != PRINT_NOTHING && s->format != TABLE_FORMAT_TEXT)
        return message_usage("run", "--print and --format exclude each other");
    if (s->print != PRINT_NOTHING && s->output && strcmp(s->output, "-") == 0)
        return message_usage("run", "--print and -o - both want the standard output");
    if (s->beta == 0 && s->c)
        message_note("beta is 0: %s is not read into the result", s->c);
    return CLI_OK;
}

/* The output's name and type, before a long computation. */
static int check_output(const job_t *job) {
    const settings_t *s = job->settings;
    file_error_t err;
    if (!s->output ||
        matrix_save_check(s->output, tcgemm_type_info(job->problem.type)->d, s->force, &err))
        return CLI_OK;
    return message_fail(err.exit_status, "%s", err.message);
}

/* A bias and an activation are the CPU's: `auto` means it then. */
static settings_t with_device(const settings_t *given) {
    settings_t s = *given;
    const bool is_auto = !s.device || strcmp(s.device, "auto") == 0;
    if (is_auto && (s.bias || s.activation != TCGEMM_ACTIVATION_NONE))
        s.device = "cpu";
    return s;
}

int command_run(const settings_t *settings) {
    const settings_t chosen = with_device(settings), *const s = &chosen;
    int threads;
    tcgemm_context_t *context = NULL;
    job_t job = {0};
    int status = check_settings(s);
    if (status == CLI_OK)
        status = setup_threads(s, &threads);
    if (status == CLI_OK)
        status = setup_context(s, threads, &context);
    if (status == CLI_OK)
        status = job_create(&job, s);
    if (status == CLI_OK)
        status = check_output(&job);
    if (status == CLI_OK)
        status = run_job(&job, context);
    job_free(&job);
    tcgemm_context_destroy(context);
    return status;
}
