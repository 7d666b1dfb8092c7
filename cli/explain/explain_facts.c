/* explain_facts.c - from a plan and its machine to everything that explain shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stream.h"
#include "commands/cli.h"
#include "commands/report.h"
#include "commands/setup.h"
#include "explain/explain.h"
#include "support/message.h"

/* ---- the machine ---- */

static int gpu_of_plan(const explain_facts_t *f, tcgemm_device_info_t *gpu) {
    if (f->plan.device_index != TCGEMM_DEVICE_KNOWN) {
        gpu->struct_size = sizeof *gpu;
        const tcgemm_status_t told = tcgemm_device_get_info(f->plan.device_index, gpu);
        return told == TCGEMM_STATUS_OK ? CLI_OK : message_library(told);
    }
    if (setup_known_gpu(f->plan.device, gpu))
        return CLI_OK;
    return message_fail(CLI_INTERNAL, "no known GPU is called %s", f->plan.device);
}

static int describe_gpu(explain_facts_t *f, const tcgemm_plan_t *plan) {
    tcgemm_device_info_t gpu = {0};
    const int status = gpu_of_plan(f, &gpu);
    if (status != CLI_OK)
        return status;
    const double peak = gpu.peak[f->problem.type];
    f->machine = (explain_machine_t){
        .is_gpu = true,
        .is_here = f->plan.device_index != TCGEMM_DEVICE_KNOWN,
        .num_units = gpu.num_sms,
        .macs_per_clock = peak / 2 / gpu.num_sms / gpu.clock_hz,
        .clock_hz = gpu.clock_hz,
        .peak = peak,
        .bandwidth = gpu.bandwidth,
        .l2_bytes = gpu.l2_bytes,
        .smem_sm_bytes = gpu.smem_sm_bytes,
        .smem_block_bytes = gpu.smem_block_bytes,
        .registers_per_sm = gpu.registers_per_sm,
        .threads_per_sm = gpu.threads_per_sm,
    };
    memcpy(f->machine.name, gpu.name, sizeof gpu.name);
    f->occupancy.struct_size = sizeof f->occupancy;
    const tcgemm_status_t told = tcgemm_plan_get_occupancy(plan, &f->occupancy);
    return told == TCGEMM_STATUS_OK ? CLI_OK : message_library(told);
}

static int describe_cpu(explain_facts_t *f) {
    explain_machine_t *m = &f->machine;
    tcgemm_machine_info_t cpu = {.struct_size = sizeof cpu};
    double theory = 0;
    double measured = 0;
    tcgemm_status_t told = tcgemm_machine_get_info(&cpu);
    if (told == TCGEMM_STATUS_OK)
        told = tcgemm_measure_peak(f->problem.type, f->plan.num_threads, &theory, &measured);
    if (told != TCGEMM_STATUS_OK)
        return message_library(told);
    memcpy(m->name, cpu.cpu, sizeof cpu.cpu);
    m->bandwidth = stream_bandwidth(f->plan.num_threads, (double)cpu.l3_bytes);
    m->is_here = true;
    m->num_units = f->plan.num_threads;
    m->clock_hz = cpu.clock_hz;
    m->macs_per_clock = theory / 2 / m->num_units / m->clock_hz;
    m->peak = theory > 0 ? theory : measured;
    m->peak_is_measured = theory <= 0;
    m->bandwidth_is_measured = m->bandwidth > 0; /* else there was no memory for it */
    m->l2_bytes = cpu.l2_bytes;
    return CLI_OK;
}

/* ---- the work ---- */

static void measure_work(explain_facts_t *f) {
    const tcgemm_plan_info_t *p = &f->plan;
    const double batch = (double)f->problem.batch;
    const double c_bytes = f->settings->beta != 0 ? (double)p->c_bytes : 0;
    f->eops = report_eops(&f->problem);
    f->flop = report_flop(&f->problem);
    f->bytes = batch * ((double)p->a_bytes + (double)p->b_bytes + (double)p->d_bytes + c_bytes);
    f->intensity = f->bytes > 0 ? f->flop / f->bytes : 0;
    const explain_machine_t *m = &f->machine;
    f->balance = m->bandwidth > 0 ? m->peak / m->bandwidth : 0;
    f->multiply_floor = m->peak > 0 ? f->flop / m->peak : 0;
    f->memory_floor = m->bandwidth > 0 ? f->bytes / m->bandwidth : 0;
    f->is_memory_bound = f->memory_floor > f->multiply_floor;
}

static int64_t parts(int64_t whole, int64_t part) {
    return part > 0 ? (whole + part - 1) / part : 0;
}

/* An element of A is read once for each tile that stands beside it across D, and an element of B
 * for each one below it: this level's share of that is in rows and cols. */
static void measure_level(explain_facts_t *f, int index) {
    const explain_level_t *above = index > 0 ? &f->levels[index - 1] : NULL;
    explain_level_t *level = &f->levels[index];
    const tcgemm_problem_t *p = &f->problem;
    const double a_element = tcgemm_dtype_bits(f->type->a) / 8.0;
    const double b_element = tcgemm_dtype_bits(f->type->b) / 8.0;
    const double batch = (double)p->batch;
    level->tile = f->plan.levels[index];
    level->rows = above ? parts(above->tile.m, level->tile.m) : 1;
    level->cols = above ? parts(above->tile.n, level->tile.n) : 1;
    level->a_reads = (above ? above->a_reads : 1) * (double)level->cols;
    level->b_reads = (above ? above->b_reads : 1) * (double)level->rows;
    level->tile_bytes = (double)level->tile.k *
                        ((double)level->tile.m * a_element + (double)level->tile.n * b_element);
    level->a_bytes = batch * (double)p->m * (double)p->k * a_element * level->a_reads;
    level->b_bytes = batch * (double)p->k * (double)p->n * b_element * level->b_reads;
    const double moved = level->a_bytes + level->b_bytes;
    level->reuse = moved > 0 ? f->flop / 2 / moved : 0;
}

/* ---- the times ---- */

/* The plan's own kernel first; the reference has no estimate but its time. */
static void gather_estimates(explain_facts_t *f, const tcgemm_plan_t *plan) {
    const int count = tcgemm_plan_estimate_count(plan);
    f->estimates[0] = (tcgemm_estimate_t){
        .kernel = f->plan.kernel,
        .algo = f->plan.algo,
        .seconds = f->plan.predicted_seconds,
        .tile_efficiency = 1,
        .wave_efficiency = 1,
    };
    f->num_estimates = 1;
    for (int rank = 0; rank < count; ++rank) {
        tcgemm_estimate_t e = {.struct_size = sizeof e};
        if (tcgemm_plan_get_estimate(plan, rank, &e) != TCGEMM_STATUS_OK)
            continue;
        if (strcmp(e.kernel, f->plan.kernel) == 0)
            f->estimates[0] = e;
        else if (f->num_estimates < EXPLAIN_MAX_ESTIMATES)
            f->estimates[f->num_estimates++] = e;
    }
}

int explain_facts(const settings_t *settings, const tcgemm_problem_t *problem,
                  const tcgemm_plan_t *plan, explain_facts_t *f) {
    *f = (explain_facts_t){.settings = settings,
                           .problem = *problem,
                           .type = tcgemm_type_info(problem->type),
                           .handle = plan,
                           .plan = {.struct_size = sizeof f->plan}};
    const tcgemm_status_t told = tcgemm_plan_get_info(plan, &f->plan);
    if (told != TCGEMM_STATUS_OK)
        return message_library(told);
    const int status =
        f->plan.device_index == TCGEMM_DEVICE_CPU ? describe_cpu(f) : describe_gpu(f, plan);
    if (status != CLI_OK)
        return status;
    measure_work(f);
    f->num_levels = f->plan.num_levels;
    for (int i = 0; i < f->num_levels; ++i)
        measure_level(f, i);
    f->k_steps = f->num_levels > 1 ? parts(problem->k, f->levels[1].tile.k) : 0;
    gather_estimates(f, plan);
    return CLI_OK;
}
