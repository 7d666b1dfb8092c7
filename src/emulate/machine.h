/* machine.h - the emulated GPU from inside: blocks one after the other, their threads as fibers.
 *
 *     instructions.h   what kernels call              machine.c   threads, warps, barriers
 *     hooks.c          every load and store           fiber.c     the switch from thread to thread
 *     shared.c         shared memory, its shadow      memory.c    global memory, its bounds
 *     copy.c           cp.async, the adversary        product.c   mma.sync
 *     meet.c           functions of a warp or more    report.c    faults and the trace
 *     cluster.c        blocks of a cluster, which take turns
 *     short_sum.c      sums of FP8
 *     async.h          Hopper: mbarriers, TMA, wgmma
 *
 * A thread runs until it waits. Functions of a warp are a rendezvous: the lane that comes last does
 * the work of all 32, provided that all called the same function from the same place; wgmma and
 * setmaxnreg are one of four warps. Threads that wait for one another for ever, or for a thread
 * that has ended, are a fault.
 *
 * Shared memory is poisoned and has a shadow, a cell for each four bytes: who wrote and who read it
 * since the last barrier, what was never written, what a cp.async has yet to bring. Between two
 * __syncthreads nobody may read what another thread writes, or write what another thread touches;
 * within a warp a __syncwarp will do, and for a word that one thread touched an mbarrier, too.
 * Nothing else orders memory, mma.sync and ldmatrix neither. What boxes and wgmma do is looked at
 * in lines of 128 bytes (async.h).
 *
 * cp.async: the destination is poison and out of bounds for all from the moment of the copy until
 * its thread has waited for the group, and then for other threads until the next barrier.
 *
 * Not modelled: time, caches, bank conflicts, registers but for their sum; the order of weak memory
 * beyond barriers; blocks that run at once, but for those of a cluster; named barriers; what
 * ordinary stores have written as the operand of a wgmma: it may not read it. Products are summed
 * exactly and rounded once an instruction, where tensor cores truncate (product.c), but for those
 * of FP8.
 */
#ifndef TCGEMM_EMULATE_MACHINE_H
#define TCGEMM_EMULATE_MACHINE_H

#include <stdbool.h>

#include "emulate/emulate.h"
#include "emulate/instructions.h"

enum {
    LANES = 32,
    MAX_WARPS = 32,
    MAX_RANKS = 8, /* blocks of a cluster */
    MAX_THREADS = LANES * MAX_WARPS,
    WARPGROUP = 4,                /* warps */
    MAX_SUMS = 4,                 /* sets of accumulators of wgmma that a thread has */
    MAX_FRAGMENTS = 16,           /* ... and of four registers that wgmma reads */
    SHARED_BYTES = 232448,        /* the most that any device gives a block */
    SHARED_ROOM = 262144,         /* what is taken for shared memory, in or out of bounds */
    MAX_STACKS = MAX_RANKS * 384, /* threads of a cluster, or of a block without */
    STACK_BYTES = 131072,         /* of a fiber, ... */
    STACK_GUARD = 4096,           /* ... that many of them forbidden */
    PARAMETER_WORDS = 128,
    POISON = 0xFF /* NaN in each float format */
};

/* ---- threads ---- */

typedef enum operation {
    OP_NONE,
    OP_SYNCTHREADS,
    OP_SYNCWARP,
    OP_SHFL,
    OP_CP_ASYNC, /* no meeting: for the trace */
    OP_BOX,      /* the same */
    OP_MBARRIER_WAIT,
    OP_CLUSTER_ARRIVE,
    OP_CLUSTER_WAIT,
    OP_WGMMA_FENCE,
    OP_WGMMA_COMMIT,
    OP_WGMMA_WAIT,
    OP_WGMMA, /* of a warpgroup, ... */
    OP_SETMAXNREG,
    OP_LDMATRIX,
    OP_LDMATRIX_TRANS,
    OP_MMA_F32,
    OP_MMA_F16,
    OP_MMA_S32,
    OP_MMA_F64
} operation_t;

/* What a lane brings to a rendezvous, and what it takes away: `c` of products, `a` of the rest. */
typedef struct request {
    operation_t op;
    tcgemm_emulate_element_t a_type, b_type;
    uint32_t rows, k;
    union {
        uint32_t u[16];
        double d[8];
    } a;
    union {
        uint32_t u[4];
        double d[4];
    } b;
    union {
        uint32_t u[4];
        float f[4];
        double d[4];
    } c;
    char *c_at; /* of wgmma: where the accumulators are */
    tcgemm_emulate_wgmma_t wgmma;
} request_t;

typedef struct copy {
    uint32_t to, size, bytes, group;
    const char *from;
    bool early; /* arrives at once; nobody may rely on it */
} copy_t;

/* Registers that wgmmas add to. */
typedef struct accumulators {
    char *at;
    uint32_t bytes;
    bool is_flying;  /* a wgmma that was not waited for adds to them */
    bool is_touched; /* by loads or stores since the last wgmma.fence */
} accumulators_t;

/* Four registers that a wgmma multiplies. */
typedef struct fragment {
    const char *at;
    uint32_t group;  /* the last that reads them */
    bool is_flying;  /* ... and was not waited for */
    bool is_touched; /* written since the last wgmma.fence */
} fragment_t;

typedef struct thread {
    void *context; /* of the fiber, while it does not run */
    char *stack;
    uint32_t index, warp, lane;
    const char *file; /* where in the source it was last seen */
    uint32_t line;
    request_t request;
    copy_t *copies; /* in flight */
    int num_copies, max_copies;
    uint32_t committed;            /* groups */
    const struct barrier *awaited; /* or NULL: an mbarrier, ... */
    uint32_t awaited_phase;
    accumulators_t sums[MAX_SUMS];
    int num_sums;
    fragment_t fragments[MAX_FRAGMENTS];
    int num_fragments;
    bool is_fenced;   /* by a wgmma.fence, once */
    bool has_arrived; /* at the barrier of the cluster, and not waited there */
} thread_t;

typedef struct warp {
    uint32_t ready, waiting, at_barrier, at_cluster, ended; /* lanes, by bits */
    uint32_t turn;                                          /* __syncwarps so far */
    uint32_t committed, waited;                             /* groups of wgmma */
} warp_t;

/* ---- the shadow of four bytes of shared memory ---- */

enum { MANY = 0x8000, MANY_WARPS = 0xFFFF }; /* in place of a thread: MANY | warp */

typedef struct touch {
    uint32_t epoch; /* __syncthreads before it, from 1 on; 0: never */
    uint32_t turn;
    uint32_t time; /* arrivals of the thread at mbarriers, and meetings, before it */
    uint16_t thread;
    uint8_t bytes;         /* which of the four, in this epoch */
    uint8_t bytes_of_turn; /* ... and in this turn */
} touch_t;

typedef struct cell {
    touch_t write, read;
    uint8_t valid;   /* bytes that were written */
    uint8_t pending; /* bytes that cp.async has yet to bring */
    uint16_t copier; /* the thread that asked for them */
    uint32_t far;    /* barriers of the cluster before another block's last read, or 0 */
    uint32_t late;   /* ... and after a write of one who had arrived there, or 0 */
} cell_t;

/* A block of the cluster. */
typedef struct block {
    uint32_t index, rank;
    thread_t threads[MAX_THREADS];
    warp_t warps[MAX_WARPS];
    uint32_t epoch;
    uint32_t meetings, epoch_of_meeting; /* barriers of the cluster; the epoch behind the last */
    bool is_relaxed; /* somebody has arrived at the next one without a release */
    uint32_t starved;
    uint32_t static_bytes; /* of shared memory, from SHARED_BYTES on */
    cell_t cells[SHARED_ROOM / 4];
} block_t;

typedef struct machine {
    tcgemm_emulate_launch_t *launch;
    block_t *block; /* in hand: it has the turn, and tcgemm_emulate_shared is its shared memory */
    thread_t *self;
    char *stacks;
    void *main_context;
    uint32_t num_warps;
    uint64_t random;
    bool is_stopped; /* by a fault that nothing sensible can follow */
    bool is_telling; /* main is asked to hand on `line` */
    bool trace_is_over;
    char line[320];
} machine_t;

extern machine_t tcgemm_machine;
extern char tcgemm_emulate_shared[SHARED_ROOM];

static inline thread_t *self_thread(void) {
    return tcgemm_machine.self;
}
/* Of the block in hand. */
static inline uint32_t own_rank(void) {
    return tcgemm_machine.block->rank;
}

/* ---- fiber.c ---- */

/* Leaves for another context; returns when somebody comes back. */
void tcgemm_fiber_switch(void **from, void *to);
/* A context that calls start() on this stack; start never returns. */
void *tcgemm_fiber_make(char *stack, size_t bytes, void (*start)(void));

/* ---- machine.c ---- */

/* Leaves a thread that waits or has ended; one that need not. */
void tcgemm_machine_leave(void);

/* The calling thread waits at a barrier of all threads of the block or of its cluster: `lanes` of
 * its warp are there, and a warp that is there as a whole is traced. */
void tcgemm_machine_wait_at(operation_t barrier, uint32_t *lanes);
void tcgemm_machine_give_way(void);
/* All threads of the block have ended. */
bool tcgemm_machine_has_ended(const block_t *block);
bool tcgemm_machine_is_elsewhere(const thread_t *x, const thread_t *y);
const char *tcgemm_machine_name_of(operation_t op);
/* The end of the run, from within a thread. */
void tcgemm_machine_stop(void) __attribute__((noreturn));
uint32_t tcgemm_machine_random(uint32_t end);

/* ---- meet.c ---- */

/* Waits for the other lanes with this thread's request; on return the operation is done. */
void tcgemm_machine_meet(operation_t op);

/* ---- cluster.c ---- */

/* Blocks of a cluster: 1 without. */
uint32_t tcgemm_cluster_size(void);
block_t *tcgemm_cluster_block(uint32_t rank);
/* Has the block of this rank in hand. */
void tcgemm_cluster_take(uint32_t rank);
/* True if threads of the cluster wait at its barrier, all that have not ended; they can go on. */
bool tcgemm_cluster_meet(void);
/* What keeps the running thread from the shared memory of this rank; NULL: nothing. */
const char *tcgemm_cluster_wrong_with(uint32_t rank);
/* Whether a touch by a thread of another rank is behind the cluster's last barrier. */
bool tcgemm_cluster_is_at_once(uint32_t rank, const touch_t *touch);
/* Of a rank's shared memory, wherever it is kept. */
char *tcgemm_cluster_shared(uint32_t rank);

/* ---- shared.c ---- */

void tcgemm_shared_reset(void);
void tcgemm_shared_read(uint32_t at, uint32_t size);
void tcgemm_shared_write(uint32_t at, uint32_t size);
void tcgemm_shared_issue(uint32_t at, uint32_t size);   /* cp.async: poison from now on */
void tcgemm_shared_deliver(uint32_t at, uint32_t size); /* what it brings is there */
/* Whether this touch of bytes may have happened at the same time as the running thread's. */
bool tcgemm_shared_is_at_once(const touch_t *touch, uint8_t bytes);
/* The running thread has these bytes written by somebody else: it must be in order to do so. */
void tcgemm_shared_claim(uint32_t at, uint32_t size);
void tcgemm_machine_ldmatrix(thread_t *lanes, bool trans);

/* ---- memory.c ---- */

void tcgemm_memory_access(const void *address, uint32_t size, bool write);

/* ---- copy.c ---- */

void tcgemm_copy_reset(thread_t *thread);
void tcgemm_copy_end(const thread_t *thread);

/* ---- product.c ---- */

void tcgemm_machine_product(thread_t *lanes);

/* ---- short_sum.c ---- */

/* Row-major, rows so many elements apart: sums (rows x n) += A (rows x k) * B (k x n). */
typedef struct short_product {
    const double *a, *b;
    float *sums;
    uint32_t rows, n, k;
    uint32_t a_pitch, b_pitch, sums_pitch;
} short_product_t;

void tcgemm_machine_multiply_short(const short_product_t *x);

/* ---- report.c ---- */

void tcgemm_machine_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tcgemm_machine_tell(int depth, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool tcgemm_machine_is_told(void) {
    return tcgemm_machine.launch->trace && !tcgemm_machine.trace_is_over;
}

#endif
