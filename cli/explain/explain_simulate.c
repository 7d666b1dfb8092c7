/* explain_simulate.c - see explain_simulate.h. */
#include "explain/explain_simulate.h"

#include <math.h>
#include <string.h>

#include "measure/workload.h"
#include "support/exit_status.h"
#include "support/message.h"

enum { NUM_DEPTHS = TCGEMM_DEPTH_DATA };

explain_simulate_options_t explain_simulate_options(void) {
    return (explain_simulate_options_t){.seed = 1, .alpha = 1.0, .out = stdout};
}

/* ---- the trace ---- */

typedef struct trace_sink {
    FILE *out;     /* text, or NULL ... */
    json_t *lines; /* ... the array they go into */
    int64_t left;  /* lines */
    bool was_truncated;
} trace_sink_t;

static int take_line(void *user, const char *line) {
    trace_sink_t *x = user;
    if (x->left == 0) {
        x->was_truncated = true;
        return 1;
    }
    x->left -= 1;
    if (x->lines)
        (void)json_array_append_new(x->lines, json_string(line));
    else
        (void)fprintf(x->out, "%s\n", line);
    return 0;
}

/* ---- the run ---- */

/* What all four depths found. */
typedef struct findings {
    tcgemm_plan_info_t plan;
    tcgemm_tiles_t tiles;
    tcgemm_simulate_report_t reports[NUM_DEPTHS];
    const char *out_of_bounds; /* outside the elements of D, NULL: none */
} findings_t;

static bool is_right(const tcgemm_simulate_report_t *r) {
    return r->num_faults == 0 && r->num_wrong == 0;
}

static int status_of(const findings_t *f) {
    for (int i = 0; i < NUM_DEPTHS; ++i)
        if (!is_right(&f->reports[i]))
            return CLI_WRONG;
    return f->out_of_bounds ? CLI_WRONG : CLI_OK;
}

static tcgemm_status_t simulate_all(const tcgemm_plan_t *plan, workload_t *w,
                                    const explain_simulate_options_t *o, trace_sink_t *sink,
                                    findings_t *f) {
    for (int i = 0; i < NUM_DEPTHS; ++i) {
        const tcgemm_depth_t depth = (tcgemm_depth_t)(i + 1);
        const bool is_traced = o->trace && depth == TCGEMM_DEPTH_DATA;
        f->reports[i].struct_size = sizeof f->reports[i];
        workload_reset(w);
        const tcgemm_status_t status =
            tcgemm_plan_simulate(plan, depth, o->alpha, w->a, w->b, o->beta, w->c, w->d,
                                 is_traced ? take_line : NULL, sink, &f->reports[i]);
        if (status != TCGEMM_STATUS_OK)
            return status;
        if (!f->out_of_bounds)
            f->out_of_bounds = workload_out_of_bounds(w);
    }
    return TCGEMM_STATUS_OK;
}

static int find_out(const tcgemm_plan_t *plan, const tcgemm_problem_t *problem,
                    const explain_simulate_options_t *o, trace_sink_t *sink, findings_t *f) {
    *f = (findings_t){.plan.struct_size = sizeof f->plan, .tiles.struct_size = sizeof f->tiles};
    tcgemm_status_t status = tcgemm_plan_get_info(plan, &f->plan);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_plan_get_tiles(plan, &f->tiles);
    const double macs =
        (double)problem->m * (double)problem->n * (double)problem->k * (double)problem->batch;
    if (status == TCGEMM_STATUS_OK && macs > (double)TCGEMM_SIMULATE_MAX_MACS)
        return message_fail(CLI_USAGE,
                            "--simulate walks through each of the %.3g multiply-adds; it takes at "
                            "most %.3g, 645 x 645 x 645",
                            macs, (double)TCGEMM_SIMULATE_MAX_MACS);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    workload_t w;
    const int made = workload_create(&w, problem, o->seed, o->beta != 0.0, false);
    if (made != CLI_OK)
        return made;
    status = simulate_all(plan, &w, o, sink, f);
    workload_free(&w);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

/* ---- as text ---- */

static const char *const names[NUM_DEPTHS] = {
    "thread blocks",
    "blocks and warps",
    "blocks, warps and threads",
    "data path of the kernel",
};
static const char *const cpu_names[NUM_DEPTHS] = {
    "units of work",
    "units and panels",
    "units, panels and register tiles",
    "data path of the kernel",
};

static const char *name_of(const findings_t *f, int i) {
    return strcmp(f->plan.device, "cpu") == 0 ? cpu_names[i] : names[i];
}

/* The tile that is multiplied at a depth; the data path has the threads' one. */
static void tile_of(const findings_t *f, int i, int64_t tile[3]) {
    const tcgemm_tiles_t *t = &f->tiles;
    const int64_t tiles[][3] = {
        {t->bm, t->bn, t->bk}, {t->wm, t->wn, t->wk}, {t->tm, t->tn, t->tk}, {t->tm, t->tn, t->tk}};
    memcpy(tile, tiles[i], sizeof tiles[i]);
}

static void print_depth(const findings_t *f, int i, FILE *out) {
    const tcgemm_simulate_report_t *r = &f->reports[i];
    int64_t t[3];
    char tile[64];
    tile_of(f, i, t);
    (void)snprintf(tile, sizeof tile, "%lld x %lld x %lld", (long long)t[0], (long long)t[1],
                   (long long)t[2]);
    (void)fprintf(out, "%-33s %-16s %7lld %7lld %10lld %10lld  ", name_of(f, i), tile,
                  (long long)r->num_blocks, (long long)r->num_steps, (long long)r->num_products,
                  (long long)r->memory_loads);
    if (is_right(r))
        (void)fprintf(out, "right\n");
    else if (r->num_faults)
        (void)fprintf(out, "FAULT\n    %s (and %lld more)\n", r->fault,
                      (long long)r->num_faults - 1);
    else
        (void)fprintf(out, "WRONG\n    %lld elements, the first D(%lld, %lld): %.9g, not %.9g\n",
                      (long long)r->num_wrong, (long long)r->wrong_row, (long long)r->wrong_col,
                      r->wrong_got, r->wrong_expected);
}

static void print_findings(const findings_t *f, FILE *out) {
    (void)fprintf(out, "Simulated on the CPU: %s\n", f->plan.kernel);
    (void)fprintf(out, "%-33s %-16s %7s %7s %10s %10s  %s\n", "loop nest", "tile (m x n x k)",
                  "blocks", "k steps", "products", "loads", "A @ B is");
    for (int i = 0; i < NUM_DEPTHS; ++i)
        print_depth(f, i, out);
    (void)fprintf(out, "(loads: elements of A and B that blocks read from memory)\n");
    if (f->out_of_bounds)
        (void)fprintf(out, "  Outside of D: %s.\n", f->out_of_bounds);
}

static void note_truncation(const trace_sink_t *sink, int64_t lines, FILE *out) {
    if (sink->was_truncated)
        (void)fprintf(out,
                      "The trace is cut after %lld lines; a smaller product has a shorter one.\n",
                      (long long)lines);
}

/* ---- as data ---- */

static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *depth_data(const findings_t *f, int i) {
    const tcgemm_simulate_report_t *r = &f->reports[i];
    int64_t t[3];
    tile_of(f, i, t);
    return json_pack(
        "{s:s, s:[I,I,I], s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:s, s:o}",
        "nest", name_of(f, i), "tile", (json_int_t)t[0], (json_int_t)t[1], (json_int_t)t[2],
        "blocks", (json_int_t)r->num_blocks, "k_steps", (json_int_t)r->num_steps, "warps",
        (json_int_t)r->num_warps, "products", (json_int_t)r->num_products, "macs",
        (json_int_t)r->num_macs, "memory_loads", (json_int_t)r->memory_loads, "block_loads",
        (json_int_t)r->block_loads, "warp_loads", (json_int_t)r->warp_loads, "written",
        (json_int_t)r->num_written, "wrong", (json_int_t)r->num_wrong, "max_ratio_of_bound",
        real(r->max_ratio), "faults", (json_int_t)r->num_faults, "first_fault", r->fault, "seconds",
        real(r->seconds));
}

static json_t *findings_data(const findings_t *f, const trace_sink_t *sink) {
    json_t *depths = json_array();
    for (int i = 0; i < NUM_DEPTHS; ++i)
        (void)json_array_append_new(depths, depth_data(f, i));
    return json_pack("{s:s, s:s, s:s, s:o, s:O?, s:b}", "schema", "tcgemm.simulate/1", "kernel",
                     f->plan.kernel, "verdict", status_of(f) == CLI_OK ? "RIGHT" : "WRONG", "nests",
                     depths, "trace", sink->lines, "trace_is_cut", sink->was_truncated);
}

json_t *explain_simulate_data(const tcgemm_plan_t *plan, const tcgemm_problem_t *problem,
                              const explain_simulate_options_t *options, int *status) {
    findings_t f;
    trace_sink_t sink = {.left = options->trace_lines ? options->trace_lines : EXPLAIN_TRACE_LINES};
    json_t *data = NULL;
    if (options->trace)
        sink.lines = json_array();
    *status = find_out(plan, problem, options, &sink, &f);
    if (*status == CLI_OK) {
        data = findings_data(&f, &sink);
        *status = data ? status_of(&f) : message_fail(CLI_NO_MEMORY, "no memory for the summary");
    }
    json_decref(sink.lines);
    return data;
}

/* ---- the call ---- */

static int simulate_as_text(const tcgemm_plan_t *plan, const tcgemm_problem_t *problem,
                            const explain_simulate_options_t *options) {
    findings_t f;
    const int64_t lines = options->trace_lines ? options->trace_lines : EXPLAIN_TRACE_LINES;
    trace_sink_t sink = {.out = options->out, .left = lines};
    const int status = find_out(plan, problem, options, &sink, &f);
    note_truncation(&sink, lines, options->out);
    if (status != CLI_OK)
        return status;
    if (options->trace)
        (void)fputc('\n', options->out);
    print_findings(&f, options->out);
    return status_of(&f);
}

int explain_simulate(const tcgemm_plan_t *plan, const tcgemm_problem_t *problem,
                     const explain_simulate_options_t *options) {
    int status = CLI_OK;
    if (!options->json)
        return simulate_as_text(plan, problem, options);
    json_t *data = explain_simulate_data(plan, problem, options, &status);
    if (data) {
        (void)json_dumpf(data, options->out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        (void)fputc('\n', options->out);
    }
    json_decref(data);
    return status;
}
