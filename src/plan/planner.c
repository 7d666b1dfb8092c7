/* planner.c - scores the rows of the kernel table by a model of their time and cuts the problem
 * into blocks for the best.
 *
 * The model, in cycles of one core:
 *     multiply  the padded volume / multiply-adds a cycle
 *     pack      one cycle for each 4 bytes of A and B that are rewritten
 *     store     two cycles for each 16 bytes of D and each step of k
 * divided among the threads, and 3000 cycles for each meeting of threads. Which row wins depends on
 * the type and the processor alone; the number of threads on the cycles. For a GPU see gpu_model.c.
 */
#include "plan/planner.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"
#include "cpu/gemm.h"
#include "cpu/ukernel.h"
#include "plan/gpu_model.h"
#include "table/gpu_row.h"

enum {
    MAX_ROWS = 2048,        /* of D in flight: A's panel, mt x kc, stays in the L3 cache */
    MAX_COLS = 3840,        /* the same for B's panel, kc x nc */
    MAX_NARROW_ROWS = 1024, /* f16 and bf16 results also keep mt x nc sums in f32 */
    MAX_NARROW_COLS = 1920,
    TINY_VOLUME = 128 * 128 * 128, /* multiply-adds below which packing costs more than it gains */
    CYCLES_PER_THREAD = 20000,     /* the least work that is worth waking a thread for */
    CYCLES_PER_MEETING = 3000,
    SMALL_ITEM_CYCLES = 2000000 /* batch items below this are computed whole by one thread */
};

static int64_t round_up(int64_t x, int64_t multiple) {
    return ceil_div(x, multiple) * multiple;
}

/* Equal parts of `size`, none above `most`, multiples of `unit`. */
static int64_t even_part(int64_t size, int64_t most, int64_t unit) {
    if (size == 0)
        return unit;
    return round_up(ceil_div(size, ceil_div(size, most)), unit);
}

/* ---- blocking ---- */

static bool lanes_are_elements(const tcgemm_canonical_t *g) {
    return g->type->type == TCGEMM_F32_F32 || g->type->type == TCGEMM_F64_F64;
}

/* m * n * k as a double: it may pass 2^63. */
static double volume(const tcgemm_canonical_t *g) {
    return (double)g->m * (double)g->n * (double)g->k;
}

static void choose_packing(struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    s->pack_a = s->pack_b = true;
    if (!u->strided || !lanes_are_elements(g))
        return;
    const bool tiny = volume(g) <= TINY_VOLUME;
    /* A broadcast reads A from anywhere; a vector of B needs its columns side by side. */
    s->pack_a = !(tiny || g->n <= u->nr);
    s->pack_b = !(g->b.col_stride == 1 && (tiny || g->m <= u->mr));
}

/* Enough units of work that no thread waits long for the last one. */
static void share_out(struct tcgemm_plan *plan, int num_threads) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t rows = min_i64(s->mt, plan->g.m);
    const int64_t cols = min_i64(s->nc, plan->g.n);
    s->mc = even_part(rows, u->mc, u->mr);
    s->nb = even_part(cols, u->nb, u->nr);
    while (num_threads > 1 && ceil_div(rows, s->mc) * ceil_div(cols, s->nb) < 4 * num_threads) {
        if (s->mc > 4 * u->mr && s->mc * u->nr >= s->nb * u->mr)
            s->mc = round_up(s->mc / 2, u->mr);
        else if (s->nb > u->nr)
            s->nb = round_up(s->nb / 2, u->nr);
        else if (s->mc > u->mr)
            s->mc = round_up(s->mc / 2, u->mr);
        else
            break;
    }
}

static void choose_blocks(struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    s->direct_output = g->type->d == g->type->accumulator;
    s->kc = even_part(g->k, u->kc, u->ku); /* of k and the kernel alone: it decides the bits */
    s->nc = even_part(g->n, s->direct_output ? MAX_COLS : MAX_NARROW_COLS, u->nr);
    s->mt = even_part(g->m, s->direct_output ? MAX_ROWS : MAX_NARROW_ROWS, u->mr);
    s->split_batch = false;
    choose_packing(plan);
}

/* ---- the model ---- */

/* Cycles of one core for one batch item. */
static double item_cycles(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    if (!plan->kernel->cpu)
        return 8.0 * volume(g) + 20.0 * (double)g->m * (double)g->n;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const double k = (double)ceil_div(g->k, u->ku) * u->ku;
    const int vector = u->nr / 3; /* the narrowest tile is one vector wide */
    const double multiply = (double)g->m * (double)ceil_div(g->n, vector) * vector * k /
                            (double)plan->kernel->macs_per_cycle;
    const double lane = (double)u->lane_bytes / 4.0 / (double)u->ku;
    const double pack =
        lane * k * ((s->pack_a ? (double)g->m : 0) + (s->pack_b ? (double)g->n : 0));
    const double d_bytes = tcgemm_dtype_bits(g->type->d) / 8.0;
    const double store =
        (double)g->m * (double)g->n * d_bytes / 8.0 * (double)ceil_div(g->k, s->kc);
    return multiply + pack + store + 300.0;
}

static void choose_threads(struct tcgemm_plan *plan, int max_threads) {
    const double cycles = item_cycles(plan);
    const double all = cycles * (double)plan->g.batch;
    const double useful = fmax(1.0, all / CYCLES_PER_THREAD);
    int threads = useful < max_threads ? (int)useful : max_threads;
    plan->cpu.split_batch =
        threads > 1 && plan->g.batch >= 2 * (int64_t)threads && cycles < SMALL_ITEM_CYCLES;
    share_out(plan, plan->cpu.split_batch ? 1 : threads);
    const int64_t units = ceil_div(min_i64(plan->cpu.mt, plan->g.m), plan->cpu.mc) *
                          ceil_div(min_i64(plan->cpu.nc, plan->g.n), plan->cpu.nb);
    if (!plan->cpu.split_batch && threads > units)
        threads = units > 1 ? (int)units : 1;
    plan->num_threads = threads;
    const double meetings =
        threads > 1 ? (double)plan->g.batch * (double)ceil_div(plan->g.k, plan->cpu.kc) : 0.0;
    plan->predicted_seconds = (all / threads + meetings * CYCLES_PER_MEETING) / tcgemm_clock_hz();
}

double tcgemm_clock_hz(void) {
    static _Atomic double known;
    double hz = atomic_load_explicit(&known, memory_order_relaxed);
    if (hz != 0.0)
        return hz;
    enum { ADDITIONS = 100000 };
    double best = 1.0;
    for (int round = 0; round < 3; ++round) {
        uint64_t x = (uint64_t)round;
        const double start = now_seconds();
        for (int i = 0; i < ADDITIONS; ++i) {
            x += x ^ (uint64_t)i; /* two dependent cycles */
            __asm__ volatile("" : "+r"(x));
        }
        best = fmin(best, now_seconds() - start);
    }
    hz = 2.0 * ADDITIONS / fmax(best, 1e-9);
    atomic_store_explicit(&known, hz, memory_order_relaxed);
    return hz;
}

/* ---- the choice ---- */

/* GPU rows belong to a device, the others to the CPU. */
static bool has_place(const tcgemm_kernel_t *kernel, const tcgemm_device_t *device) {
    return (kernel->gpu != NULL) == (device != NULL);
}

/* A row that accumulates in f16 serves the flag and nothing else; if a family has such rows, the
 * flag takes them first (find_best). */
static bool does_type(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g) {
    if (!(kernel->types & TCGEMM_TYPE_BIT(g->type->type)))
        return false;
    return !kernel->gpu || !tcgemm_gpu_row_sums_f16(kernel->gpu) ||
           (g->flags & TCGEMM_FLAG_F16_ACCUMULATE) != 0;
}

static bool fits(const tcgemm_kernel_t *kernel, const tcgemm_device_t *device) {
    return kernel->gpu ? tcgemm_gpu_row_fits(kernel->gpu, device)
                       : tcgemm_kernel_is_runnable(kernel);
}

static void plan_with(const tcgemm_kernel_t *kernel, int max_threads, struct tcgemm_plan *plan) {
    plan->kernel = kernel;
    plan->num_threads = 1;
    if (kernel->gpu) {
        plan->num_threads = max_threads;
        plan->gpu.raster_group = tcgemm_gpu_raster_group(kernel->gpu, &plan->g, plan->device);
        plan->predicted_seconds = tcgemm_gpu_predict(kernel->gpu, &plan->g, plan->device);
        return;
    }
    if (!kernel->cpu) {
        plan->workspace_bytes = 0;
        plan->predicted_seconds = item_cycles(plan) * (double)plan->g.batch / tcgemm_clock_hz();
        return;
    }
    choose_blocks(plan);
    choose_threads(plan, max_threads);
    plan->workspace_bytes = tcgemm_cpu_sizes(plan).workspace_bytes;
}

static tcgemm_status_t find_named(const char *name, struct tcgemm_plan *plan,
                                  const tcgemm_kernel_t **kernel) {
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        *kernel = &tcgemm_kernels[i];
        if (strcmp((*kernel)->name, name) != 0)
            continue;
        TCGEMM_RETURN_IF(!does_type(*kernel, &plan->g), TCGEMM_STATUS_UNSUPPORTED,
                         (*kernel)->types & TCGEMM_TYPE_BIT(plan->g.type->type)
                             ? "kernel %s accumulates in f16: type %s needs "
                               "TCGEMM_FLAG_F16_ACCUMULATE for it"
                             : "kernel %s does not compute type %s",
                         name, plan->g.type->name);
        TCGEMM_RETURN_IF(!has_place(*kernel, plan->device), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s runs on %s, but the context is for %s", name,
                         (*kernel)->gpu ? "a GPU" : "the CPU", plan->device ? "a GPU" : "the CPU");
        TCGEMM_RETURN_IF(!fits(*kernel, plan->device), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s needs %s, which this %s lacks", name, (*kernel)->isa,
                         plan->device ? "GPU" : "processor");
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
    const tcgemm_gpu_row_t *row = kernel->gpu;
    const bool instruction = row && row->by_instruction;
    const int m = instruction ? row->im : kernel->mr;
    const int n = instruction ? row->in : kernel->nr;
    (void)snprintf(text, TILE_TEXT, "%dx%dx%d", g->swapped ? n : m, g->swapped ? m : n,
                   instruction ? row->ik : kernel->ku);
}

static bool has_tile(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g, const char *tile) {
    char text[TILE_TEXT];
    tile_text(kernel, g, text);
    return !tile || strcmp(text, tile) == 0;
}

/* ---- families ---- */

typedef struct wanted {
    const char *algo; /* "auto": any fast one */
    const char *tile; /* NULL: any */
} wanted_t;

static bool is_wanted(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan, wanted_t w) {
    const bool any = strcmp(w.algo, "auto") == 0 && (row->cpu || row->gpu);
    return (any || strcmp(row->algo, w.algo) == 0) && has_place(row, plan->device) &&
           does_type(row, &plan->g);
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
    for (int i = 0; i < tcgemm_num_kernels; ++i)
        list(known, sizeof known, tcgemm_kernels[i].algo);
    return tcgemm_error_set(TCGEMM_STATUS_UNKNOWN_ALGO, "unknown algo '%.60s'; known are %s", algo,
                            known);
}

/* Why no row will do: wrong tile, wrong place, wrong type, wrong machine. */
static tcgemm_status_t no_row(const struct tcgemm_plan *plan, wanted_t w) {
    const char *const type = plan->g.type->name;
    char tiles[320] = "";
    bool is_known = strcmp(w.algo, "auto") == 0;
    bool is_elsewhere = false;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        if (strcmp(row->algo, w.algo) == 0) {
            is_known = true;
            is_elsewhere = !has_place(row, plan->device);
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
    TCGEMM_RETURN_IF(w.tile && tiles[0], TCGEMM_STATUS_UNSUPPORTED,
                     "algo %s has no tile '%.40s' for type %s; it has %s", w.algo, w.tile, type,
                     tiles);
    return tcgemm_error_set(TCGEMM_STATUS_UNSUPPORTED,
                            "algo %s has no kernel for type %s on this %s", w.algo, type,
                            plan->device ? "GPU" : "processor");
}

static bool is_faster(const tcgemm_kernel_t *row, const tcgemm_kernel_t *than,
                      const struct tcgemm_plan *plan) {
    /* Of equals the later row: the table goes from the general to the special. */
    if (!row->gpu)
        return row->macs_per_cycle >= than->macs_per_cycle;
    /* Who allows sums in f16 gets them from the family that has them. */
    const bool sums_f16 = tcgemm_gpu_row_sums_f16(row->gpu);
    if (sums_f16 != tcgemm_gpu_row_sums_f16(than->gpu) && strcmp(row->algo, than->algo) == 0)
        return sums_f16;
    return tcgemm_gpu_predict(row->gpu, &plan->g, plan->device) <
           tcgemm_gpu_predict(than->gpu, &plan->g, plan->device);
}

/* The fastest row of the family by the model; the reference only if it is asked for. */
static const tcgemm_kernel_t *find_best(const struct tcgemm_plan *plan, wanted_t w) {
    const tcgemm_kernel_t *best = NULL;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        if (is_wanted(row, plan, w) && fits(row, plan->device) && has_tile(row, &plan->g, w.tile) &&
            (!best || is_faster(row, best, plan)))
            best = row;
    }
    return best;
}

static tcgemm_status_t choose(const tcgemm_plan_options_t *options, struct tcgemm_plan *plan,
                              const tcgemm_kernel_t **kernel) {
    const wanted_t w = {options && options->algo ? options->algo : "auto",
                        options ? options->tile : NULL};
    plan->reason = plan->device
                       ? "least time by the model among the kernels for this type and GPU"
                       : "most multiply-adds a cycle among the kernels for this type and processor";
    *kernel = find_best(plan, w);
    if (*kernel)
        return TCGEMM_STATUS_OK;
    if (plan->device && strcmp(w.algo, "wmma-shared") == 0 && !w.tile) {
        const wanted_t direct = {"wmma-direct", NULL};
        *kernel = find_best(plan, direct);
        plan->reason = "wmma-shared has no kernel for this type that fits into this GPU's shared "
                       "memory, so wmma-direct takes its place";
        if (*kernel)
            return TCGEMM_STATUS_OK;
    }
    return no_row(plan, w);
}

/* True if a row that the options name by algorithm or kernel runs there. */
static bool wants(const tcgemm_plan_options_t *options, bool gpu) {
    if (!options || options->struct_size != sizeof *options)
        return false;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        if ((row->gpu != NULL) == gpu &&
            (options->kernel ? strcmp(options->kernel, row->name) == 0
                             : options->algo && strcmp(options->algo, row->algo) == 0))
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

tcgemm_status_t tcgemm_plan_make_on(const tcgemm_device_t *device, const tcgemm_problem_t *problem,
                                    const tcgemm_plan_options_t *options, int threads,
                                    struct tcgemm_plan *plan) {
    memset(plan, 0, sizeof *plan);
    TCGEMM_FORWARD(tcgemm_canonicalize(problem, &plan->g));
    TCGEMM_RETURN_IF(options && options->struct_size != sizeof *options, TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->struct_size is %zu, expected %zu: build it with "
                     "tcgemm_plan_options()",
                     options->struct_size, sizeof *options);
    plan->problem = *problem;
    plan->device = device;
    const tcgemm_kernel_t *kernel = NULL;
    if (options && options->kernel) {
        TCGEMM_FORWARD(find_named(options->kernel, plan, &kernel));
        plan->reason = "asked for by name";
    } else {
        TCGEMM_FORWARD(choose(options, plan, &kernel));
    }
    TCGEMM_RETURN_IF(!kernel, TCGEMM_STATUS_INTERNAL, "no kernel was chosen and nobody said why");
    plan_with(kernel, threads, plan);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_make(const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, int max_threads,
                                 struct tcgemm_plan *plan) {
    return tcgemm_plan_make_on(NULL, problem, options, max_threads, plan);
}
