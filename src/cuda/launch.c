/* launch.c - from a plan to cuLaunchKernel. */
#include "cuda/launch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/num.h"
#include "cuda/backend.h"
#include "cuda/module.h"
#include "cuda/panels.h"
#include "gpu/launch.h"
#include "gpu/gpu_row.h"
#include "table/table.h"

enum {
    MAX_TILES = 0x7FFFFFFF, /* of one grid */
    SCALE_THREADS = 256,
    SCALE_BLOCKS_PER_SM = 8,
    DEFAULT_SMEM_BYTES = 48 << 10 /* what a kernel gets without asking */
};

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

/* ---- arguments ---- */

static uint32_t is_transposed(const tcgemm_operand_t *x) {
    return x->col_stride == 1 ? 0 : 1;
}

void tcgemm_gpu_set_alignment(const struct tcgemm_plan *plan, tcgemm_gpu_args_t *x) {
    const tcgemm_canonical_t *g = &plan->g;
    x->vector_a = tcgemm_gpu_alignment(x->a, g->a.dtype, x->a_trans ? x->k : x->m, x->lda, x->batch,
                                       x->stride_a);
    x->vector_b = tcgemm_gpu_alignment(x->b, g->b.dtype, x->b_trans ? x->n : x->k, x->ldb, x->batch,
                                       x->stride_b);
    x->vector_c = tcgemm_gpu_alignment(x->c, g->type->d, x->m, x->ldc, x->batch, x->stride_c);
    x->vector_d = tcgemm_gpu_alignment(x->d, g->type->d, x->m, x->ldd, x->batch, x->stride_d);
}

static void set_scalars(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                        tcgemm_gpu_args_t *x) {
    switch (g->type->scalar) {
    case TCGEMM_DTYPE_F64:
        x->alpha.f64 = call->alpha;
        x->beta.f64 = call->beta;
        break;
    case TCGEMM_DTYPE_F32:
        x->alpha.f32 = (float)call->alpha;
        x->beta.f32 = (float)call->beta;
        break;
    default:
        x->alpha.s32 = tcgemm_integer_scalar(call->alpha);
        x->beta.s32 = tcgemm_integer_scalar(call->beta);
        break;
    }
}

tcgemm_gpu_args_t tcgemm_gpu_args(const struct tcgemm_plan *plan, const tcgemm_call_t *call) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_gpu_args_t x;
    memset(&x, 0, sizeof x);
    x.m = g->m;
    x.n = g->n;
    x.k = g->k;
    x.a = call->a;
    x.b = call->b;
    x.c = call->c;
    x.d = call->d;
    x.a_trans = is_transposed(&g->a);
    x.b_trans = is_transposed(&g->b);
    x.lda = x.a_trans ? g->a.col_stride : g->a.row_stride;
    x.ldb = x.b_trans ? g->b.col_stride : g->b.row_stride;
    x.ldc = g->ldc;
    x.ldd = g->ldd;
    x.batch = g->batch;
    x.stride_a = g->a.batch_stride;
    x.stride_b = g->b.batch_stride;
    x.stride_c = g->stride_c;
    x.stride_d = g->stride_d;
    set_scalars(g, call, &x);
    x.flags = g->flags;
    x.raster_group = plan->gpu.raster_group;
    tcgemm_gpu_set_alignment(plan, &x);
    return x;
}

/* ---- preparing ---- */

static const char *scale_entry(tcgemm_dtype_t dtype) {
    switch (dtype) {
    case TCGEMM_DTYPE_F64:
        return "tcgemm_scale_f64";
    case TCGEMM_DTYPE_F32:
        return "tcgemm_scale_f32";
    case TCGEMM_DTYPE_F16:
        return "tcgemm_scale_f16";
    case TCGEMM_DTYPE_BF16:
        return "tcgemm_scale_bf16";
    default:
        return "tcgemm_scale_s32";
    }
}

/* A swapped product of mixed signs: the caller's u8 x s8 is s8 x u8 for the kernel. */
static tcgemm_type_t kernel_type(const tcgemm_canonical_t *g) {
    const tcgemm_type_t type = g->type->type;
    if (!g->swapped || (type != TCGEMM_U8S8_S32 && type != TCGEMM_S8U8_S32))
        return type;
    return type == TCGEMM_U8S8_S32 ? TCGEMM_S8U8_S32 : TCGEMM_U8S8_S32;
}

/* The row whose code runs: the plan's own, or its mirror image for the other mixture of signs. */
static const tcgemm_gpu_row_t *row_of_code(const struct tcgemm_plan *plan) {
    const tcgemm_gpu_row_t *own = plan->kernel->gpu;
    const tcgemm_type_t type = kernel_type(&plan->g);
    if (own->type == type)
        return own;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
        if (row && row->type == type && strcmp(tcgemm_kernel_at(i)->algo, plan->kernel->algo) == 0 &&
            strcmp(row->tag, own->tag) == 0 && row->bm == own->bm && row->bn == own->bn &&
            row->bk == own->bk && row->threads == own->threads &&
            row->smem_bytes == own->smem_bytes)
            return row;
    }
    return NULL;
}

/* What the kernel takes; a driver that does not tell leaves what the table says. */
static tcgemm_status_t ask_size(tcgemm_gpu_t *gpu, CUfunction function, int *registers, int *smem) {
    if (!tcgemm_driver_has(TCGEMM_DRIVER_REGISTERS))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_check(
        gpu, driver()->function_attribute(registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
        "asking for the kernel's registers"));
    return tcgemm_gpu_check(
        gpu, driver()->function_attribute(smem, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
        "asking for the kernel's shared memory");
}

static tcgemm_status_t ask_occupancy(tcgemm_gpu_t *gpu, const tcgemm_gpu_row_t *row,
                                     CUfunction function, int registers, int *blocks) {
    *blocks = tcgemm_gpu_occupancy(row, registers, &gpu->facts).blocks;
    if (!tcgemm_driver_has(TCGEMM_DRIVER_OCCUPANCY))
        return TCGEMM_STATUS_OK;
    return tcgemm_gpu_check(
        gpu, driver()->occupancy(blocks, function, row->threads, row->smem_bytes),
        "asking how many blocks fit");
}

static tcgemm_status_t prepare_kernel(tcgemm_gpu_t *gpu, struct tcgemm_plan *plan) {
    const tcgemm_gpu_row_t *row = row_of_code(plan);
    TCGEMM_RETURN_IF(!row, TCGEMM_STATUS_UNSUPPORTED,
                     "kernel %s has no counterpart for a column-major product of mixed signs",
                     plan->kernel->name);
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    char name[192];
    (void)snprintf(name, sizeof name, "%s_%s", row->entry,
                   layouts[2 * is_transposed(&plan->g.a) + is_transposed(&plan->g.b)]);
    CUfunction function = NULL;
    TCGEMM_FORWARD(tcgemm_gpu_function(gpu, row->module, name, &function));
    if (row->smem_bytes > DEFAULT_SMEM_BYTES)
        TCGEMM_FORWARD(tcgemm_gpu_check(
            gpu,
            driver()->function_set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   (int)row->smem_bytes),
            "asking for the kernel's shared memory"));
    int registers = row->registers;
    int smem = 0;
    int blocks = 0;
    TCGEMM_FORWARD(ask_size(gpu, function, &registers, &smem));
    TCGEMM_FORWARD(ask_occupancy(gpu, row, function, registers, &blocks));
    TCGEMM_RETURN_IF(
        blocks < 1, TCGEMM_STATUS_UNSUPPORTED,
        "kernel %s does not fit on GPU %d (%d threads, %d registers each, %zu bytes of "
        "shared memory)",
        plan->kernel->name, gpu->facts.index, row->threads, registers, row->smem_bytes);
    plan->gpu.function = function;
    plan->gpu.registers = registers;
    plan->gpu.smem_bytes = row->smem_bytes + (size_t)smem;
    plan->gpu.blocks_per_sm = blocks;
    plan->gpu.grid_blocks = tcgemm_gpu_grid(plan, tcgemm_gpu_tiles(plan));
    CUfunction scale = NULL;
    TCGEMM_FORWARD(tcgemm_gpu_function(gpu, "scale", scale_entry(plan->g.type->d), &scale));
    plan->gpu.scale = scale;
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_gpu_prepare(struct tcgemm_plan *plan) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status = prepare_kernel(gpu, plan);
    tcgemm_gpu_leave();
    return status;
}

/* ---- launching ---- */

static tcgemm_status_t launch_once(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                   tcgemm_gpu_args_t *args, CUstream stream) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const int64_t tiles = ceil_div(args->m, row->bm) * ceil_div(args->n, row->bn) * args->batch;
    void *parameters[] = {args};
    return tcgemm_gpu_check(gpu,
                            driver()->launch((CUfunction)plan->gpu.function,
                                             (unsigned)tcgemm_gpu_grid(plan, tiles), 1, 1,
                                             (unsigned)row->threads, 1, 1,
                                             (unsigned)row->smem_bytes, stream, parameters, NULL),
                            "launching the kernel");
}

static const void *advance(const void *pointer, tcgemm_dtype_t dtype, int64_t elements) {
    return pointer ? (const char *)pointer + elements * tcgemm_dtype_bits(dtype) / 8 : NULL;
}

/* The part of a product with rows [row, row + m) of items [item, item + batch). */
static tcgemm_gpu_args_t part_of(const struct tcgemm_plan *plan, const tcgemm_gpu_args_t *whole,
                                 int64_t item, int64_t batch, int64_t row, int64_t m) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_gpu_args_t x = *whole;
    x.m = m;
    x.batch = batch;
    x.a = advance(x.a, g->a.dtype, item * x.stride_a + row * (x.a_trans ? 1 : x.lda));
    x.b = advance(x.b, g->b.dtype, item * x.stride_b);
    x.c = advance(x.c, g->type->d, item * x.stride_c + row * x.ldc);
    x.d = (void *)(uintptr_t)advance(x.d, g->type->d, item * x.stride_d + row * x.ldd);
    tcgemm_gpu_set_alignment(plan, &x);
    return x;
}

tcgemm_status_t tcgemm_gpu_launch(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                  const tcgemm_gpu_args_t *args, CUstream stream) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const int64_t tiles_m = ceil_div(args->m, row->bm);
    const int64_t tiles_n = ceil_div(args->n, row->bn);
    /* As many tile rows in a launch as a grid can hold, and as many items. */
    const int64_t rows = min_i64(tiles_m, MAX_TILES / tiles_n > 0 ? MAX_TILES / tiles_n : 1);
    const int64_t items = rows < tiles_m ? 1 : min_i64(args->batch, MAX_TILES / (rows * tiles_n));
    for (int64_t t = 0; t < args->batch; t += items) {
        for (int64_t i = 0; i < tiles_m; i += rows) {
            tcgemm_gpu_args_t part =
                part_of(plan, args, t, min_i64(items, args->batch - t), i * row->bm,
                        min_i64(rows * row->bm, args->m - i * row->bm));
            TCGEMM_FORWARD(launch_once(gpu, plan, &part, stream));
        }
    }
    return TCGEMM_STATUS_OK;
}

/* D = beta * C. */
static tcgemm_status_t launch_scale(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                    const tcgemm_call_t *call, CUstream stream) {
    if (call->beta == 1.0 && call->c == call->d)
        return TCGEMM_STATUS_OK;
    tcgemm_gpu_args_t args = tcgemm_gpu_args(plan, call);
    const int64_t rows =
        (double)args.m * (double)args.batch < MAX_TILES ? args.m * args.batch : MAX_TILES;
    const int64_t grid = min_i64(rows, (int64_t)gpu->facts.num_sms * SCALE_BLOCKS_PER_SM);
    void *parameters[] = {&args};
    return tcgemm_gpu_check(gpu,
                            driver()->launch((CUfunction)plan->gpu.scale, (unsigned)grid, 1, 1,
                                             SCALE_THREADS, 1, 1, 0, stream, parameters, NULL),
                            "launching D = beta * C");
}

/* Queues the call in the stream. The GPU's context is current. */
static tcgemm_status_t queue(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                             const tcgemm_call_t *call, void *workspace, size_t workspace_bytes,
                             CUstream stream) {
    if (call->alpha == 0.0)
        return launch_scale(gpu, plan, call, stream);
    TCGEMM_RETURN_IF(workspace && workspace_bytes < plan->workspace_bytes,
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "the workspace has %zu bytes, but the plan needs %zu", workspace_bytes,
                     plan->workspace_bytes);
    tcgemm_gpu_args_t args = tcgemm_gpu_args(plan, call);
    if (plan->workspace_bytes == 0 || workspace) {
        args.workspace = workspace;
        return tcgemm_gpu_launch(gpu, plan, &args, stream);
    }
    CUdeviceptr own = 0;
    TCGEMM_FORWARD(
        tcgemm_driver_need(TCGEMM_DRIVER_STREAM_MEMORY, "a run without the caller's workspace"));
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver()->alloc_async(&own, plan->workspace_bytes, stream),
                                    "allocating the workspace"));
    args.workspace = (void *)(uintptr_t)own;
    const tcgemm_status_t status = tcgemm_gpu_launch(gpu, plan, &args, stream);
    const tcgemm_status_t freed =
        tcgemm_gpu_check(gpu, driver()->release_async(own, stream), "freeing the workspace");
    return status != TCGEMM_STATUS_OK ? status : freed;
}

tcgemm_status_t tcgemm_gpu_run_async(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                     void *workspace, size_t workspace_bytes, void *stream) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status =
        queue(gpu, plan, call, workspace, workspace_bytes, (CUstream)stream);
    tcgemm_gpu_leave();
    return status;
}

/* ---- the synchronous run ---- */

/* Queues the call between two events and waits; the GPU's own time goes to the statistics. */
static tcgemm_status_t run_timed(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                 const tcgemm_call_t *call, void *workspace, size_t workspace_bytes,
                                 double *seconds) {
    CUevent events[2] = {NULL, NULL};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 2 && status == TCGEMM_STATUS_OK; ++i)
        status = tcgemm_gpu_check(gpu, driver()->event_create(&events[i], CU_EVENT_DEFAULT),
                                  "making an event");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_record(events[0], NULL), "timing");
    if (status == TCGEMM_STATUS_OK)
        status = queue(gpu, plan, call, workspace, workspace_bytes, NULL);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_record(events[1], NULL), "timing");
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_gpu_check(gpu, driver()->event_synchronize(events[1]),
                                  "waiting for the product");
    if (status != TCGEMM_STATUS_OK) /* nothing may still be on its way into D */
        (void)driver()->stream_synchronize(NULL);
    float milliseconds = 0.0F;
    if (status == TCGEMM_STATUS_OK &&
        driver()->event_elapsed(&milliseconds, events[0], events[1]) == CUDA_SUCCESS)
        *seconds = 1e-3 * (double)milliseconds;
    for (int i = 0; i < 2; ++i)
        if (events[i])
            (void)driver()->event_destroy(events[i]);
    return status;
}

static tcgemm_status_t run_here(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                const tcgemm_call_t *call, void *workspace, size_t workspace_bytes,
                                tcgemm_run_stats_t *stats) {
    if (stats && tcgemm_driver_has(TCGEMM_DRIVER_STAGING) &&
        tcgemm_driver_has(TCGEMM_DRIVER_TIMING))
        return run_timed(gpu, plan, call, workspace, workspace_bytes, &stats->product_seconds);
    const double start = stats ? now_seconds() : 0.0;
    const tcgemm_status_t status = queue(gpu, plan, call, workspace, workspace_bytes, NULL);
    const tcgemm_status_t waited =
        tcgemm_gpu_check(gpu, driver()->stream_synchronize(NULL), "waiting for the product");
    if (stats)
        stats->product_seconds = now_seconds() - start;
    return status != TCGEMM_STATUS_OK ? status : waited;
}

tcgemm_status_t tcgemm_gpu_run(const struct tcgemm_plan *plan, const tcgemm_call_t *call, int place,
                               void *workspace, size_t workspace_bytes, tcgemm_run_stats_t *stats) {
    tcgemm_gpu_t *const gpu = tcgemm_gpu(plan->device->index);
    TCGEMM_RETURN_IF(
        place != TCGEMM_PLACE_HOST && place != plan->device->index, TCGEMM_STATUS_BAD_ARGUMENT,
        "the matrices lie on GPU %d, but the plan is for GPU %d", place, plan->device->index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status =
        place == TCGEMM_PLACE_HOST ? tcgemm_gpu_run_panels(gpu, plan, call, stats)
                                   : run_here(gpu, plan, call, workspace, workspace_bytes, stats);
    tcgemm_gpu_leave();
    return status;
}

/* ---- where matrices lie ---- */

enum { ON_HOST = TCGEMM_PLACE_HOST, MANAGED = -2, ABSENT = -3 };

/* Pointers that the driver has never heard of are the host's. */
static tcgemm_status_t place_of(const void *pointer, int *place) {
    *place = pointer ? ON_HOST : ABSENT;
    if (!pointer)
        return TCGEMM_STATUS_OK;
    const CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer;
    unsigned memory_type = 0;
    unsigned managed = 0;
    int device = 0;
    const CUresult known =
        driver()->pointer_attribute(&memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (tcgemm_driver_error_is_sticky(known))
        return tcgemm_driver_status(known, "asking where a matrix lies");
    if (known != CUDA_SUCCESS)
        return TCGEMM_STATUS_OK;
    (void)driver()->pointer_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    if (managed)
        *place = MANAGED;
    else if (memory_type == CU_MEMORYTYPE_DEVICE &&
             driver()->pointer_attribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ==
                 CUDA_SUCCESS)
        *place = device;
    return TCGEMM_STATUS_OK;
}

static const char *place_name(int place, char buffer[32]) {
    (void)snprintf(buffer, 32, place == ON_HOST ? "in host memory" : "on GPU %d", place);
    return buffer;
}

tcgemm_status_t tcgemm_gpu_place(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int home,
                                 int *place) {
    *place = TCGEMM_PLACE_HOST;
    if (!tcgemm_driver_is_present() || tcgemm_driver_is_forked() || !tcgemm_driver(NULL))
        return TCGEMM_STATUS_OK;
    const void *const pointers[] = {call->d, g->swapped ? call->b : call->a,
                                    g->swapped ? call->a : call->b, call->c};
    int found = ABSENT;
    int first = 0;
    for (int i = 0; i < 4; ++i) {
        int at;
        TCGEMM_FORWARD(place_of(pointers[i], &at));
        if (at == ABSENT || at == MANAGED) {
            found = found == ABSENT ? at : found;
            continue;
        }
        if (found == ABSENT || found == MANAGED) {
            found = at;
            first = i;
        }
        char here[32];
        char there[32];
        TCGEMM_RETURN_IF(at != found, TCGEMM_STATUS_BAD_ARGUMENT, "%c lies %s, but %c lies %s",
                         "DABC"[first], place_name(found, here), "DABC"[i], place_name(at, there));
    }
    *place = found == MANAGED ? home : found == ABSENT ? TCGEMM_PLACE_HOST : found;
    return TCGEMM_STATUS_OK;
}
