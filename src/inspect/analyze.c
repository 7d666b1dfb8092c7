/* analyze.c - from a plan and its machine to what its bytes and its time should be. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/fpmode.h"
#include "base/num.h"
#include "base/struct.h"
#include "gpu/gpu_row.h"
#include "host/caches.h"
#include "host/features.h"
#include "plan/plan.h"

tcgemm_status_t tcgemm_plan_get_problem(const tcgemm_plan_t *plan, tcgemm_problem_t *problem) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_RETURN_IF(!problem || problem->struct_size != sizeof *problem,
                     TCGEMM_STATUS_BAD_ARGUMENT, "problem is NULL or its struct_size is not set");
    *problem = plan->problem;
    return TCGEMM_STATUS_OK;
}

/* ---- the machine ---- */

static tcgemm_status_t gpu_of_plan(const tcgemm_plan_info_t *info, tcgemm_device_info_t *gpu) {
    gpu->struct_size = sizeof *gpu;
    if (info->device_index != TCGEMM_DEVICE_KNOWN)
        return tcgemm_device_get_info(info->device_index, gpu);
    for (int i = 0; i < tcgemm_known_gpu_count(); ++i)
        if (tcgemm_known_gpu_get_info(i, gpu) == TCGEMM_STATUS_OK &&
            strcmp(gpu->name, info->device) == 0)
            return TCGEMM_STATUS_OK;
    return tcgemm_error_set(TCGEMM_STATUS_INTERNAL, "no known GPU is called %s", info->device);
}

static tcgemm_status_t analyze_gpu(tcgemm_analysis_t *a) {
    tcgemm_device_info_t gpu = {0};
    TCGEMM_FORWARD(gpu_of_plan(&a->info, &gpu));
    const double peak = gpu.peak[a->problem.type];
    a->machine = (tcgemm_analysis_machine_t){
        .is_gpu = 1,
        .is_here = a->info.device_index != TCGEMM_DEVICE_KNOWN,
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
    memcpy(a->machine.name, gpu.name, sizeof gpu.name);
    a->occupancy.struct_size = sizeof a->occupancy;
    return tcgemm_plan_get_occupancy(a->plan, &a->occupancy);
}

/* Nothing is measured here: the same options give the same analysis. */
static void analyze_cpu(tcgemm_analysis_t *a, const tcgemm_analysis_options_t *o) {
    const double theory = o->theoretical_peak;
    a->machine = (tcgemm_analysis_machine_t){
        .is_here = 1,
        .num_units = a->info.num_threads,
        .macs_per_clock = o->clock_hz > 0 ? theory / 2 / a->info.num_threads / o->clock_hz : 0,
        .clock_hz = o->clock_hz,
        .peak = theory > 0 ? theory : o->measured_peak,
        .peak_is_measured = theory <= 0 && o->measured_peak > 0,
        .bandwidth = o->bandwidth,
        .bandwidth_is_measured = o->bandwidth > 0,
        .l2_bytes = tcgemm_cpu_caches().bytes[1],
    };
    tcgemm_cpu_brand(a->machine.name, sizeof a->machine.name);
}

/* ---- the work ---- */

static void analyze_work(tcgemm_analysis_t *a) {
    const tcgemm_analysis_machine_t *machine = &a->machine;
    const double m = (double)a->problem.m;
    const double n = (double)a->problem.n;
    const double k = (double)a->problem.k;
    const double batch = (double)a->problem.batch;
    const double c_bytes = a->beta != 0 ? (double)a->info.c_bytes : 0;
    const double products = a->problem.k > 0 ? (2 * k - 1) * m * n : 0;
    a->eops = batch * (m * k + products + 2 * m * n);
    a->flop = 2 * m * n * k * batch;
    a->bytes = batch * ((double)a->info.a_bytes + (double)a->info.b_bytes +
                        (double)a->info.d_bytes + c_bytes);
    a->intensity = a->bytes > 0 ? a->flop / a->bytes : 0;
    a->balance = machine->bandwidth > 0 ? machine->peak / machine->bandwidth : 0;
    a->multiply_floor = machine->peak > 0 ? a->flop / machine->peak : 0;
    a->memory_floor = machine->bandwidth > 0 ? a->bytes / machine->bandwidth : 0;
    a->is_memory_bound = a->memory_floor > a->multiply_floor;
}

static int64_t parts(int64_t whole, int64_t part) {
    return part > 0 ? ceil_div(whole, part) : 0;
}

/* The type that levels below the memory hold elements of: they may have been widened on their way.
 */
static const tcgemm_type_info_t *type_of_level(const tcgemm_analysis_t *a, int index) {
    const tcgemm_kernel_t *kernel = a->plan->kernel;
    return index > 0 && kernel && kernel->gpu ? tcgemm_type_info(kernel->gpu->code) : a->type;
}

/* An element of A is read once for each tile that stands beside it across D, and an element of B
 * for each one below it: this level's share of that is in rows and cols. */
static void analyze_level(tcgemm_analysis_t *a, int index) {
    const tcgemm_analysis_level_t *above = index > 0 ? &a->levels[index - 1] : NULL;
    tcgemm_analysis_level_t *level = &a->levels[index];
    const tcgemm_problem_t *p = &a->problem;
    const tcgemm_type_info_t *type = type_of_level(a, index);
    const double a_element = tcgemm_dtype_bits(type->a) / 8.0;
    const double b_element = tcgemm_dtype_bits(type->b) / 8.0;
    const double batch = (double)p->batch;
    level->tile = a->info.levels[index];
    level->rows = above ? parts(above->tile.m, level->tile.m) : 1;
    level->cols = above ? parts(above->tile.n, level->tile.n) : 1;
    level->a_reads = (above ? above->a_reads : 1) * (double)level->cols;
    level->b_reads = (above ? above->b_reads : 1) * (double)level->rows;
    level->tile_bytes = (double)level->tile.k *
                        ((double)level->tile.m * a_element + (double)level->tile.n * b_element);
    level->a_bytes = batch * (double)p->m * (double)p->k * a_element * level->a_reads;
    level->b_bytes = batch * (double)p->k * (double)p->n * b_element * level->b_reads;
    const double moved = level->a_bytes + level->b_bytes;
    level->reuse = moved > 0 ? a->flop / 2 / moved : 0;
}

/* ---- the times ---- */

/* The plan's own kernel first; the reference has no estimate but its time. */
static void gather_estimates(tcgemm_analysis_t *a) {
    const int count = tcgemm_plan_estimate_count(a->plan);
    a->estimates[0] = (tcgemm_estimate_t){
        .kernel = a->info.kernel,
        .algo = a->info.algo,
        .seconds = a->info.predicted_seconds,
        .tile_efficiency = 1,
        .wave_efficiency = 1,
    };
    a->num_estimates = 1;
    for (int rank = 0; rank < count; ++rank) {
        tcgemm_estimate_t e = {.struct_size = sizeof e};
        if (tcgemm_plan_get_estimate(a->plan, rank, &e) != TCGEMM_STATUS_OK)
            continue;
        if (strcmp(e.kernel, a->info.kernel) == 0)
            a->estimates[0] = e;
        else if (a->num_estimates < TCGEMM_ANALYSIS_ESTIMATES)
            a->estimates[a->num_estimates++] = e;
    }
}

static bool is_known_or_0(double value) {
    return value >= 0 && isfinite(value);
}

static tcgemm_status_t read_options(const tcgemm_analysis_options_t *given,
                                    tcgemm_analysis_options_t *o) {
    *o = tcgemm_analysis_options();
    if (given)
        TCGEMM_FORWARD(tcgemm_struct_read("analysis options", given,
                                          TCGEMM_STRUCT_END(tcgemm_analysis_options_t, struct_size),
                                          o, sizeof *o));
    TCGEMM_RETURN_IF(!isfinite(o->alpha) || !isfinite(o->beta), TCGEMM_STATUS_BAD_ARGUMENT,
                     "alpha or beta of the analysis is not finite");
    TCGEMM_RETURN_IF(!is_known_or_0(o->theoretical_peak) || !is_known_or_0(o->measured_peak) ||
                         !is_known_or_0(o->bandwidth) || !is_known_or_0(o->clock_hz),
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "a peak, bandwidth or clock of the analysis is negative or not finite");
    return TCGEMM_STATUS_OK;
}

static void analyze_levels(tcgemm_analysis_t *a) {
    a->num_levels = a->info.num_levels;
    for (int i = 0; i < a->num_levels; ++i)
        analyze_level(a, i);
    a->k_steps = a->num_levels > 1 ? parts(a->problem.k, a->levels[1].tile.k) : 0;
}

tcgemm_status_t tcgemm_plan_analyze(const tcgemm_plan_t *plan,
                                    const tcgemm_analysis_options_t *options,
                                    tcgemm_analysis_t *analysis) {
    TCGEMM_DEFAULT_FP_MODES;
    tcgemm_analysis_options_t o;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("analysis", analysis, sizeof *analysis));
    TCGEMM_FORWARD(read_options(options, &o));
    tcgemm_analysis_t a = {.struct_size = sizeof a,
                           .plan = plan,
                           .type = tcgemm_type_info(plan->problem.type),
                           .problem = plan->problem,
                           .alpha = o.alpha,
                           .beta = o.beta,
                           .info = {.struct_size = sizeof a.info}};
    TCGEMM_FORWARD(tcgemm_plan_get_info(plan, &a.info));
    if (a.info.device_index == TCGEMM_DEVICE_CPU)
        analyze_cpu(&a, &o);
    else
        TCGEMM_FORWARD(analyze_gpu(&a));
    analyze_work(&a);
    analyze_levels(&a);
    gather_estimates(&a);
    tcgemm_struct_write(analysis, &a, sizeof a);
    return TCGEMM_STATUS_OK;
}
