/* host_panels.c - see host_panels.h. */
#include "cuda/host_panels.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cuda/launch.h"
#include "cuda/place.h"
#include "cuda/staging.h"
#include "gpu/partition.h"

enum { RESERVE_BYTES = 128 << 20 /* of GPU memory that is left to others */ };
_Static_assert((int)TCGEMM_MOST_STRIPS <= (int)TCGEMM_STAGING_STRIPS, "buffers of D");

/* ---- memory ---- */

/* Bytes of GPU memory that panels may take together: TCGEMM_CUDA_MEMORY_LIMIT, or all of it. */
static size_t most_memory(const tcgemm_device_t *device) {
    const char *text = secure_getenv("TCGEMM_CUDA_MEMORY_LIMIT");
    const unsigned long long limit = text ? strtoull(text, NULL, 10) : 0;
    return limit > 0 && limit < device->memory_bytes ? (size_t)limit : device->memory_bytes;
}

static tcgemm_status_t find_budget(tcgemm_gpu_t *gpu, size_t *budget) {
    size_t available = gpu->facts.memory_bytes / 2;
    size_t total = 0;
    if (tcgemm_driver_has(TCGEMM_DRIVER_MEMORY_INFO))
        TCGEMM_FORWARD(tcgemm_gpu_check(gpu, tcgemm_driver(NULL)->memory_info(&available, &total),
                                        "asking for free GPU memory"));
    available += gpu->staging.arena_bytes;
    *budget = available > 2 * (size_t)RESERVE_BYTES ? available - RESERVE_BYTES : available / 2;
    if (most_memory(&gpu->facts) < *budget)
        *budget = most_memory(&gpu->facts);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t choose_partition(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                        bool is_staged, tcgemm_partition_t *c) {
    size_t budget;
    TCGEMM_FORWARD(find_budget(gpu, &budget));
    tcgemm_partition_best(plan, most_memory(plan->device), is_staged, c);
    while (c->bytes > budget)
        TCGEMM_RETURN_IF(!tcgemm_partition_smaller(plan, c), TCGEMM_STATUS_OUT_OF_MEMORY,
                         "the smallest panels need %zu bytes of GPU memory, but %zu are free",
                         c->bytes, budget);
    return TCGEMM_STATUS_OK;
}

/* ---- a run ---- */

/* A unit's A or B on the GPU, and how much of it is there. */
typedef struct area {
    CUdeviceptr at;
    int64_t held[3];   /* batch item, two origins */
    int64_t arrived;   /* rows of A, columns of B */
    int64_t last_step; /* that reads it, -1: none */
    bool is_held;
    bool is_read; /* maybe still, by steps of what it held before */
} area_t;

typedef struct ring {
    area_t area[2];
    int count, next;
} ring_t;

/* Where a unit starts. */
typedef struct origin {
    int64_t t, i, j, p;
} origin_t;

/* A part of a unit's D. */
typedef struct strip {
    int64_t i, j, m, n;
} strip_t;

typedef struct run {
    tcgemm_gpu_t *gpu;
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    bool a_is_pinned, b_is_pinned, c_is_pinned, d_is_pinned;
    tcgemm_partition_t partition;
    ring_t a, b;
    CUdeviceptr d[TCGEMM_STAGING_STRIPS];
    CUdeviceptr workspace[2];
    int64_t steps, strips; /* queued so far */
    /* The unit. */
    origin_t at;
    tcgemm_extent_t e;
    area_t *area_a, *area_b;
    struct tcgemm_plan strip_plan; /* for strips like `planned` */
    tcgemm_area_t planned;
    tcgemm_extent_t planned_in;
    /* For the statistics: products overlap, so their times are put together. */
    tcgemm_run_stats_t *stats;
    double busy_until; /* seconds after the event `begin` */
    int64_t timed;     /* steps */
} run_t;

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

static tcgemm_status_t check(const run_t *r, CUresult result, const char *what) {
    return tcgemm_gpu_check(r->gpu, result, what);
}

static tcgemm_staging_t *staging(const run_t *r) {
    return &r->gpu->staging;
}

static int64_t size_of(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_bits(dtype) / 8;
}

static void *pointer(CUdeviceptr at) {
    return (void *)(uintptr_t)at;
}

/* ---- blocks ---- */

/* Rows and columns of an operand, in an area where its lines are so far apart. */
static tcgemm_block_t operand_block(const run_t *r, const tcgemm_operand_t *x, const void *data,
                                    int64_t row, int64_t col, int64_t rows, int64_t cols) {
    const bool in_rows = x->col_stride == 1;
    const int64_t size = size_of(x->dtype);
    const int64_t origin = r->at.t * x->batch_stride + row * x->row_stride + col * x->col_stride;
    return (tcgemm_block_t){
        .host = (char *)(uintptr_t)data + origin * size, /* an upload only reads it */
        .items = x->batch_stride ? r->e.items : 1,
        .lines = in_rows ? rows : cols,
        .length = (in_rows ? cols : rows) * size,
        .host_item = x->batch_stride * size,
        .host_line = (in_rows ? x->row_stride : x->col_stride) * size,
    };
}

/* Rows [begin, end) of A: with k along the lines so many lines, else a part of each. */
static tcgemm_block_t block_of_a(const run_t *r, int64_t begin, int64_t end) {
    const tcgemm_operand_t *x = &r->plan->g.a;
    tcgemm_block_t block =
        operand_block(r, x, r->call->a, r->at.i + begin, r->at.p, end - begin, r->e.k);
    block.pitch = tcgemm_tight_pitch(tcgemm_operand_length(x, r->e.m, r->e.k), x->dtype);
    block.device = r->area_a->at +
                   (CUdeviceptr)(begin * (x->col_stride == 1 ? block.pitch : size_of(x->dtype)));
    block.is_pinned = r->a_is_pinned;
    return block;
}

static tcgemm_block_t block_of_b(const run_t *r, int64_t begin, int64_t end) {
    const tcgemm_operand_t *x = &r->plan->g.b;
    tcgemm_block_t block =
        operand_block(r, x, r->call->b, r->at.p, r->at.j + begin, r->e.k, end - begin);
    block.pitch = tcgemm_tight_pitch(tcgemm_operand_length(x, r->e.k, r->e.n), x->dtype);
    block.device = r->area_b->at +
                   (CUdeviceptr)(begin * (x->col_stride == 1 ? size_of(x->dtype) : block.pitch));
    block.is_pinned = r->b_is_pinned;
    return block;
}

static tcgemm_block_t block_of_d(const run_t *r, const strip_t *s, const void *data, int64_t ld,
                                 int64_t stride, bool is_pinned, int slot) {
    const int64_t size = size_of(r->plan->g.type->d);
    return (tcgemm_block_t){
        .host = (char *)(uintptr_t)data +
                (r->at.t * stride + (r->at.i + s->i) * ld + r->at.j + s->j) * size,
        .items = r->e.items,
        .lines = s->m,
        .length = s->n * size,
        .host_item = stride * size,
        .host_line = ld * size,
        .device = r->d[slot],
        .pitch = tcgemm_tight_pitch(s->n, r->plan->g.type->d),
        .is_pinned = is_pinned,
    };
}

/* From the first to behind the last byte of a matrix with so many lines of so many elements. */
static size_t span(int64_t items, int64_t stride, int64_t lines, int64_t ld, int64_t length,
                   tcgemm_dtype_t dtype) {
    return (size_t)(((items - 1) * stride + (lines - 1) * ld + length) * size_of(dtype));
}

static bool operand_is_pinned(const run_t *r, const tcgemm_operand_t *x, const void *data,
                              int64_t rows, int64_t cols) {
    return tcgemm_gpu_is_pinned(
        data, span(r->plan->g.batch, x->batch_stride, tcgemm_operand_lines(x, rows, cols),
                   tcgemm_operand_ld(x), tcgemm_operand_length(x, rows, cols), x->dtype));
}

static void find_pinned(run_t *r) {
    const tcgemm_canonical_t *g = &r->plan->g;
    const tcgemm_call_t *call = r->call;
    const tcgemm_dtype_t d = g->type->d;
    r->a_is_pinned = operand_is_pinned(r, &g->a, call->a, g->m, g->k);
    r->b_is_pinned = operand_is_pinned(r, &g->b, call->b, g->k, g->n);
    r->d_is_pinned =
        tcgemm_gpu_is_pinned(call->d, span(g->batch, g->stride_d, g->m, g->ldd, g->n, d));
    r->c_is_pinned = call->c && tcgemm_gpu_is_pinned(
                                    call->c, span(g->batch, g->stride_c, g->m, g->ldc, g->n, d));
}

/* ---- operands ---- */

/* The area that holds the key's unit, or the next one, from now on its own. */
static area_t *take_area(ring_t *ring, const int64_t key[3]) {
    for (int i = 0; i < ring->count; ++i)
        if (ring->area[i].is_held &&
            memcmp(ring->area[i].held, key, sizeof ring->area[i].held) == 0)
            return &ring->area[i];
    area_t *const area = &ring->area[ring->next];
    ring->next = (ring->next + 1) % ring->count;
    memcpy(area->held, key, sizeof area->held);
    area->is_held = true;
    area->is_read = area->last_step >= 0;
    area->arrived = 0;
    return area;
}

/* Makes the stream wait for a step. The event may be that of a later one in the same stream. */
static tcgemm_status_t await_step(const run_t *r, CUstream stream, int64_t step) {
    return step < 0 ? TCGEMM_STATUS_OK
                    : check(r,
                            driver()->stream_wait_event(
                                stream, staging(r)->end[step % TCGEMM_STAGING_STEPS], 0),
                            "ordering copies behind products");
}

/* Before an area is overwritten: the last steps in each of the streams that may read it. */
static tcgemm_status_t await_readers(const run_t *r, area_t *area) {
    if (!area->is_read)
        return TCGEMM_STATUS_OK;
    for (int lane = 0; lane < r->partition.num_lanes; ++lane)
        TCGEMM_FORWARD(await_step(r, staging(r)->in, area->last_step - lane));
    area->is_read = false;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t upload(run_t *r, const tcgemm_block_t *block) {
    const double start = r->stats ? now_seconds() : 0.0;
    TCGEMM_FORWARD(tcgemm_staging_upload(r->gpu, block, r->plan->num_threads));
    if (r->stats)
        r->stats->transfer_seconds += now_seconds() - start;
    return TCGEMM_STATUS_OK;
}

/* Brings the rows of A (columns of B) up to `end`, unless they are there. */
static tcgemm_status_t bring(run_t *r, bool is_a, int64_t end) {
    area_t *const area = is_a ? r->area_a : r->area_b;
    if (area->arrived >= end)
        return TCGEMM_STATUS_OK;
    const tcgemm_block_t block =
        is_a ? block_of_a(r, area->arrived, end) : block_of_b(r, area->arrived, end);
    TCGEMM_FORWARD(await_readers(r, area));
    area->arrived = end;
    return upload(r, &block);
}

/* ---- products ---- */

/* Adds up the time in which any product ran, for the steps before `end`. */
static tcgemm_status_t take_times(run_t *r, int64_t end) {
    const tcgemm_staging_t *s = staging(r);
    if (!r->stats || !tcgemm_driver_has(TCGEMM_DRIVER_TIMING))
        return TCGEMM_STATUS_OK;
    for (; r->timed < end; ++r->timed) {
        const int64_t i = r->timed % TCGEMM_STAGING_STEPS;
        float from = 0.0F;
        float to = 0.0F;
        TCGEMM_FORWARD(check(r, driver()->event_synchronize(s->end[i]), "waiting for a product"));
        if (driver()->event_elapsed(&from, s->begin, s->start[i]) != CUDA_SUCCESS ||
            driver()->event_elapsed(&to, s->begin, s->end[i]) != CUDA_SUCCESS)
            continue;
        const double begin = 1e-3 * (double)from;
        const double until = 1e-3 * (double)to;
        if (until > r->busy_until)
            r->stats->product_seconds += until - (begin > r->busy_until ? begin : r->busy_until);
        r->busy_until = until > r->busy_until ? until : r->busy_until;
    }
    return TCGEMM_STATUS_OK;
}

/* The plan for a strip there: pieces of one strip, and small units, share it if D has no tail. */
static tcgemm_status_t plan_for(run_t *r, const tcgemm_area_t *at) {
    const tcgemm_area_t *planned = &r->planned;
    if (at->rows == planned->rows && at->cols == planned->cols &&
        ((at->row == planned->row && at->col == planned->col) || !tcgemm_plan_tail(r->plan)) &&
        memcmp(&r->e, &r->planned_in, sizeof r->e) == 0)
        return TCGEMM_STATUS_OK;
    tcgemm_partition_plan(r->plan, &r->e, at, &r->strip_plan);
    r->planned = *at;
    r->planned_in = r->e;
    return tcgemm_gpu_prepare_here(r->gpu, &r->strip_plan);
}

/* Queues the product of a strip behind what has been queued for it in the stream `in`. */
static tcgemm_status_t compute(run_t *r, const tcgemm_call_t *call, bool adds) {
    tcgemm_staging_t *const s = staging(r);
    const int i = (int)(r->steps % TCGEMM_STAGING_STEPS);
    const int lane = (int)(r->steps % r->partition.num_lanes);
    CUstream const stream = s->compute[lane];
    TCGEMM_FORWARD(take_times(r, r->steps - TCGEMM_STAGING_STEPS + 1));
    TCGEMM_FORWARD(check(r, driver()->event_record(s->arrived, s->in), "ordering"));
    TCGEMM_FORWARD(check(r, driver()->stream_wait_event(stream, s->arrived, 0), "ordering"));
    if (adds && r->partition.num_lanes > 1)
        TCGEMM_FORWARD(await_step(r, stream, r->steps - 1));
    TCGEMM_FORWARD(tcgemm_staging_event(r->gpu, &s->end[i]));
    if (r->stats) {
        TCGEMM_FORWARD(tcgemm_staging_event(r->gpu, &s->start[i]));
        TCGEMM_FORWARD(check(r, driver()->event_record(s->start[i], stream), "timing"));
    }
    TCGEMM_FORWARD(
        tcgemm_gpu_queue_steps(r->gpu, &r->strip_plan, call, pointer(r->workspace[lane]), stream));
    TCGEMM_FORWARD(check(r, driver()->event_record(s->end[i], stream), "timing"));
    r->area_a->last_step = r->area_b->last_step = r->steps;
    r->steps += 1;
    return TCGEMM_STATUS_OK;
}

/* The strip's D may be overwritten: nobody waits here for a copy that does not need it. */
static tcgemm_status_t await_slot(run_t *r, int slot) {
    const int lane = (int)(r->steps % r->partition.num_lanes);
    tcgemm_staging_t *const s = staging(r);
    if (r->strips < r->partition.num_d)
        return TCGEMM_STATUS_OK;
    return tcgemm_staging_await_slot(r->gpu, slot, r->call->c ? s->in : s->compute[lane],
                                     r->plan->num_threads);
}

static tcgemm_status_t send_home(run_t *r, const strip_t *strip, int slot) {
    const tcgemm_canonical_t *g = &r->plan->g;
    const double start = r->stats ? now_seconds() : 0.0;
    const tcgemm_block_t block =
        block_of_d(r, strip, r->call->d, g->ldd, g->stride_d, r->d_is_pinned, slot);
    CUevent const computed = staging(r)->end[(r->steps - 1) % TCGEMM_STAGING_STEPS];
    TCGEMM_FORWARD(tcgemm_staging_download(r->gpu, &block, computed, slot, r->plan->num_threads));
    if (r->stats)
        r->stats->transfer_seconds += now_seconds() - start;
    return TCGEMM_STATUS_OK;
}

/* A strip, or a piece of one: C comes, the product, D leaves. With k in parts they add up in D,
 * which leaves after the last. */
static tcgemm_status_t run_strip(run_t *r, const strip_t *strip) {
    const tcgemm_canonical_t *g = &r->plan->g;
    const int slot = (int)(r->strips % r->partition.num_d);
    const bool adds = r->at.p > 0;
    const tcgemm_area_t at = {r->at.i + strip->i, strip->m, r->at.j + strip->j, strip->n};
    if (!adds)
        TCGEMM_FORWARD(await_slot(r, slot));
    if (!adds && r->call->c) {
        const tcgemm_block_t c =
            block_of_d(r, strip, r->call->c, g->ldc, g->stride_c, r->c_is_pinned, slot);
        TCGEMM_FORWARD(upload(r, &c));
    }
    TCGEMM_FORWARD(plan_for(r, &at));
    const tcgemm_canonical_t *t = &r->strip_plan.g;
    const tcgemm_call_t call = {
        .alpha = r->call->alpha,
        .a = pointer(r->area_a->at +
                     (CUdeviceptr)(strip->i * t->a.row_stride * size_of(t->a.dtype))),
        .b = pointer(r->area_b->at +
                     (CUdeviceptr)(strip->j * t->b.col_stride * size_of(t->b.dtype))),
        .beta = adds ? 1.0 : r->call->beta,
        .c = r->call->c || adds ? pointer(r->d[slot]) : NULL,
        .d = pointer(r->d[slot]),
    };
    TCGEMM_FORWARD(compute(r, &call, adds));
    if (r->at.p + r->e.k < g->k)
        return TCGEMM_STATUS_OK;
    r->strips += 1;
    return send_home(r, strip, slot);
}

/* Rows [i, i + m) by columns [j, j + n), a piece at a time along the longer side. */
static tcgemm_status_t run_pieces(run_t *r, int64_t i, int64_t j, int64_t m, int64_t n, bool is_a) {
    const int64_t most_m = is_a ? m : r->partition.piece_m;
    const int64_t most_n = is_a ? r->partition.piece_n : n;
    for (int64_t down = 0; down < m; down += most_m)
        for (int64_t right = 0; right < n; right += most_n) {
            const strip_t strip = {i + down, j + right, min_i64(most_m, m - down),
                                   min_i64(most_n, n - right)};
            TCGEMM_FORWARD(run_strip(r, &strip));
        }
    return TCGEMM_STATUS_OK;
}

/* ---- units ---- */

static tcgemm_status_t run_unit(run_t *r) {
    const tcgemm_canonical_t *g = &r->plan->g;
    const int64_t key_a[3] = {g->a.batch_stride ? r->at.t : 0, r->at.i, r->at.p};
    const int64_t key_b[3] = {g->b.batch_stride ? r->at.t : 0, r->at.p, r->at.j};
    r->area_a = take_area(&r->a, key_a);
    r->area_b = take_area(&r->b, key_b);
    tcgemm_side_t a = tcgemm_side_of_a(r->plan, &r->partition, &r->e);
    tcgemm_side_t b = tcgemm_side_of_b(r->plan, &r->partition, &r->e);
    bool is_a;
    int64_t begin;
    a.arrived = r->area_a->arrived;
    b.arrived = r->area_b->arrived;
    while (tcgemm_next_panel(&a, &b, &is_a, &begin)) {
        TCGEMM_FORWARD(bring(r, is_a, is_a ? a.used : b.used));
        if (is_a)
            TCGEMM_FORWARD(run_pieces(r, begin, 0, a.used - begin, b.used, true));
        else
            TCGEMM_FORWARD(run_pieces(r, 0, begin, a.used, b.used - begin, false));
    }
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t finish(run_t *r) {
    const double start = r->stats ? now_seconds() : 0.0;
    TCGEMM_FORWARD(tcgemm_staging_finish(r->gpu, r->plan->num_threads));
    if (r->stats)
        r->stats->transfer_seconds += now_seconds() - start;
    return take_times(r, r->steps);
}

static tcgemm_status_t run_all(run_t *r) {
    const tcgemm_canonical_t *g = &r->plan->g;
    const tcgemm_extent_t most = r->partition.unit;
    origin_t *const at = &r->at;
    if (r->stats)
        TCGEMM_FORWARD(
            check(r, driver()->event_record(staging(r)->begin, staging(r)->in), "timing"));
    for (at->t = 0; at->t < g->batch; at->t += most.items) {
        r->e.items = min_i64(most.items, g->batch - at->t);
        for (at->j = 0; at->j < g->n; at->j += most.n) {
            r->e.n = min_i64(most.n, g->n - at->j);
            for (at->i = 0; at->i < g->m; at->i += most.m) {
                r->e.m = min_i64(most.m, g->m - at->i);
                for (at->p = 0; at->p < g->k; at->p += most.k) {
                    r->e.k = min_i64(most.k, g->k - at->p);
                    TCGEMM_FORWARD(run_unit(r));
                }
            }
        }
    }
    return finish(r);
}

static void divide_arena(run_t *r) {
    const tcgemm_partition_t *c = &r->partition;
    CUdeviceptr at = staging(r)->arena;
    r->a.count = c->num_a;
    r->b.count = c->num_b;
    for (int i = 0; i < c->num_a; ++i, at += c->a_bytes)
        r->a.area[i] = (area_t){.at = at, .last_step = -1};
    for (int i = 0; i < c->num_b; ++i, at += c->b_bytes)
        r->b.area[i] = (area_t){.at = at, .last_step = -1};
    for (int i = 0; i < c->num_d; ++i, at += c->d_bytes)
        r->d[i] = at;
    for (int i = 0; i < c->num_lanes; ++i, at += c->workspace_bytes)
        r->workspace[i] = at;
}

static tcgemm_status_t run_locked(run_t *r) {
    TCGEMM_FORWARD(tcgemm_staging_open(r->gpu));
    find_pinned(r);
    const bool is_staged = !r->a_is_pinned || !r->b_is_pinned || !r->d_is_pinned;
    TCGEMM_FORWARD(choose_partition(r->gpu, r->plan, is_staged, &r->partition));
    TCGEMM_FORWARD(tcgemm_staging_reserve(r->gpu, r->partition.bytes));
    divide_arena(r);
    const tcgemm_status_t status = run_all(r);
    if (status != TCGEMM_STATUS_OK) /* nothing may still be on its way into the arena or D */
        tcgemm_staging_abandon(r->gpu);
    tcgemm_staging_close(r->gpu);
    return status;
}

tcgemm_status_t tcgemm_gpu_run_panels(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                      const tcgemm_call_t *call, tcgemm_run_stats_t *stats) {
    run_t r = {.gpu = gpu, .plan = plan, .call = call, .stats = stats};
    (void)pthread_mutex_lock(&gpu->staging_mutex);
    const tcgemm_status_t status = run_locked(&r);
    (void)pthread_mutex_unlock(&gpu->staging_mutex);
    return status;
}
