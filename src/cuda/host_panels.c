/* host_panels.c - see host_panels.h. */
#include "cuda/host_panels.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cuda/launch.h"
#include "cuda/staging.h"
#include "gpu/expand.h"
#include "gpu/gpu_row.h"

enum {
    ROW_BYTES = 16,            /* rows on the GPU start on such a boundary */
    PART = 128,                /* panels have multiples of so many rows and columns */
    LEAST_PART = 16,           /* ... or of so many, where memory is short */
    DEPTH_PART = 256,          /* and of so many steps of k */
    SQUARE = 1024,             /* rows are divided down to this before columns are */
    TARGET_BYTES = 64 << 20,   /* of a panel: large against latencies, small against the whole */
    RESERVE_BYTES = 128 << 20, /* of GPU memory that is left to others */
    ALIGNMENT = 256            /* of each buffer in the arena */
};

/* ---- the partition ---- */

/* One unit of work: rows, columns and steps of so many batch items. */
typedef struct extent {
    int64_t items, m, n, k;
} extent_t;

typedef struct partition {
    extent_t most;
    bool tight; /* one buffer of each kind */
    int num_a, num_b, num_d;
    size_t a_bytes, b_bytes, d_bytes, workspace_bytes, bytes;
} partition_t;

static int64_t size_of(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_bits(dtype) / 8;
}

static int64_t pitch_of(int64_t elements, tcgemm_dtype_t dtype) {
    return round_up(elements * size_of(dtype), ROW_BYTES);
}

/* A copy on the GPU: rows on boundaries of ROW_BYTES, up to which they go on with zeros, items one
 * after the other. */
static void tighten(tcgemm_operand_t *x, int64_t rows, int64_t cols, int64_t items) {
    const int64_t pitch =
        pitch_of(tcgemm_operand_length(x, rows, cols), x->dtype) / size_of(x->dtype);
    if (x->col_stride == 1)
        x->row_stride = pitch;
    else
        x->col_stride = pitch;
    x->padded = true;
    x->batch_stride =
        x->batch_stride && items > 1 ? tcgemm_operand_lines(x, rows, cols) * pitch : 0;
}

static size_t operand_bytes(const tcgemm_operand_t *x, int64_t rows, int64_t cols, int64_t items) {
    const bool in_rows = x->col_stride == 1;
    const int64_t lines = in_rows ? rows : cols;
    const int64_t pitch = pitch_of(in_rows ? cols : rows, x->dtype);
    return (size_t)round_up(lines * pitch * (x->batch_stride ? items : 1), ALIGNMENT);
}

/* The plan of a panel: the kernels and the parts of k of the whole, on tight copies. */
static void plan_panel(const struct tcgemm_plan *whole, const extent_t *e,
                       struct tcgemm_plan *panel) {
    const tcgemm_canonical_t *g = &whole->g;
    memset(panel, 0, sizeof *panel);
    panel->g = *g;
    panel->g.m = e->m;
    panel->g.n = e->n;
    panel->g.k = e->k;
    panel->g.batch = e->items;
    tighten(&panel->g.a, e->m, e->k, e->items);
    tighten(&panel->g.b, e->k, e->n, e->items);
    panel->g.ldc = panel->g.ldd = pitch_of(e->n, g->type->d) / size_of(g->type->d);
    panel->g.stride_c = panel->g.stride_d = e->m * panel->g.ldd;
    tcgemm_gpu_expand_like(whole, panel);
}

static void measure(const struct tcgemm_plan *plan, partition_t *c) {
    const tcgemm_canonical_t *g = &plan->g;
    const extent_t *e = &c->most;
    const bool many_items = e->items < g->batch;
    const int many = c->tight ? 1 : 2;
    struct tcgemm_plan panel;
    plan_panel(plan, e, &panel);
    c->num_a = e->m < g->m || e->k < g->k || (many_items && g->a.batch_stride) ? many : 1;
    c->num_b = e->n < g->n || e->k < g->k || (many_items && g->b.batch_stride) ? many : 1;
    c->num_d = e->m < g->m || e->n < g->n || many_items ? many : 1;
    c->a_bytes = operand_bytes(&g->a, e->m, e->k, e->items);
    c->b_bytes = operand_bytes(&g->b, e->k, e->n, e->items);
    c->d_bytes = (size_t)round_up(e->items * e->m * pitch_of(e->n, g->type->d), ALIGNMENT);
    c->workspace_bytes = tcgemm_plan_workspace(&panel);
    c->bytes = (size_t)c->num_a * c->a_bytes + (size_t)c->num_b * c->b_bytes +
               (size_t)c->num_d * c->d_bytes + c->workspace_bytes;
}

static int64_t half(int64_t x, int64_t multiple) {
    return round_up((x + 1) / 2, multiple);
}

/* Bytes of GPU memory that panels may take together: TCGEMM_CUDA_MEMORY_LIMIT, or all of it. */
static size_t most_memory(const tcgemm_device_t *device) {
    const char *text = secure_getenv("TCGEMM_CUDA_MEMORY_LIMIT");
    const unsigned long long limit = text ? strtoull(text, NULL, 10) : 0;
    return limit > 0 && limit < device->memory_bytes ? (size_t)limit : device->memory_bytes;
}

/* Steps of k in a panel: all of them, unless even the smallest panels of so many fill half of what
 * the GPU has. A split of k rounds D between the pieces, so it is made only where D is as wide as
 * the accumulator, and by the problem and the GPU's size alone. */
static int64_t whole_k(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const double most = (double)most_memory(plan->device) / 2;
    const double step = 2.0 * PART * (double)(size_of(g->a.dtype) + size_of(g->b.dtype));
    int64_t k = g->k;
    while (g->type->d == g->type->accumulator && k > DEPTH_PART && (double)k * step > most)
        k = half(k, DEPTH_PART);
    return k;
}

/* Panels of rows that overlap well: some 64 MB each, with work for every SM. */
static void partition_for_overlap(const struct tcgemm_plan *plan, partition_t *c) {
    const tcgemm_canonical_t *g = &plan->g;
    c->most = (extent_t){1, g->m, g->n, whole_k(plan)};
    measure(plan, c);
    const size_t item_bytes = c->a_bytes + c->b_bytes + c->d_bytes;
    if (g->batch > 1 && item_bytes < TARGET_BYTES) {
        c->most.items = min_i64(g->batch, (int64_t)(TARGET_BYTES / item_bytes));
    } else {
        const tcgemm_gpu_row_t *row = plan->kernel->gpu;
        const double row_bytes = (double)(c->a_bytes + c->d_bytes) / (double)g->m;
        const double busy = 2.0 * plan->device->num_sms * row->bm * row->bn / (double)g->n;
        const double wanted = TARGET_BYTES / row_bytes > busy ? TARGET_BYTES / row_bytes : busy;
        if (wanted < (double)g->m)
            c->most.m = min_i64(g->m, round_up((int64_t)wanted + 1, PART));
    }
    measure(plan, c);
}

/* The next smaller partition; false if there is none. k is never split here: free memory, which
 * others change, must not decide the order of a sum. */
static bool partition_smaller(const struct tcgemm_plan *plan, partition_t *c) {
    extent_t *e = &c->most;
    if (e->items > 1)
        e->items = (e->items + 1) / 2;
    else if (e->m > SQUARE)
        e->m = half(e->m, PART);
    else if (e->n > SQUARE)
        e->n = half(e->n, PART);
    else if (e->m > PART)
        e->m = half(e->m, PART);
    else if (e->n > PART)
        e->n = half(e->n, PART);
    else if (!c->tight)
        c->tight = true;
    else if (e->m > LEAST_PART)
        e->m = half(e->m, LEAST_PART);
    else if (e->n > LEAST_PART)
        e->n = half(e->n, LEAST_PART);
    else
        return false;
    measure(plan, c);
    return true;
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
                                        partition_t *c) {
    size_t budget;
    TCGEMM_FORWARD(find_budget(gpu, &budget));
    memset(c, 0, sizeof *c);
    partition_for_overlap(plan, c);
    while (c->bytes > budget)
        TCGEMM_RETURN_IF(!partition_smaller(plan, c), TCGEMM_STATUS_OUT_OF_MEMORY,
                         "the smallest panels need %zu bytes of GPU memory, but %zu are free",
                         c->bytes, budget);
    return TCGEMM_STATUS_OK;
}

/* ---- the run ---- */

/* Buffers of one operand and what they hold. */
typedef struct ring {
    CUdeviceptr at[2];
    int64_t held[2][3];   /* batch item, two origins */
    int64_t last_step[2]; /* that read it, -1: none */
    bool is_full[2];
    int count, next;
} ring_t;

/* Where a unit starts. */
typedef struct origin {
    int64_t t, i, j, p;
} origin_t;

typedef struct run {
    tcgemm_gpu_t *gpu;
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    partition_t partition;
    struct tcgemm_plan panel; /* for panels of `planned` */
    extent_t planned;
    CUdeviceptr workspace;
    ring_t a, b;
    CUdeviceptr d[2];
    int64_t steps, panels;  /* done so far */
    tcgemm_block_t pending; /* the D panel that is still on the GPU; items 0: none */
    int64_t pending_step;   /* that completes it */
    tcgemm_run_stats_t *stats;
} run_t;

static tcgemm_status_t check(const run_t *r, CUresult result, const char *what) {
    return tcgemm_gpu_check(r->gpu, result, what);
}

static tcgemm_block_t operand_block(const tcgemm_operand_t *x, const void *data, int64_t item,
                                    int64_t items, int64_t row, int64_t col, int64_t rows,
                                    int64_t cols) {
    const bool in_rows = x->col_stride == 1;
    const int64_t size = size_of(x->dtype);
    const int64_t origin = item * x->batch_stride + row * x->row_stride + col * x->col_stride;
    const int64_t length = in_rows ? cols : rows;
    return (tcgemm_block_t){
        .host = (char *)(uintptr_t)data + origin * size, /* an upload only reads it */
        .items = x->batch_stride ? items : 1,
        .lines = in_rows ? rows : cols,
        .length = length * size,
        .host_item = x->batch_stride * size,
        .host_line = (in_rows ? x->row_stride : x->col_stride) * size,
        .pitch = pitch_of(length, x->dtype),
    };
}

static tcgemm_status_t upload(run_t *r, const tcgemm_block_t *block) {
    const double start = r->stats ? now_seconds() : 0.0;
    TCGEMM_FORWARD(tcgemm_staging_upload(r->gpu, block, r->plan->num_threads));
    if (r->stats)
        r->stats->transfer_seconds += now_seconds() - start;
    return TCGEMM_STATUS_OK;
}

/* The buffer that holds the block, filled if none does. */
static tcgemm_status_t fetch(run_t *r, ring_t *ring, const int64_t key[3], tcgemm_block_t *block,
                             int *slot) {
    for (int s = 0; s < ring->count; ++s) {
        if (ring->is_full[s] && memcmp(ring->held[s], key, sizeof ring->held[s]) == 0) {
            *slot = s;
            block->device = ring->at[s];
            return TCGEMM_STATUS_OK;
        }
    }
    const int s = ring->next;
    ring->next = (s + 1) % ring->count;
    if (ring->last_step[s] >= 0)
        TCGEMM_FORWARD(
            check(r,
                  tcgemm_driver(NULL)->stream_wait_event(
                      r->gpu->staging.copy, r->gpu->staging.end[ring->last_step[s] % 2], 0),
                  "ordering copies behind products"));
    block->device = ring->at[s];
    TCGEMM_FORWARD(upload(r, block));
    memcpy(ring->held[s], key, sizeof ring->held[s]);
    ring->is_full[s] = true;
    *slot = s;
    return TCGEMM_STATUS_OK;
}

static tcgemm_block_t d_block(const run_t *r, const void *data, int64_t ld, int64_t stride,
                              origin_t at, extent_t e) {
    const int64_t size = size_of(r->plan->g.type->d);
    return (tcgemm_block_t){
        .host = (char *)(uintptr_t)data + (at.t * stride + at.i * ld + at.j) * size,
        .items = e.items,
        .lines = e.m,
        .length = e.n * size,
        .host_item = stride * size,
        .host_line = ld * size,
        .device = r->d[r->panels % r->partition.num_d],
        .pitch = pitch_of(e.n, r->plan->g.type->d),
    };
}

/* Brings home the D panel before this one. */
static tcgemm_status_t drain(run_t *r) {
    if (r->pending.items == 0)
        return TCGEMM_STATUS_OK;
    const double start = r->stats ? now_seconds() : 0.0;
    const tcgemm_staging_t *s = &r->gpu->staging;
    TCGEMM_FORWARD(
        check(r, tcgemm_driver(NULL)->stream_wait_event(s->copy, s->end[r->pending_step % 2], 0),
              "ordering copies behind products"));
    TCGEMM_FORWARD(tcgemm_staging_download(r->gpu, &r->pending, r->plan->num_threads));
    r->pending.items = 0;
    if (r->stats)
        r->stats->transfer_seconds += now_seconds() - start;
    return TCGEMM_STATUS_OK;
}

/* Adds up the GPU's time of the step that used this pair of events before. */
static tcgemm_status_t take_time(run_t *r, int64_t step) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    const tcgemm_staging_t *s = &r->gpu->staging;
    float milliseconds = 0.0F;
    if (!r->stats || step < 0 || !tcgemm_driver_has(TCGEMM_DRIVER_TIMING))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(check(r, driver->event_synchronize(s->end[step % 2]), "waiting for a product"));
    if (driver->event_elapsed(&milliseconds, s->start[step % 2], s->end[step % 2]) == CUDA_SUCCESS)
        r->stats->product_seconds += 1e-3 * (double)milliseconds;
    return TCGEMM_STATUS_OK;
}

/* The plan for panels of this extent: all but those at the edges share one. */
static tcgemm_status_t plan_for(run_t *r, const extent_t *e) {
    if (memcmp(e, &r->planned, sizeof *e) == 0)
        return TCGEMM_STATUS_OK;
    plan_panel(r->plan, e, &r->panel);
    r->planned = *e;
    return tcgemm_gpu_prepare_here(r->gpu, &r->panel);
}

static void *pointer(CUdeviceptr at) {
    return (void *)(uintptr_t)at;
}

/* The steps of one panel: the operands are there or on their way. */
static tcgemm_status_t compute(run_t *r, const tcgemm_call_t *call, int slot_a, int slot_b) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    tcgemm_staging_t *const s = &r->gpu->staging;
    const int parity = (int)(r->steps % 2);
    TCGEMM_FORWARD(take_time(r, r->steps - 2));
    TCGEMM_FORWARD(check(r, driver->event_record(s->arrived, s->copy), "ordering"));
    TCGEMM_FORWARD(check(r, driver->stream_wait_event(s->compute, s->arrived, 0), "ordering"));
    TCGEMM_FORWARD(check(r, driver->event_record(s->start[parity], s->compute), "timing"));
    TCGEMM_FORWARD(
        tcgemm_gpu_queue_steps(r->gpu, &r->panel, call, pointer(r->workspace), s->compute));
    TCGEMM_FORWARD(check(r, driver->event_record(s->end[parity], s->compute), "timing"));
    r->a.last_step[slot_a] = r->b.last_step[slot_b] = r->steps;
    r->steps += 1;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t run_step(run_t *r, origin_t at, extent_t e) {
    const tcgemm_canonical_t *g = &r->plan->g;
    tcgemm_block_t a = operand_block(&g->a, r->call->a, at.t, e.items, at.i, at.p, e.m, e.k);
    tcgemm_block_t b = operand_block(&g->b, r->call->b, at.t, e.items, at.p, at.j, e.k, e.n);
    const tcgemm_block_t d = d_block(r, r->call->d, g->ldd, g->stride_d, at, e);
    const int64_t key_a[3] = {g->a.batch_stride ? at.t : 0, at.i, at.p};
    const int64_t key_b[3] = {g->b.batch_stride ? at.t : 0, at.p, at.j};
    int slot_a;
    int slot_b;
    if (at.p == 0 && r->partition.num_d == 1)
        TCGEMM_FORWARD(drain(r));
    TCGEMM_FORWARD(fetch(r, &r->b, key_b, &b, &slot_b));
    TCGEMM_FORWARD(fetch(r, &r->a, key_a, &a, &slot_a));
    if (at.p == 0 && r->call->c) {
        tcgemm_block_t c = d_block(r, r->call->c, g->ldc, g->stride_c, at, e);
        TCGEMM_FORWARD(upload(r, &c));
    }
    const tcgemm_call_t call = {
        .alpha = r->call->alpha,
        .a = pointer(a.device),
        .b = pointer(b.device),
        .beta = at.p > 0 ? 1.0 : r->call->beta, /* pieces of k add up */
        .c = r->call->c || at.p > 0 ? pointer(d.device) : NULL,
        .d = pointer(d.device),
    };
    TCGEMM_FORWARD(plan_for(r, &e));
    TCGEMM_FORWARD(compute(r, &call, slot_a, slot_b));
    TCGEMM_FORWARD(drain(r)); /* of the panel before; this one is computed meanwhile */
    if (at.p + e.k < g->k)
        return TCGEMM_STATUS_OK;
    r->pending = d;
    r->pending_step = r->steps - 1;
    r->panels += 1;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t run_all(run_t *r) {
    const tcgemm_canonical_t *g = &r->plan->g;
    const extent_t most = r->partition.most;
    extent_t e;
    origin_t at;
    for (at.t = 0; at.t < g->batch; at.t += most.items) {
        e.items = min_i64(most.items, g->batch - at.t);
        for (at.j = 0; at.j < g->n; at.j += most.n) {
            e.n = min_i64(most.n, g->n - at.j);
            for (at.i = 0; at.i < g->m; at.i += most.m) {
                e.m = min_i64(most.m, g->m - at.i);
                for (at.p = 0; at.p < g->k; at.p += most.k) {
                    e.k = min_i64(most.k, g->k - at.p);
                    TCGEMM_FORWARD(run_step(r, at, e));
                }
            }
        }
    }
    TCGEMM_FORWARD(drain(r));
    TCGEMM_FORWARD(take_time(r, r->steps - 2));
    return take_time(r, r->steps - 1);
}

static void fill_rings(run_t *r) {
    const partition_t *c = &r->partition;
    CUdeviceptr at = r->gpu->staging.arena;
    r->a.count = c->num_a;
    r->b.count = c->num_b;
    for (int i = 0; i < c->num_a; ++i, at += c->a_bytes)
        r->a.at[i] = at;
    for (int i = 0; i < c->num_b; ++i, at += c->b_bytes)
        r->b.at[i] = at;
    for (int i = 0; i < c->num_d; ++i, at += c->d_bytes)
        r->d[i] = at;
    r->workspace = at;
    for (int i = 0; i < 2; ++i)
        r->a.last_step[i] = r->b.last_step[i] = -1;
}

static tcgemm_status_t run_locked(run_t *r) {
    TCGEMM_FORWARD(tcgemm_staging_open(r->gpu));
    TCGEMM_FORWARD(choose_partition(r->gpu, r->plan, &r->partition));
    TCGEMM_FORWARD(tcgemm_staging_reserve(r->gpu, r->partition.bytes));
    fill_rings(r);
    const tcgemm_status_t status = run_all(r);
    if (status != TCGEMM_STATUS_OK) { /* nothing may still be on its way into the arena */
        (void)tcgemm_driver(NULL)->stream_synchronize(r->gpu->staging.copy);
        (void)tcgemm_driver(NULL)->stream_synchronize(r->gpu->staging.compute);
    }
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
