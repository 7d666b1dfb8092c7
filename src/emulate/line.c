/* line.c - the shadow of shared memory in lines of 128 bytes: which box brought a line, and which
 * groups of wgmma have read it. */
#include <stdlib.h>
#include <string.h>

#include "emulate/async.h"

/* Of the shared memory of a rank, as the functions below. */
static bool is_known(uint32_t rank, const known_t *known, const line_t *line) {
    return line->barrier == 0 || known->phases[rank][line->barrier - 1] > line->phase;
}

static const known_t *known_by_self(void) {
    return known_by(self_thread());
}

static void check_barriers(uint32_t rank, uint32_t at, uint32_t size, const char *did) {
    const async_t *x = &tcgemm_asyncs[rank];
    for (uint32_t i = 0; i < x->num_barriers; ++i) {
        const uint32_t barrier = x->barriers[i].at;
        if (at < barrier + 8 && barrier < at + size)
            tcgemm_machine_fault("shared byte %u is %s, where an mbarrier is", barrier, did);
    }
}

static void report_unknown(uint32_t rank, uint32_t at, const line_t *line, const char *did) {
    tcgemm_machine_fault("shared byte %u is %s, but who does so has not waited for the box that "
                         "phase %u of the mbarrier at %u brings",
                         at, did, line->phase, tcgemm_asyncs[rank].barriers[line->barrier - 1].at);
}

/* The line may be overwritten by the running thread. */
static void check_readers(uint32_t rank, uint32_t at, const line_t *line) {
    const known_t *known = known_by_self();
    for (uint32_t w = 0; w < tcgemm_machine.num_warps; ++w) {
        if (line->read[w] <= known->groups[rank][w])
            continue;
        if (line->read[w] > tcgemm_cluster_block(rank)->warps[w].waited)
            tcgemm_machine_fault("shared byte %u is overwritten while a wgmma of warp %u reads it",
                                 at, w);
        else
            tcgemm_machine_fault("shared byte %u is overwritten, and the thread cannot know that "
                                 "the wgmma of warp %u which read it is done",
                                 at, w);
        return;
    }
}

static void check_leaving(uint32_t at, const line_t *line) {
    if (line->leaving > 0)
        tcgemm_machine_fault(
            "shared byte %u is overwritten, which a box that leaves has yet to read", at);
}

/* ---- loads: of each line the last of each thread of the block ---- */

typedef struct last_load {
    uint32_t time;   /* of the thread's, counted from 1; 0: it has not loaded */
    uint32_t fences; /* of the thread before it */
} last_load_t;

/* Of each rank that has mbarriers, from its first load on: few kernels do. */
static last_load_t (*all_loads[MAX_RANKS])[MAX_THREADS];
static uint32_t all_fences[MAX_RANKS][MAX_THREADS];

static last_load_t *loads_of(uint32_t index) {
    last_load_t(**own)[MAX_THREADS] = &all_loads[own_rank()];
    if (!*own)
        *own = calloc(NUM_LINES, sizeof **own);
    if (!*own) {
        tcgemm_machine_fault("no memory for the loads of a block");
        tcgemm_machine_stop();
    }
    return (*own)[index];
}

static void note_load(uint32_t index) {
    line_t *line = &own_async()->lines[index];
    last_load_t *loads = loads_of(index);
    const uint32_t self = self_thread()->index;
    if (!line->has_loads)
        memset(loads, 0, tcgemm_machine.num_warps * LANES * sizeof *loads);
    line->has_loads = true;
    loads[self] = (last_load_t){known_by_self()->times[self] + 1, all_fences[own_rank()][self]};
}

bool tcgemm_line_loads_are_behind(uint32_t at) {
    if (!own_async()->lines[at / LINE].has_loads)
        return false;
    const last_load_t *loads = loads_of(at / LINE);
    const uint32_t *times = known_by_self()->times;
    for (uint32_t i = 0; i < tcgemm_machine.num_warps * LANES; ++i)
        if (i != self_thread()->index && loads[i].time > times[i])
            return false;
    return true;
}

void tcgemm_line_check_loads(uint32_t at) {
    if (!own_async()->lines[at / LINE].has_loads)
        return;
    const last_load_t *loads = loads_of(at / LINE);
    for (uint32_t i = 0; i < tcgemm_machine.num_warps * LANES; ++i)
        if (loads[i].time > 0 && loads[i].fences == all_fences[own_rank()][i]) {
            tcgemm_machine_fault("a box is to overwrite shared byte %u, and thread %u, which has "
                                 "loaded from there, has called no fence since",
                                 at, i);
            return;
        }
}

void tcgemm_line_load(uint32_t at, uint32_t size) {
    async_t *x = own_async();
    for (uint32_t i = at / LINE; LINE * i < at + size; ++i)
        x->lines[i].is_touched = true;
    if (x->num_barriers == 0)
        return;
    check_barriers(own_rank(), at, size, "read");
    for (uint32_t i = at / LINE; LINE * i < at + size; ++i) {
        const line_t *line = &x->lines[i];
        if (line->is_pending)
            tcgemm_machine_fault("shared byte %u is read, which a box has yet to bring", at);
        else if (!is_known(own_rank(), known_by_self(), line))
            report_unknown(own_rank(), at, line, "read");
        note_load(i);
    }
}

/* ---- stores, and the fence that follows them ---- */

enum { MOST_UNFENCED = 64, TOO_MANY = MOST_UNFENCED + 1 };

/* Of each thread: the lines that it has written since its last fence. */
typedef struct unfenced {
    uint32_t count;
    uint16_t line[MOST_UNFENCED];
} unfenced_t;

static unfenced_t all_unfenced[MAX_RANKS][MAX_THREADS];

static unfenced_t *unfenced_of(uint32_t thread) {
    return &all_unfenced[own_rank()][thread];
}

static void note_store(uint32_t index) {
    const thread_t *self = self_thread();
    unfenced_t *own = unfenced_of(self->index);
    line_t *line = &own_async()->lines[index];
    if (line->unfenced >> self->lane & 1)
        return;
    line->unfenced |= 1u << self->lane;
    if (own->count < MOST_UNFENCED)
        own->line[own->count++] = (uint16_t)index;
    else
        own->count = TOO_MANY;
}

void tcgemm_line_fence(void) {
    const thread_t *self = self_thread();
    unfenced_t *own = unfenced_of(self->index);
    const bool all = own->count == TOO_MANY;
    const uint32_t count = all ? NUM_LINES : own->count;
    for (uint32_t i = 0; i < count; ++i)
        own_async()->lines[all ? i : own->line[i]].unfenced &= ~(1u << self->lane);
    own->count = 0;
    all_fences[own_rank()][self->index] += 1;
}

void tcgemm_line_reset(void) {
    for (uint32_t i = 0; i < tcgemm_machine.num_warps * LANES; ++i)
        unfenced_of(i)->count = 0;
}

void tcgemm_line_store(uint32_t at, uint32_t size) {
    async_t *x = own_async();
    for (uint32_t i = at / LINE; LINE * i < at + size; ++i)
        x->lines[i].is_touched = true;
    if (x->num_barriers == 0)
        return;
    check_barriers(own_rank(), at, size, "written");
    for (uint32_t i = at / LINE; LINE * i < at + size; ++i) {
        line_t *line = &x->lines[i];
        if (line->is_pending)
            tcgemm_machine_fault("shared byte %u is written, which a box has yet to write", at);
        else if (!is_known(own_rank(), known_by_self(), line))
            report_unknown(own_rank(), at, line, "written");
        check_readers(own_rank(), at, line);
        check_leaving(at, line);
        line->barrier = 0;
        note_store(i);
    }
}

/* ---- boxes ---- */

void tcgemm_line_leave(uint32_t at) {
    line_t *line = &own_async()->lines[at / LINE];
    if (line->unfenced)
        tcgemm_machine_fault(
            "a box leaves shared byte %u, and a thread that wrote it has called no "
            "fence since",
            at);
    tcgemm_shared_read(at, LINE);
    line->leaving += 1;
}

void tcgemm_line_left(uint32_t at) {
    own_async()->lines[at / LINE].leaving -= 1;
    tcgemm_shared_read(at, LINE);
}

/* Loads and stores of a block are in no other's knowledge. */
static void claim(uint32_t rank, uint32_t at) {
    if (rank == own_rank())
        tcgemm_shared_claim(at, LINE);
    else
        tcgemm_machine_fault("a box to shared byte %u of rank %u, which was loaded or stored "
                             "there, is not modelled",
                             at, rank);
}

void tcgemm_line_issue(uint32_t rank, uint32_t at, uint32_t size) {
    check_barriers(rank, at, size, "written by a box");
    for (uint32_t i = at / LINE; LINE * i < at + size; ++i) {
        line_t *line = &tcgemm_asyncs[rank].lines[i];
        if (line->is_pending)
            tcgemm_machine_fault("shared byte %u is to be written by two boxes", LINE * i);
        else if (!is_known(rank, known_by_self(), line))
            report_unknown(rank, LINE * i, line, "overwritten by a box");
        check_readers(rank, LINE * i, line);
        check_leaving(LINE * i, line);
        if (line->is_touched)
            claim(rank, LINE * i);
        line->is_pending = true;
    }
}

void tcgemm_line_deliver(uint32_t at, uint32_t size, const barrier_t *barrier) {
    for (uint32_t i = at / LINE; LINE * i < at + size; ++i) {
        line_t *line = &own_async()->lines[i];
        line->is_pending = line->is_touched = false;
        line->barrier = (uint8_t)(barrier - own_async()->barriers + 1);
        line->phase = barrier->phase;
    }
    /* Who touched it before the box was sent for is in nobody's way any more. */
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        cell_t *cell = &tcgemm_machine.block->cells[i];
        cell->valid = 0xF;
        cell->read.epoch = cell->write.epoch = 0;
    }
}

void tcgemm_line_multiply(uint32_t index, uint32_t warp, const known_t *known) {
    line_t *line = &own_async()->lines[index];
    const uint32_t group = tcgemm_machine.block->warps[warp].committed + 1;
    if (line->is_pending)
        tcgemm_machine_fault("a wgmma reads shared byte %u, which a box has yet to bring",
                             LINE * index);
    else if (line->barrier == 0 && line->unfenced)
        tcgemm_machine_fault(
            "a wgmma reads shared byte %u, and a thread that wrote it has called no "
            "fence since",
            LINE * index);
    else if (line->barrier == 0)
        tcgemm_shared_multiply(LINE * index, LINE, known);
    else if (!is_known(own_rank(), known, line))
        report_unknown(own_rank(), LINE * index, line, "read by a wgmma");
    for (uint32_t w = warp; w < warp + WARPGROUP; ++w)
        line->read[w] = group;
}
