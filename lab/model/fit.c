/* fit.c - fits the constants of src/gpu/model.c to tables of choices.c and sample.c, by the
 * library's own model: each line is planned as it was measured, and the lines of measured/cost.def
 * are moved until the rows that are chosen lose least. The new cost.def goes to stdout.
 *
 *     bash lab/model/run.sh fit src/gpu/measured/cost.def TABLE ... >new.def
 *
 * All lines move at once, down the slope of
 *
 *     what the choice among the rows of a problem loses, in parts of the best one's time,
 *     + 0.4 of that among the rows without tensor maps, all that GPUs before Hopper have
 *     + 0.35 of how far promised times are off, as logarithms; rows near the best count most
 *     + a little for each constant that moves: those of which the tables say nothing stay
 *
 * by Adam (Kingma and Ba, 2015) in the logarithms of the constants. Lines with few samples stay as
 * they are; with ONLY=NAME[,NAME] in the environment all do whose names have none of these in them:
 * a new tile finds its place among lines that are well. A line of another type whose kernels take
 * the same time is the same line.
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

enum { NAME = CHOICE_NAME, MAX_LINES = 400, LEAST_SAMPLES = 12, NUM_CONSTANTS = 9, BYTES = 4 };

typedef struct sample {
    const tcgemm_kernel_t *kernel;
    tcgemm_canonical_t seen; /* what the kernel of the product sees */
    int ranks;               /* of a cluster */
    bool in_pairs;
    double others;        /* seconds expected of the other steps */
    double seconds, best; /* measured: of this row, of the best of the problem */
    double best_copied;   /* ... of those without tensor maps */
    double predicted;     /* as the constants stand */
    double slope;         /* of the loss over the logarithm of that */
} sample_t;

typedef struct group {
    double weight; /* in the loss */
    int count;
    sample_t *rows[];
} group_t;

/* A line of cost.def, shared by the rows that have its name or that of its like; and the costs that
 * it stands for: the library's own, which are ours to move. */
enum { MOST_COSTS = 64 };
typedef struct line {
    char name[NAME];
    sample_t **samples;
    int count, room;
    tcgemm_gpu_cost_t *costs[MOST_COSTS];
    int num_costs;
    double present[NUM_CONSTANTS], constant[NUM_CONSTANTS]; /* logarithms */
    double mean[NUM_CONSTANTS], square[NUM_CONSTANTS];      /* of slopes, as Adam keeps them */
} line_t;

static line_t lines[MAX_LINES];
static int num_lines;
static group_t **groups;
static int num_groups;
static tcgemm_context_t *context;
static const tcgemm_device_t *device; /* of known_gpus.def */

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
    if (is_as_measured(plan, steps, splits) && !plan->kernel->gpu->items_a_warp &&
        (s = calloc(1, sizeof *s))) {
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
    double best_copied = HUGE_VAL;
    if (num_of_problem == 0)
        return;
    group_t *group = malloc(sizeof *group + bytes);
    groups = realloc(groups, (size_t)(num_groups + 1) * sizeof *groups);
    if (!group || !groups)
        exit(1);
    groups[num_groups++] = group;
    group->weight = fmin(3.0, fmax(1.0, sqrt(best / 5e-6))); /* those that take long count more */
    group->count = num_of_problem;
    memcpy(group->rows, of_problem, bytes);
    for (int i = 0; i < num_of_problem; ++i)
        if (!of_problem[i]->kernel->gpu->tensor_maps)
            best_copied = fmin(best_copied, of_problem[i]->seconds);
    for (int i = 0; i < num_of_problem; ++i) {
        of_problem[i]->best = best;
        of_problem[i]->best_copied = best_copied;
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

/* ---- the constants ---- */

static void find_costs(line_t *line) {
    for (int i = 0; i < tcgemm_num_kernels() && line->num_costs < MOST_COSTS; ++i) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        if (kernel->gpu && find_line(entry_of(kernel), false) == line)
            line->costs[line->num_costs++] =
                (tcgemm_gpu_cost_t *)tcgemm_gpu_cost_on(kernel, device);
    }
}

static void set_constants(const line_t *line, const double logs[NUM_CONSTANTS]) {
    double c[NUM_CONSTANTS];
    for (int i = 0; i < NUM_CONSTANTS; ++i)
        c[i] = exp(logs[i]);
    for (int i = 0; i < line->num_costs; ++i)
        *line->costs[i] = (tcgemm_gpu_cost_t){.macs = c[0],
                                              .wait = c[1],
                                              .start = c[2],
                                              .finish = c[3],
                                              .narrow = c[4],
                                              .unaligned = c[5],
                                              .layout = {1.0, c[6], c[7], c[8]}};
}

/* A cost of nothing is taken for next to nothing, to have a logarithm. */
static void get_constants(line_t *line) {
    static const double least[NUM_CONSTANTS] = {1, 0.05, 100, 50, 0.1, 0.1, 0.1, 0.1, 0.1};
    const tcgemm_gpu_cost_t *cost = tcgemm_gpu_cost_on(line->samples[0]->kernel, device);
    const double c[NUM_CONSTANTS] = {cost->macs,      cost->wait,      cost->start,
                                     cost->finish,    cost->narrow,    cost->unaligned,
                                     cost->layout[1], cost->layout[2], cost->layout[3]};
    for (int i = 0; i < NUM_CONSTANTS; ++i)
        line->present[i] = line->constant[i] = log(fmax(c[i], least[i]));
}

static double predicted_of(const sample_t *s) {
    return s->others + tcgemm_gpu_time(s->kernel, &s->seen, s->ranks, s->in_pairs, device).total;
}

/* ---- the fit ---- */

static const double least_bytes = 0.9; /* times what the memory takes: no row draws more */
static const double weight_of_copied = 0.4, weight_of_errors = 0.35, weight_of_moves = 3e-2;

static bool is_copied(const sample_t *s) {
    return !s->kernel->gpu->tensor_maps;
}

/* A row that takes half as long again is as bad as any that takes longer. */
static double loss_of_row(const sample_t *s, bool copied) {
    return fmin(s->seconds / (copied ? s->best_copied : s->best), 1.5) - 1.0;
}

/* What the choice among the rows of a problem loses; adds its slopes. Rows that are promised the
 * same within some percent are chosen by halves, so that there is a slope. */
static double loss_of_choice(const group_t *group, bool copied, double weight) {
    static const double temperature = 0.025;
    static double weights[MOST_ROWS];
    double least = HUGE_VAL, sum = 0.0, loss = 0.0;
    for (int i = 0; i < group->count; ++i)
        if (!copied || is_copied(group->rows[i]))
            least = fmin(least, group->rows[i]->predicted);
    if (least == HUGE_VAL)
        return 0.0;
    for (int i = 0; i < group->count; ++i) {
        const sample_t *s = group->rows[i];
        const bool counts = !copied || is_copied(s);
        weights[i] = counts ? exp(-log(s->predicted / least) / temperature) : 0.0;
        sum += weights[i];
    }
    for (int i = 0; i < group->count; ++i)
        if (weights[i] > 0.0)
            loss += weights[i] / sum * loss_of_row(group->rows[i], copied);
    for (int i = 0; i < group->count; ++i)
        if (weights[i] > 0.0)
            group->rows[i]->slope -= weight * weights[i] / sum *
                                     (loss_of_row(group->rows[i], copied) - loss) / temperature;
    return weight * loss;
}

static double weight_of(const sample_t *s) {
    const double far = s->seconds / s->best, far_copied = s->seconds / s->best_copied;
    const double weight = far < 1.15 ? 1.0 : far < 1.5 ? 0.4 : 0.1;
    return !is_copied(s) ? weight
                         : fmax(weight, far_copied < 1.15  ? 0.5
                                        : far_copied < 1.5 ? 0.2
                                                           : 0.0);
}

/* An error beyond a fifth counts less. */
static double loss_of_error(sample_t *s, double weight) {
    const double e = log(s->predicted / s->seconds), a = fabs(e);
    s->slope += (e < 0.0 ? -weight : weight) * (a < 0.2 ? 1.0 : 0.6);
    return weight * (a < 0.2 ? a : 0.2 + 0.6 * (a - 0.2));
}

/* The loss as the constants stand, with its slopes by each sample. */
static double loss_of_samples(void) {
    double loss = 0.0, weights = 0.0, of_groups = 0.0;
    for (int g = 0; g < num_groups; ++g) {
        of_groups += groups[g]->weight;
        for (int i = 0; i < groups[g]->count; ++i)
            weights += groups[g]->weight * weight_of(groups[g]->rows[i]);
    }
    for (int g = 0; g < num_groups; ++g) {
        const double weight = groups[g]->weight;
        for (int i = 0; i < groups[g]->count; ++i) {
            sample_t *s = groups[g]->rows[i];
            s->predicted = predicted_of(s);
            s->slope = 0.0;
            loss += loss_of_error(s, weight_of_errors * weight * weight_of(s) / weights);
        }
        loss += loss_of_choice(groups[g], false, weight / of_groups);
        loss += loss_of_choice(groups[g], true, weight_of_copied * weight / of_groups);
    }
    return loss;
}

static bool is_wanted(const char *name) {
    const char *only = getenv("ONLY");
    for (; only; only = strchr(only, ',') ? strchr(only, ',') + 1 : NULL) {
        char part[NAME];
        (void)snprintf(part, sizeof part, "%.*s", (int)strcspn(only, ","), only);
        if (strstr(name, part))
            return true;
    }
    return !getenv("ONLY");
}

static bool is_fitted(const line_t *line) {
    return line->count >= LEAST_SAMPLES && is_wanted(line->name);
}

static void step_of_line(line_t *line, int number, double rate, int num_fitted) {
    static const double h = 1e-4, old_mean = 0.9, old_square = 0.999;
    double slope[NUM_CONSTANTS];
    const bool has_boxes = line->samples[0]->kernel->gpu->tensor_maps;
    for (int i = 0; i < NUM_CONSTANTS; ++i) {
        double moved[NUM_CONSTANTS];
        memcpy(moved, line->constant, sizeof moved);
        moved[i] += h;
        set_constants(line, moved);
        slope[i] = 2.0 * weight_of_moves * (line->constant[i] - line->present[i]) / num_fitted;
        for (int j = 0; j < line->count; ++j) {
            const sample_t *s = line->samples[j];
            if (s->slope != 0.0)
                slope[i] += s->slope * log(predicted_of(s) / s->predicted) / h;
        }
    }
    for (int i = 0; i < NUM_CONSTANTS; ++i) {
        line->mean[i] = old_mean * line->mean[i] + (1.0 - old_mean) * slope[i];
        line->square[i] = old_square * line->square[i] + (1.0 - old_square) * slope[i] * slope[i];
        const double mean = line->mean[i] / (1.0 - pow(old_mean, number));
        const double square = line->square[i] / (1.0 - pow(old_square, number));
        line->constant[i] -= rate * mean / (sqrt(square) + 1e-8);
        if (i == BYTES && has_boxes)
            line->constant[i] = fmax(line->constant[i], log(least_bytes));
    }
    set_constants(line, line->constant);
}

static void fit(void) {
    enum { STEPS = 300 };
    int num_fitted = 0;
    for (int i = 0; i < num_lines; ++i)
        if (is_fitted(&lines[i])) {
            find_costs(&lines[i]);
            get_constants(&lines[i]);
            set_constants(&lines[i], lines[i].constant);
            ++num_fitted;
        }
    for (int number = 1; number <= STEPS; ++number) {
        const double loss = loss_of_samples();
        if (number % 20 == 1 || number == STEPS)
            (void)fprintf(stderr, "step %3d: loss %.5f\n", number, loss);
        const double rate = 0.02 * fmin(1.0, (STEPS - number + 1) / (0.4 * STEPS));
        for (int i = 0; i < num_lines; ++i)
            if (is_fitted(&lines[i]))
                step_of_line(&lines[i], number, rate, num_fitted);
    }
}

/* ---- the file ---- */

static void report(const char *when) {
    static double errors[1 << 20];
    int count = 0;
    for (int i = 0; i < num_lines; ++i)
        for (int j = 0; j < lines[i].count && count < 1 << 20; ++j) {
            const sample_t *s = lines[i].samples[j];
            if (s->seconds < 1.15 * s->best)
                errors[count++] = fabs(predicted_of(s) / s->seconds - 1);
        }
    qsort(errors, (size_t)count, sizeof *errors, compare_doubles);
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
        if (!line || !is_fitted(line)) {
            (void)fputs(text, stdout);
            continue;
        }
        double c[NUM_CONSTANTS];
        for (int i = 0; i < NUM_CONSTANTS; ++i)
            c[i] = exp(line->constant[i]);
        (void)printf(
            "TCGEMM_COST(%-44s, %6.1f, %6.4g, %6.0f, %6.0f, %.2f, %.2f, %.2f, %.2f, %.2f)\n", name,
            c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]);
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
    if (argc < 3 || tcgemm_context_create(&where, &context) != TCGEMM_STATUS_OK || !find_device()) {
        (void)fprintf(stderr, "fit: cost.def and tables of choices.c or sample.c are wanted\n");
        return 2;
    }
    for (int i = 2; i < argc; ++i) {
        const int others = read_table(argv[i]);
        (void)fprintf(stderr, "%s: %d lines whose steps are not those of today\n", argv[i], others);
    }
    report("before");
    fit();
    report("after");
    rewrite(argv[1]);
    return 0;
}
