/* planner.c - takes the best row of the kernel table for a problem and lets its family make the
 * steps.
 *
 * Rows that predict a time are ranked by it, those of the CPU by multiply-adds a cycle. The planner
 * knows problems, devices and rows; what a row does with them is its family's (table/family.h).
 */
#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- the choice ---- */

/* GPU rows belong to a device, the others to the CPU. */
static bool has_place(const tcgemm_kernel_t *kernel, const tcgemm_device_t *device) {
    return (kernel->gpu != NULL) == (device != NULL);
}

/* A row whose sums need a flag serves it and nothing else. */
static bool does_type(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g) {
    return (kernel->types & TCGEMM_TYPE_BIT(g->type->type)) != 0 &&
           (kernel->needs & ~g->flags) == 0;
}

static bool fits(const tcgemm_kernel_t *kernel, const tcgemm_device_t *device) {
    return kernel->family->fits(kernel, device);
}

static bool takes(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g) {
    return !kernel->family->takes || kernel->family->takes(kernel, g);
}

void tcgemm_plan_with(const tcgemm_kernel_t *kernel, int max_threads, struct tcgemm_plan *plan) {
    plan->kernel = kernel;
    plan->max_threads = max_threads;
    plan->num_threads = max_threads;
    memset(&plan->if_unaligned, 0, sizeof plan->if_unaligned);
    kernel->family->expand(kernel, plan);
}

bool tcgemm_plan_can_use(const struct tcgemm_plan *plan, const tcgemm_kernel_t *kernel) {
    return !kernel->family->by_name_only && has_place(kernel, plan->device) &&
           does_type(kernel, &plan->g) && fits(kernel, plan->device) && takes(kernel, &plan->g);
}

static tcgemm_status_t find_named(const char *name, struct tcgemm_plan *plan,
                                  const tcgemm_kernel_t **kernel) {
    const tcgemm_kernel_t *row;
    for (int i = 0; (row = tcgemm_kernel_at(i)) != NULL; ++i) {
        if (strcmp(row->name, name) != 0)
            continue;
        *kernel = row;
        TCGEMM_RETURN_IF(!does_type(row, &plan->g), TCGEMM_STATUS_UNSUPPORTED,
                         row->types & TCGEMM_TYPE_BIT(plan->g.type->type)
                             ? row->needs == TCGEMM_FLAG_F16_ACCUMULATE
                                   ? "kernel %s accumulates in f16: type %s needs "
                                     "TCGEMM_FLAG_F16_ACCUMULATE for it"
                                   : "kernel %s accumulates in 14 bits: type %s needs "
                                     "TCGEMM_FLAG_FAST_ACCUMULATE for it"
                             : "kernel %s does not compute type %s",
                         name, plan->g.type->name);
        TCGEMM_RETURN_IF(!has_place(row, plan->device), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s runs on %s, but the context is for %s", name,
                         row->gpu ? "a GPU" : "the CPU", plan->device ? "a GPU" : "the CPU");
        TCGEMM_RETURN_IF(!fits(row, plan->device), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s needs %s, which this %s lacks", name, row->isa,
                         plan->device ? "GPU" : "processor");
        TCGEMM_RETURN_IF(!takes(row, &plan->g), TCGEMM_STATUS_UNSUPPORTED, "kernel %s takes %s",
                         name, row->family->takes_what);
        return TCGEMM_STATUS_OK;
    }
    return tcgemm_error_set(TCGEMM_STATUS_UNKNOWN_ALGO,
                            "unknown kernel '%.60s'; `tcgemm list` shows them", name);
}

/* ---- tiles by their names ---- */

enum { TILE_TEXT = 48 };

/* The tile of a row as plan_options.tile names it, m and n the caller's way round. */
static void tile_text(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                      char text[TILE_TEXT]) {
    const int m = kernel->tile[g->swapped ? 1 : 0];
    const int n = kernel->tile[g->swapped ? 0 : 1];
    (void)snprintf(text, TILE_TEXT, "%dx%dx%d", m, n, kernel->tile[2]);
}

static bool has_tile(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g, const char *tile) {
    char text[TILE_TEXT];
    if (!tile)
        return true;
    tile_text(kernel, g, text);
    return strcmp(text, tile) == 0;
}

/* ---- families ---- */

typedef struct wanted {
    const char *algo; /* "auto": any fast one */
    bool is_auto;
    const char *tile; /* NULL: any */
} wanted_t;

static wanted_t want(const char *algo, const char *tile) {
    return (wanted_t){algo, strcmp(algo, "auto") == 0, tile};
}

static bool is_of_algo(const tcgemm_kernel_t *row, const char *algo) {
    return strcmp(row->family->algo, algo) == 0;
}

static bool is_meant(const tcgemm_kernel_t *row, wanted_t w) {
    return w.is_auto ? !row->family->by_name_only : is_of_algo(row, w.algo);
}

static bool is_wanted(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan, wanted_t w) {
    return is_meant(row, w) && has_place(row, plan->device) && does_type(row, &plan->g) &&
           takes(row, &plan->g);
}

/* Appends ", text" to a list unless it is there already. */
static void list(char *buffer, size_t size, const char *text) {
    const size_t length = strlen(text);
    for (const char *at = buffer; (at = strstr(at, text)) != NULL; at += length)
        if ((at == buffer || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return;
    const size_t used = strlen(buffer);
    (void)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", text);
}

static tcgemm_status_t unknown_algo(const char *algo) {
    char known[256] = "auto, cpu, reference";
    for (int i = 0; i < tcgemm_num_kernels(); ++i)
        list(known, sizeof known, tcgemm_kernel_at(i)->family->algo);
    return tcgemm_error_set(TCGEMM_STATUS_UNKNOWN_ALGO, "unknown algo '%.60s'; known are %s", algo,
                            known);
}

/* The types that the algorithm does there. */
static void list_types(const struct tcgemm_plan *plan, wanted_t w, char *buffer, size_t size) {
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int i = 0; i < tcgemm_num_kernels(); ++i) {
            const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
            if (is_meant(row, w) && has_place(row, plan->device) && fits(row, plan->device) &&
                !row->needs && row->types & TCGEMM_TYPE_BIT(type))
                list(buffer, size, tcgemm_type_info((tcgemm_type_t)type)->name);
        }
}

static tcgemm_status_t no_such_type(const struct tcgemm_plan *plan, wanted_t w) {
    char types[256] = "";
    list_types(plan, w, types, sizeof types);
    return tcgemm_error_set(TCGEMM_STATUS_UNSUPPORTED,
                            "algo %s has no kernel for type %s on this %s%s%s", w.algo,
                            plan->g.type->name, plan->device ? "GPU" : "processor",
                            types[0] ? ", only for " : ", nor for any other type", types);
}

/* Why no row will do: wrong tile, wrong place, wrong type, wrong machine. */
static tcgemm_status_t no_row(const struct tcgemm_plan *plan, wanted_t w) {
    const char *const type = plan->g.type->name;
    char tiles[320] = "";
    bool is_known = w.is_auto;
    bool is_elsewhere = false;
    const tcgemm_kernel_t *choosy = NULL; /* a row that would do, but for the problem's sizes */
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
        if (is_of_algo(row, w.algo)) {
            is_known = true;
            is_elsewhere = !has_place(row, plan->device);
            if (!is_elsewhere && does_type(row, &plan->g) && fits(row, plan->device) &&
                !takes(row, &plan->g))
                choosy = row;
        }
        char text[TILE_TEXT];
        tile_text(row, &plan->g, text);
        if (is_wanted(row, plan, w) && fits(row, plan->device))
            list(tiles, sizeof tiles, text);
    }
    if (!is_known)
        return unknown_algo(w.algo);
    TCGEMM_RETURN_IF(is_elsewhere, TCGEMM_STATUS_UNSUPPORTED,
                     "algo %s runs on %s, but the context is for %s", w.algo,
                     plan->device ? "the CPU" : "a GPU", plan->device ? "a GPU" : "the CPU");
    TCGEMM_RETURN_IF(choosy && !tiles[0], TCGEMM_STATUS_UNSUPPORTED, "algo %s takes %s", w.algo,
                     choosy->family->takes_what);
    TCGEMM_RETURN_IF(w.tile && tiles[0], TCGEMM_STATUS_UNSUPPORTED,
                     "algo %s has no tile '%.40s' for type %s; it has %s", w.algo, w.tile, type,
                     tiles);
    return no_such_type(plan, w);
}

static bool is_candidate(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan, wanted_t w) {
    return is_wanted(row, plan, w) && fits(row, plan->device) && has_tile(row, &plan->g, w.tile);
}

/* The rows among which time or rate decides, in the order of the table. */
typedef struct candidates {
    int count;
    const tcgemm_kernel_t *row[TCGEMM_MOST_ROWS];
    bool by_time_alone; /* all predict one, and none has sums that were asked for */
} candidates_t;

static void find_candidates(const struct tcgemm_plan *plan, wanted_t w, candidates_t *c) {
    const tcgemm_kernel_t *const *row =
        tcgemm_kernels_for(plan->g.type->type, plan->device != NULL);
    c->count = 0;
    c->by_time_alone = true;
    for (; *row && c->count < TCGEMM_MOST_ROWS; ++row)
        if (is_candidate(*row, plan, w)) {
            c->row[c->count++] = *row;
            c->by_time_alone = c->by_time_alone && (*row)->family->predict && !(*row)->needs;
        }
}

/* The best row so far. */
typedef struct best {
    const tcgemm_kernel_t *row;
    double seconds;
} best_t;

static double rate_of(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    return row->family->rate ? row->family->rate(row, plan) : (double)row->macs_per_cycle;
}

/* Of equals in rate the later one: the table goes from the general to the special. */
static void compare_rates(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan,
                          best_t *best) {
    if (!best->row || rate_of(row, plan) >= rate_of(best->row, plan))
        best->row = row;
}

/* Products of no element take no time that has a bound. */
static bool is_empty(const tcgemm_canonical_t *g) {
    return g->m == 0 || g->n == 0 || g->batch == 0;
}

/* Who allows cheaper sums gets them where they are; else the first of the fastest. */
static void compare_times(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan,
                          best_t *best) {
    const bool by_sums =
        best->row && row->needs != best->row->needs && is_of_algo(row, best->row->family->algo);
    const bool by_time = best->row && !by_sums;
    if (by_sums && row->needs == 0)
        return;
    if (by_time && !is_empty(&plan->g) && row->family->bound(row, plan) >= best->seconds)
        return;
    const double seconds = row->family->predict(row, plan);
    if (!by_time || seconds < best->seconds)
        *best = (best_t){row, seconds};
}

/* One row after another. */
static const tcgemm_kernel_t *find_best_in_order(const candidates_t *c,
                                                 const struct tcgemm_plan *plan) {
    best_t best = {NULL, 0.0};
    for (int i = 0; i < c->count; ++i)
        if (c->row[i]->family->predict)
            compare_times(c->row[i], plan, &best);
        else
            compare_rates(c->row[i], plan, &best);
    return best.row;
}

/* The candidate with the least bound of those that may be faster than the fastest so far, or as
 * fast and before it; -1: none. */
static int most_promising(const candidates_t *c, const double *bound, int fastest, double seconds) {
    int next = -1;
    for (int i = 0; i < c->count; ++i)
        if ((bound[i] < seconds || (bound[i] == seconds && i < fastest)) &&
            (next < 0 || bound[i] < bound[next]))
            next = i;
    return next;
}

/* The first of the fastest. Rows are asked for their time in the order of their bounds, until no
 * bound is below the best time: most need not be asked. */
static const tcgemm_kernel_t *find_fastest(const candidates_t *c, const struct tcgemm_plan *plan) {
    double bound[TCGEMM_MOST_ROWS];
    double least = HUGE_VAL;
    int fastest = 0, next;
    for (int i = 0; i < c->count; ++i)
        bound[i] = c->row[i]->family->bound(c->row[i], plan);
    while ((next = most_promising(c, bound, fastest, least)) >= 0) {
        const double seconds = c->row[next]->family->predict(c->row[next], plan);
        bound[next] = HUGE_VAL;
        if (seconds < least || (seconds == least && next < fastest)) {
            least = seconds;
            fastest = next;
        }
    }
    return c->count > 0 ? c->row[fastest] : NULL;
}

static const tcgemm_kernel_t *find_best(const struct tcgemm_plan *plan, wanted_t w) {
    candidates_t c;
    find_candidates(plan, w, &c);
    return c.by_time_alone && !is_empty(&plan->g) ? find_fastest(&c, plan)
                                                  : find_best_in_order(&c, plan);
}

/* The algorithm that takes the place of one whose rows do not fit, or NULL. */
static const char *fallback_of(const char *algo) {
    for (int i = 0; i < tcgemm_num_kernels(); ++i)
        if (is_of_algo(tcgemm_kernel_at(i), algo))
            return tcgemm_kernel_at(i)->family->fallback;
    return NULL;
}

static tcgemm_status_t choose(const tcgemm_plan_options_t *options, struct tcgemm_plan *plan,
                              const tcgemm_kernel_t **kernel) {
    const wanted_t w =
        want(options && options->algo ? options->algo : "auto", options ? options->tile : NULL);
    const char *const fallback = plan->device && !w.tile && !w.is_auto ? fallback_of(w.algo) : NULL;
    plan->reason = plan->device
                       ? "least time by the model among the kernels for this type and GPU"
                       : "most multiply-adds a cycle among the kernels for this type and processor";
    *kernel = find_best(plan, w);
    if (!*kernel && fallback) {
        *kernel = find_best(plan, want(fallback, NULL));
        plan->reason = "the algorithm asked for has no kernel for this type that fits into this "
                       "GPU's shared memory, so its fallback takes its place";
    }
    return *kernel ? TCGEMM_STATUS_OK : no_row(plan, w);
}

/* True if a row that the options name by algorithm or kernel runs there. */
static bool wants(const tcgemm_plan_options_t *options, bool gpu) {
    if (!options)
        return false;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
        if ((row->gpu != NULL) == gpu &&
            (options->kernel ? strcmp(options->kernel, row->name) == 0
                             : options->algo && is_of_algo(row, options->algo)))
            return true;
    }
    return false;
}

bool tcgemm_plan_wants_gpu(const tcgemm_plan_options_t *options) {
    return wants(options, true);
}

bool tcgemm_plan_wants_cpu(const tcgemm_plan_options_t *options) {
    return wants(options, false);
}

/* In the places of the canonical problem. */
static unsigned canonical_operands(const tcgemm_canonical_t *g, unsigned operands) {
    const unsigned a = operands & TCGEMM_OPERAND_A ? TCGEMM_OPERAND_B : 0;
    const unsigned b = operands & TCGEMM_OPERAND_B ? TCGEMM_OPERAND_A : 0;
    return g->swapped ? a | b : operands;
}

/* What comes packed ahead, or is to be packed: rows are chosen by it. */
static void read_packing(const tcgemm_plan_options_t *options, struct tcgemm_plan *plan) {
    const unsigned packed = canonical_operands(&plan->g, options ? options->packed : 0);
    plan->packs = canonical_operands(&plan->g, options ? options->pack : 0);
    plan->g.a.packed_bytes = packed & TCGEMM_OPERAND_A ? 1 : 0; /* how many: the family knows */
    plan->g.b.packed_bytes = packed & TCGEMM_OPERAND_B ? 1 : 0;
}

static tcgemm_status_t check_packing(const tcgemm_plan_options_t *options,
                                     const tcgemm_kernel_t *kernel) {
    const unsigned both = TCGEMM_OPERAND_A | TCGEMM_OPERAND_B;
    if (!options || (options->pack == 0 && options->packed == 0))
        return TCGEMM_STATUS_OK;
    TCGEMM_RETURN_IF(options->packed & ~both, TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->packed is %u, not TCGEMM_OPERAND_A, _B or both", options->packed);
    TCGEMM_RETURN_IF(options->pack == both || options->pack & ~both, TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->pack is %u, not TCGEMM_OPERAND_A or _B", options->pack);
    TCGEMM_RETURN_IF(options->pack && options->packed, TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->pack and options->packed are both set");
    TCGEMM_RETURN_IF(!kernel->cpu, TCGEMM_STATUS_UNSUPPORTED,
                     "kernel %s takes no operands that were packed ahead: those of the CPU do",
                     kernel->name);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_make_on(const tcgemm_device_t *device, const tcgemm_problem_t *problem,
                                    const tcgemm_plan_options_t *options, int threads,
                                    struct tcgemm_plan *plan) {
    memset(plan, 0, sizeof *plan);
    TCGEMM_FORWARD(tcgemm_canonicalize(problem, &plan->g));
    TCGEMM_FORWARD(tcgemm_problem_read(problem, &plan->problem));
    plan->device = device;
    read_packing(options, plan);
    const tcgemm_kernel_t *kernel = NULL;
    if (options && options->kernel) {
        TCGEMM_FORWARD(find_named(options->kernel, plan, &kernel));
        plan->reason = "asked for by name";
    } else {
        TCGEMM_FORWARD(choose(options, plan, &kernel));
    }
    TCGEMM_RETURN_IF(!kernel, TCGEMM_STATUS_INTERNAL, "no kernel was chosen and nobody said why");
    TCGEMM_FORWARD(check_packing(options, kernel));
    tcgemm_plan_with(kernel, threads, plan);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_make(const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, int max_threads,
                                 struct tcgemm_plan *plan) {
    return tcgemm_plan_make_on(NULL, problem, options, max_threads, plan);
}
