/* cluster.c - clusters: blocks that run beside one another, meet at a barrier, read each other's
 * shared memory, arrive at each other's mbarriers and have boxes sent there.
 *
 * The ranks take turns: each is in hand until none of its threads can run (in random order now and
 * then before), and only its shared memory moves; what is under way for it stays under way. When no
 * rank can go on and all threads have come to the cluster's barrier, or ended, all go on. What a
 * rank reads of another is what that one left when its turn was over; whether it had any right to
 * be there is asked of the shadow: it must have been written before the barrier that both have
 * passed last, may not be written again before the next, and its block may not have ended.
 *
 * Not modelled: stores to another rank; boxes to where another rank has loaded or stored.
 */
#include <string.h>

#include "emulate/async.h"
#include "emulate/trace.h"

static const uint32_t ALL = 0xFFFFFFFFu;

static block_t blocks[MAX_RANKS];
static char shared[MAX_RANKS][SHARED_ROOM]; /* of those that are not in hand */

uint32_t tcgemm_cluster_size(void) {
    const uint32_t ranks = tcgemm_machine.launch->ranks;
    return ranks > 1 ? ranks : 1;
}

block_t *tcgemm_cluster_block(uint32_t rank) {
    return &blocks[rank];
}

char *tcgemm_cluster_shared(uint32_t rank) {
    return rank == own_rank() ? tcgemm_emulate_shared : shared[rank];
}

/* The dynamic part, and the static one. */
static void move_shared(char *to, const char *from, uint32_t static_bytes) {
    memcpy(to, from, tcgemm_machine.launch->smem_bytes);
    memcpy(to + SHARED_BYTES, from + SHARED_BYTES, static_bytes);
}

void tcgemm_cluster_take(uint32_t rank) {
    machine_t *m = &tcgemm_machine;
    block_t *next = &blocks[rank];
    if (m->block == next)
        return;
    move_shared(shared[own_rank()], tcgemm_emulate_shared, m->block->static_bytes);
    move_shared(tcgemm_emulate_shared, shared[rank], next->static_bytes);
    next->rank = rank;
    m->block = next;
    tcgemm_trace_forget(0, (uint32_t)m->launch->smem_bytes);
}

/* ---- the barrier ---- */

/* All threads of the block are there or have ended; how many are there. */
static bool has_come(const block_t *b, uint32_t *count) {
    for (uint32_t w = 0; w < tcgemm_machine.num_warps; ++w) {
        if ((b->warps[w].at_cluster | b->warps[w].ended) != ALL)
            return false;
        *count += (uint32_t)__builtin_popcount(b->warps[w].at_cluster);
    }
    return true;
}

static void go_on(block_t *b) {
    const machine_t *m = &tcgemm_machine;
    for (uint32_t w = 0; w < m->num_warps; ++w) {
        b->warps[w].ready |= b->warps[w].at_cluster;
        b->warps[w].at_cluster = 0;
    }
    for (uint32_t i = 0; i < m->launch->block; ++i)
        b->threads[i].has_arrived = false;
    tcgemm_async_share(b->rank, 0, m->num_warps * LANES);
    b->epoch += 1;
    b->meetings += 1;
    if (!b->is_relaxed)
        b->epoch_of_meeting = b->epoch;
    b->is_relaxed = false;
}

bool tcgemm_cluster_meet(void) {
    const uint32_t ranks = tcgemm_cluster_size();
    uint32_t count = 0;
    bool is_relaxed = false;
    for (uint32_t r = 0; r < ranks; ++r) {
        if (!has_come(&blocks[r], &count))
            return false;
        is_relaxed = is_relaxed || blocks[r].is_relaxed;
    }
    for (uint32_t r = 0; count > 0 && r < ranks; ++r)
        go_on(&blocks[r]);
    if (count > 0 && !is_relaxed)
        tcgemm_async_share_all();
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
        tcgemm_machine.block->is_relaxed = true;
}

void tcgemm_emulate_cluster_wait(void) {
    const thread_t *self = self_thread();
    tcgemm_machine_meet(OP_CLUSTER_WAIT);
    if (!self->has_arrived) {
        tcgemm_machine_fault("the thread waits at the cluster's barrier, where it has not arrived");
        tcgemm_machine_stop();
    }
    tcgemm_machine_wait_at(OP_CLUSTER_WAIT, &tcgemm_machine.block->warps[self->warp].at_cluster);
}

uint32_t tcgemm_emulate_cluster_rank(void) {
    return own_rank();
}

uint32_t tcgemm_emulate_cluster_ranks(void) {
    return tcgemm_cluster_size();
}

/* ---- the shared memory of another block ---- */

const char *tcgemm_cluster_wrong_with(uint32_t rank) {
    return rank >= tcgemm_cluster_size()         ? "which is not in the cluster"
           : self_thread()->has_arrived          ? "which may have gone on: the thread has arrived"
           : rank == own_rank()                  ? NULL
           : tcgemm_machine.block->meetings == 0 ? "which may not have begun"
           : tcgemm_machine_has_ended(&blocks[rank]) ? "which has ended"
                                                     : NULL;
}

bool tcgemm_cluster_is_at_once(uint32_t rank, const touch_t *touch) {
    return touch->epoch >= blocks[rank].epoch_of_meeting;
}

static const char *wrong_with_load(uint32_t from, uint32_t rank) {
    return from % 16 != 0                                  ? "off a 16-byte boundary"
           : from + 16 > tcgemm_machine.launch->smem_bytes ? "beyond its end"
                                                           : tcgemm_cluster_wrong_with(rank);
}

/* The shadow of what is read there, and the mark that it was. */
static void check_cells(uint32_t from, uint32_t rank) {
    const uint32_t meetings = tcgemm_machine.block->meetings;
    for (uint32_t i = from / 4; 4 * i < from + 16; ++i) {
        cell_t *cell = &blocks[rank].cells[i];
        if (cell->valid != 0xF)
            tcgemm_machine_fault("shared byte %u of rank %u is read, which nobody has written",
                                 4 * i, rank);
        else if (tcgemm_cluster_is_at_once(rank, &cell->write) || cell->late == meetings)
            tcgemm_machine_fault("race: shared byte %u of rank %u is read, and written there since "
                                 "the last barrier of the cluster",
                                 4 * i, rank);
        cell->far = meetings;
    }
}

tcgemm_emulate_u4_t tcgemm_emulate_cluster_lds_128(uint32_t from, uint32_t rank) {
    const char *wrong = wrong_with_load(from, rank);
    tcgemm_emulate_u4_t r;
    if (wrong) {
        tcgemm_machine_fault("16 bytes at %u of the shared memory of rank %u are read, %s", from,
                             rank, wrong);
        tcgemm_machine_stop();
    }
    if (rank == own_rank())
        return tcgemm_emulate_lds_128(from);
    tcgemm_machine.launch->shared_reads += (int64_t)sizeof r;
    check_cells(from, rank);
    memcpy(&r, shared[rank] + from, sizeof r);
    return r;
}
