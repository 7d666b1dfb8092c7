/* choices.c - the planner's choice beside every row that could have been chosen.
 *
 *     bash lab/model/run.sh choices [problems [seed [milliseconds [KIND]]]] >choices.csv
 *
 * Random problems (400 of them), drawn anew from the seed (1): all types that a GPU multiplies
 * (TYPE: those whose names begin so; ADDS_C=1: all of them have a C), the four layouts, sizes
 * spread evenly over their logarithms: cubes, few rows, few columns, deep k, batches, any; one in
 * three odd, the others multiples of 16. KIND says which others:
 *
 *     regular  larger ones, up to 8192^3, few rows and columns of weights as networks have them,
 *              and all sizes from 128 on multiples of 128, as most are that people choose: rows of
 *              matrices begin with a line of the L2, which chance alone would hardly give
 *     steady   of these the largest, of the types of tensor cores, which come to the limit of power
 *              when one product follows another, as it does in programs
 *     @FILE    none: the problems are the lines of a file, "bf16_f32 NT 512x28672x8192", those of a
 *              batch "f32_f32 NN 64x64x64*512", with a C "f64_f64 NT 4096x4096x256 C", measured as
 *              steady ones are
 *
 * Each row that may be chosen is planned by its name, with the packing and the parts of k that the
 * planner gives it, and timed for `milliseconds` (3), three times; an eighth of that where it is
 * far behind. Of problems as large as steady ones, and of those of a file, the rows that are
 * promised about as much are timed in turns, so that heat and clock meet them alike: the median of
 * seven. A line is a row for a problem: its steps (A, B: packed, P: product, p: product in pairs of
 * blocks, R: parts added up), the parts of k of the last product, what it took and was expected to
 * take, and whether the planner took it. The host has nothing else to do meanwhile: where it is
 * late, plans of several launches take longer.
 * lab/model/choices.py draws the sum, also with the planner of another day.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "timing.h"

enum { NUM_TYPES = 13 };
static const tcgemm_type_t types[NUM_TYPES] = {
    TCGEMM_BF16_F32, TCGEMM_BF16_BF16, TCGEMM_F16_F32,  TCGEMM_F16_F16, TCGEMM_TF32_F32,
    TCGEMM_F32_F32,  TCGEMM_F64_F64,   TCGEMM_S8_S32,   TCGEMM_U8_S32,  TCGEMM_U8S8_S32,
    TCGEMM_E4M3_F32, TCGEMM_E4M3_BF16, TCGEMM_E5M2_BF16};

static uint64_t state;
static bool is_regular, is_steady;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

/* From low to high, evenly over the logarithm; a multiple of 16 (128), or any number. */
static int64_t draw_size(double low, double high, bool odd) {
    const double at = (double)draw(1 << 20) / (1 << 20);
    const int64_t size = (int64_t)(low * pow(high / low, at));
    const int64_t step = is_regular ? 128 : 16;
    return odd || size < step ? size : size / step * step;
}

static bool is_fp8(tcgemm_type_t type) {
    return tcgemm_type_info(type)->name[0] == 'e';
}

static unsigned flags_of(bool is_fast) {
    return (is_fast ? TCGEMM_FLAG_FAST_ACCUMULATE : 0) |
           (getenv("ADDS_C") ? TCGEMM_FLAG_ADDS_C : 0);
}

static bool is_wide(tcgemm_type_t type) {
    return type == TCGEMM_F64_F64 || type == TCGEMM_F32_F32;
}

static tcgemm_problem_t draw_problem(void) {
    const tcgemm_type_t type = types[draw(NUM_TYPES)];
    const bool odd = !is_regular && draw(3) == 0;
    const uint64_t layout = draw(4), kind = draw(6);
    const bool wide = is_wide(type);
    const double high = wide ? 4096 : is_regular ? 16384 : 10000;
    int64_t m = draw_size(64, high, odd), n = draw_size(64, high, odd),
            k = draw_size(64, high, odd);
    const double widest = wide ? 16384 : 28672; /* of weights */
    if (is_regular && kind == 1)
        n = draw_size(1024, widest, odd), k = draw_size(1024, widest, odd);
    if (is_regular && kind == 2)
        m = draw_size(1024, widest, odd), k = draw_size(1024, widest, odd);
    int64_t batch = 1;
    if (kind == 0)
        m = n = k = draw_size(96, high, odd);
    else if (kind == 1)
        m = draw_size(1, 64, true);
    else if (kind == 2)
        n = draw_size(1, 64, true);
    else if (kind == 3)
        m = draw_size(32, 640, odd), n = draw_size(32, 640, odd), k = draw_size(8192, 131072, odd);
    else if (kind == 4)
        m = draw_size(16, 700, odd), n = draw_size(16, 700, odd), k = draw_size(16, 700, odd),
        batch = draw_size(4, 256, true);
    const char ops[] = {layout & 2 ? 'T' : 'N', layout & 1 ? 'T' : 'N'};
    tcgemm_problem_t p = tight_problem(type, ops, m, n, k, batch);
    p.flags = flags_of(is_fp8(type) && draw(2));
    return p;
}

typedef struct choice {
    double seconds, predicted;
    char kernel[64], steps[8];
    long long splits;
} choice_t;

/* Only the first product may be in pairs: a tail never is. */
static void note_steps(const tcgemm_plan_t *plan, choice_t *c) {
    tcgemm_step_info_t step = {.struct_size = sizeof step};
    char text[4096];
    (void)tcgemm_plan_describe(plan, TCGEMM_FORMAT_TEXT, text, sizeof text);
    char product = strstr(text, "in pairs that share") ? 'p' : 'P';
    for (int i = 0; tcgemm_plan_get_step(plan, i, &step) == TCGEMM_STATUS_OK; ++i) {
        const bool multiplies = strcmp(step.name, "product") == 0;
        c->steps[i] = step.name[0] == 'r' ? 'R'
                      : multiplies        ? product
                                          : step.name[strlen(step.name) - 1];
        if (multiplies)
            c->splits = (long long)step.splits, product = 'P';
    }
}

/* Of one row, or with NULL of the planner's; NULL where it does not take the problem. `c` lacks
 * what it takes. */
static tcgemm_plan_t *plan_row(const tcgemm_problem_t *p, const char *kernel, choice_t *c) {
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_t *plan = NULL;
    *c = (choice_t){0};
    o.kernel = kernel;
    if (tcgemm_plan_create(timing_context, p, &o, &plan) != TCGEMM_STATUS_OK)
        return NULL;
    (void)tcgemm_plan_get_info(plan, &info);
    note_steps(plan, c);
    c->predicted = info.predicted_seconds;
    (void)snprintf(c->kernel, sizeof c->kernel, "%s", info.kernel);
    return plan;
}

/* The same, timed; 0 seconds where there is no plan. */
static choice_t time_row(const tcgemm_problem_t *p, const char *kernel, double sample_seconds) {
    choice_t c;
    tcgemm_plan_t *plan = plan_row(p, kernel, &c);
    if (plan)
        c.seconds = timing_of(plan, p, sample_seconds);
    tcgemm_plan_destroy(plan);
    return c;
}

/* Families that are there to be read are never chosen. */
static bool may_be_chosen(const tcgemm_kernel_info_t *row, const tcgemm_problem_t *p) {
    return strcmp(row->device, "gpu") == 0 && row->runnable &&
           (row->types >> (p->type - 1) & 1) != 0 && (row->needs_flags & ~p->flags) == 0 &&
           strncmp(row->algo, "wmma", 4) != 0 && strcmp(row->algo, "simt-outer") != 0;
}

/* Whether row i may be chosen, and is not that one. */
static bool is_another(int i, const tcgemm_problem_t *p, const choice_t *chosen,
                       tcgemm_kernel_info_t *row) {
    *row = (tcgemm_kernel_info_t){.struct_size = sizeof *row};
    return tcgemm_kernel_get_info(i, row) == TCGEMM_STATUS_OK && may_be_chosen(row, p) &&
           strcmp(row->name, chosen->kernel) != 0;
}

static void write_line(int number, const tcgemm_problem_t *p, const choice_t *c, int chosen) {
    (void)printf("%d,%s,%c%c,%lld,%lld,%lld,%lld,%u,%s,%s,%lld,%d,%.6g,%.6g\n", number,
                 tcgemm_type_info(p->type)->name, p->op_a ? 'T' : 'N', p->op_b ? 'T' : 'N',
                 (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->batch, p->flags,
                 c->kernel, c->steps, c->splits, chosen, c->seconds, c->predicted);
}

static void measure(int number, const tcgemm_problem_t *p, double sample_seconds) {
    choice_t chosen = time_row(p, NULL, sample_seconds);
    if (chosen.seconds <= 0)
        return;
    double best = chosen.seconds;
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t row;
        if (!is_another(i, p, &chosen, &row))
            continue;
        choice_t c = time_row(p, row.name, sample_seconds / 8);
        if (c.seconds > 0 && c.seconds < 1.15 * best)
            c = time_row(p, row.name, sample_seconds);
        if (c.seconds > 0)
            write_line(number, p, &c, 0);
        if (c.seconds > 0 && c.seconds < best)
            best = c.seconds;
    }
    /* Now and then a machine is late for all of a row's rounds. */
    if (chosen.seconds > 1.15 * best) {
        const double again = time_row(p, NULL, sample_seconds).seconds;
        chosen.seconds = again > 0 ? fmin(chosen.seconds, again) : chosen.seconds;
    }
    write_line(number, p, &chosen, 1);
    (void)fflush(stdout);
}

/* ---- in turns ---- */

enum { MOST_IN_TURNS = 24, TURNS = 7 };
static const double promised_as_much = 1.35;

typedef struct turn {
    tcgemm_plan_t *plan;
    choice_t c;
    double seconds[TURNS];
} turn_t;

static void measure_in_turns(int number, const tcgemm_problem_t *p, double turn_seconds) {
    turn_t turns[MOST_IN_TURNS]; /* the planner's row is the first */
    int count = 1;
    turns[0].plan = plan_row(p, NULL, &turns[0].c);
    if (!turns[0].plan)
        return;
    for (int i = 0; i < tcgemm_kernel_count() && count < MOST_IN_TURNS; ++i) {
        tcgemm_kernel_info_t row;
        turn_t *const t = &turns[count];
        if (!is_another(i, p, &turns[0].c, &row))
            continue;
        t->plan = plan_row(p, row.name, &t->c);
        if (t->plan && t->c.predicted < promised_as_much * turns[0].c.predicted)
            ++count;
        else
            tcgemm_plan_destroy(t->plan);
    }
    for (int turn = 0; turn < TURNS; ++turn)
        for (int i = 0; i < count; ++i)
            turns[i].seconds[turn] = timing_of(turns[i].plan, p, turn_seconds / TIMING_ROUNDS);
    for (int i = 0; i < count; ++i) {
        qsort(turns[i].seconds, TURNS, sizeof turns[i].seconds[0], compare_doubles);
        turns[i].c.seconds = turns[i].seconds[TURNS / 2];
        if (turns[i].c.seconds > 0)
            write_line(number, p, &turns[i].c, i == 0);
        tcgemm_plan_destroy(turns[i].plan);
    }
    (void)fflush(stdout);
}

static double products_of(const tcgemm_problem_t *p) {
    return (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
}

/* Whether it takes some 15 us and more of the tensor cores at their full power. */
static bool is_hot(const tcgemm_problem_t *p) {
    const int bits = tcgemm_dtype_bits(tcgemm_type_info(p->type)->a);
    return !is_wide(p->type) && products_of(p) * bits > 1e11;
}

static bool fits(const tcgemm_problem_t *p) {
    const double most = (double)timing_most_elements / 2;
    const double most_products = is_wide(p->type) ? 3e10 : is_regular ? 5.6e11 : 2e11;
    return products_of(p) < most_products && (double)(p->m * p->k * p->batch) < most &&
           (double)(p->k * p->n * p->batch) < most && (double)(p->m * p->n * p->batch) < most;
}

/* Of a line that names no type or no sizes false. */
static bool problem_of_line(const char *line, tcgemm_problem_t *p) {
    char name[CHOICE_NAME], ops[8];
    long long m, n, k, batch = 1;
    int end = 0;
    tcgemm_type_t type;
    if (sscanf(line, "%95s %7s %lldx%lldx%lld%n", name, ops, &m, &n, &k, &end) != 5 ||
        tcgemm_type_from_name(name, &type) != TCGEMM_STATUS_OK)
        return false;
    const char *rest = line + end;
    if (*rest == '*')
        batch = strtoll(rest + 1, (char **)&rest, 10);
    rest += strspn(rest, " ");
    const bool adds_c = *rest == 'C';
    rest += adds_c;
    if (batch < 1 || rest[strspn(rest, "\r\n")])
        return false;
    *p = tight_problem(type, ops, m, n, k, batch);
    p->flags = flags_of(is_fp8(type)) | (adds_c ? TCGEMM_FLAG_ADDS_C : 0);
    return true;
}

static int measure_list(const char *path, double sample_seconds) {
    FILE *const list = fopen(path, "r");
    char line[CHOICE_LINE];
    if (!list) {
        (void)fprintf(stderr, "choices: cannot read %s\n", path);
        return 2;
    }
    tcgemm_problem_t p;
    int status = 0, number = 0;
    while (fgets(line, sizeof line, list))
        if (problem_of_line(line, &p)) {
            measure_in_turns(number++, &p, sample_seconds);
        } else {
            (void)fprintf(stderr, "choices: not a problem: %s", line);
            status = 2;
        }
    (void)fclose(list);
    return status;
}

int main(int argc, char **argv) {
    const int wanted = argc > 1 ? atoi(argv[1]) : 400;
    const int seed = argc > 2 ? atoi(argv[2]) : 1;
    const double sample_seconds = (argc > 3 ? atof(argv[3]) : 3) * 1e-3;
    if (wanted < 1 || seed < 1 || !(sample_seconds > 0)) {
        (void)fprintf(stderr, "choices: problems, seed and milliseconds are more than 0\n");
        return 2;
    }
    is_steady = argc > 4 && strcmp(argv[4], "steady") == 0;
    is_regular = is_steady || (argc > 4 && strcmp(argv[4], "regular") == 0);
    if (!timing_start())
        return 77;
    state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
    const char *type = getenv("TYPE") ? getenv("TYPE") : "";
    (void)printf("problem,type,ops,m,n,k,batch,flags,kernel,steps,splits,chosen,seconds,"
                 "predicted_seconds\n");
    if (argc > 4 && argv[4][0] == '@')
        return measure_list(argv[4] + 1, sample_seconds);
    for (int i = 0; i < wanted;) {
        const tcgemm_problem_t p = draw_problem();
        if (!fits(&p) || strncmp(tcgemm_type_info(p.type)->name, type, strlen(type)) != 0)
            continue;
        if (is_hot(&p))
            measure_in_turns(i++, &p, sample_seconds);
        else if (!is_steady)
            measure(i++, &p, sample_seconds);
    }
    return 0;
}
