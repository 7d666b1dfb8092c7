/* verify.c - every kernel this machine can run, on every type it does, against the reference.
 *
 *                 shapes                             for each shape
 *     --quick     around the tile, on its diagonal   4 transposes x 2 orders, the rest in turns
 *     --full      {1, t-1, t, t+1}^3 and larger      ... x all 9 scalars around the tile
 *                 on a GPU: pairs of these, larger   ... x all 9 scalars where that is cheap
 *
 * In turns: scalars, padded leading dimension, batch, in-place, xor. C is NaN where it must not be
 * read, and canaries stand around D and between its rows. */
#include "commands/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/verify_case.h"
#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "support/progress.h"
#include "tcgemm/tcgemm.h"

enum { MAX_SHAPES = 128, MAX_FAILURES = 200, NUM_SCALARS = 9, FAILURE_SIZE = 512 };

static const table_column_t columns[] = {
    {"kernel", "kernel", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"type", "type", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"cases", "cases", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"failures", "failures", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"skipped", "skipped", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"max_ratio_of_bound", "largest error / bound", TABLE_RIGHT, 3, TABLE_EVERYWHERE},
};

typedef struct shape {
    int64_t m, n, k;
    bool around_tile; /* small enough for all scalars */
} shape_t;

typedef struct sweep {
    const settings_t *settings;
    tcgemm_context_t *context;
    table_t *table;
    uint64_t wanted_types;
    char (*failures)[FAILURE_SIZE];
    int num_failures; /* kept */
    int64_t passed, failed, skipped;
} sweep_t;

/* The counts of one kernel and type. */
typedef struct tally {
    int64_t cases, failures, skipped;
    double ratio;
} tally_t;

static void add_shape(shape_t shapes[MAX_SHAPES], int *count, int64_t m, int64_t n, int64_t k,
                      bool around_tile) {
    if (*count < MAX_SHAPES)
        shapes[(*count)++] = (shape_t){m, n, k, around_tile};
}

static int64_t clamp_tile(int64_t tile) {
    return tile < 2 ? 2 : tile > 256 ? 256 : tile; /* below 2, t-1 would be the shape 0 again */
}

static void tile_shapes(const tcgemm_kernel_info_t *kernel, bool full, shape_t *shapes,
                        int *count) {
    const int64_t tm = clamp_tile(kernel->tile_m);
    const int64_t tn = clamp_tile(kernel->tile_n);
    const int64_t tk = clamp_tile(kernel->tile_k);
    add_shape(shapes, count, 0, tn, tk, true);
    add_shape(shapes, count, tm, 0, tk, true);
    add_shape(shapes, count, tm, tn, 0, true);
    add_shape(shapes, count, 1, 1, 1, true);
    if (!full) {
        for (int64_t e = -1; e <= 1; ++e)
            add_shape(shapes, count, tm + e, tn + e, tk + e, true);
        add_shape(shapes, count, tm + 1, tn - 1, tk, true);
        add_shape(shapes, count, 1, tn + 1, 2 * tk + 1, true);
        add_shape(shapes, count, 2 * tm + 1, 1, tk + 1, true);
        return;
    }
    const int64_t ms[] = {1, tm - 1, tm, tm + 1};
    const int64_t ns[] = {1, tn - 1, tn, tn + 1};
    const int64_t ks[] = {1, tk - 1, tk, tk + 1};
    for (int i = 0; i < 64; ++i)
        add_shape(shapes, count, ms[i / 16], ns[i / 4 % 4], ks[i % 4], true);
}

static bool is_gpu(const tcgemm_kernel_info_t *kernel) {
    return strcmp(kernel->device, "gpu") == 0;
}

/* Every pair of {t-1, t, t+1} along two sides (a Latin square), several blocks, and all scalars. A
 * GPU's tiles are large, and each case pays for the way there and back. */
static void gpu_full_shapes(const tcgemm_kernel_info_t *kernel, shape_t *shapes, int *count) {
    const int64_t tm = clamp_tile(kernel->tile_m);
    const int64_t tn = clamp_tile(kernel->tile_n);
    const int64_t tk = clamp_tile(kernel->tile_k);
    for (int i = 0; i < 9; ++i)
        add_shape(shapes, count, tm - 1 + i / 3, tn - 1 + i % 3, tk - 1 + (i / 3 + i % 3) % 3,
                  false);
    add_shape(shapes, count, 2 * tm + 1, tn + 3, 5 * tk + 7, false);
    add_shape(shapes, count, tm + 5, 2 * tn - 1, 4 * tk - 1, false);
    add_shape(shapes, count, 5, tn + 1, 2 * tk + 1, true);
    add_shape(shapes, count, 131, 137, 139, false);
    add_shape(shapes, count, 1031, 17, 19, false);
    add_shape(shapes, count, 13, 2053, 11, false);
    add_shape(shapes, count, 11, 13, 8209, false);
}

static int make_shapes(const tcgemm_kernel_info_t *kernel, bool full, shape_t *shapes) {
    int count = 0;
    if (full && is_gpu(kernel)) {
        count = make_shapes(kernel, false, shapes);
        for (int i = 0; i < count; ++i) /* all scalars where that is cheap */
            shapes[i].around_tile = shapes[i].m * shapes[i].n * shapes[i].k <= 1;
        gpu_full_shapes(kernel, shapes, &count);
        return count;
    }
    tile_shapes(kernel, full, shapes, &count);
    add_shape(shapes, &count, 37, 41, 43, false); /* primes */
    add_shape(shapes, &count, 257, 3, 5, false);  /* tall */
    add_shape(shapes, &count, 3, 259, 7, false);  /* wide */
    add_shape(shapes, &count, 5, 7, 1031, false); /* deep */
    if (full) {
        add_shape(shapes, &count, 131, 137, 139, false);
        add_shape(shapes, &count, 1031, 17, 19, false);
        add_shape(shapes, &count, 13, 2053, 11, false);
        add_shape(shapes, &count, 11, 13, 8209, false);
        add_shape(shapes, &count, 193, 211, 1031, false); /* beyond one block */
    }
    return count;
}

/* Mixes the number of a case, so that "in turns" does not beat with the loops around it. */
static uint64_t turn(uint64_t x) {
    x = (x + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    return x ^ (x >> 32);
}

static void choose_scalars(verify_case_t *c, int index) {
    const bool whole = tcgemm_type_info(c->type)->scalar == TCGEMM_DTYPE_S32;
    const double alphas[] = {1, 0, whole ? -2 : -1.25};
    const double betas[] = {0, 1, whole ? 3 : 0.75};
    c->alpha = alphas[index / 3];
    c->beta = betas[index % 3];
}

static void choose_variant(verify_case_t *c, uint64_t bits) {
    c->pad = bits & 1 ? 3 : 0;
    c->batch = bits & 2 ? 3 : 1;
    c->in_place = (bits & 4) != 0;
    c->xor = c->type == TCGEMM_B1_S32 && (bits & 8);
}

static void keep_failure(sweep_t *sweep, const verify_case_t *c, const char *why) {
    if (sweep->num_failures == MAX_FAILURES)
        return;
    char command[FAILURE_SIZE / 2];
    verify_case_command(c, command, sizeof command);
    (void)snprintf(sweep->failures[sweep->num_failures++], FAILURE_SIZE, "%s  # %s", command, why);
}

static int one_case(sweep_t *sweep, const verify_case_t *c, tally_t *tally) {
    verify_outcome_t outcome = OUTCOME_SKIPPED;
    char why[FAILURE_SIZE / 3] = "";
    double ratio;
    const int status = verify_case_run(c, sweep->context, &outcome, &ratio, why, sizeof why);
    if (status != CLI_OK)
        return status;
    tally->cases += outcome != OUTCOME_SKIPPED;
    tally->skipped += outcome == OUTCOME_SKIPPED;
    tally->failures += outcome == OUTCOME_WRONG;
    if (!(ratio <= tally->ratio)) /* so that a NaN shows */
        tally->ratio = ratio;
    if (outcome == OUTCOME_WRONG)
        keep_failure(sweep, c, why);
    return CLI_OK;
}

/* One shape: the transposes and orders, with the scalars all or in turns. */
static int one_shape(sweep_t *sweep, verify_case_t c, const shape_t *shape, uint64_t *number,
                     tally_t *tally) {
    const int num_scalars = sweep->settings->full && shape->around_tile ? NUM_SCALARS : 1;
    int status = CLI_OK;
    c.m = shape->m;
    c.n = shape->n;
    c.k = shape->k;
    for (int way = 0; way < 8; ++way)
        for (int i = 0; i < num_scalars && status == CLI_OK; ++i) {
            const uint64_t bits = turn((*number)++);
            c.trans_a = way & 1;
            c.trans_b = way & 2;
            c.col_major = way & 4;
            choose_scalars(&c, num_scalars == 1 ? (int)(bits >> 8 & 0xFFFF) % NUM_SCALARS : i);
            choose_variant(&c, bits);
            status = one_case(sweep, &c, tally);
        }
    return status;
}

static int one_kernel_type(sweep_t *sweep, const tcgemm_kernel_info_t *kernel, tcgemm_type_t type) {
    shape_t shapes[MAX_SHAPES];
    const int count = make_shapes(kernel, sweep->settings->full, shapes);
    const verify_case_t base = {.type = type,
                                .kernel = kernel->name,
                                .needs_flags = kernel->needs_flags,
                                .device = sweep->settings->device,
                                .seed = (uint64_t)sweep->settings->seed};
    tally_t tally = {0};
    uint64_t number = (uint64_t)type;
    for (int i = 0; i < count; ++i) {
        const int status = one_shape(sweep, base, &shapes[i], &number, &tally);
        if (status != CLI_OK)
            return status;
    }
    table_text(sweep->table, kernel->name);
    table_text(sweep->table, tcgemm_type_info(type)->name);
    table_integer(sweep->table, tally.cases);
    table_integer(sweep->table, tally.failures);
    table_integer(sweep->table, tally.skipped);
    table_real(sweep->table, tally.ratio);
    sweep->passed += tally.cases - tally.failures;
    sweep->failed += tally.failures;
    sweep->skipped += tally.skipped;
    return CLI_OK;
}

/* The device asked for, or none in particular, is one of the kernel's kind. */
static bool is_on_device(const settings_t *s, const tcgemm_kernel_info_t *kernel) {
    if (!s->device || strcmp(s->device, "auto") == 0)
        return true;
    return is_gpu(kernel) == (strcmp(s->device, "cpu") != 0);
}

static bool is_wanted(const sweep_t *sweep, const tcgemm_kernel_info_t *kernel) {
    const settings_t *s = sweep->settings;
    return kernel->runnable && is_on_device(s, kernel) &&
           (!s->kernel || strcmp(s->kernel, kernel->name) == 0) &&
           (!s->algo || strcmp(s->algo, "auto") == 0 || strcmp(s->algo, kernel->algo) == 0);
}

/* All pairs of kernel and type; with `run` false they are only counted. */
static int each_pair(sweep_t *sweep, bool run, int total, int *count) {
    *count = 0;
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t kernel = {.struct_size = sizeof kernel};
        if (tcgemm_kernel_get_info(i, &kernel) != TCGEMM_STATUS_OK || !is_wanted(sweep, &kernel))
            continue;
        for (int t = 1; t <= tcgemm_type_count(); ++t) {
            if (!(kernel.types & sweep->wanted_types & (uint64_t)1 << (t - 1)))
                continue;
            const int status = run ? one_kernel_type(sweep, &kernel, (tcgemm_type_t)t) : CLI_OK;
            if (status != CLI_OK)
                return status;
            ++*count;
            if (run)
                progress_set((double)*count / total);
        }
    }
    return CLI_OK;
}

static int write_results(const sweep_t *sweep) {
    const settings_t *s = sweep->settings;
    const table_format_t format = (table_format_t)s->format;
    /* Beside a machine's format the failures must not stand on stdout. */
    FILE *text = format == TABLE_FORMAT_TEXT && !s->quiet ? stdout : stderr;
    if (!s->quiet && !table_write(sweep->table, format, "tcgemm.verify/1", stdout))
        return message_fail(CLI_NO_MEMORY, "no memory for the table");
    if (text == stderr)
        (void)fflush(stdout);
    for (int i = 0; i < sweep->num_failures; ++i)
        (void)fprintf(text, "%s\n", sweep->failures[i]);
    if (sweep->num_failures == MAX_FAILURES)
        (void)fprintf(text, "... only the first %d failures are listed\n", MAX_FAILURES);
    if (format == TABLE_FORMAT_TEXT && !s->quiet)
        (void)printf("%lld passed, %lld failed\n", (long long)sweep->passed,
                     (long long)sweep->failed);
    return sweep->failed > 0 ? CLI_WRONG : CLI_OK;
}

static int run_sweep(sweep_t *sweep) {
    int total;
    int done;
    (void)each_pair(sweep, false, 0, &total);
    if (total == 0)
        return message_fail(CLI_SKIPPED,
                            "no kernel that runs here has that name, family and type: skipped");
    progress_begin("verifying", 0);
    const int status = each_pair(sweep, true, total, &done);
    progress_end();
    return status == CLI_OK ? write_results(sweep) : status;
}

static int check_kernel_name(const settings_t *s) {
    if (!s->kernel)
        return CLI_OK;
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t kernel = {.struct_size = sizeof kernel};
        if (tcgemm_kernel_get_info(i, &kernel) == TCGEMM_STATUS_OK &&
            strcmp(kernel.name, s->kernel) == 0)
            return CLI_OK;
    }
    return message_usage("verify", "there is no kernel '%s': see tcgemm list", s->kernel);
}

static int check_settings(const settings_t *s, uint64_t *wanted) {
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int count = 0;
    if (s->quick && s->full)
        return message_usage("verify", "--quick and --full exclude each other");
    int status = check_kernel_name(s);
    if (status == CLI_OK)
        status = setup_types(s, types, &count);
    *wanted = 0;
    for (int i = 0; i < count && status == CLI_OK; ++i)
        *wanted |= (uint64_t)1 << (types[i] - 1);
    return status;
}

int command_verify(const settings_t *s) {
    sweep_t sweep = {.settings = s};
    int threads;
    int status = check_settings(s, &sweep.wanted_types);
    if (status == CLI_OK)
        status = setup_threads(s, &threads);
    if (status == CLI_OK)
        status = setup_context(s, threads, &sweep.context);
    if (status != CLI_OK)
        return status;
    sweep.table = table_new(columns, sizeof columns / sizeof columns[0]);
    sweep.failures = calloc(MAX_FAILURES, sizeof *sweep.failures);
    status = sweep.failures ? run_sweep(&sweep)
                            : message_fail(CLI_NO_MEMORY, "no memory for the results");
    free(sweep.failures);
    table_free(sweep.table);
    tcgemm_context_destroy(sweep.context);
    return status;
}
