/* prepack.c - see prepack.h. */
#include "cpu/prepack.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/packing.h"
#include "cpu/panel.h"
#include "host/pool.h"

enum { BOUNDARY = 64 };

/* What packed data begin with: 64 bytes of it. */
typedef struct mark {
    char magic[8];
    uint64_t fingerprint;
} mark_t;

static const char magic[8] = "tcgemmP1";

static size_t align(size_t bytes) {
    return (bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
}

tcgemm_prepacked_t tcgemm_cpu_prepacked(const struct tcgemm_plan *plan, bool is_b) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_canonical_t *g = &plan->g;
    const bool integer = tcgemm_family_has_terms(u->family);
    tcgemm_prepacked_t p = {
        .width = is_b ? u->nr : u->mr,
        .kc = plan->cpu.kc,
        .k = g->k,
        .blocks = ceil_div(g->k, plan->cpu.kc),
        .ku = u->ku,
        .lane_bytes = u->lane_bytes,
        .items = (is_b ? g->b.batch_stride : g->a.batch_stride) ? g->batch : 1,
    };
    p.steps = tcgemm_panel_steps(min_i64(p.kc, g->k), u->ku);
    p.lines = round_up(is_b ? g->n : g->m, p.width);
    p.terms = align((size_t)(p.blocks * p.lines * p.steps * p.lane_bytes));
    p.flags = p.terms + align(integer ? (size_t)(p.blocks * p.lines) * sizeof(uint32_t) : 0);
    p.item_bytes = p.flags + align(u->exact ? (size_t)(p.blocks * p.lines / p.width) : 0);
    p.bytes = BOUNDARY + (size_t)p.items * p.item_bytes;
    return p;
}

static char *item_at(const tcgemm_prepacked_t *p, const void *data, int64_t item) {
    return (char *)(uintptr_t)data + BOUNDARY + (size_t)(p->items > 1 ? item : 0) * p->item_bytes;
}

/* Lanes along k in a block: the last one may be shorter. */
static int64_t steps_of_block(const tcgemm_prepacked_t *p, int64_t block) {
    return tcgemm_panel_steps(min_i64(p->kc, p->k - block * p->kc), p->ku);
}

char *tcgemm_prepacked_panel(const tcgemm_prepacked_t *p, const void *data, int64_t item,
                             int64_t block, int64_t line) {
    const int64_t whole = block * p->lines * p->steps * p->lane_bytes;
    return item_at(p, data, item) + whole +
           tcgemm_panel_at(line, steps_of_block(p, block), p->lane_bytes);
}

uint32_t *tcgemm_prepacked_terms(const tcgemm_prepacked_t *p, const void *data, int64_t item,
                                 int64_t block) {
    return (uint32_t *)(void *)(item_at(p, data, item) + p->terms) + block * p->lines;
}

bool *tcgemm_prepacked_flags(const tcgemm_prepacked_t *p, const void *data, int64_t item,
                             int64_t block) {
    return (bool *)(item_at(p, data, item) + p->flags) + block * (p->lines / p->width);
}

/* ---- marks ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x100000001B3); /* FNV-1a */
}

/* Of all that decides the bytes, the data themselves left out. */
static uint64_t fingerprint(const struct tcgemm_plan *plan, bool is_b) {
    const tcgemm_prepacked_t p = tcgemm_cpu_prepacked(plan, is_b);
    uint64_t hash = mix(UINT64_C(0xCBF29CE484222325), (uint64_t)plan->g.type->type);
    for (const char *c = plan->kernel->name; *c; ++c)
        hash = mix(hash, (uint64_t)(unsigned char)*c);
    hash = mix(hash, is_b);
    hash = mix(hash, (uint64_t)plan->g.a.dtype); /* a transposed product of mixed signs ... */
    hash = mix(hash, (uint64_t)plan->g.b.dtype); /* ... has them the other way round */
    hash = mix(hash, plan->g.flags & TCGEMM_FLAG_XOR);
    hash = mix(hash, (uint64_t)(is_b ? plan->g.n : plan->g.m));
    hash = mix(hash, (uint64_t)p.k);
    hash = mix(hash, (uint64_t)p.kc);
    return mix(hash, (uint64_t)p.items);
}

static tcgemm_status_t check_mark(const struct tcgemm_plan *plan, const void *data, bool is_b) {
    const char name = is_b != plan->g.swapped ? 'B' : 'A';
    mark_t mark;
    TCGEMM_RETURN_IF((uintptr_t)data % BOUNDARY != 0, TCGEMM_STATUS_BAD_ALIGNMENT,
                     "the packed %c does not lie on a %d-byte boundary", name, BOUNDARY);
    memcpy(&mark, data, sizeof mark);
    TCGEMM_RETURN_IF(memcmp(mark.magic, magic, sizeof magic) != 0, TCGEMM_STATUS_BAD_ARGUMENT,
                     "%c is not what a plan that packs has written", name);
    TCGEMM_RETURN_IF(mark.fingerprint != fingerprint(plan, is_b), TCGEMM_STATUS_BAD_ARGUMENT,
                     "%c was packed for another kernel, type or size", name);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_cpu_check_packed(const struct tcgemm_plan *plan, const tcgemm_call_t *call) {
    if (plan->g.a.packed_bytes)
        TCGEMM_FORWARD(check_mark(plan, call->a, false));
    if (plan->g.b.packed_bytes)
        TCGEMM_FORWARD(check_mark(plan, call->b, true));
    return TCGEMM_STATUS_OK;
}

/* ---- packing ---- */

typedef struct job {
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    tcgemm_prepacked_t p;
    tcgemm_signs_t signs;
    bool is_b;
    atomic_int_fast64_t next;
} job_t;

static bool has_terms(const job_t *job) {
    return job->is_b ? job->signs.use_b_terms : job->signs.use_a_terms;
}

/* Panel `index` of all items and blocks of k. */
static void pack_one(const job_t *job, int64_t index) {
    const tcgemm_canonical_t *g = &job->plan->g;
    const tcgemm_cpu_ukernel_t *u = job->plan->kernel->cpu;
    const tcgemm_prepacked_t *p = &job->p;
    const int64_t panels = p->lines / p->width;
    const int64_t panel = index % panels;
    const int64_t block = index / panels % p->blocks;
    const int64_t item = index / panels / p->blocks;
    const int64_t line = panel * p->width;
    const int64_t all = job->is_b ? g->n : g->m;
    const tcgemm_cpu_block_t at = {
        .rows = g->m,
        .cols = g->n,
        .k = block * p->kc,
        .ks = min_i64(p->kc, g->k - block * p->kc),
    };
    const tcgemm_pack_t pack = job->is_b ? tcgemm_pack_of_b(g, u->family, &job->signs, job->call->b,
                                                            item * g->b.batch_stride, &at)
                                         : tcgemm_pack_of_a(g, u->family, &job->signs, job->call->a,
                                                            item * g->a.batch_stride, &at);
    uint32_t *const terms =
        has_terms(job) ? tcgemm_prepacked_terms(p, job->call->d, item, block) + line : NULL;
    const bool found = u->pack(&pack, line, (int)min_i64(p->width, all - line), p->width,
                               tcgemm_prepacked_panel(p, job->call->d, item, block, line), terms);
    if (u->exact)
        tcgemm_prepacked_flags(p, job->call->d, item, block)[panel] = found;
}

static void worker(void *argument, int thread, int num_threads) {
    job_t *const job = argument;
    const int64_t count = job->p.items * job->p.blocks * (job->p.lines / job->p.width);
    (void)thread;
    (void)num_threads;
    for (;;) {
        const int64_t index = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (index >= count)
            return;
        pack_one(job, index);
    }
}

/* Zeros in what no panel, term or flag fills, so that the same operand is the same bytes. */
static void clear_gaps(const job_t *job) {
    const tcgemm_prepacked_t *p = &job->p;
    const int64_t last = p->blocks - 1;
    const size_t terms = has_terms(job) ? (size_t)(p->blocks * p->lines) * sizeof(uint32_t) : 0;
    const size_t flags =
        job->plan->kernel->cpu->exact ? (size_t)(p->blocks * (p->lines / p->width)) : 0;
    for (int64_t i = 0; i < p->items; ++i) {
        char *const item = item_at(p, job->call->d, i);
        const size_t panels =
            (size_t)(tcgemm_prepacked_panel(p, job->call->d, i, last, p->lines) - item);
        memset(item + panels, 0, p->terms - panels);
        memset(item + p->terms + terms, 0, p->flags - p->terms - terms);
        memset(item + p->flags + flags, 0, p->item_bytes - p->flags - flags);
    }
}

tcgemm_status_t tcgemm_cpu_prepack(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                   tcgemm_run_stats_t *stats) {
    const double start = stats ? now_seconds() : 0.0;
    const bool is_b = plan->steps.step[0].kind == TCGEMM_STEP_PACK_B;
    job_t job = {
        .plan = plan,
        .call = call,
        .p = tcgemm_cpu_prepacked(plan, is_b),
        .signs = tcgemm_signs_of(&plan->g, plan->kernel->cpu->family),
        .is_b = is_b,
    };
    mark_t mark = {.fingerprint = fingerprint(plan, is_b)};
    TCGEMM_RETURN_IF((uintptr_t)call->d % BOUNDARY != 0, TCGEMM_STATUS_BAD_ALIGNMENT,
                     "what is packed must lie on a %d-byte boundary", BOUNDARY);
    memcpy(mark.magic, magic, sizeof magic);
    memset(call->d, 0, BOUNDARY);
    memcpy(call->d, &mark, sizeof mark);
    atomic_init(&job.next, 0);
    tcgemm_pool_run(plan->num_threads, worker, &job);
    clear_gaps(&job);
    if (stats)
        stats->pack_seconds = now_seconds() - start;
    return TCGEMM_STATUS_OK;
}
