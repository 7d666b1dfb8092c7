/* async.h - what a block of sm_90 does behind its threads' backs: mbarriers, boxes that the tensor
 * memory accelerator brings, products of warpgroups.
 *
 *     mbarrier.c   phases, arrivals, bytes; who knows what
 *     line.c       the shadow of shared memory in lines of 128 bytes
 *     box.c        boxes of a tensor, the adversary
 *     wgmma.c      groups of products, their operands and accumulators
 *
 * Such work is ordered by mbarriers, not by __syncthreads alone. So every thread has a known_t:
 * which phases of which mbarriers of the cluster have ended, which groups of wgmma of which warps
 * are done, and how far the other threads of its block had come when they last arrived, as far as
 * it can know. To wait for a phase is to learn what all who arrived knew. A line may be read by
 * those who know of the phase that brought it, and be overwritten by one who knows that all its
 * readers are done; whether the data happen to be there plays no part.
 *
 * A box is poison from the moment it is asked for. When it comes is the launch's order: FIRST, when
 * no thread can run; LAST, at once; else in pieces, at any time, in any order. Its bytes are
 * counted when the last of them is there. A box for several blocks of a cluster is one for each,
 * and comes to each when it is that block's turn.
 *
 * Where several threads have loaded what a box overwrites, and mbarriers alone are between, each
 * must have fenced its loads.
 *
 * A box that leaves reads its place when it is asked for or when it is waited for, as the adversary
 * likes, and nobody may write there in between; what threads wrote there, each must have fenced.
 *
 * A wgmma reads what boxes have brought, or what threads have written, each of which must have
 * fenced it and be known to have gone on. It reads its operands when it is called or when it is
 * waited for, as the adversary likes. Its accumulators are poison in between, and no load or store
 * may touch them (hooks.c; clang tells the hooks of some accesses to a thread's stack only: then it
 * is the poison that shows).
 */
#ifndef TCGEMM_EMULATE_ASYNC_H
#define TCGEMM_EMULATE_ASYNC_H

#include "emulate/machine.h"

enum {
    LINE = 128,
    NUM_LINES = SHARED_ROOM / LINE,
    MAX_BARRIERS = 64,
    MAX_BARRIER_COUNT = (1 << 20) - 1 /* of arrivals, and of bytes */
};

typedef struct known {
    uint32_t phases[MAX_RANKS][MAX_BARRIERS]; /* of each mbarrier: that many have ended */
    uint32_t groups[MAX_RANKS][MAX_WARPS];    /* of wgmma of each warp: that many are done */
    uint32_t times[MAX_THREADS]; /* of each thread of the own block: what it did before that arrival
                                    or meeting */
} known_t;

typedef struct barrier {
    uint32_t rank, at, arrivals, missing, phase;
    int64_t bytes;  /* announced, and not there yet */
    int64_t coming; /* asked for, and not there yet */
    uint32_t boxes; /* phases that have ended when the last box was there, or 0 */
    touch_t made;
    bool is_fenced;
    known_t next, done; /* what those know who arrived; the same when a phase last ended */
} barrier_t;

typedef struct line {
    uint32_t read[MAX_WARPS]; /* the last group of each warp that reads it, counted from 1 */
    uint32_t phase;           /* in which a box brought it, ... */
    uint8_t barrier;          /* ... of this mbarrier, counted from 1; 0: it was no box */
    bool is_pending;          /* a box has yet to bring it */
    bool is_touched;          /* by ordinary loads and stores */
    bool has_loads;           /* line.c knows when each thread last loaded from it */
    uint32_t leaving;         /* boxes that have yet to read it */
    uint32_t unfenced;        /* lanes that wrote it, and have called no fence since */
} line_t;

typedef struct async {
    barrier_t barriers[MAX_BARRIERS];
    uint32_t num_barriers;
    line_t lines[NUM_LINES];
    known_t known[MAX_THREADS];
} async_t;

extern async_t tcgemm_asyncs[MAX_RANKS];

/* Of the block in hand. */
static inline async_t *own_async(void) {
    return &tcgemm_asyncs[own_rank()];
}
static inline known_t *known_by(const thread_t *thread) {
    return &own_async()->known[thread->index];
}

/* ---- mbarrier.c ---- */

void tcgemm_async_reset(void);
/* All threads have ended: nothing may be under way. */
void tcgemm_async_end(void);
/* What one of these threads of the block knows, all know: at __syncthreads and __syncwarp. */
void tcgemm_async_share(uint32_t rank, uint32_t first, uint32_t count);
/* What one thread of the cluster knows of mbarriers and wgmmas, all know: at its barrier. */
void tcgemm_async_share_all(void);
/* What all of these threads know. */
void tcgemm_async_common(const thread_t *threads, uint32_t count, known_t *common);
/* The mbarrier at this place of the shared memory of a rank. */
barrier_t *tcgemm_barrier_use(uint32_t rank, uint32_t at, const char *what);
/* Bytes of a box were asked for, or are there. */
void tcgemm_barrier_expect(barrier_t *barrier, uint32_t bytes);
void tcgemm_barrier_complete(barrier_t *barrier, uint32_t bytes);
/* What a thread waits for, in words. */
void tcgemm_barrier_describe(const thread_t *thread, char *text, size_t bytes);

/* ---- shared.c ---- */

/* The bytes were written by threads, and who knows so much reads them. */
void tcgemm_shared_multiply(uint32_t at, uint32_t size, const known_t *known);

/* ---- line.c ---- */

/* Ordinary loads and stores of the running thread. */
void tcgemm_line_load(uint32_t at, uint32_t size);
/* Whether the running thread knows that all who have loaded from the line have gone on. */
bool tcgemm_line_loads_are_behind(uint32_t at);
/* Whether each of them has called the fence that lets a box overwrite what it has loaded: an
 * arrival may overtake loads that are still under way. */
void tcgemm_line_check_loads(uint32_t at);
void tcgemm_line_store(uint32_t at, uint32_t size);
/* A box will be written to a rank's shared memory by order of the running thread; its bytes are
 * there. */
void tcgemm_line_issue(uint32_t rank, uint32_t at, uint32_t size);
void tcgemm_line_deliver(uint32_t at, uint32_t size, const barrier_t *barrier);
/* A box of the running thread will read the line, which is good for it; it has read it. */
void tcgemm_line_leave(uint32_t at);
void tcgemm_line_left(uint32_t at);
void tcgemm_line_fence(void);
void tcgemm_line_reset(void);
/* The wgmma of four warps, the first of them `warp`, that know this. */
void tcgemm_line_multiply(uint32_t index, uint32_t warp, const known_t *known);

/* ---- box.c ---- */

/* Brings something that is under way to the block in hand; false if there is nothing. */
bool tcgemm_box_bring(void);
/* It is the block's turn, and others may have had boxes sent to it. */
void tcgemm_box_turn(void);
void tcgemm_box_reset(void);
/* A chance for boxes to come. */
void tcgemm_box_tick(void);
/* A thread has ended: no box of it may be leaving. */
void tcgemm_box_end(const thread_t *thread);

/* ---- wgmma.c ---- */

void tcgemm_wgmma_reset(void);
void tcgemm_wgmma_end(const thread_t *thread);
/* An access of the running thread to its own stack. */
void tcgemm_wgmma_touch(const char *at, uint32_t size, bool write);
/* Meetings of a warp; of a warpgroup. */
void tcgemm_machine_wgmma_fence(thread_t *lanes);
void tcgemm_machine_wgmma_commit(thread_t *lanes);
void tcgemm_machine_wgmma_wait(thread_t *lanes);
void tcgemm_machine_wgmma(thread_t *threads);
void tcgemm_machine_setmaxnreg(thread_t *threads);
/* Registers that the warpgroups have together, at the end of a block. */
void tcgemm_machine_count_registers(void);

#endif
