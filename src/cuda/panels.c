/* panels.c - see panels.h. */
#include "cuda/panels.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cuda/launch.h"
#include "cuda/staging.h"
#include "gpu/gpu_row.h"

enum {
    ROW_BYTES = 16,            /* rows on the GPU start on such a boundary */
    PART = 128,                /* panels have multiples of so many rows and columns */
    DEPTH_PART = 256,          /* and of so many steps of k */
    SQUARE = 1024,             /* rows are cut down to this before columns are */
    TARGET_BYTES = 64 << 20,   /* of a panel: large against latencies, small against the whole */
    RESERVE_BYTES = 128 << 20, /* of GPU memory that is left to others */
    ALIGNMENT = 256            /* of each buffer in the arena */
};

/* ---- the cut ---- */

/* One unit of work: rows, columns and steps of so many batch items. */
typedef struct extent {
    int64_t items, m, n, k;
} extent_t;

typedef struct cut {
    extent_t most;
    bool tight; /* one buffer of each kind */
    int num_a, num_b, num_d;
    size_t a_bytes, b_bytes, d_bytes, bytes;
} cut_t;

static int64_t round_up(int64_t x, int64_t multiple) {
    return (x + multiple - 1) / multiple * multiple;
}

static int64_t size_of(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_bits(dtype) / 8;
}

static int64_t pitch_of(int64_t elements, tcgemm_dtype_t dtype) {
    return round_up(elements * size_of(dtype), ROW_BYTES);
}

static size_t operand_bytes(const tcgemm_operand_t *x, int64_t rows, int64_t cols, int64_t items) {
    const bool in_rows = x->col_stride == 1;
    const int64_t lines = in_rows ? rows : cols;
    const int64_t pitch = pitch_of(in_rows ? cols : rows, x->dtype);
    return (size_t)round_up(lines * pitch * (x->batch_stride ? items : 1), ALIGNMENT);
}

static void measure(const tcgemm_canonical_t *g, cut_t *c) {
    const extent_t *e = &c->most;
    const bool many_items = e->items < g->batch;
    const int many = c->tight ? 1 : 2;
    c->num_a = e->m < g->m || e->k < g->k || (many_items && g->a.batch_stride) ? many : 1;
    c->num_b = e->n < g->n || e->k < g->k || (many_items && g->b.batch_stride) ? many : 1;
    c->num_d = e->m < g->m || e->n < g->n || many_items ? many : 1;
    c->a_bytes = operand_bytes(&g->a, e->m, e->k, e->items);
    c->b_bytes = operand_bytes(&g->b, e->k, e->n, e->items);
    c->d_bytes = (size_t)round_up(e->items * e->m * pitch_of(e->n, g->type->d), ALIGNMENT);
    c->bytes = (size_t)c->num_a * c->a_bytes + (size_t)c->num_b * c->b_bytes +
               (size_t)c->num_d * c->d_bytes;
}

/* Panels of rows that overlap well: some 64 MB each, with work for every SM. */
static void cut_for_overlap(const struct tcgemm_plan *plan, cut_t *c) {
    const tcgemm_canonical_t *g = &plan->g;
    c->most = (extent_t){1, g->m, g->n, g->k};
    measure(g, c);
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
    measure(g, c);
}

static int64_t half(int64_t x, int64_t multiple) {
    return round_up((x + 1) / 2, multiple);
}

/* A cut of k rounds D between the pieces: only where D is as wide as the accumulator. */
static bool may_cut_k(const tcgemm_canonical_t *g) {
    return g->type->d == g->type->accumulator;
}

/* The next smaller cut; false if there is none. */
static bool cut_smaller(const tcgemm_canonical_t *g, cut_t *c) {
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
    else if (e->k > DEPTH_PART && may_cut_k(g))
        e->k = half(e->k, DEPTH_PART);
    else if (!c->tight)
        c->tight = true;
    else
        return false;
    measure(g, c);
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
    const char *text = secure_getenv("TCGEMM_CUDA_MEMORY_LIMIT");
    const unsigned long long limit = text ? strtoull(text, NULL, 10) : 0;
    if (limit > 0 && limit < *budget)
        *budget = (size_t)limit;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t choose_cut(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan, cut_t *c) {
    size_t budget;
    TCGEMM_FORWARD(find_budget(gpu, &budget));
    memset(c, 0, sizeof *c);
    cut_for_overlap(plan, c);
    while (c->bytes > budget)
        TCGEMM_RETURN_IF(!cut_smaller(&plan->g, c), TCGEMM_STATUS_OUT_OF_MEMORY,
                         "the smallest panels need %zu bytes of GPU memory, but %zu are free",
                         c->bytes, budget);
    return TCGEMM_STATUS_OK;
}

/* ---- the run ---- */

/* Buffers of one operand and what they hold. */
typedef struct shelf {
    CUdeviceptr at[2];
    int64_t held[2][3];   /* batch item, two origins */
    int64_t last_step[2]; /* that read it, -1: none */
    bool is_full[2];
    int count, next;
} shelf_t;

/* Where a unit starts. */
typedef struct place {
    int64_t t, i, j, p;
} place_t;

typedef struct run {
    tcgemm_gpu_t *gpu;
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    cut_t cut;
    tcgemm_gpu_args_t args; /* of the whole, for what all steps share */
    shelf_t a, b;
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
static tcgemm_status_t fetch(run_t *r, shelf_t *shelf, const int64_t key[3], tcgemm_block_t *block,
                             int *slot) {
    for (int s = 0; s < shelf->count; ++s) {
        if (shelf->is_full[s] && memcmp(shelf->held[s], key, sizeof shelf->held[s]) == 0) {
            *slot = s;
            block->device = shelf->at[s];
            return TCGEMM_STATUS_OK;
        }
    }
    const int s = shelf->next;
    shelf->next = (s + 1) % shelf->count;
    if (shelf->last_step[s] >= 0)
        TCGEMM_FORWARD(
            check(r,
                  tcgemm_driver(NULL)->stream_wait_event(
                      r->gpu->staging.copy, r->gpu->staging.end[shelf->last_step[s] % 2], 0),
                  "ordering copies behind products"));
    block->device = shelf->at[s];
    TCGEMM_FORWARD(upload(r, block));
    memcpy(shelf->held[s], key, sizeof shelf->held[s]);
    shelf->is_full[s] = true;
    *slot = s;
    return TCGEMM_STATUS_OK;
}

static tcgemm_block_t d_block(const run_t *r, const void *data, int64_t ld, int64_t stride,
                              place_t at, extent_t e) {
    const int64_t size = size_of(r->plan->g.type->d);
    return (tcgemm_block_t){
        .host = (char *)(uintptr_t)data + (at.t * stride + at.i * ld + at.j) * size,
        .items = e.items,
        .lines = e.m,
        .length = e.n * size,
        .host_item = stride * size,
        .host_line = ld * size,
        .device = r->d[r->panels % r->cut.num_d],
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

static void set_one(const tcgemm_canonical_t *g, tcgemm_gpu_args_t *x) {
    if (g->type->scalar == TCGEMM_DTYPE_F64)
        x->beta.f64 = 1.0;
    else if (g->type->scalar == TCGEMM_DTYPE_F32)
        x->beta.f32 = 1.0F;
    else
        x->beta.s32 = 1;
}

static int64_t item_stride(const tcgemm_block_t *block, tcgemm_dtype_t dtype) {
    return block->items > 1 ? block->lines * block->pitch / size_of(dtype) : 0;
}

static tcgemm_gpu_args_t args_of_step(const run_t *r, place_t at, extent_t e,
                                      const tcgemm_block_t *a, const tcgemm_block_t *b,
                                      const tcgemm_block_t *d) {
    const tcgemm_canonical_t *g = &r->plan->g;
    tcgemm_gpu_args_t x = r->args;
    x.m = e.m;
    x.n = e.n;
    x.k = e.k;
    x.batch = e.items;
    x.a = (const void *)(uintptr_t)a->device;
    x.b = (const void *)(uintptr_t)b->device;
    x.d = (void *)(uintptr_t)d->device;
    x.c = r->call->c || at.p > 0 ? x.d : NULL;
    x.lda = a->pitch / size_of(g->a.dtype);
    x.ldb = b->pitch / size_of(g->b.dtype);
    x.ldc = x.ldd = d->pitch / size_of(g->type->d);
    x.stride_a = item_stride(a, g->a.dtype);
    x.stride_b = item_stride(b, g->b.dtype);
    x.stride_c = x.stride_d = item_stride(d, g->type->d);
    if (at.p > 0)
        set_one(g, &x);
    tcgemm_gpu_set_alignment(r->plan, &x);
    return x;
}

/* One launch: the operands' panels are there or on their way. */
static tcgemm_status_t compute(run_t *r, const tcgemm_gpu_args_t *args, int slot_a, int slot_b) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    tcgemm_staging_t *const s = &r->gpu->staging;
    const int turn = (int)(r->steps % 2);
    TCGEMM_FORWARD(take_time(r, r->steps - 2));
    TCGEMM_FORWARD(check(r, driver->event_record(s->arrived, s->copy), "ordering"));
    TCGEMM_FORWARD(check(r, driver->stream_wait_event(s->compute, s->arrived, 0), "ordering"));
    TCGEMM_FORWARD(check(r, driver->event_record(s->start[turn], s->compute), "timing"));
    TCGEMM_FORWARD(tcgemm_gpu_launch(r->gpu, r->plan, args, s->compute));
    TCGEMM_FORWARD(check(r, driver->event_record(s->end[turn], s->compute), "timing"));
    r->a.last_step[slot_a] = r->b.last_step[slot_b] = r->steps;
    r->steps += 1;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t run_step(run_t *r, place_t at, extent_t e) {
    const tcgemm_canonical_t *g = &r->plan->g;
    tcgemm_block_t a = operand_block(&g->a, r->call->a, at.t, e.items, at.i, at.p, e.m, e.k);
    tcgemm_block_t b = operand_block(&g->b, r->call->b, at.t, e.items, at.p, at.j, e.k, e.n);
    const tcgemm_block_t d = d_block(r, r->call->d, g->ldd, g->stride_d, at, e);
    const int64_t key_a[3] = {g->a.batch_stride ? at.t : 0, at.i, at.p};
    const int64_t key_b[3] = {g->b.batch_stride ? at.t : 0, at.p, at.j};
    int slot_a;
    int slot_b;
    if (at.p == 0 && r->cut.num_d == 1)
        TCGEMM_FORWARD(drain(r));
    TCGEMM_FORWARD(fetch(r, &r->b, key_b, &b, &slot_b));
    TCGEMM_FORWARD(fetch(r, &r->a, key_a, &a, &slot_a));
    if (at.p == 0 && r->call->c) {
        tcgemm_block_t c = d_block(r, r->call->c, g->ldc, g->stride_c, at, e);
        TCGEMM_FORWARD(upload(r, &c));
    }
    const tcgemm_gpu_args_t args = args_of_step(r, at, e, &a, &b, &d);
    TCGEMM_FORWARD(compute(r, &args, slot_a, slot_b));
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
    const extent_t most = r->cut.most;
    extent_t e;
    place_t at;
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

static void fill_shelves(run_t *r) {
    const cut_t *c = &r->cut;
    CUdeviceptr at = r->gpu->staging.arena;
    r->a.count = c->num_a;
    r->b.count = c->num_b;
    for (int i = 0; i < c->num_a; ++i, at += c->a_bytes)
        r->a.at[i] = at;
    for (int i = 0; i < c->num_b; ++i, at += c->b_bytes)
        r->b.at[i] = at;
    for (int i = 0; i < c->num_d; ++i, at += c->d_bytes)
        r->d[i] = at;
    for (int i = 0; i < 2; ++i)
        r->a.last_step[i] = r->b.last_step[i] = -1;
}

static tcgemm_status_t run_locked(run_t *r) {
    TCGEMM_FORWARD(tcgemm_staging_open(r->gpu));
    TCGEMM_FORWARD(choose_cut(r->gpu, r->plan, &r->cut));
    TCGEMM_FORWARD(tcgemm_staging_reserve(r->gpu, r->cut.bytes));
    fill_shelves(r);
    r->args = tcgemm_gpu_args(r->plan, r->call);
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
