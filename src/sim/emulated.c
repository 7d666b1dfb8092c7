/* emulated.c - the steps of a plan in the emulator: their matrices with their bounds, their grids,
 * and what came of it in the words of the report. */
#include "sim/emulated.h"

#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "gpu/encode.h"
#include "gpu/launch.h"

enum { A, B, C, D, NUM_MATRICES };
enum { WORKSPACE_ALIGNMENT = 256, POISON = 0xFF };

/* ---- matrices and their bounds ---- */

/* `lines` of `width` elements, `ld` apart. */
static tcgemm_emulate_region_t region_of(const char *name, tcgemm_dtype_t dtype, const void *data,
                                         int64_t lines, int64_t width, int64_t ld, int64_t batch,
                                         int64_t stride) {
    const int bytes = tcgemm_dtype_bits(dtype) / 8;
    return (tcgemm_emulate_region_t){
        .name = name,
        .line = "rows",
        .col = "columns",
        .base = (void *)(uintptr_t)data,
        .width = width * bytes,
        .lines = lines,
        .pitch = ld * bytes,
        .batch = batch,
        .stride = stride * bytes,
        .element_bytes = bytes,
        .flags = TCGEMM_EMULATE_READ,
    };
}

/* Nothing of it may be touched. */
static tcgemm_emulate_region_t nothing(const char *name) {
    return (tcgemm_emulate_region_t){
        .name = name, .line = "rows", .col = "columns", .lines = 1, .batch = 1, .element_bytes = 1};
}

/* Elements in whole pieces of 16 bytes. */
static int64_t in_pieces(int64_t length, tcgemm_dtype_t dtype) {
    return round_up(length, 128 / tcgemm_dtype_bits(dtype));
}

static void regions_of_product(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x,
                               tcgemm_emulate_region_t *regions) {
    const int64_t a_width = x->a_trans ? x->m : x->k, b_width = x->b_trans ? x->k : x->n;
    regions[A] = region_of("A", step->a.at.dtype, x->a, x->a_trans ? x->k : x->m,
                           step->a.at.padded ? in_pieces(a_width, step->a.at.dtype) : a_width,
                           x->lda, x->batch, x->stride_a);
    regions[A].line = x->a_trans ? "k" : "rows";
    regions[A].col = x->a_trans ? "rows" : "k";
    regions[B] = region_of("B", step->b.at.dtype, x->b, x->b_trans ? x->n : x->k,
                           step->b.at.padded ? in_pieces(b_width, step->b.at.dtype) : b_width,
                           x->ldb, x->batch, x->stride_b);
    regions[B].line = x->b_trans ? "columns" : "k";
    regions[B].col = x->b_trans ? "k" : "columns";
    if (step->kernel->gpu->by_warps) {
        regions[A].flags |= TCGEMM_EMULATE_WORDS;
        regions[B].flags |= TCGEMM_EMULATE_WORDS;
    }
}

static void regions_of_sum(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x,
                           tcgemm_emulate_region_t *regions) {
    regions[A] = region_of("the sums", step->a.at.dtype, x->a, x->m, x->lda, x->lda,
                           x->batch * x->splits.by, x->stride_a);
    regions[B] = nothing("B");
}

/* Of a product, or of the sum of the parts of k, whose rows are whole pieces of 16 bytes. */
static void make_regions(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x,
                         tcgemm_emulate_region_t *regions) {
    const bool is_product = step->kind == TCGEMM_STEP_PRODUCT;
    if (is_product)
        regions_of_product(step, x, regions);
    else
        regions_of_sum(step, x, regions);
    regions[C] =
        x->c ? region_of("C", step->d.at.dtype, x->c, x->m, x->n, x->ldc, x->batch, x->stride_c)
             : nothing("C");
    regions[D] =
        region_of(step->d.home == TCGEMM_HOME_D ? "D" : "the workspace", step->d.at.dtype, x->d,
                  x->m, x->n, x->ldd, x->batch * (is_product ? x->splits.by : 1), x->stride_d);
    const bool overlap =
        is_product && tcgemm_gpu_boxes_overlap(step->kernel->gpu, regions[D].element_bytes);
    regions[D].flags =
        TCGEMM_EMULATE_WRITE | (overlap ? TCGEMM_EMULATE_TWICE : TCGEMM_EMULATE_ONCE);
}

/* Of one packing: what it reads, and the copy, in whole pieces of 16 bytes. */
static void make_regions_of_packing(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x,
                                    tcgemm_emulate_region_t *from, tcgemm_emulate_region_t *to) {
    const bool turns = tcgemm_step_turns(step);
    *from =
        region_of("the operand", step->a.at.dtype, x->a, x->m, x->k, x->lda, x->batch, x->stride_a);
    *to =
        region_of("the workspace", step->d.at.dtype, x->d, turns ? x->k : x->m,
                  in_pieces(turns ? x->m : x->k, step->d.at.dtype), x->ldd, x->batch, x->stride_d);
    to->flags = TCGEMM_EMULATE_WRITE | TCGEMM_EMULATE_ONCE;
}

/* Elements of D of which every byte was written. */
static int64_t count_written(const tcgemm_emulate_region_t *d) {
    int64_t count = 0;
    for (int64_t i = 0; i < d->batch * d->lines * d->width; i += d->element_bytes)
        count += memchr(d->written + i, 0, (size_t)d->element_bytes) == NULL;
    return count;
}

/* ---- what came of it ---- */

/* Tiles by arithmetic, loads and products as they were. */
static void report_product(tcgemm_sim_t *sim, const tcgemm_step_t *step,
                           const tcgemm_emulate_launch_t *launch) {
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    const tcgemm_emulate_region_t *x = launch->regions;
    tcgemm_simulate_report_t *r = sim->report;
    const int64_t blocks = tcgemm_gpu_tiles(sim->plan, step);
    const int64_t loads =
        x[A].bytes_read / x[A].element_bytes + x[B].bytes_read / x[B].element_bytes;
    r->num_blocks += blocks;
    r->num_steps += blocks / step->ranks * ceil_div(step->split_k, row->bk);
    r->num_warps += blocks * row->threads / 32;
    r->num_products += launch->num_products + ceil_div(launch->num_fma, (int64_t)row->im * row->in);
    r->num_macs += launch->num_macs;
    r->memory_loads += loads;
    r->block_loads += row->smem_bytes ? launch->shared_reads / x[A].element_bytes : loads;
    r->warp_loads += launch->operand_reads;
}

static void report(tcgemm_sim_t *sim, const tcgemm_step_t *step,
                   const tcgemm_emulate_launch_t *launch) {
    tcgemm_simulate_report_t *r = sim->report;
    if (launch->num_faults > 0 && r->num_faults == 0)
        memcpy(r->fault, launch->fault, sizeof r->fault);
    r->num_faults += launch->num_faults;
    if (step->kind == TCGEMM_STEP_PRODUCT)
        report_product(sim, step, launch);
    if (step->d.home == TCGEMM_HOME_D)
        r->num_written += count_written(&launch->regions[D]);
}

/* ---- the launches ---- */

/* The schedule: TCGEMM_EMULATOR_SEED, a number; its remainder by four is the order. */
static void choose_schedule(tcgemm_emulate_launch_t *launch) {
    const char *text = getenv("TCGEMM_EMULATOR_SEED");
    launch->seed = text ? strtoull(text, NULL, 10) : 0;
    launch->order = (tcgemm_emulate_order_t)(launch->seed % TCGEMM_EMULATE_NUM_ORDERS);
}

static const char *name_of(const tcgemm_step_t *step) {
    static const char *const names[] = {"packing A", "packing B", "the product",
                                        "the sum of the parts of k"};
    return names[step->kind];
}

/* What the kernel receives: tcgemm_gpu_args_t, tcgemm_tensor_args_t or tcgemm_pack_args_t. */
typedef union parameters {
    tcgemm_tensor_args_t product;
    tcgemm_pack_args_t packing;
} parameters_t;

static void launch_step(tcgemm_sim_t *sim, const tcgemm_step_t *step,
                        const tcgemm_gpu_shape_t *shape, const parameters_t *parameters,
                        size_t parameter_bytes, tcgemm_emulate_region_t *regions) {
    tcgemm_emulated_kernel_t found;
    if (tcgemm_emulated_find(sim->plan, step, &found) != TCGEMM_STATUS_OK)
        return; /* tcgemm_plan_simulate has asked before */
    tcgemm_emulate_launch_t launch = {
        .struct_size = sizeof launch,
        .kernel = found.kernel,
        .parameters = parameters,
        .parameter_bytes = parameter_bytes,
        .grid = (uint32_t)shape->grid,
        .block = (uint32_t)shape->threads,
        .smem_bytes = shape->smem_bytes,
        .ranks = (uint32_t)shape->ranks,
        .regions = regions,
        .num_regions = NUM_MATRICES,
        .trace = tcgemm_sim_is_traced(sim) ? sim->trace : NULL,
        .trace_user = sim->trace_user,
    };
    choose_schedule(&launch);
    const int status = found.run(&launch);
    if (status == 0)
        report(sim, step, &launch);
    else if (status == 1)
        sim->is_out_of_memory = true;
    else
        tcgemm_sim_fault(sim, "%d threads with %zu bytes of shared memory are no launch",
                         shape->threads, shape->smem_bytes);
    sim->trace_is_over = sim->trace_is_over || launch.trace_was_stopped;
}

/* The product or the sum of its parts. */
static tcgemm_gpu_shape_t make_launch(const tcgemm_sim_t *sim, const tcgemm_step_t *step,
                                      void *workspace, parameters_t *parameters, size_t *bytes,
                                      tcgemm_emulate_region_t *regions) {
    tcgemm_tensor_args_t *x = &parameters->product;
    x->args = tcgemm_gpu_encode(sim->plan, step, sim->call, workspace);
    *bytes = sizeof x->args;
    if (step->kind == TCGEMM_STEP_PRODUCT && step->kernel->gpu->tensor_maps) {
        tcgemm_tensor_t a, b, c, d;
        *bytes = sizeof *x;
        tcgemm_gpu_tensors(step, &x->args, &a, &b);
        memcpy(&x->a, &a, sizeof a);
        memcpy(&x->b, &b, sizeof b);
        x->has_d = tcgemm_gpu_tensors_of_d(step, &x->args, &c, &d);
        x->has_c = c.base != NULL;
        if (x->has_c)
            memcpy(&x->c, &c, sizeof c);
        if (x->has_d)
            memcpy(&x->d, &d, sizeof d);
    }
    make_regions(step, &x->args, regions);
    return tcgemm_gpu_shape(sim->plan, step, &x->args);
}

/* The packing of one operand, or of both. */
static tcgemm_gpu_shape_t make_packing(const tcgemm_sim_t *sim, const tcgemm_step_t *step,
                                       int count, void *workspace, parameters_t *parameters,
                                       size_t *bytes, tcgemm_emulate_region_t *regions) {
    tcgemm_pack_args_t *x = &parameters->packing;
    const tcgemm_gpu_shape_t shape =
        tcgemm_gpu_encode_packing(sim->plan, step, count, sim->call, workspace, x);
    *bytes = sizeof *x;
    make_regions_of_packing(step, &x->operand[0], &regions[A], &regions[D]);
    regions[B] = nothing("B");
    regions[C] = nothing("C");
    if (count > 1)
        make_regions_of_packing(step + 1, &x->operand[1], &regions[B], &regions[C]);
    return shape;
}

/* `count` steps from `step` on, which one launch holds. */
static void run_steps(tcgemm_sim_t *sim, const tcgemm_step_t *step, int count, void *workspace) {
    parameters_t parameters;
    tcgemm_emulate_region_t regions[NUM_MATRICES];
    size_t bytes;
    memset(&parameters, 0, sizeof parameters);
    const tcgemm_gpu_shape_t shape =
        tcgemm_step_packs(step)
            ? make_packing(sim, step, count, workspace, &parameters, &bytes, regions)
            : make_launch(sim, step, workspace, &parameters, &bytes, regions);
    bool good = true;
    for (int i = 0; i < NUM_MATRICES; ++i) {
        tcgemm_emulate_region_t *r = &regions[i];
        if (!(r->flags & TCGEMM_EMULATE_WRITE))
            continue;
        r->written = tcgemm_sim_allocate(sim, r->batch * r->lines * r->width, 1);
        good = good && r->written;
    }
    if (good)
        launch_step(sim, step, &shape, &parameters, bytes, regions);
    for (int i = 0; i < NUM_MATRICES; ++i)
        free(regions[i].written);
}

/* The steps of a run, one after the other; what none of them has written is NaN. */
void tcgemm_sim_emulated(tcgemm_sim_t *sim) {
    const tcgemm_steps_t *steps = tcgemm_gpu_steps_for(sim->plan, sim->call);
    const size_t bytes =
        (size_t)ceil_div((int64_t)steps->workspace_bytes + 1, WORKSPACE_ALIGNMENT) *
        WORKSPACE_ALIGNMENT;
    void *workspace = aligned_alloc(WORKSPACE_ALIGNMENT, bytes);
    if (!workspace) {
        sim->is_out_of_memory = true;
        return;
    }
    memset(workspace, POISON, bytes);
    for (int i = 0, count;
         i < steps->count && sim->report->num_faults == 0 && !sim->is_out_of_memory; i += count) {
        count = tcgemm_gpu_steps_of_launch(steps, i);
        for (int j = i; j < i + count && steps->count > 1; ++j)
            tcgemm_sim_trace(sim, 0, "step %d of %d: %s", j + 1, steps->count,
                             name_of(&steps->step[j]));
        run_steps(sim, &steps->step[i], count, workspace);
    }
    free(workspace);
}
