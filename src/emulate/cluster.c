/* cluster.c - clusters: blocks that run beside one another, meet at a barrier and read each other's
 * shared memory.
 *
 * The machine has one block in hand. Its ranks take turns: each runs until none of its threads can,
 * and is then put aside whole (threads, shared memory and its shadow, mbarriers) for the next. When
 * all threads of all ranks have come to the cluster's barrier, or ended, all go on. So what a rank
 * reads of another is what that one left when it was put aside; whether it had any right to be
 * there is asked of the shadow: it must have been written before the barrier that both have passed
 * last, may not be written again before the next, and its block may not have ended.
 *
 * Not modelled: what is under way while a rank is put aside (products, boxes that leave, cp.async);
 * stores to another rank, its mbarriers, multicast.
 */
#include <stdlib.h>
#include <string.h>

#include "emulate/async.h"
#include "emulate/trace.h"

static const uint32_t ALL = 0xFFFFFFFFu;

/* A block that is put aside. */
typedef struct kept {
    thread_t threads[MAX_THREADS];
    warp_t warps[MAX_WARPS];
    uint32_t registers[MAX_WARPS / WARPGROUP];
    uint32_t block, epoch, starved, static_bytes, meetings, epoch_of_meeting;
    bool is_relaxed;
    cell_t cells[SHARED_ROOM / 4];
    char shared[SHARED_BYTES];
    async_t async;
} kept_t;

static kept_t *kept_blocks[MAX_RANKS];

uint32_t tcgemm_cluster_size(void) {
    const uint32_t ranks = tcgemm_machine.launch->ranks;
    return ranks > 1 ? ranks : 1;
}

static uint32_t own_rank(void) {
    return tcgemm_machine.block % tcgemm_cluster_size();
}

bool tcgemm_cluster_prepare(void) {
    for (uint32_t r = 0; tcgemm_cluster_size() > 1 && r < tcgemm_cluster_size(); ++r)
        if (!kept_blocks[r] && !(kept_blocks[r] = calloc(1, sizeof *kept_blocks[r])))
            return false;
    return true;
}

/* ---- to put a block aside, and to take it up again ---- */

static void move(void *live, void *kept, size_t bytes, bool keep) {
    memcpy(keep ? kept : live, keep ? live : kept, bytes);
}

static void move_block(kept_t *k, bool keep) {
    machine_t *m = &tcgemm_machine;
    async_t *x = &tcgemm_async;
    const size_t threads = m->launch->block, bytes = m->launch->smem_bytes;
    move(m->threads, k->threads, threads * sizeof *m->threads, keep);
    move(m->warps, k->warps, m->num_warps * sizeof *m->warps, keep);
    move(&m->block, &k->block, sizeof m->block, keep);
    move(&m->epoch, &k->epoch, sizeof m->epoch, keep);
    move(&m->starved, &k->starved, sizeof m->starved, keep);
    move(&m->static_bytes, &k->static_bytes, sizeof m->static_bytes, keep);
    move(&m->meetings, &k->meetings, sizeof m->meetings, keep);
    move(&m->epoch_of_meeting, &k->epoch_of_meeting, sizeof m->epoch_of_meeting, keep);
    move(&m->is_relaxed, &k->is_relaxed, sizeof m->is_relaxed, keep);
    move(m->cells, k->cells, (bytes + 3) / 4 * sizeof *m->cells, keep);
    move(tcgemm_emulate_shared, k->shared, bytes, keep);
    move(&x->num_barriers, &k->async.num_barriers, sizeof x->num_barriers, keep);
    move(x->barriers, k->async.barriers, x->num_barriers * sizeof *x->barriers, keep);
    move(x->lines, k->async.lines, (bytes + LINE - 1) / LINE * sizeof *x->lines, keep);
    move(x->known, k->async.known, threads * sizeof *x->known, keep);
    for (uint32_t w = 0; w < m->num_warps; w += WARPGROUP)
        move(tcgemm_wgmma_registers(w), &k->registers[w / WARPGROUP], sizeof *k->registers, keep);
}

/* Nothing may be under way that is not kept with the block. */
static bool is_at_rest(void) {
    const machine_t *m = &tcgemm_machine;
    for (uint32_t i = 0; i < m->launch->block; ++i)
        if (m->threads[i].num_copies > 0)
            return false;
    return tcgemm_box_is_at_rest() && tcgemm_wgmma_is_at_rest() && m->static_bytes == 0;
}

void tcgemm_cluster_keep(uint32_t rank) {
    if (tcgemm_cluster_size() == 1 || tcgemm_machine.is_stopped)
        return;
    if (!is_at_rest()) {
        tcgemm_machine_fault("what is under way while a block waits for its cluster is not "
                             "modelled");
        tcgemm_machine.is_stopped = true;
    }
    move_block(kept_blocks[rank], true);
}

void tcgemm_cluster_take(uint32_t rank) {
    if (tcgemm_cluster_size() == 1)
        return;
    move_block(kept_blocks[rank], false);
    tcgemm_trace_forget(0, (uint32_t)tcgemm_machine.launch->smem_bytes);
}

/* ---- the barrier ---- */

/* Of the block in hand: all threads are there or have ended; how many are there. */
static bool has_come(uint32_t *count) {
    const machine_t *m = &tcgemm_machine;
    for (uint32_t w = 0; w < m->num_warps; ++w) {
        if ((m->warps[w].at_cluster | m->warps[w].ended) != ALL)
            return false;
        *count += (uint32_t)__builtin_popcount(m->warps[w].at_cluster);
    }
    return true;
}

static void go_on(void) {
    machine_t *m = &tcgemm_machine;
    for (uint32_t w = 0; w < m->num_warps; ++w) {
        m->warps[w].ready |= m->warps[w].at_cluster;
        m->warps[w].at_cluster = 0;
    }
    for (uint32_t i = 0; i < m->launch->block; ++i)
        m->threads[i].has_arrived = false;
    tcgemm_async_share(m->threads, m->num_warps * LANES);
    m->epoch += 1;
    m->meetings += 1;
    if (!m->is_relaxed)
        m->epoch_of_meeting = m->epoch;
    m->is_relaxed = false;
}

bool tcgemm_cluster_meet(void) {
    const uint32_t ranks = tcgemm_cluster_size();
    uint32_t count = 0;
    for (uint32_t r = 0; r < ranks; ++r) {
        tcgemm_cluster_take(r);
        if (!has_come(&count))
            return false;
    }
    for (uint32_t r = 0; count > 0 && r < ranks; ++r) {
        tcgemm_cluster_take(r);
        go_on();
        tcgemm_cluster_keep(r);
    }
    return count > 0;
}

void tcgemm_emulate_cluster_arrive(int releases) {
    thread_t *self = self_thread();
    tcgemm_machine_meet(OP_CLUSTER_ARRIVE);
    if (self->has_arrived) {
        tcgemm_machine_fault("the thread arrives at the cluster's barrier twice");
        tcgemm_machine_stop();
    }
    self->has_arrived = true;
    if (!releases)
        tcgemm_machine.is_relaxed = true;
}

void tcgemm_emulate_cluster_wait(void) {
    const thread_t *self = self_thread();
    tcgemm_machine_meet(OP_CLUSTER_WAIT);
    if (!self->has_arrived) {
        tcgemm_machine_fault("the thread waits at the cluster's barrier, where it has not arrived");
        tcgemm_machine_stop();
    }
    tcgemm_machine_wait_at(OP_CLUSTER_WAIT, &tcgemm_machine.warps[self->warp].at_cluster);
}

uint32_t tcgemm_emulate_cluster_rank(void) {
    return own_rank();
}

uint32_t tcgemm_emulate_cluster_ranks(void) {
    return tcgemm_cluster_size();
}

/* ---- loads from another block ---- */

static bool has_block_ended(const kept_t *k) {
    for (uint32_t w = 0; w < tcgemm_machine.num_warps; ++w)
        if (k->warps[w].ended != ALL)
            return false;
    return true;
}

static const char *wrong_with(uint32_t from, uint32_t rank) {
    return rank >= tcgemm_cluster_size()                   ? "which is not in the cluster"
           : from % 16 != 0                                ? "off a 16-byte boundary"
           : from + 16 > tcgemm_machine.launch->smem_bytes ? "beyond its end"
           : self_thread()->has_arrived         ? "which may have gone on: the thread has arrived"
           : rank == own_rank()                 ? NULL
           : tcgemm_machine.meetings == 0       ? "which may not have begun"
           : has_block_ended(kept_blocks[rank]) ? "which has ended"
                                                : NULL;
}

/* The shadow of what is read there, and the mark that it was. */
static void check_cells(kept_t *k, uint32_t from, uint32_t rank) {
    for (uint32_t i = from / 4; 4 * i < from + 16; ++i) {
        cell_t *cell = &k->cells[i];
        if (cell->valid != 0xF)
            tcgemm_machine_fault("shared byte %u of rank %u is read, which nobody has written",
                                 4 * i, rank);
        else if (cell->write.epoch >= k->epoch_of_meeting || cell->late == tcgemm_machine.meetings)
            tcgemm_machine_fault("race: shared byte %u of rank %u is read, and written there since "
                                 "the last barrier of the cluster",
                                 4 * i, rank);
        cell->far = tcgemm_machine.meetings;
    }
}

tcgemm_emulate_u4_t tcgemm_emulate_cluster_lds_128(uint32_t from, uint32_t rank) {
    const char *wrong = wrong_with(from, rank);
    tcgemm_emulate_u4_t r;
    if (wrong) {
        tcgemm_machine_fault("16 bytes at %u of the shared memory of rank %u are read, %s", from,
                             rank, wrong);
        tcgemm_machine_stop();
    }
    if (rank == own_rank())
        return tcgemm_emulate_lds_128(from);
    tcgemm_machine.launch->shared_reads += (int64_t)sizeof r;
    check_cells(kept_blocks[rank], from, rank);
    memcpy(&r, kept_blocks[rank]->shared + from, sizeof r);
    return r;
}
