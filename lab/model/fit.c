/* fit.c - fits the constants of src/gpu/model.c to tables of choices.c and sample.c, by the
 * library's own model: each line is planned as it was measured, and the lines of measured/cost.def
 * are moved until what the plans expect comes near to what was found. The new cost.def goes to
 * stdout.
 *
 *     bash lab/model/run.sh fit [--free | --choices] src/gpu/measured/cost.def TABLE ... >new.def
 *
 * Lines without samples stay as they are, and those of rows for which such tables say little
 * (is_kept); --free lets all go as far as they want (a new row, whose line is a guess). What the
 * planner wants is the order of the rows: so those that are near the best of a problem count more,
 * and those that are slower are not to be promised below it. --choices minds nothing but the order:
 * all lines move, a little, until the rows that are chosen lose least, and times that are promised
 * well count a third of that. One line of constants after the other, by coordinate descent from
 * what stands there and from round numbers. A line of another type whose kernels take the same time
 * is the same line.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

#include "gpu/expand.h"
#include "gpu/gpu_row.h"
#include "gpu/measured.h"
#include "gpu/model.h"
#include "plan/plan.h"

enum { NAME = CHOICE_NAME, MAX_LINES = 400, LEAST_SAMPLES = 12, NUM_CONSTANTS = 8 };

typedef struct sample {
    const tcgemm_kernel_t *kernel;
    tcgemm_canonical_t seen; /* what the kernel of the product sees */
    int ranks;               /* of a cluster */
    bool in_pairs;
    double others;        /* seconds expected of the other steps */
    double seconds, best; /* measured: of this row, of the best of the problem */
    double predicted;     /* as the constants stand */
    struct group *group;  /* the rows of its problem */
} sample_t;

typedef struct group {
    int count;
    sample_t *rows[];
} group_t;

/* A line of cost.def, shared by the rows that have its name or that of its like. */
typedef struct line {
    char name[NAME];
    sample_t **samples;
    int count, room;
} line_t;

static line_t lines[MAX_LINES];
static int num_lines;
static tcgemm_context_t *context;
static const tcgemm_device_t *device; /* the H200 of known_gpus.def */
static bool is_free, is_by_choices;

/* ---- names ---- */

static void replace(char *name, const char *from, const char *to) {
    char rest[NAME];
    char *at = strstr(name, from);
    if (!at)
        return;
    (void)snprintf(rest, sizeof rest, "%s", at + strlen(from));
    (void)snprintf(at, NAME - (size_t)(at - name), "%s%s", to, rest);
}

/* bf16 stands for f16, s8 for bytes of any sign, e4m3 for both formats of FP8. */
static void name_of_line(const char *entry, char name[NAME]) {
    (void)snprintf(name, NAME, "%s", entry);
    if (strstr(name, "f16acc"))
        return;
    replace(name, "_f16_f32_", "_bf16_f32_");
    replace(name, "_f16_f16_", "_bf16_bf16_");
    replace(name, "_u8_s32_", "_s8_s32_");
    replace(name, "_u8s8_s32_", "_s8_s32_");
    replace(name, "_s8u8_s32_", "_s8_s32_");
    replace(name, "_e5m2_", "_e4m3_");
}

static const char *entry_of(const tcgemm_kernel_t *kernel) {
    return kernel->gpu->entry + strlen("tcgemm_");
}

static line_t *find_line(const char *entry, bool add) {
    char name[NAME];
    name_of_line(entry, name);
    for (int i = 0; i < num_lines; ++i)
        if (strcmp(lines[i].name, name) == 0)
            return &lines[i];
    if (!add || num_lines == MAX_LINES)
        return NULL;
    (void)snprintf(lines[num_lines].name, NAME, "%s", name);
    return &lines[num_lines++];
}

/* ---- samples ---- */

static void keep(sample_t *s) {
    line_t *line = find_line(entry_of(s->kernel), true);
    if (!line)
        exit(2);
    if (line->count == line->room) {
        line->room = line->room ? 2 * line->room : 64;
        line->samples = realloc(line->samples, (size_t)line->room * sizeof *line->samples);
        if (!line->samples)
            exit(1);
    }
    line->samples[line->count++] = s;
}

/* Whether the plan takes the steps that were measured; `splits` of the last product. */
static bool is_as_measured(const struct tcgemm_plan *plan, const char *steps, long long splits) {
    static const char letters[] = {[TCGEMM_STEP_PACK_A] = 'A',
                                   [TCGEMM_STEP_PACK_B] = 'B',
                                   [TCGEMM_STEP_PRODUCT] = 'P',
                                   [TCGEMM_STEP_REDUCE] = 'R'};
    if ((int)strlen(steps) != plan->steps.count)
        return false;
    int found = 0;
    for (int i = 0; i < plan->steps.count; ++i) {
        const tcgemm_step_t *step = &plan->steps.step[i];
        if (steps[i] != (step->in_pairs ? 'p' : letters[step->kind]))
            return false;
        if (step->kind == TCGEMM_STEP_PRODUCT)
            found = step->splits;
    }
    return found == splits;
}

static sample_t *sample_of(const tcgemm_problem_t *p, const char *kernel, const char *steps,
                           long long splits) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    sample_t *s = NULL;
    o.kernel = kernel;
    if (tcgemm_plan_create(context, p, &o, &plan) != TCGEMM_STATUS_OK)
        return NULL;
    const tcgemm_step_t *product = tcgemm_plan_product(plan);
    /* A row of clusters without any is never chosen. */
    const bool is_of_use = !plan->kernel->gpu->items_a_warp &&
                           (plan->kernel->gpu->max_ranks <= 1 || product->ranks > 1);
    if (is_as_measured(plan, steps, splits) && is_of_use && (s = calloc(1, sizeof *s))) {
        s->kernel = plan->kernel;
        s->seen = tcgemm_gpu_step_problem(plan, product);
        s->ranks = product->ranks;
        s->in_pairs = product->in_pairs;
        s->others = plan->steps.seconds - product->seconds;
    }
    tcgemm_plan_destroy(plan);
    return s;
}

/* The GPU row of that name, or NULL. */
static const tcgemm_kernel_t *kernel_named(const char *name) {
    for (int i = 0; i < tcgemm_num_kernels(); ++i)
        if (strcmp(tcgemm_kernel_at(i)->name, name) == 0)
            return tcgemm_kernel_at(i);
    return NULL;
}

/* A line of a table of sample.c: a problem of its own, of one step. */
static bool read_sample_line(const char *text, choice_line_t *x) {
    if (sscanf(text, "%95[^,],%7[^,],%lld,%lld,%lld,%lld,%lf", x->kernel, x->ops, &x->m, &x->n,
               &x->k, &x->batch, &x->seconds) != 7)
        return false;
    const tcgemm_kernel_t *row = kernel_named(x->kernel);
    (void)snprintf(x->type, sizeof x->type, "%s",
                   row && row->gpu ? tcgemm_type_info(row->gpu->type)->name : "");
    (void)snprintf(x->steps, sizeof x->steps, "P");
    x->number += 1;
    x->splits = 1;
    return true;
}

/* The samples of the problem that is being read. */
enum { MOST_ROWS = 256 };
static sample_t *of_problem[MOST_ROWS];
static int num_of_problem;

static void end_problem(double best) {
    const size_t bytes = (size_t)num_of_problem * sizeof(sample_t *);
    group_t *group = malloc(sizeof *group + bytes);
    if (!group)
        exit(1);
    group->count = num_of_problem;
    memcpy(group->rows, of_problem, bytes);
    for (int i = 0; i < num_of_problem; ++i) {
        of_problem[i]->best = best;
        of_problem[i]->group = group;
    }
    num_of_problem = 0;
}

/* Adds the lines of a table; returns how many do not take the steps of today. */
static int read_table(const char *path) {
    FILE *file = fopen(path, "r");
    char text[CHOICE_LINE];
    choice_line_t x = {.number = -1};
    int others = 0;
    long long last = -1;
    double best = HUGE_VAL;
    if (!file || !fgets(text, sizeof text, file)) {
        (void)fprintf(stderr, "fit: %s cannot be read\n", path);
        exit(2);
    }
    const bool is_choices = strncmp(text, "problem,", 8) == 0;
    while (fgets(text, sizeof text, file) &&
           (is_choices ? read_choice_line(text, &x) : read_sample_line(text, &x))) {
        tcgemm_problem_t p;
        if (x.number != last) {
            end_problem(best);
            best = HUGE_VAL;
            last = x.number;
        }
        best = fmin(best, x.seconds);
        if (!problem_of_choice(&x, &p))
            continue; /* a row that is no more */
        sample_t *s = sample_of(&p, x.kernel, x.steps, x.splits);
        if (!s || num_of_problem == MOST_ROWS) {
            ++others;
            continue;
        }
        s->seconds = x.seconds;
        of_problem[num_of_problem++] = s;
        keep(s);
    }
    end_problem(best);
    (void)fclose(file);
    return others;
}

/* ---- the fit ---- */

/* The costs that the line stands for: the library's own, which are ours to move. */
enum { MOST_COSTS = 64 };
static tcgemm_gpu_cost_t *costs[MOST_COSTS];
static int num_costs;

static void find_costs(const line_t *line) {
    num_costs = 0;
    for (int i = 0; i < tcgemm_num_kernels() && num_costs < MOST_COSTS; ++i) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        if (kernel->gpu && find_line(entry_of(kernel), false) == line)
            costs[num_costs++] = (tcgemm_gpu_cost_t *)tcgemm_gpu_cost_of(kernel);
    }
}

static void set_constants(const double c[NUM_CONSTANTS]) {
    for (int i = 0; i < num_costs; ++i)
        *costs[i] = (tcgemm_gpu_cost_t){.macs = c[0],
                                        .wait = c[1],
                                        .start = c[2],
                                        .finish = c[3],
                                        .narrow = c[4],
                                        .layout = {1.0, c[5], c[6], c[7]}};
}

static void get_constants(const line_t *line, double c[NUM_CONSTANTS]) {
    const tcgemm_gpu_cost_t *cost = tcgemm_gpu_cost_of(line->samples[0]->kernel);
    c[0] = cost->macs, c[1] = cost->wait, c[2] = cost->start, c[3] = cost->finish;
    c[4] = cost->narrow, c[5] = cost->layout[1], c[6] = cost->layout[2], c[7] = cost->layout[3];
}

static double predicted_of(const sample_t *s) {
    return s->others + tcgemm_gpu_time(s->kernel, &s->seen, s->ranks, s->in_pairs, device).total;
}

/* What the choice among the rows of a problem loses, in parts of the best one's time. Rows that are
 * promised the same within some percent are chosen by halves, so that the loss has a slope. */
static double loss_of_choice(const group_t *group) {
    double least = HUGE_VAL, weights = 0.0, seconds = 0.0;
    for (int i = 0; i < group->count; ++i)
        least = fmin(least, group->rows[i]->predicted);
    for (int i = 0; i < group->count; ++i) {
        const sample_t *s = group->rows[i];
        const double weight = exp((1.0 - s->predicted / least) / 0.02);
        weights += weight;
        seconds += weight * fmin(s->seconds, 1.5 * s->best);
    }
    return seconds / weights / group->rows[0]->best - 1.0;
}

static double loss_of_choices(const line_t *line) {
    double total = 0.0;
    for (int i = 0; i < line->count; ++i) {
        sample_t *s = line->samples[i];
        s->predicted = predicted_of(s);
        total += loss_of_choice(s->group);
        if (s->seconds < 1.15 * s->best)
            total += 0.3 * fmin(0.5, fabs(log(s->predicted / s->seconds)));
    }
    return total;
}

static double loss_of(const line_t *line) {
    double total = 0.0;
    if (is_by_choices)
        return loss_of_choices(line);
    for (int i = 0; i < line->count; ++i) {
        const sample_t *s = line->samples[i];
        const double predicted = predicted_of(s);
        const double e = fabs(log(predicted / s->seconds));
        const bool is_near = s->seconds < 1.15 * s->best;
        total += (is_near ? 2.0 : 0.7) * (e < 0.2 ? e : 0.2 + 0.7 * (e - 0.2));
        if (s->seconds > 1.05 * s->best)
            total += 2.0 * fmax(0.0, log(fmin(1.05 * s->best, s->seconds) / predicted));
    }
    return total;
}

static double loss_with(const double c[NUM_CONSTANTS], const line_t *line) {
    set_constants(c);
    return loss_of(line);
}

/* Problems of choices.c are small and stay in the L2 from call to call. So they say little of large
 * products, and of operands that come from memory, as those of few rows of D mostly do: lines of
 * such rows stay as other measurements have put them. */
static bool is_kept(const line_t *line) {
    const tcgemm_gpu_row_t *row = line->samples[0]->kernel->gpu;
    return !is_free && !is_by_choices &&
           (row->bm * row->bn >= 128 * 128 || row->bm <= 16 || row->bn <= 16 ||
            strcmp(row->tag, "deep") == 0 || row->type == TCGEMM_F64_F64);
}

/* How far a constant may move: not to what a kernel's units cannot do. */
static double reach(const line_t *line, int i) {
    const tcgemm_gpu_row_t *row = line->samples[0]->kernel->gpu;
    if (is_free)
        return HUGE_VAL;
    if (is_by_choices) /* in each pass */
        return row->bm * row->bn >= 128 * 128 ? 1.2 : 1.6;
    switch (i) {
    case 0:
        return 2.5;
    case 1: /* wait, start, finish */
    case 2:
    case 3:
        return HUGE_VAL;
    case 4:
        return row->tensor_maps ? 1.0 : 2.0; /* of boxes: bytes */
    default:
        return 2.0;
    }
}

static double descend(const line_t *line, const double present[NUM_CONSTANTS],
                      double c[NUM_CONSTANTS]) {
    double least = loss_with(c, line);
    for (double step = 0.3; step > 0.004;) {
        bool better = false;
        for (int i = 0; i < NUM_CONSTANTS; ++i)
            for (int sign = -1; sign <= 1; sign += 2) {
                const double was = c[i];
                c[i] *= exp(sign * step);
                const double moved = c[i] / present[i];
                const bool may = reach(line, i) == HUGE_VAL ||
                                 (moved < reach(line, i) && 1.0 / moved < reach(line, i));
                const double e = may ? loss_with(c, line) : HUGE_VAL;
                if (e < least - 1e-9)
                    least = e, better = true;
                else
                    c[i] = was;
            }
        if (!better)
            step /= 2;
    }
    return least;
}

static void fit_line(const line_t *line) {
    double best[NUM_CONSTANTS], c[NUM_CONSTANTS];
    find_costs(line);
    get_constants(line, best);
    const double before = loss_with(best, line);
    double least = before;
    double present[NUM_CONSTANTS];
    memcpy(present, best, sizeof present);
    static const double starts[] = {0.6, 1.6}, waits[] = {0.5, 6.0};
    for (int which = -1; which < (is_by_choices ? 0 : 4); ++which) {
        memcpy(c, present, sizeof c);
        if (which >= 0) {
            c[2] = fmax(300.0, c[2] * starts[which & 1]);
            c[3] = fmax(100.0, c[3]);
            c[1] = waits[which >> 1];
        }
        const double e = descend(line, present, c);
        if (e < least)
            least = e, memcpy(best, c, sizeof best);
    }
    (void)loss_with(best, line);
    (void)fprintf(stderr, "%-44s %5d samples, loss each %.4f, was %.4f\n", line->name, line->count,
                  least / line->count, before / line->count);
}

/* ---- the file ---- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *when) {
    static double errors[1 << 20];
    int count = 0;
    for (int i = 0; i < num_lines; ++i)
        for (int j = 0; j < lines[i].count && count < 1 << 20; ++j) {
            const sample_t *s = lines[i].samples[j];
            if (s->seconds < 1.15 * s->best)
                errors[count++] = fabs(predicted_of(s) / s->seconds - 1);
        }
    qsort(errors, (size_t)count, sizeof *errors, compare);
    (void)fprintf(stderr,
                  "%s: %d samples near the best: median error %.4f, nine in ten within %.4f\n",
                  when, count, errors[count / 2], errors[count * 9 / 10]);
}

static void rewrite(const char *path) {
    FILE *in = fopen(path, "r");
    char text[CHOICE_LINE], name[NAME];
    if (!in)
        exit(1);
    while (fgets(text, sizeof text, in)) {
        const line_t *line =
            sscanf(text, "TCGEMM_COST(%95[a-z0-9_]", name) == 1 ? find_line(name, false) : NULL;
        if (!line || line->count < LEAST_SAMPLES || is_kept(line)) {
            (void)fputs(text, stdout);
            continue;
        }
        double c[NUM_CONSTANTS];
        get_constants(line, c);
        (void)printf("TCGEMM_COST(%-44s, %6.1f, %6.4g, %6.0f, %6.0f, %.2f, %.2f, %.2f, %.2f)\n",
                     name, c[0], c[1] < 1e-4 ? 0.0 : c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
    }
    (void)fclose(in);
}

static bool find_device(void) {
    tcgemm_problem_t p = tight_problem(TCGEMM_BF16_F32, "NN", 64, 64, 64, 1);
    tcgemm_plan_t *plan = NULL;
    if (tcgemm_plan_create(context, &p, NULL, &plan) == TCGEMM_STATUS_OK)
        device = plan->device; /* the context's */
    tcgemm_plan_destroy(plan);
    return device != NULL;
}

int main(int argc, char **argv) {
    tcgemm_context_options_t where = tcgemm_context_options();
    where.known_gpu = gpu_of_tables();
    is_free = argc > 1 && strcmp(argv[1], "--free") == 0;
    is_by_choices = argc > 1 && strcmp(argv[1], "--choices") == 0;
    argc -= is_free || is_by_choices, argv += is_free || is_by_choices;
    if (argc < 3 || tcgemm_context_create(&where, &context) != TCGEMM_STATUS_OK || !find_device()) {
        (void)fprintf(stderr, "fit: cost.def and tables of choices.c or sample.c are wanted\n");
        return 2;
    }
    for (int i = 2; i < argc; ++i) {
        const int others = read_table(argv[i]);
        (void)fprintf(stderr, "%s: %d lines whose steps are not those of today\n", argv[i], others);
    }
    report("before");
    for (int i = 0; i < num_lines; ++i)
        for (int j = 0; j < lines[i].count; ++j)
            lines[i].samples[j]->predicted = predicted_of(lines[i].samples[j]);
    for (int pass = 0; pass < (is_by_choices ? 4 : 1); ++pass)
        for (int i = 0; i < num_lines; ++i)
            if (lines[i].count >= LEAST_SAMPLES && !is_kept(&lines[i]))
                fit_line(&lines[i]);
    report("after");
    rewrite(argv[1]);
    return 0;
}
