/* simulate.c - the public calls: checks, the choice of a simulator, the comparison at the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "base/num.h"
#include "base/struct.h"
#include "cpu/gemm.h"
#include "gpu/gpu_row.h"
#include "plan/planner.h"
#include "sim/emulated.h"
#include "sim/sim.h"

/* ---- tiles ---- */

static tcgemm_tiles_t tiles_of_gpu(const struct tcgemm_plan *plan) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    return (tcgemm_tiles_t){
        .struct_size = sizeof(tcgemm_tiles_t),
        .bm = row->bm,
        .bn = row->bn,
        .bk = row->bk,
        .wm = row->wm,
        .wn = row->wn,
        .wk = row->bk,
        .tm = row->im,
        .tn = row->in,
        .tk = row->ik,
        .group = tcgemm_plan_product(plan)->gpu.raster_group,
    };
}

/* Units of work go down the rows first, like a group of all tile rows. */
static tcgemm_tiles_t tiles_of_cpu(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_kernel_t *kernel = plan->kernel;
    return (tcgemm_tiles_t){
        .struct_size = sizeof(tcgemm_tiles_t),
        .bm = s->mc,
        .bn = s->nb,
        .bk = s->kc,
        .wm = s->mc,
        .wn = kernel->nr,
        .wk = s->kc,
        .tm = kernel->mr,
        .tn = kernel->nr,
        .tk = kernel->ku,
        .group = ceil_div(plan->g.m, s->mc),
    };
}

tcgemm_status_t tcgemm_plan_get_tiles(const tcgemm_plan_t *plan, tcgemm_tiles_t *tiles) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("tiles", tiles, sizeof *tiles));
    tcgemm_tiles_t found = tcgemm_tiles(1, 1, plan->g.k > 0 ? plan->g.k : 1);
    if (plan->kernel->gpu)
        found = tiles_of_gpu(plan);
    else if (plan->kernel->cpu)
        found = tiles_of_cpu(plan);
    tcgemm_struct_write(tiles, &found, sizeof found);
    return TCGEMM_STATUS_OK;
}

/* The caller's tiles, which may be those of another version. */
static tcgemm_status_t read_tiles(const tcgemm_tiles_t *from, tcgemm_tiles_t *tiles) {
    *tiles = tcgemm_tiles(1, 1, 1);
    TCGEMM_FORWARD(tcgemm_struct_read("tiles", from, TCGEMM_STRUCT_END(tcgemm_tiles_t, tk), tiles,
                                      sizeof *tiles));
    const int64_t sizes[] = {tiles->bm, tiles->bn, tiles->bk, tiles->wm, tiles->wn,
                             tiles->wk, tiles->tm, tiles->tn, tiles->tk};
    static const char *const names[] = {"bm", "bn", "bk", "wm", "wn", "wk", "tm", "tn", "tk"};
    for (int i = 0; i < 9; ++i)
        TCGEMM_RETURN_IF(sizes[i] < 1, TCGEMM_STATUS_BAD_ARGUMENT,
                         "%s of the tiles is %lld, but a tile has at least one element", names[i],
                         (long long)sizes[i]);
    TCGEMM_RETURN_IF(tiles->group < 0, TCGEMM_STATUS_BAD_ARGUMENT, "group of the tiles is %lld",
                     (long long)tiles->group);
    return TCGEMM_STATUS_OK;
}

/* Tiles beyond the problem are cut to it, so that walking them cannot overflow. */
static tcgemm_tiles_t cut_tiles(const tcgemm_tiles_t *tiles, const tcgemm_canonical_t *g) {
    tcgemm_tiles_t t = *tiles;
    t.bm = min_i64(t.bm, g->m);
    t.bn = min_i64(t.bn, g->n);
    t.bk = min_i64(t.bk, g->k);
    t.wm = min_i64(t.wm, g->m);
    t.wn = min_i64(t.wn, g->n);
    t.wk = min_i64(t.wk, g->k);
    t.tm = min_i64(t.tm, g->m);
    t.tn = min_i64(t.tn, g->n);
    t.tk = min_i64(t.tk, g->k);
    t.group = min_i64(t.group, g->m);
    return t;
}

/* ---- what is simulated ---- */

typedef void simulator_fn(tcgemm_sim_t *sim);

/* The simulator of a row's data path. */
static simulator_fn *simulator_of(const tcgemm_kernel_t *kernel) {
    return kernel->cpu ? tcgemm_sim_cpu : kernel->gpu ? tcgemm_sim_emulated : tcgemm_sim_reference;
}

static tcgemm_sim_matrix_t matrix_of(const tcgemm_canonical_t *g, const tcgemm_operand_t *operand,
                                     const void *data, bool is_a) {
    tcgemm_sim_matrix_t x = {.operand = operand, .data = data};
    x.form = is_a == (operand->col_stride != 1) ? TCGEMM_FORM_MN : TCGEMM_FORM_K;
    x.mn = is_a ? g->m : g->n;
    return x;
}

static void set_up(tcgemm_sim_t *sim, const struct tcgemm_plan *plan, const tcgemm_call_t *call) {
    const tcgemm_canonical_t *g = &plan->g;
    sim->plan = plan;
    sim->g = g;
    sim->call = call;
    sim->side[TCGEMM_SIDE_A] = matrix_of(g, &g->a, call->a, true);
    sim->side[TCGEMM_SIDE_B] = matrix_of(g, &g->b, call->b, false);
    if (plan->kernel->gpu)
        sim->group = tcgemm_plan_product(plan)->gpu.raster_group;
}

/* In wide arithmetic: the sizes may be anything. */
static tcgemm_status_t check_size(const struct tcgemm_plan *plan, tcgemm_depth_t depth) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const double m = (double)g->m, n = (double)g->n, k = (double)g->k, batch = (double)g->batch;
    const double macs = batch * m * n * (k > 1.0 ? k : 1.0);
    TCGEMM_RETURN_IF(macs > (double)TCGEMM_SIMULATE_MAX_MACS, TCGEMM_STATUS_TOO_LARGE,
                     "the product has %.3g multiply-adds, but a simulation takes at most %lld "
                     "(645 x 645 x 645)",
                     macs, (long long)TCGEMM_SIMULATE_MAX_MACS);
    TCGEMM_RETURN_IF(batch * m * n > (double)TCGEMM_SIMULATE_MAX_ELEMENTS, TCGEMM_STATUS_TOO_LARGE,
                     "D has %.3g elements, but a simulation takes at most %lld (4096 x 4096)",
                     batch * m * n, (long long)TCGEMM_SIMULATE_MAX_ELEMENTS);
    if (!row || depth != TCGEMM_DEPTH_DATA)
        return TCGEMM_STATUS_OK;
    const double tiles = batch * ceil(m / row->bm) * ceil(n / row->bn);
    TCGEMM_RETURN_IF(tiles * k > (double)TCGEMM_SIMULATE_MAX_TILE_K, TCGEMM_STATUS_TOO_LARGE,
                     "the data path has %.0f tiles of D with k = %.0f, but tiles times k may be at "
                     "most %lld in a simulation",
                     tiles, k, (long long)TCGEMM_SIMULATE_MAX_TILE_K);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t check_report(const tcgemm_simulate_report_t *report, tcgemm_depth_t depth) {
    TCGEMM_FORWARD(tcgemm_struct_check("report", report, sizeof *report));
    TCGEMM_RETURN_IF((int)depth < (int)TCGEMM_DEPTH_BLOCKS || depth > TCGEMM_DEPTH_DATA,
                     TCGEMM_STATUS_BAD_ARGUMENT, "depth %d is unknown", (int)depth);
    return TCGEMM_STATUS_OK;
}

/* ---- the run ---- */

static void check_coverage(tcgemm_sim_t *sim) {
    const tcgemm_canonical_t *g = sim->g;
    const int64_t missing = g->m * g->n * g->batch - sim->report->num_written;
    if (missing > 0)
        tcgemm_sim_fault(sim, "%lld elements of D are never written", (long long)missing);
}

static void trace_start(tcgemm_sim_t *sim) {
    const tcgemm_canonical_t *g = sim->g;
    if (!tcgemm_sim_is_traced(sim))
        return;
    tcgemm_sim_trace(sim, 0,
                     "%s: D is %lld x %lld, k is %lld; A is stored with %s contiguous, B "
                     "with %s",
                     sim->plan->kernel->name, (long long)g->m, (long long)g->n, (long long)g->k,
                     sim->side[0].form == TCGEMM_FORM_K ? "k" : "m",
                     sim->side[1].form == TCGEMM_FORM_K ? "k" : "n");
    if (g->swapped)
        tcgemm_sim_trace(sim, 0,
                         "column-major: this is D^T = B^T A^T, so A stands for your B and B for A");
}

static void compute(tcgemm_sim_t *sim, const tcgemm_tiles_t *tiles, tcgemm_depth_t depth) {
    if (sim->g->k == 0 || sim->call->alpha == 0.0) {
        tcgemm_sim_trace(sim, 0, "alpha or k is 0: D = beta * C, no tile is multiplied");
        tcgemm_cpu_scale(sim->g, sim->call);
        sim->report->num_written = sim->g->m * sim->g->n * sim->g->batch;
        return;
    }
    sim->written = tcgemm_sim_allocate(sim, sim->g->m * sim->g->n * sim->g->batch, 1);
    if (!sim->written)
        return;
    trace_start(sim);
    if (depth == TCGEMM_DEPTH_DATA) {
        simulator_of(sim->plan->kernel)(sim);
    } else {
        const tcgemm_tiles_t cut = cut_tiles(tiles, sim->g);
        sim->group = (uint32_t)cut.group;
        tcgemm_sim_nest(sim, &cut, depth);
    }
    if (!sim->is_out_of_memory)
        check_coverage(sim);
    free(sim->written);
}

/* Whether D is right, by the same judge as tcgemm_verify. */
static tcgemm_status_t judge(const struct tcgemm_plan *plan, double alpha, const void *a,
                             const void *b, double beta, const void *c, const void *d,
                             tcgemm_simulate_report_t *report) {
    tcgemm_verify_report_t v = {.struct_size = sizeof v};
    TCGEMM_FORWARD(tcgemm_verify(plan, alpha, a, b, beta, c, d, TCGEMM_VERIFY_FULL, 1, &v));
    report->num_wrong = v.num_wrong;
    report->wrong_batch = v.wrong_batch;
    report->wrong_row = v.wrong_row;
    report->wrong_col = v.wrong_col;
    report->wrong_got = v.wrong_got;
    report->wrong_expected = v.wrong_expected;
    report->max_ratio = v.max_ratio;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t simulate(const struct tcgemm_plan *plan, const tcgemm_tiles_t *tiles,
                                tcgemm_depth_t depth, double alpha, const void *a, const void *b,
                                double beta, const void *c, void *d, tcgemm_trace_fn *trace,
                                void *trace_user, tcgemm_simulate_report_t *report) {
    const double start = now_seconds();
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_call_t call;
    TCGEMM_FORWARD(check_size(plan, depth));
    TCGEMM_FORWARD(tcgemm_check_call(g, alpha, a, b, beta, c, d, true, &call));
    TCGEMM_RETURN_IF(call.c && call.c == d, TCGEMM_STATUS_OVERLAP,
                     "D is C itself, but the comparison with the reference needs what C held");
    tcgemm_simulate_report_t result = {.struct_size = sizeof result,
                                       .depth = depth,
                                       .wrong_batch = -1,
                                       .wrong_row = -1,
                                       .wrong_col = -1};
    tcgemm_sim_t sim = {.trace = trace, .trace_user = trace_user, .report = &result};
    set_up(&sim, plan, &call);
    if (g->m > 0 && g->n > 0 && g->batch > 0) {
        compute(&sim, tiles, depth);
        TCGEMM_RETURN_IF(sim.is_out_of_memory, TCGEMM_STATUS_OUT_OF_MEMORY,
                         "no memory for a simulation");
        TCGEMM_FORWARD(judge(plan, alpha, a, b, beta, c, d, &result));
    }
    result.seconds = now_seconds() - start;
    tcgemm_struct_write(report, &result, sizeof result);
    return TCGEMM_STATUS_OK;
}

/* ---- the public calls ---- */

tcgemm_status_t tcgemm_plan_simulate(const tcgemm_plan_t *plan, tcgemm_depth_t depth, double alpha,
                                     const void *a, const void *b, double beta, const void *c,
                                     void *d, tcgemm_trace_fn *trace, void *trace_user,
                                     tcgemm_simulate_report_t *report) {
    TCGEMM_DEFAULT_FP_MODES;
    tcgemm_tiles_t tiles = {.struct_size = sizeof tiles};
    TCGEMM_FORWARD(tcgemm_plan_get_tiles(plan, &tiles));
    TCGEMM_FORWARD(check_report(report, depth));
    TCGEMM_RETURN_IF(plan->packs || plan->g.a.packed_bytes || plan->g.b.packed_bytes,
                     TCGEMM_STATUS_UNSUPPORTED,
                     "products of operands that are packed ahead are not simulated");
    if (depth == TCGEMM_DEPTH_DATA && plan->kernel->gpu) {
        TCGEMM_FORWARD(tcgemm_emulated_check(plan));
    }
    return simulate(plan, &tiles, depth, alpha, a, b, beta, c, d, trace, trace_user, report);
}

tcgemm_status_t tcgemm_simulate_tiles(const tcgemm_problem_t *problem, const tcgemm_tiles_t *tiles,
                                      tcgemm_depth_t depth, double alpha, const void *a,
                                      const void *b, double beta, const void *c, void *d,
                                      tcgemm_trace_fn *trace, void *trace_user,
                                      tcgemm_simulate_report_t *report) {
    TCGEMM_DEFAULT_FP_MODES;
    struct tcgemm_plan plan;
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.kernel = "reference";
    tcgemm_tiles_t cut;
    TCGEMM_FORWARD(read_tiles(tiles, &cut));
    TCGEMM_FORWARD(check_report(report, depth));
    TCGEMM_RETURN_IF(depth == TCGEMM_DEPTH_DATA, TCGEMM_STATUS_BAD_ARGUMENT,
                     "tiles have no data path of their own: that is a plan's");
    TCGEMM_RETURN_IF(!problem, TCGEMM_STATUS_BAD_ARGUMENT, "problem is NULL");
    TCGEMM_FORWARD(tcgemm_plan_make(problem, &options, 1, &plan));
    return simulate(&plan, &cut, depth, alpha, a, b, beta, c, d, trace, trace_user, report);
}
