/* launch.c - from the steps of a plan to cuLaunchKernel. */
#include "cuda/launch.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cuda/backend.h"
#include "cuda/kernel_cache.h"
#include "gpu/encode.h"
#include "gpu/launch.h"

enum {
    MAX_TILES = 0x7FFFFFFF /* of one grid */
};

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

/* ---- preparing ---- */

static tcgemm_status_t prepare_step(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                    tcgemm_step_t *step) {
    char entry[TCGEMM_ENTRY_CHARS];
    const char *module;
    const tcgemm_gpu_row_t *row = step->kernel ? step->kernel->gpu : NULL;
    tcgemm_gpu_kernel_t kernel;
    TCGEMM_RETURN_IF(!tcgemm_gpu_entry(plan, step, entry, &module), TCGEMM_STATUS_UNSUPPORTED,
                     "kernel %s has no counterpart for a column-major product of mixed signs",
                     plan->kernel->name);
    if (row && row->tensor_maps)
        TCGEMM_FORWARD(tcgemm_driver_need(TCGEMM_DRIVER_TENSOR_MAPS, plan->kernel->name));
    TCGEMM_FORWARD(tcgemm_gpu_kernel(gpu, module, entry, row, step->gpu.registers, &kernel));
    step->gpu.function = kernel.function;
    if (!row)
        return TCGEMM_STATUS_OK;
    step->gpu.registers = kernel.registers;
    step->gpu.smem_bytes = kernel.smem_bytes;
    step->gpu.blocks_per_sm = kernel.blocks_per_sm;
    step->gpu.grid_blocks = tcgemm_gpu_grid(plan, step, tcgemm_gpu_tiles(plan, step));
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t prepare_steps(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                     tcgemm_steps_t *steps) {
    for (int i = 0; i < steps->count; ++i)
        TCGEMM_FORWARD(prepare_step(gpu, plan, &steps->step[i]));
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t prepare_scale(tcgemm_gpu_t *gpu, struct tcgemm_plan *plan) {
    char entry[TCGEMM_ENTRY_CHARS];
    tcgemm_gpu_kernel_t kernel;
    (void)snprintf(entry, sizeof entry, "tcgemm_scale_%s", tcgemm_dtype_name(plan->g.type->d));
    TCGEMM_FORWARD(tcgemm_gpu_kernel(gpu, "scale", entry, NULL, 0, &kernel));
    plan->scale = kernel.function;
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_gpu_prepare_here(tcgemm_gpu_t *gpu, struct tcgemm_plan *plan) {
    TCGEMM_FORWARD(prepare_steps(gpu, plan, &plan->steps));
    TCGEMM_FORWARD(prepare_steps(gpu, plan, &plan->if_unaligned));
    return prepare_scale(gpu, plan);
}

tcgemm_status_t tcgemm_gpu_prepare(struct tcgemm_plan *plan) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status = tcgemm_gpu_prepare_here(gpu, plan);
    tcgemm_gpu_leave();
    return status;
}

/* ---- tensor maps ---- */

static CUtensorMapDataType data_type_of(const tcgemm_tensor_t *t) {
    if (t->rounds_to_tf32)
        return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    return t->element_bytes == 4   ? CU_TENSOR_MAP_DATA_TYPE_UINT32
           : t->element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

/* Nothing to do for an operand that threads gather. */
static tcgemm_status_t make_map(tcgemm_gpu_t *gpu, const tcgemm_tensor_t *t,
                                tcgemm_tensor_map_t *map) {
    enum { RANK = 3 };
    if (!t->base)
        return TCGEMM_STATUS_OK;
    const cuuint64_t size[RANK] = {t->size[0], t->size[1], t->size[2]};
    const cuuint64_t stride[RANK - 1] = {t->stride[0], t->stride[1]};
    const cuuint32_t box[RANK] = {t->box[0], t->box[1], t->box[2]};
    const cuuint32_t each[RANK] = {1, 1, 1};
    _Static_assert(sizeof *map == sizeof(CUtensorMap), "tensor_map.h");
    return tcgemm_gpu_check(
        gpu,
        driver()->encode_tiled(
            (CUtensorMap *)map, data_type_of(t), RANK, (void *)(uintptr_t)t->base, size, stride,
            box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
            CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "describing a matrix to the tensor memory accelerator");
}

/* What the kernel of a product receives: tensor maps behind its arguments where it wants them. */
static tcgemm_status_t complete(tcgemm_gpu_t *gpu, const tcgemm_step_t *step,
                                tcgemm_tensor_args_t *x) {
    tcgemm_tensor_t a, b, c, d;
    if (!step->kernel->gpu->tensor_maps)
        return TCGEMM_STATUS_OK;
    tcgemm_gpu_tensors(step, &x->args, &a, &b);
    TCGEMM_FORWARD(make_map(gpu, &a, &x->a));
    TCGEMM_FORWARD(make_map(gpu, &b, &x->b));
    x->has_d = tcgemm_gpu_tensors_of_d(step, &x->args, &c, &d);
    x->has_c = c.base != NULL;
    if (x->has_c)
        TCGEMM_FORWARD(make_map(gpu, &c, &x->c));
    return x->has_d ? make_map(gpu, &d, &x->d) : TCGEMM_STATUS_OK;
}

/* ---- launching ---- */

/* Whether a step before the product makes a large copy. */
static bool has_large_copy(const tcgemm_steps_t *steps) {
    for (int i = 0; steps->step[i].kind != TCGEMM_STEP_PRODUCT; ++i)
        if (steps->step[i].written_bytes > TCGEMM_SMALL_COPY)
            return true;
    return false;
}

/* The kernels of products (gpu_row.h: `waits`), of packing and of the sum of parts wait by
 * themselves for the launch ahead of them where the hardware lets them begin before its end
 * (gpu/ptx/griddepcontrol.cuh). The first packing does not: it reads and writes what the call
 * before may still use. Beside large copies the product was slower than behind them
 * (bench/results/notes.md). */
static bool may_begin_early(const tcgemm_gpu_t *gpu, const tcgemm_steps_t *steps, int i) {
    const tcgemm_step_t *const step = &steps->step[i];
    if (!gpu->facts.takes_tensor_maps)
        return false;
    switch (step->kind) {
    case TCGEMM_STEP_PACK_A:
    case TCGEMM_STEP_PACK_B:
        return i > 0 && !has_large_copy(steps);
    case TCGEMM_STEP_PRODUCT:
        return step->kernel->gpu->waits && !has_large_copy(steps);
    case TCGEMM_STEP_REDUCE:
    default:
        return true;
    }
}

/* May begin before the launch ahead has ended (`early`), or in clusters. */
static CUresult launch_with(void *function, const tcgemm_gpu_shape_t *shape, void **parameters,
                            bool early, CUstream stream) {
    CUlaunchAttribute attributes[2];
    unsigned count = 0;
    if (early)
        attributes[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                .value = {.programmaticStreamSerializationAllowed = 1}};
    if (shape->ranks > 1)
        attributes[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                .value = {.clusterDim = {(unsigned)shape->ranks, 1, 1}}};
    const CUlaunchConfig config = {.gridDimX = (unsigned)shape->grid,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = (unsigned)shape->threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = (unsigned)shape->smem_bytes,
                                   .hStream = stream,
                                   .attrs = attributes,
                                   .numAttrs = count};
    return driver()->launch_overlapping(&config, (CUfunction)function, parameters, NULL);
}

/* `args`: tcgemm_gpu_args_t, tcgemm_tensor_args_t or tcgemm_pack_args_t, as the kernel has it. */
static tcgemm_status_t launch(tcgemm_gpu_t *gpu, void *function, const tcgemm_gpu_shape_t *shape,
                              void *args, bool early, CUstream stream, const char *what) {
    void *parameters[] = {args};
    const CUresult result =
        early || shape->ranks > 1
            ? launch_with(function, shape, parameters, early, stream)
            : driver()->launch((CUfunction)function, (unsigned)shape->grid, 1, 1,
                               (unsigned)shape->threads, 1, 1, (unsigned)shape->smem_bytes, stream,
                               parameters, NULL);
    return tcgemm_gpu_check(gpu, result, what);
}

/* The product, in several launches where one grid cannot hold its tiles: as many tile rows in a
 * launch as it can, and as many items. `follows`: other steps are ahead of it. */
static tcgemm_status_t launch_product(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                      const tcgemm_step_t *step, const tcgemm_gpu_args_t *args,
                                      bool early, bool follows, CUstream stream) {
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    const int64_t tiles_m = tcgemm_gpu_tile_rows(step, args->m);
    const int64_t tiles_n = ceil_div(args->n, row->bn) * args->splits.by * step->ranks;
    const int64_t least = step->in_pairs ? 2 : 1, fit = MAX_TILES / tiles_n / least * least;
    const int64_t rows = min_i64(tiles_m, fit > 0 ? fit : least);
    const int64_t items = rows < tiles_m ? 1 : min_i64(args->batch, MAX_TILES / (rows * tiles_n));
    for (int64_t t = 0; t < args->batch; t += items) {
        for (int64_t i = 0; i < tiles_m; i += rows) {
            tcgemm_tensor_args_t part;
            part.args = tcgemm_gpu_part(step, args, t, min_i64(items, args->batch - t), i * row->bm,
                                        min_i64(rows * row->bm, args->m - i * row->bm));
            TCGEMM_FORWARD(complete(gpu, step, &part));
            tcgemm_gpu_shape_t shape = tcgemm_gpu_shape(plan, step, &part.args);
            if (early && (follows || !row->tensor_maps))
                shape.smem_bytes = shape.spread_bytes;
            TCGEMM_FORWARD(launch(gpu, step->gpu.function, &shape, &part, early, stream,
                                  "launching the product"));
        }
    }
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t launch_sum(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                  const tcgemm_step_t *step, tcgemm_gpu_args_t *args, bool early,
                                  CUstream stream) {
    const tcgemm_gpu_shape_t shape = tcgemm_gpu_shape(plan, step, args);
    return launch(gpu, step->gpu.function, &shape, args, early, stream,
                  "launching the sum of the parts of k");
}

/* `count` steps from `step` on in one launch. */
static tcgemm_status_t launch_packing(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                      const tcgemm_step_t *step, int count, bool early,
                                      const tcgemm_call_t *call, void *workspace, CUstream stream) {
    tcgemm_pack_args_t args;
    const tcgemm_gpu_shape_t shape =
        tcgemm_gpu_encode_packing(plan, step, count, call, workspace, &args);
    return launch(gpu, step->gpu.function, &shape, &args, early, stream, "launching the packing");
}

/* Step i, and i + 1 if the launch holds both; *count says so. */
static tcgemm_status_t launch_step(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                   const tcgemm_steps_t *steps, int i, int *count,
                                   const tcgemm_call_t *call, void *workspace, CUstream stream) {
    const tcgemm_step_t *step = &steps->step[i];
    const bool early = may_begin_early(gpu, steps, i);
    *count = tcgemm_gpu_steps_of_launch(steps, i);
    if (tcgemm_step_packs(step))
        return launch_packing(gpu, plan, step, *count, early, call, workspace, stream);
    tcgemm_gpu_args_t args = tcgemm_gpu_encode(plan, step, call, workspace);
    return step->kind == TCGEMM_STEP_PRODUCT
               ? launch_product(gpu, plan, step, &args, early, i > 0, stream)
               : launch_sum(gpu, plan, step, &args, early, stream);
}

tcgemm_status_t tcgemm_gpu_queue_steps(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                       const tcgemm_call_t *call, void *workspace,
                                       CUstream stream) {
    const tcgemm_steps_t *steps = tcgemm_gpu_steps_for(plan, call);
    for (int i = 0, count; i < steps->count; i += count)
        TCGEMM_FORWARD(launch_step(gpu, plan, steps, i, &count, call, workspace, stream));
    return TCGEMM_STATUS_OK;
}

/* D = beta * C. */
static tcgemm_status_t queue_scale(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                   const tcgemm_call_t *call, CUstream stream) {
    if (call->beta == 1.0 && call->c == call->d)
        return TCGEMM_STATUS_OK;
    tcgemm_gpu_args_t args = tcgemm_gpu_encode_scale(plan, call);
    const tcgemm_gpu_shape_t shape = {
        .grid = tcgemm_gpu_move_grid(plan->device, (double)args.m * (double)args.batch),
        .threads = TCGEMM_MOVE_THREADS,
        .ranks = 1};
    return launch(gpu, plan->scale, &shape, &args, false, stream, "launching D = beta * C");
}

/* A pool of our own: the device's gives its memory back at every synchronisation, and to map some
 * hundred megabytes anew takes longer than the product that wants them. Ours keeps up to a
 * sixteenth of the memory. */
static tcgemm_status_t make_pool(tcgemm_gpu_t *gpu) {
    enum { KEPT = 16 };
    CUmemPoolProps properties;
    CUmemoryPool pool = NULL;
    cuuint64_t kept = gpu->facts.memory_bytes / KEPT;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = gpu->device;
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver()->pool_create(&pool, &properties),
                                    "making a pool for workspaces"));
    TCGEMM_FORWARD(
        tcgemm_gpu_check(gpu, driver()->pool_set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept),
                         "making a pool for workspaces"));
    gpu->pool = pool;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t find_pool(tcgemm_gpu_t *gpu, CUmemoryPool *pool) {
    (void)pthread_mutex_lock(&gpu->mutex);
    const tcgemm_status_t status = gpu->pool ? TCGEMM_STATUS_OK : make_pool(gpu);
    *pool = gpu->pool;
    (void)pthread_mutex_unlock(&gpu->mutex);
    return status;
}

tcgemm_status_t tcgemm_gpu_queue(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                 const tcgemm_call_t *call, void *workspace, CUstream stream) {
    const size_t needed = tcgemm_gpu_steps_for(plan, call)->workspace_bytes;
    if (call->alpha == 0.0)
        return queue_scale(gpu, plan, call, stream);
    if (needed == 0 || workspace)
        return tcgemm_gpu_queue_steps(gpu, plan, call, workspace, stream);
    TCGEMM_FORWARD(tcgemm_driver_need(TCGEMM_DRIVER_STREAM_MEMORY,
                                      "a plan with a workspace that is not given"));
    CUdeviceptr own = 0;
    CUmemoryPool pool;
    TCGEMM_FORWARD(find_pool(gpu, &pool));
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver()->alloc_from_pool(&own, needed, pool, stream),
                                    "allocating the workspace"));
    const tcgemm_status_t status =
        tcgemm_gpu_queue_steps(gpu, plan, call, (void *)(uintptr_t)own, stream);
    const tcgemm_status_t freed =
        tcgemm_gpu_check(gpu, driver()->release_async(own, stream), "freeing the workspace");
    return status != TCGEMM_STATUS_OK ? status : freed;
}
