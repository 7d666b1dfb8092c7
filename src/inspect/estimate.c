/* estimate.c - the public view of the planner's model: every kernel that could do a plan's problem,
 * the fastest first, and how many of its blocks an SM holds. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/fpmode.h"
#include "base/num.h"
#include "base/struct.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/model.h"
#include "gpu/expand.h"
#include "gpu/launch.h"
#include "gpu/model.h"
#include "plan/planner.h"

/* Eight of them at most: a cluster that sums up a tile has no reduction and no tail. */
static void add_part(tcgemm_estimate_t *e, const char *name, double seconds) {
    e->parts[e->num_parts].name = name;
    e->parts[e->num_parts++].seconds = seconds;
}

/* Tiles over the processors that compute them, against the busiest one. */
static double balance(double tiles, double processors) {
    return tiles > 0.0 ? tiles / (processors * ceil(tiles / processors)) : 1.0;
}

static double padding(const tcgemm_canonical_t *g, int m, int n, int k) {
    const double whole = (double)(ceil_div(g->m, m) * m) * (double)(ceil_div(g->n, n) * n) *
                         (double)(ceil_div(g->k, k) * k);
    return whole > 0.0 ? (double)g->m * (double)g->n * (double)g->k / whole : 1.0;
}

/* What comes before and after the product. */
static void add_steps(const struct tcgemm_plan *plan, tcgemm_estimate_t *e) {
    double pack = 0.0;
    double reduce = 0.0;
    for (int i = 0; i < plan->steps.count; ++i) {
        const tcgemm_step_t *step = &plan->steps.step[i];
        if (step->kind == TCGEMM_STEP_REDUCE)
            reduce += step->seconds;
        else if (step->kind != TCGEMM_STEP_PRODUCT)
            pack += step->seconds;
    }
    if (pack > 0.0)
        add_part(e, "pack", pack);
    if (tcgemm_plan_tail(plan))
        add_part(e, "tail", tcgemm_plan_tail(plan)->seconds + reduce);
    else if (reduce > 0.0)
        add_part(e, "reduce", reduce);
}

/* Of the product, or of both: that of the tail has its share of D's elements. */
static double wave_efficiency(const struct tcgemm_plan *plan) {
    double elements = 0.0, taken = 0.0;
    for (int i = 0; i < plan->steps.count; ++i) {
        const tcgemm_step_t *step = &plan->steps.step[i];
        if (step->kind != TCGEMM_STEP_PRODUCT)
            continue;
        const double part = (double)step->area.rows * (double)step->area.cols;
        elements += part;
        taken += part / balance((double)tcgemm_gpu_tiles(plan, step), plan->device->num_sms);
    }
    return taken > 0.0 ? elements / taken : 1.0;
}

static void estimate_gpu(const struct tcgemm_plan *plan, tcgemm_estimate_t *e) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const tcgemm_step_t *product = tcgemm_plan_product(plan);
    const tcgemm_canonical_t seen = tcgemm_gpu_step_problem(plan, product);
    const tcgemm_gpu_time_t t =
        tcgemm_gpu_time(plan->kernel, &seen, product->ranks, product->in_pairs, plan->device);
    add_part(e, "launch", t.launch);
    add_part(e, "start", t.start);
    add_part(e, "wait", t.wait);
    add_part(e, "multiply", t.multiply);
    add_part(e, "finish", t.finish);
    const bool sums_up = product->ranks > 1;
    const double exposed = t.exposed + (sums_up ? 0.0 : t.cluster); /* a pair meets, no more */
    if (exposed > 0.0)
        add_part(e, "exposed", exposed);
    if (sums_up && t.cluster > 0.0)
        add_part(e, "cluster", t.cluster);
    add_steps(plan, e);
    e->seconds = plan->steps.seconds;
    e->memory_seconds = t.memory;
    e->rounds = t.rounds;
    e->tile_efficiency = padding(&plan->g, row->bm, row->bn, row->bk);
    e->wave_efficiency = wave_efficiency(plan);
}

static void estimate_cpu(struct tcgemm_plan *plan, int max_threads, tcgemm_estimate_t *e) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_time_t t = tcgemm_cpu_plan(plan, max_threads);
    add_part(e, "pack", t.pack);
    add_part(e, "multiply", t.multiply);
    add_part(e, "store", t.store);
    add_part(e, "barrier", t.barrier);
    e->seconds = t.total;
    e->tile_efficiency = padding(&plan->g, u->mr, u->nr, u->ku);
    const double units = (double)ceil_div(min_i64(plan->cpu.mt, plan->g.m), plan->cpu.mc) *
                         (double)ceil_div(min_i64(plan->cpu.nc, plan->g.n), plan->cpu.nb);
    e->wave_efficiency =
        balance(plan->cpu.split_batch ? (double)plan->g.batch : units, plan->num_threads);
}

static tcgemm_estimate_t estimate(const struct tcgemm_plan *plan, const tcgemm_kernel_t *kernel) {
    struct tcgemm_plan other = *plan;
    tcgemm_estimate_t e = {
        .struct_size = sizeof e,
        .kernel = kernel->name,
        .algo = kernel->family->algo,
        .tile_m = kernel->mr,
        .tile_n = kernel->nr,
        .tile_k = kernel->ku,
    };
    tcgemm_plan_with(kernel, plan->max_threads, &other);
    if (kernel->gpu)
        estimate_gpu(&other, &e);
    else
        estimate_cpu(&other, plan->max_threads, &e);
    return e;
}

int tcgemm_plan_estimate_count(const tcgemm_plan_t *plan) {
    int count = 0;
    if (!plan)
        return 0;
    const tcgemm_kernel_t *const *row =
        tcgemm_kernels_for(plan->g.type->type, plan->device != NULL);
    for (; *row; ++row)
        count += tcgemm_plan_can_use(plan, *row);
    return count;
}

/* Number `rank` of the kernels in order of their estimates, those of the same as in the table; NULL
 * if there are not so many. */
static const tcgemm_kernel_t *kernel_of_rank(const struct tcgemm_plan *plan, int rank) {
    struct {
        const tcgemm_kernel_t *kernel;
        double seconds;
    } sorted[TCGEMM_MOST_ROWS];
    int count = 0;
    const tcgemm_kernel_t *const *row =
        tcgemm_kernels_for(plan->g.type->type, plan->device != NULL);
    for (; *row; ++row) {
        if (!tcgemm_plan_can_use(plan, *row))
            continue;
        const double seconds = estimate(plan, *row).seconds;
        int at = count++;
        for (; at > 0 && sorted[at - 1].seconds > seconds; --at)
            sorted[at] = sorted[at - 1];
        sorted[at].kernel = *row;
        sorted[at].seconds = seconds;
    }
    return rank < count ? sorted[rank].kernel : NULL;
}

tcgemm_status_t tcgemm_plan_get_estimate(const tcgemm_plan_t *plan, int rank,
                                         tcgemm_estimate_t *info) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("estimate", info, sizeof *info));
    const tcgemm_kernel_t *kernel = rank < 0 ? NULL : kernel_of_rank(plan, rank);
    TCGEMM_RETURN_IF(!kernel, TCGEMM_STATUS_BAD_ARGUMENT, "rank %d is not in 0 .. %d", rank,
                     tcgemm_plan_estimate_count(plan) - 1);
    const tcgemm_estimate_t e = estimate(plan, kernel);
    tcgemm_struct_write(info, &e, sizeof e);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_get_occupancy(const tcgemm_plan_t *plan,
                                          tcgemm_occupancy_info_t *info) {
    enum { WARP = 32 };
    TCGEMM_RETURN_IF(!plan || !plan->device, TCGEMM_STATUS_BAD_ARGUMENT,
                     "plan is NULL or for the CPU");
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof *info));
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const tcgemm_occupancy_t o =
        tcgemm_gpu_occupancy(row, tcgemm_plan_product(plan)->gpu.registers, plan->device);
    const tcgemm_occupancy_info_t filled = {
        .struct_size = sizeof filled,
        .blocks = tcgemm_plan_product(plan)->gpu.blocks_per_sm,
        .by_threads = o.by_threads,
        .by_registers = o.by_registers,
        .by_smem = o.by_smem,
        .by_slots = o.by_slots,
        .warps = tcgemm_plan_product(plan)->gpu.blocks_per_sm * row->threads / WARP,
        .most_warps = plan->device->threads_per_sm / WARP,
    };
    tcgemm_struct_write(info, &filled, sizeof filled);
    return TCGEMM_STATUS_OK;
}
