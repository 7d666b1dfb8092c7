/* fit_choices.c - fits the constants of src/gpu/model.c to tables of choices.c, by the library's
 * own model: each line is planned as it was measured, and the lines of measured/cost.def are moved
 * until what the plans expect comes near to what was found.
 *
 *     bash lab/model/run.sh fit-choices src/gpu/measured/cost.def choices.csv [...]
 *
 * Rows without samples stay as they are. What the planner wants is the order of the rows: so those
 * that are near the best of a problem count more, and those that are slower are not to be promised
 * below it. One line of constants after the other, by coordinate descent from what stands there and
 * from round numbers. A line of another type whose kernels take the same time is the same line.
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

enum { LINE = 512, NAME = 96, MAX_LINES = 400, LEAST_SAMPLES = 12, NUM_CONSTANTS = 8 };

typedef struct sample {
    const tcgemm_kernel_t *kernel;
    tcgemm_canonical_t seen; /* what the kernel of the product sees */
    int ranks;               /* of a cluster */
    double others;           /* seconds expected of the other steps */
    double seconds, best;    /* measured: of this row, of the best of the problem */
    int problem;
} sample_t;

/* A line of cost.def, shared by the rows that have its name or that of its like. */
typedef struct line {
    char name[NAME];
    sample_t **samples;
    int count, room;
} line_t;

static line_t lines[MAX_LINES];
static int num_lines;
static tcgemm_context_t *context;

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

/* Whether the plan takes the steps that were measured. */
static bool is_as_measured(const struct tcgemm_plan *plan, const char *steps, long long splits) {
    static const char letters[] = {[TCGEMM_STEP_PACK_A] = 'A',
                                   [TCGEMM_STEP_PACK_B] = 'B',
                                   [TCGEMM_STEP_PRODUCT] = 'P',
                                   [TCGEMM_STEP_REDUCE] = 'R'};
    if ((int)strlen(steps) != plan->steps.count)
        return false;
    for (int i = 0; i < plan->steps.count; ++i)
        if (letters[plan->steps.step[i].kind] != steps[i])
            return false;
    return tcgemm_plan_product(plan)->splits == splits;
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
        s->others = plan->steps.seconds - product->seconds;
    }
    tcgemm_plan_destroy(plan);
    return s;
}

/* Adds the lines of a table; returns how many did not take the steps of today. */
static int read_table(const char *path, int *problems) {
    FILE *file = fopen(path, "r");
    char text[LINE];
    int other = 0, first = 0;
    long long last = -1;
    sample_t *of_problem[256];
    int count = 0;
    double best = HUGE_VAL;
    if (!file || !fgets(text, sizeof text, file)) {
        (void)fprintf(stderr, "fit_choices: %s is no table of choices.c\n", path);
        exit(2);
    }
    for (bool more = true; more;) {
        long long number = -2, m, n, k, batch, splits;
        unsigned flags;
        int chosen;
        double seconds = 0, predicted;
        char type_name[NAME], ops[8], kernel[NAME], steps[8];
        more = fgets(text, sizeof text, file) != NULL;
        if (more &&
            sscanf(text,
                   "%lld,%95[^,],%7[^,],%lld,%lld,%lld,%lld,%u,%95[^,],%7[^,],%lld,%d,%lf,%lf",
                   &number, type_name, ops, &m, &n, &k, &batch, &flags, kernel, steps, &splits,
                   &chosen, &seconds, &predicted) != 14)
            break;
        if (number != last) { /* the best of the problem is known now */
            for (int i = 0; i < count; ++i)
                of_problem[i]->best = best, of_problem[i]->problem = *problems;
            *problems += ++first > 1;
            count = 0;
            best = HUGE_VAL;
            last = number;
        }
        if (!more)
            break;
        tcgemm_type_t type;
        if (tcgemm_type_from_name(type_name, &type) != TCGEMM_STATUS_OK)
            exit(2);
        tcgemm_problem_t p = tight_problem(type, ops, m, n, k, batch);
        p.flags = flags;
        best = fmin(best, seconds);
        sample_t *s = sample_of(&p, kernel, steps, splits);
        if (!s || count == 256) {
            ++other;
            continue;
        }
        s->seconds = seconds;
        of_problem[count++] = s;
        keep(s);
    }
    (void)fclose(file);
    return other;
}

/* ---- the fit ---- */

static void set_constants(const line_t *line, const double c[NUM_CONSTANTS]) {
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        if (!kernel->gpu || find_line(entry_of(kernel), false) != line)
            continue;
        tcgemm_gpu_cost_t *cost =
            (tcgemm_gpu_cost_t *)tcgemm_gpu_cost_of(kernel); /* ours to move */
        *cost = (tcgemm_gpu_cost_t){.macs = c[0],
                                    .wait = c[1],
                                    .start = c[2],
                                    .finish = c[3],
                                    .narrow = c[4],
                                    .layout = {1.0, c[5], c[6], c[7]}};
    }
}

static void get_constants(const line_t *line, double c[NUM_CONSTANTS]) {
    const tcgemm_gpu_cost_t *cost = tcgemm_gpu_cost_of(line->samples[0]->kernel);
    c[0] = cost->macs, c[1] = cost->wait, c[2] = cost->start, c[3] = cost->finish;
    c[4] = cost->narrow, c[5] = cost->layout[1], c[6] = cost->layout[2], c[7] = cost->layout[3];
}

static tcgemm_gpu_cost_t *own_cost[1024];
static int num_own;

static double predicted_of(const sample_t *s) {
    static const tcgemm_device_t *device;
    if (!device) {
        tcgemm_problem_t p = tight_problem(TCGEMM_BF16_F32, "NN", 64, 64, 64, 1);
        tcgemm_plan_t *plan = NULL;
        if (tcgemm_plan_create(context, &p, NULL, &plan) != TCGEMM_STATUS_OK)
            exit(1);
        device = plan->device; /* the context's, which stays */
    }
    return s->others + tcgemm_gpu_time(s->kernel, &s->seen, s->ranks, device).total;
}

static double loss_of(const line_t *line) {
    double total = 0.0;
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
    for (int i = 0; i < num_own; ++i)
        *own_cost[i] = (tcgemm_gpu_cost_t){.macs = c[0],
                                           .wait = c[1],
                                           .start = c[2],
                                           .finish = c[3],
                                           .narrow = c[4],
                                           .layout = {1.0, c[5], c[6], c[7]}};
    return loss_of(line);
}

/* How far a constant may move: random problems say little of large products, and nothing of what a
 * kernel's units cannot do. Tiles of large products stay near where those have put them. */
static double reach(const line_t *line, int i) {
    const tcgemm_gpu_row_t *row = line->samples[0]->kernel->gpu;
    const bool is_large = row->bm * row->bn >= 128 * 128;
    switch (i) {
    case 1: /* wait, start, finish */
    case 2:
    case 3:
        return HUGE_VAL;
    case 0:
        return is_large ? 1.04 : 1.5;
    default:
        return is_large ? 1.15 : 1.4;
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
                const bool is_free = reach(line, i) == HUGE_VAL ||
                                     (moved < reach(line, i) && 1.0 / moved < reach(line, i));
                const double e = is_free ? loss_with(c, line) : HUGE_VAL;
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

static void find_own_costs(const line_t *line) {
    num_own = 0;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(i);
        if (kernel->gpu && find_line(entry_of(kernel), false) == line)
            own_cost[num_own++] = (tcgemm_gpu_cost_t *)tcgemm_gpu_cost_of(kernel);
    }
}

static void fit_line(const line_t *line) {
    double best[NUM_CONSTANTS], c[NUM_CONSTANTS];
    find_own_costs(line);
    get_constants(line, best);
    const double before = loss_with(best, line);
    double least = before;
    double present[NUM_CONSTANTS];
    memcpy(present, best, sizeof present);
    static const double starts[] = {0.6, 1.6}, waits[] = {0.5, 6.0};
    for (int which = -1; which < 4; ++which) {
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
    set_constants(line, best);
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
    char text[LINE], name[NAME];
    if (!in)
        exit(1);
    while (fgets(text, sizeof text, in)) {
        const line_t *line =
            sscanf(text, "TCGEMM_COST(%95[a-z0-9_]", name) == 1 ? find_line(name, false) : NULL;
        if (!line || line->count < LEAST_SAMPLES) {
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

int main(int argc, char **argv) {
    tcgemm_context_options_t where = tcgemm_context_options();
    int problems = 0;
    where.known_gpu = "h200";
    if (argc < 3 || tcgemm_context_create(&where, &context) != TCGEMM_STATUS_OK) {
        (void)fprintf(stderr, "fit_choices: cost.def and tables of choices.c are wanted\n");
        return 2;
    }
    for (int i = 2; i < argc; ++i) {
        const int other = read_table(argv[i], &problems);
        (void)fprintf(stderr, "%s: %d lines whose steps are not those of today\n", argv[i], other);
    }
    report("before");
    for (int i = 0; i < num_lines; ++i)
        if (lines[i].count >= LEAST_SAMPLES)
            fit_line(&lines[i]);
    report("after");
    rewrite(argv[1]);
    return 0;
}
