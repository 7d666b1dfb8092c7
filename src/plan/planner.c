/* planner.c - scores the rows of the kernel table by a model of their time and cuts the problem into
 * blocks for the best.
 *
 * The model, in cycles of one core:
 *     multiply  the padded volume / multiply-adds a cycle
 *     pack      one cycle for each 4 bytes of A and B that are rewritten
 *     store     two cycles for each 16 bytes of D and each step of k
 * divided among the threads, and 3000 cycles for each meeting of threads. Which row wins depends on
 * the type and the processor alone; the number of threads on the cycles.
 */
#include "plan/planner.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "cpu/gemm.h"
#include "cpu/ukernel.h"

enum {
    MAX_ROWS = 2048,         /* of D in flight: A's panel, mt x kc, stays in the L3 cache */
    MAX_COLS = 3840,         /* the same for B's panel, kc x nc */
    MAX_NARROW_ROWS = 1024,  /* f16 and bf16 results also keep mt x nc sums in f32 */
    MAX_NARROW_COLS = 1920,
    TINY_VOLUME = 128 * 128 * 128, /* multiply-adds below which packing costs more than it gains */
    CYCLES_PER_THREAD = 20000,     /* the least work that is worth waking a thread for */
    CYCLES_PER_MEETING = 3000,
    SMALL_ITEM_CYCLES = 2000000 /* batch items below this are computed whole by one thread */
};

static int64_t min_i64(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static int64_t ceil_div(int64_t x, int64_t y) {
    return (x + y - 1) / y;
}

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
    const double k = (double)round_up(g->k, u->ku);
    const double multiply = (double)g->m * (double)round_up(g->n, u->nr / 3) * k /
                            (double)plan->kernel->macs_per_cycle;
    const double lane = (double)u->lane_bytes / 4.0 / (double)u->ku;
    const double pack = lane * k * ((s->pack_a ? (double)g->m : 0) + (s->pack_b ? (double)g->n : 0));
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
    plan->cpu.split_batch = threads > 1 && plan->g.batch >= 2 * (int64_t)threads &&
                            cycles < SMALL_ITEM_CYCLES;
    share_out(plan, plan->cpu.split_batch ? 1 : threads);
    const int64_t units = ceil_div(min_i64(plan->cpu.mt, plan->g.m), plan->cpu.mc) *
                          ceil_div(min_i64(plan->cpu.nc, plan->g.n), plan->cpu.nb);
    if (!plan->cpu.split_batch && threads > units)
        threads = units > 1 ? (int)units : 1;
    plan->num_threads = threads;
    const double meetings =
        threads > 1 ? (double)plan->g.batch * (double)ceil_div(plan->g.k, plan->cpu.kc) : 0.0;
    plan->predicted_seconds =
        (all / threads + meetings * CYCLES_PER_MEETING) / tcgemm_clock_hz();
}

double tcgemm_clock_hz(void) {
    static _Atomic double known;
    double hz = atomic_load_explicit(&known, memory_order_relaxed);
    if (hz != 0.0)
        return hz;
    enum { ADDITIONS = 100000 };
    struct timespec start;
    struct timespec end;
    double best = 1.0;
    for (int round = 0; round < 3; ++round) {
        uint64_t x = (uint64_t)round;
        (void)clock_gettime(CLOCK_MONOTONIC, &start);
        for (int i = 0; i < ADDITIONS; ++i) {
            x += x ^ (uint64_t)i; /* two dependent cycles */
            __asm__ volatile("" : "+r"(x));
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &end);
        const double seconds = (double)(end.tv_sec - start.tv_sec) +
                               1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        best = fmin(best, seconds);
    }
    hz = 2.0 * ADDITIONS / fmax(best, 1e-9);
    atomic_store_explicit(&known, hz, memory_order_relaxed);
    return hz;
}

/* ---- the choice ---- */

static bool can_do(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g) {
    return (kernel->types & TCGEMM_TYPE_BIT(g->type->type)) != 0 &&
           tcgemm_kernel_is_runnable(kernel);
}

static void plan_with(const tcgemm_kernel_t *kernel, int max_threads, struct tcgemm_plan *plan) {
    plan->kernel = kernel;
    plan->num_threads = 1;
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
        TCGEMM_RETURN_IF(!((*kernel)->types & TCGEMM_TYPE_BIT(plan->g.type->type)),
                         TCGEMM_STATUS_UNSUPPORTED, "kernel %s does not compute type %s", name,
                         plan->g.type->name);
        TCGEMM_RETURN_IF(!tcgemm_kernel_is_runnable(*kernel), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s needs %s, which this processor lacks", name, (*kernel)->isa);
        return TCGEMM_STATUS_OK;
    }
    return tcgemm_error_set(TCGEMM_STATUS_UNKNOWN_ALGO,
                            "unknown kernel '%.60s'; `tcgemm list` shows them", name);
}

/* The fastest row of the family by its rate, the later one of equals (the table goes from the
 * general to the special); the reference only if it is asked for. */
static tcgemm_status_t find_best(const char *algo, const struct tcgemm_plan *plan,
                                 const tcgemm_kernel_t **kernel) {
    const bool automatic = strcmp(algo, "auto") == 0;
    bool known = automatic;
    *kernel = NULL;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        const bool named = strcmp(row->algo, algo) == 0;
        known = known || named;
        if ((named || (automatic && row->cpu)) && can_do(row, &plan->g) &&
            (!*kernel || row->macs_per_cycle >= (*kernel)->macs_per_cycle))
            *kernel = row;
    }
    TCGEMM_RETURN_IF(!known, TCGEMM_STATUS_UNKNOWN_ALGO,
                     "unknown algo '%.60s'; known are auto, cpu, reference", algo);
    TCGEMM_RETURN_IF(!*kernel, TCGEMM_STATUS_UNSUPPORTED,
                     "algo %s has no kernel for type %s on this processor", algo,
                     plan->g.type->name);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_make(const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, int max_threads,
                                 struct tcgemm_plan *plan) {
    memset(plan, 0, sizeof *plan);
    TCGEMM_FORWARD(tcgemm_canonicalize(problem, &plan->g));
    TCGEMM_RETURN_IF(options && options->struct_size != sizeof *options,
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->struct_size is %zu, expected %zu: build it with "
                     "tcgemm_plan_options()",
                     options->struct_size, sizeof *options);
    plan->problem = *problem;
    const tcgemm_kernel_t *kernel = NULL;
    if (options && options->kernel) {
        TCGEMM_FORWARD(find_named(options->kernel, plan, &kernel));
        plan->reason = "asked for by name";
    } else {
        const char *algo = options && options->algo ? options->algo : "auto";
        TCGEMM_FORWARD(find_best(algo, plan, &kernel));
        plan->reason = "most multiply-adds a cycle among the kernels for this type and processor";
    }
    plan_with(kernel, max_threads, plan);
    return TCGEMM_STATUS_OK;
}
