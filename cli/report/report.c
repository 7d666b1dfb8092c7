/* report.c - the report as a screen of text. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "files/layout.h"
#include "support/units.h"

enum { TEXT_SIZE = UNITS_SIZE };

double report_eops(const tcgemm_problem_t *p) {
    const double m = (double)p->m;
    const double n = (double)p->n;
    const double k = (double)p->k;
    const double products = p->k > 0 ? (2 * k - 1) * m * n : 0;
    return (double)p->batch * (m * k + products + 2 * m * n);
}

double report_flop(const tcgemm_problem_t *p) {
    return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
}

bool report_is_gpu(const run_facts_t *f) {
    return f->plan.threads_per_block > 0;
}

double report_input_bytes(const run_facts_t *f) {
    return (double)f->plan.a_bytes + (double)f->plan.b_bytes +
           (f->c_is_read ? (double)f->plan.c_bytes : 0);
}

const char *report_verdict(const run_facts_t *f) {
    if (!f->verified)
        return "NOT VERIFIED";
    return f->check.num_wrong == 0 ? "CORRECT" : "WRONG";
}

void report_formula(const settings_t *s, char *text, size_t size) {
    char alpha[TEXT_SIZE] = "";
    char beta[TEXT_SIZE] = "";
    if (s->alpha != 1)
        (void)snprintf(alpha, sizeof alpha, "%.15g * ", s->alpha);
    if (s->beta != 0)
        (void)snprintf(beta, sizeof beta, " %c %.15g * C", s->beta < 0 ? '-' : '+', fabs(s->beta));
    const char *const name = s->activation == TCGEMM_ACTIVATION_NONE
                                 ? ""
                                 : tcgemm_activation_name((tcgemm_activation_t)s->activation);
    (void)snprintf(text, size, "%s%s%sA%s * B%s%s%s%s", name, *name ? "(" : "", alpha,
                   s->trans_a ? "^T" : "", s->trans_b ? "^T" : "", beta, s->bias ? " + bias" : "",
                   *name ? ")" : "");
}

/* "  = 0.123 eTOPS = 0.122 TFLOP/s", or nothing for an instant. */
static const char *rates(const run_facts_t *f, double time, char text[TEXT_SIZE]) {
    text[0] = '\0';
    if (time > 0)
        (void)snprintf(text, TEXT_SIZE, "  = %.4g eTOPS = %.4g TFLOP/s",
                       report_eops(&f->problem) / time * 1e-12,
                       report_flop(&f->problem) / time * 1e-12);
    return text;
}

static void heading(const run_facts_t *f, FILE *out) {
    char formula[2 * TEXT_SIZE];
    report_formula(f->settings, formula, sizeof formula);
    (void)fprintf(out, "D = %s\n\n", formula);
    (void)fprintf(out, "alpha, beta  %.15g, %.15g\n", f->settings->alpha, f->settings->beta);
    (void)fprintf(out, "transposes   A %s, B %s; %s-major\n",
                  f->settings->trans_a ? "transposed" : "as stored",
                  f->settings->trans_b ? "transposed" : "as stored",
                  f->problem.order == TCGEMM_ROW_MAJOR ? "row" : "column");
    (void)fprintf(out, "type         %s: %s x %s, summed in %s, D is %s\n", f->type->name,
                  tcgemm_dtype_name(f->type->a), tcgemm_dtype_name(f->type->b),
                  tcgemm_dtype_name(f->type->accumulator), tcgemm_dtype_name(f->type->d));
}

static void operand(const run_facts_t *f, char name, const char *source, size_t bytes, FILE *out) {
    const settings_t *s = f->settings;
    const tcgemm_problem_t *p = &f->problem;
    const bool turned = name == 'A' ? s->trans_a : name == 'B' && s->trans_b;
    const int64_t rows = name == 'B' ? p->k : p->m;
    const int64_t cols = name == 'A' ? p->k : p->n;
    char shape[TEXT_SIZE];
    char size[TEXT_SIZE];
    const size_t length = strlen(source);
    const bool cut = length > 44; /* the end of a path says more than its start */
    (void)snprintf(shape, sizeof shape, "%lld x %lld", (long long)(turned ? cols : rows),
                   (long long)(turned ? rows : cols));
    (void)fprintf(out, "%c            %-19s %16s bytes   %s%s\n", name, shape,
                  units_grouped((double)bytes, size), cut ? "..." : "",
                  cut ? source + length - 41 : source);
}

static void operands(const run_facts_t *f, FILE *out) {
    const settings_t *s = f->settings;
    char random[TEXT_SIZE];
    (void)snprintf(random, sizeof random, "random, seed %lld", (long long)s->seed);
    if (f->problem.batch != 1)
        (void)fprintf(out, "batch        %lld products\n", (long long)f->problem.batch);
    operand(f, 'A', s->num_files ? s->files[0] : random, f->plan.a_bytes, out);
    operand(f, 'B', s->num_files ? s->files[1] : random, f->plan.b_bytes, out);
    if (f->c_is_read)
        operand(f, 'C', s->num_files ? s->c : random, f->plan.c_bytes, out);
    operand(f, 'D', s->output ? s->output : "kept in memory", f->plan.d_bytes, out);
}

/* How the work lies on a GPU. */
static void launch(const tcgemm_plan_info_t *plan, FILE *out) {
    char text[TEXT_SIZE];
    (void)fprintf(out, "GPU          number %d, %s\n", plan->device_index, plan->device);
    (void)fprintf(out, "grid         %lld block%s of %d threads, for %lld tile%s of D\n",
                  (long long)plan->grid_blocks, plan->grid_blocks == 1 ? "" : "s",
                  plan->threads_per_block, (long long)plan->num_blocks,
                  plan->num_blocks == 1 ? "" : "s");
    (void)fprintf(out,
                  "block        %d registers per thread, %s bytes of shared memory, %d per SM\n",
                  plan->registers_per_thread, units_grouped((double)plan->smem_bytes, text),
                  plan->blocks_per_sm);
    (void)fprintf(out, "predicted    %s\n", units_seconds(plan->predicted_seconds, text));
}

static void levels(const run_facts_t *f, FILE *out) {
    const tcgemm_plan_info_t *plan = &f->plan;
    (void)fprintf(out, "\nkernel       %s, of family %s, on device %s\n", plan->kernel, plan->algo,
                  report_is_gpu(f) ? "gpu" : plan->device);
    if (plan->reason && plan->reason[0])
        (void)fprintf(out, "because      %.86s\n", plan->reason);
    if (report_is_gpu(f))
        launch(plan, out);
    else
        (void)fprintf(out, "threads      %d, sharing %lld block%s\n", plan->num_threads,
                      (long long)plan->num_blocks, plan->num_blocks == 1 ? "" : "s");
    (void)fprintf(out, "\n%-16s %-14s %10s %10s %10s %14s\n", "tile hierarchy", "lives in", "m",
                  "n", "k", "tiles");
    for (int i = 0; i < plan->num_levels && i < TCGEMM_MAX_LEVELS; ++i) {
        const tcgemm_level_t *level = &plan->levels[i];
        (void)fprintf(out, "%*s%-*s %-14s %10lld %10lld %10lld %14lld\n", i, "", 16 - i,
                      level->name, level->home, (long long)level->m, (long long)level->n,
                      (long long)level->k, (long long)level->count);
    }
}

static void sizes(const run_facts_t *f, FILE *out) {
    const tcgemm_plan_info_t *plan = &f->plan;
    const tcgemm_problem_t *p = &f->problem;
    char text[TEXT_SIZE];
    char text2[TEXT_SIZE];
    (void)fprintf(out, "\nm x n x k    %lld x %lld x %lld, padded to %lld x %lld x %lld\n",
                  (long long)p->m, (long long)p->n, (long long)p->k, (long long)plan->padded_m,
                  (long long)plan->padded_n, (long long)plan->padded_k);
    if (plan->packed_a_bytes || plan->packed_b_bytes)
        (void)fprintf(out, "packed       A %s bytes, B %s bytes%s\n",
                      units_grouped((double)plan->packed_a_bytes, text),
                      units_grouped((double)plan->packed_b_bytes, text2),
                      plan->packed_a_bytes && plan->packed_b_bytes ? "" : " (0: read in place)");
    else
        (void)fputs("packed       nothing: A and B are read in place\n", out);
    (void)fprintf(out, "workspace    %s bytes\n",
                  units_grouped((double)plan->workspace_bytes, text));
    const double input = report_input_bytes(f);
    const double output = (double)plan->d_bytes;
    (void)fprintf(out, "input        %s bytes\n", units_grouped(input, text));
    (void)fprintf(out, "output       %s bytes\n", units_grouped(output, text));
    (void)fprintf(out, "total        %s eOPS", units_grouped(report_eops(p), text));
    if (input + output > 0)
        (void)fprintf(out, ", %.4g eOPS per byte", report_eops(p) / (input + output));
    (void)putc('\n', out);
}

static void times(const run_facts_t *f, FILE *out) {
    char text[TEXT_SIZE];
    char rate[TEXT_SIZE];
    if (f->settings->repeat > 1)
        (void)fprintf(out, "\nmedian of %lld runs", (long long)f->settings->repeat);
    (void)fprintf(out, "\npacking      %s\n", units_seconds(f->stats.pack_seconds, text));
    (void)fprintf(out, "product      %s%s\n", units_seconds(f->stats.product_seconds, text),
                  rates(f, f->stats.product_seconds, rate));
    (void)fprintf(out, "together     %s%s\n", units_seconds(f->stats.total_seconds, text),
                  rates(f, f->stats.total_seconds, rate));
    if (report_is_gpu(f))
        (void)fprintf(out, "transfer     %s\n", units_seconds(f->stats.transfer_seconds, text));
    else
        (void)fputs("transfer     none (CPU)\n", out);
    if (f->verified) {
        (void)fprintf(out, "reference    %s", units_seconds(f->check.seconds, text));
        if (f->check.mode == TCGEMM_VERIFY_FULL && f->check.seconds > 0)
            (void)fprintf(out, "  = %.4g eTOPS",
                          report_eops(&f->problem) / f->check.seconds * 1e-12);
        (void)putc('\n', out);
    }
    if (f->extraction_seconds >= 0)
        (void)fprintf(out, "extraction   %s\n", units_seconds(f->extraction_seconds, text));
    else
        (void)fputs("extraction   none (no -o)\n", out);
}

static void check_mode(const run_facts_t *f, FILE *out) {
    const tcgemm_verify_report_t *r = &f->check;
    char text[TEXT_SIZE];
    char text2[TEXT_SIZE];
    if (r->mode == TCGEMM_VERIFY_FULL) {
        (void)fprintf(out, "             full: all %s elements compared with the reference\n",
                      units_grouped((double)r->num_checked, text));
        return;
    }
    (void)fprintf(out,
                  "             sample: %s elements compared with the reference,\n"
                  "             all %s rows through random vectors: one element off by %.3g\n"
                  "             anywhere is missed with probability %.2g\n",
                  units_grouped((double)r->num_checked, text),
                  units_grouped((double)r->num_vector_rows, text2), r->smallest_error_caught,
                  r->miss_probability);
}

static void verdict(const run_facts_t *f, FILE *out) {
    const tcgemm_verify_report_t *r = &f->check;
    (void)fprintf(out, "\n%s\n", report_verdict(f));
    if (!f->verified)
        return;
    check_mode(f, out);
    if (f->plan.error_unit > 0)
        (void)fprintf(out, "             largest error: %.3g of its bound\n", r->max_ratio);
    else
        (void)fputs("             integers: every bit must agree\n", out);
    if (r->num_wrong == 0)
        return;
    (void)fprintf(out, "             %lld wrong; ", (long long)r->num_wrong);
    if (r->wrong_row >= 0 && r->wrong_col >= 0)
        (void)fprintf(out, "the first is D[%lld][%lld]%s: got %.17g, expected %.17g\n",
                      (long long)r->wrong_row, (long long)r->wrong_col,
                      f->problem.batch > 1 ? " of a batch" : "", r->wrong_got, r->wrong_expected);
    else
        (void)fprintf(out, "somewhere in row %lld\n", (long long)r->wrong_row);
    if (f->problem.batch > 1)
        (void)fprintf(out, "             in batch item %lld\n", (long long)r->wrong_batch);
}

void report_text(const run_facts_t *f, FILE *out) {
    heading(f, out);
    operands(f, out);
    levels(f, out);
    sizes(f, out);
    times(f, out);
    verdict(f, out);
}
