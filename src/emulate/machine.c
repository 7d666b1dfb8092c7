/* machine.c - threads, warps and blocks: who runs, who waits, and what is waited for in vain. */
#include "emulate/async.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulate/trace.h"

machine_t tcgemm_machine;
/* Aligned as a kernel may ask for; kernels know it by names of their own (CMakeLists.txt). */
char tcgemm_emulate_shared[SHARED_ROOM] __attribute__((aligned(4096)));
uint64_t tcgemm_emulate_num_fma;

static const uint32_t ALL = 0xFFFFFFFFu;

/* splitmix64 */
uint32_t tcgemm_machine_random(uint32_t end) {
    uint64_t x = tcgemm_machine.random += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((x >> 33) % end);
}

/* ---- who runs next ---- */

/* The place in which a warp is asked: the order of the launch. */
static uint32_t warp_at(uint32_t turn) {
    const machine_t *m = &tcgemm_machine;
    switch (m->launch->order) {
    case TCGEMM_EMULATE_LAST:
        return m->num_warps - 1 - turn;
    case TCGEMM_EMULATE_STARVED: /* the last to be asked */
        return (m->block->starved + 1 + turn) % m->num_warps;
    default:
        return turn;
    }
}

static thread_t *ready_lane(uint32_t w) {
    machine_t *m = &tcgemm_machine;
    const uint32_t ready = m->block->warps[w].ready;
    if (!ready)
        return NULL;
    const int lane =
        m->launch->order == TCGEMM_EMULATE_LAST ? 31 - __builtin_clz(ready) : __builtin_ctz(ready);
    return &m->block->threads[w * LANES + (uint32_t)lane];
}

/* A thread that can run: of this warp, else of the first that has one; NULL if nobody can. */
static thread_t *next_thread(uint32_t w) {
    const machine_t *m = &tcgemm_machine;
    thread_t *thread = ready_lane(w);
    if (thread)
        return thread;
    const uint32_t first =
        m->launch->order == TCGEMM_EMULATE_RANDOM ? tcgemm_machine_random(m->num_warps) : 0;
    for (uint32_t i = 0; i < m->num_warps && !thread; ++i)
        thread = ready_lane(warp_at((first + i) % m->num_warps));
    return thread;
}

const char *tcgemm_machine_name_of(operation_t op) {
    static const char *const names[] = {
        "nothing",
        "__syncthreads",
        "__syncwarp",
        "__shfl_sync",
        "cp.async",
        "TMA",
        "an mbarrier",
        "an arrival at the cluster's barrier",
        "the cluster's barrier",
        "wgmma.fence",
        "wgmma.commit",
        "wgmma.wait",
        "wgmma",
        "setmaxnreg",
        "ldmatrix",
        "ldmatrix.trans",
        "mma.sync f32",
        "mma.sync f16",
        "mma.sync s32",
        "mma.sync f64",
    };
    return names[op];
}

static bool has_thread_ended(const thread_t *t) {
    return tcgemm_machine.block->warps[t->warp].ended >> t->lane & 1;
}

static void describe(const thread_t *t, char *text, size_t bytes) {
    if (has_thread_ended(t))
        (void)snprintf(text, bytes, "thread %u has ended", t->index);
    else if (t->awaited)
        tcgemm_barrier_describe(t, text, bytes);
    else
        (void)snprintf(text, bytes, "thread %u waits at %s", t->index,
                       tcgemm_machine_name_of(t->request.op));
}

/* Another thread than `waits` that tells more about why: one that waits elsewhere, else one that
 * has ended. */
static const thread_t *find_other(const thread_t *waits) {
    const machine_t *m = &tcgemm_machine;
    const thread_t *ended = NULL;
    for (uint32_t i = 0; i < m->num_warps * LANES; ++i) {
        const thread_t *t = &m->block->threads[i];
        const bool is_at_barriers = t->awaited || waits->awaited;
        if (has_thread_ended(t))
            ended = ended ? ended : t;
        else if (t->request.op != waits->request.op || t->awaited != waits->awaited)
            return ended && !is_at_barriers ? ended : t;
    }
    return ended;
}

/* Nobody can run, and not all have ended: says who waits for whom. */
static void report_deadlock(void) {
    machine_t *m = &tcgemm_machine;
    const thread_t *waits = m->block->threads;
    char first[160], second[160];
    m->self = NULL;
    while (has_thread_ended(waits))
        ++waits;
    const thread_t *other = find_other(waits);
    describe(waits, first, sizeof first);
    if (other)
        describe(other, second, sizeof second);
    if (!other)
        tcgemm_machine_fault("all threads wait for one another: %s", first);
    else
        tcgemm_machine_fault("%s, but %s", first, second);
    m->is_stopped = true;
}

bool tcgemm_machine_is_elsewhere(const thread_t *x, const thread_t *y) {
    return x->line != y->line || x->file != y->file;
}

/* True if all threads of the block wait at __syncthreads; then they all can go on. */
static bool pass_barrier(void) {
    machine_t *m = &tcgemm_machine;
    for (uint32_t w = 0; w < m->num_warps; ++w)
        if (m->block->warps[w].at_barrier != ALL)
            return false;
    for (uint32_t i = 1; i < m->num_warps * LANES; ++i)
        if (tcgemm_machine_is_elsewhere(&m->block->threads[0], &m->block->threads[i])) {
            tcgemm_machine_fault(
                "thread 0 is at the __syncthreads of line %u, thread %u at that of "
                "line %u",
                m->block->threads[0].line, i, m->block->threads[i].line);
            break;
        }
    for (uint32_t w = 0; w < m->num_warps; ++w) {
        m->block->warps[w].ready = ALL;
        m->block->warps[w].at_barrier = 0;
    }
    tcgemm_async_share(own_rank(), 0, m->num_warps * LANES);
    m->block->epoch += 1;
    return true;
}

bool tcgemm_machine_has_ended(const block_t *block) {
    for (uint32_t w = 0; w < tcgemm_machine.num_warps; ++w)
        if (block->warps[w].ended != ALL)
            return false;
    return true;
}

static bool has_ended(void) {
    return tcgemm_machine_has_ended(tcgemm_machine.block);
}

/* When nobody can run, barriers are passed, and boxes come. */
void tcgemm_machine_leave(void) {
    machine_t *m = &tcgemm_machine;
    thread_t *self = m->self;
    thread_t *next = next_thread(self->warp);
    if (!next && pass_barrier())
        next = next_thread(self->warp);
    while (!next && !has_ended() && tcgemm_box_bring())
        next = next_thread(self->warp);
    if (next == self)
        return;
    if (next) {
        m->self = next;
        tcgemm_fiber_switch(&self->context, next->context);
    } else {
        tcgemm_fiber_switch(&self->context, m->main_context);
    }
}

void tcgemm_machine_stop(void) {
    machine_t *m = &tcgemm_machine;
    m->is_stopped = true;
    for (;;)
        tcgemm_fiber_switch(&m->self->context, m->main_context);
}

/* In random order it is now and then another warp's turn, or another block's. */
void tcgemm_machine_give_way(void) {
    machine_t *m = &tcgemm_machine;
    thread_t *self = m->self;
    if (m->launch->order != TCGEMM_EMULATE_RANDOM || tcgemm_machine_random(16) != 0)
        return;
    if (tcgemm_cluster_size() > 1 && tcgemm_machine_random(8) == 0) {
        tcgemm_fiber_switch(&self->context, m->main_context);
        return;
    }
    m->self = next_thread(tcgemm_machine_random(m->num_warps));
    if (m->self != self)
        tcgemm_fiber_switch(&self->context, m->self->context);
}

/* ---- what kernels call ---- */

void tcgemm_emulate_here(const char *file, uint32_t line) {
    thread_t *self = self_thread();
    self->file = file;
    self->line = line;
}

void tcgemm_machine_wait_at(operation_t barrier, uint32_t *lanes) {
    thread_t *self = self_thread();
    self->request.op = barrier;
    tcgemm_machine.block->warps[self->warp].ready &= ~(1u << self->lane);
    *lanes |= 1u << self->lane;
    if (*lanes == ALL)
        tcgemm_trace_barrier(self);
    tcgemm_machine_leave();
}

void tcgemm_emulate_syncthreads(void) {
    tcgemm_machine_wait_at(OP_SYNCTHREADS,
                           &tcgemm_machine.block->warps[self_thread()->warp].at_barrier);
}

/* ---- static shared memory: behind the dynamic one ---- */

void *tcgemm_emulate_static_shared(uint32_t bytes) {
    machine_t *m = &tcgemm_machine;
    if (m->block->static_bytes == 0) {
        if (bytes > SHARED_ROOM - SHARED_BYTES)
            tcgemm_machine_fault("%u bytes of static shared memory are not modelled", bytes);
        m->block->static_bytes = bytes;
        memset(tcgemm_emulate_shared + SHARED_BYTES, POISON, bytes);
    } else if (m->block->static_bytes != bytes) {
        tcgemm_machine_fault("a second array of static shared memory is not modelled");
    }
    return tcgemm_emulate_shared + SHARED_BYTES;
}

/* ---- a thread ---- */

tcgemm_emulate_dim_t tcgemm_emulate_thread_idx(void) {
    return (tcgemm_emulate_dim_t){tcgemm_machine.self->index, 0, 0};
}
tcgemm_emulate_dim_t tcgemm_emulate_block_idx(void) {
    return (tcgemm_emulate_dim_t){tcgemm_machine.block->index, 0, 0};
}
tcgemm_emulate_dim_t tcgemm_emulate_block_dim(void) {
    return (tcgemm_emulate_dim_t){tcgemm_machine.launch->block, 1, 1};
}
tcgemm_emulate_dim_t tcgemm_emulate_grid_dim(void) {
    return (tcgemm_emulate_dim_t){tcgemm_machine.launch->grid, 1, 1};
}

typedef struct parameters {
    _Alignas(64) uint64_t word[PARAMETER_WORDS]; /* as a tensor map wants it */
} parameters_t;

/* A struct of more than two words is passed as a copy in memory, so that one with room to spare
 * serves any; a few words are passed as numbers. */
static void call_kernel(const tcgemm_emulate_launch_t *launch) {
    parameters_t p;
    void (*of_struct)(parameters_t) = NULL;
    void (*of_words)(uint64_t, uint64_t, uint64_t, uint64_t) = NULL;
    memset(&p, 0, sizeof p);
    memcpy(&p, launch->parameters, launch->parameter_bytes);
    if (launch->parameter_bytes > 32) {
        memcpy(&of_struct, &launch->kernel, sizeof of_struct);
        of_struct(p);
    } else {
        memcpy(&of_words, &launch->kernel, sizeof of_words);
        of_words(p.word[0], p.word[1], p.word[2], p.word[3]);
    }
}

static void run_thread(void) {
    machine_t *m = &tcgemm_machine;
    call_kernel(m->launch);
    thread_t *self = m->self;
    warp_t *warp = &m->block->warps[self->warp];
    tcgemm_copy_end(self);
    tcgemm_box_end(self);
    tcgemm_wgmma_end(self);
    warp->ready &= ~(1u << self->lane);
    warp->ended |= 1u << self->lane;
    if (warp->ended == ALL)
        tcgemm_trace_barrier(self);
    for (;;)
        tcgemm_machine_leave();
}

/* ---- blocks ---- */

static void make_threads(void) {
    machine_t *m = &tcgemm_machine;
    const size_t first = (size_t)own_rank() * m->launch->block;
    for (uint32_t i = 0; i < m->launch->block; ++i) {
        thread_t *t = &m->block->threads[i];
        t->stack = m->stacks + (first + i) * STACK_BYTES + STACK_GUARD;
        t->index = i;
        t->warp = i / LANES;
        t->lane = i % LANES;
        t->file = "the start";
        t->line = 0;
        t->context = tcgemm_fiber_make(t->stack, STACK_BYTES - STACK_GUARD, run_thread);
        tcgemm_copy_reset(t);
        t->awaited = NULL;
        t->num_sums = 0;
        t->num_fragments = 0;
        t->is_fenced = false;
        t->has_arrived = false;
    }
    for (uint32_t w = 0; w < m->num_warps; ++w)
        m->block->warps[w] = (warp_t){.ready = ALL};
}

/* The block in hand, from its start. */
static void begin_block(uint32_t index) {
    machine_t *m = &tcgemm_machine;
    block_t *b = m->block;
    b->index = index;
    b->epoch = 1;
    b->meetings = b->epoch_of_meeting = 0;
    b->is_relaxed = false;
    b->static_bytes = 0;
    b->starved = tcgemm_machine_random(m->num_warps);
    m->self = NULL;
    make_threads();
    tcgemm_shared_reset();
    tcgemm_async_reset();
    tcgemm_trace_block();
}

/* The block in hand, until none of its threads can run; false: none could. `again`: it has run
 * before, and others of its cluster since. */
static bool run_block(bool again) {
    machine_t *m = &tcgemm_machine;
    thread_t *next = next_thread(warp_at(0));
    while (!next && !has_ended() && tcgemm_box_bring())
        next = next_thread(warp_at(0));
    if (!next)
        return false;
    if (again)
        tcgemm_trace_turn();
    while (next) {
        m->self = next;
        tcgemm_fiber_switch(&m->main_context, next->context);
        next = NULL;
        if (m->is_telling) { /* report.c */
            m->is_telling = false;
            m->trace_is_over = m->launch->trace(m->launch->trace_user, m->line) != 0;
            next = m->self;
        }
    }
    m->self = NULL;
    return true;
}

/* One that others of its cluster have had to wait for, or that waits for them. */
static bool go_on_with(uint32_t rank) {
    tcgemm_cluster_take(rank);
    tcgemm_box_turn();
    return run_block(true);
}

static void end_block(void) {
    machine_t *m = &tcgemm_machine;
    if (!m->is_stopped && !has_ended())
        report_deadlock();
    m->self = NULL;
    if (!m->is_stopped)
        tcgemm_async_end();
}

/* Blocks, and clusters of them, do not wait for one another: any order is as good as any other. So
 * is any order of the blocks of a cluster between two of its barriers. */
static uint32_t turn_of(uint32_t i, uint32_t count) {
    const tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    if (launch->order == TCGEMM_EMULATE_LAST)
        return count - 1 - i;
    if (launch->order == TCGEMM_EMULATE_STARVED)
        return (uint32_t)((launch->seed % count + 1 + i) % count);
    return i;
}

/* The ranks in turns, until none of them can go on; without clusters the one block. */
static void run_cluster(uint32_t cluster) {
    const machine_t *m = &tcgemm_machine;
    const uint32_t ranks = tcgemm_cluster_size();
    bool any = true;
    for (uint32_t i = 0; i < ranks && !m->is_stopped; ++i) {
        const uint32_t rank = turn_of(i, ranks);
        tcgemm_cluster_take(rank);
        begin_block(cluster * ranks + rank);
        (void)run_block(false);
    }
    while (any && !m->is_stopped) {
        any = false;
        for (uint32_t i = 0; i < ranks && !m->is_stopped; ++i)
            any = go_on_with(turn_of(i, ranks)) || any;
        any = any || (!m->is_stopped && tcgemm_cluster_meet());
    }
    for (uint32_t rank = 0; rank < ranks && !m->is_stopped; ++rank) {
        tcgemm_cluster_take(rank);
        end_block();
    }
}

static void run_grid(void) {
    const machine_t *m = &tcgemm_machine;
    const uint32_t clusters = m->launch->grid / tcgemm_cluster_size();
    for (uint32_t i = 0; i < clusters && !m->is_stopped; ++i)
        run_cluster(turn_of(i, clusters));
}

/* ---- the door ---- */

static bool is_a_launch(const tcgemm_emulate_launch_t *x) {
    return x && x->struct_size == sizeof *x && x->kernel && x->parameters && x->grid > 0 &&
           x->block > 0 && x->block % LANES == 0 && x->block <= MAX_THREADS &&
           x->ranks <= MAX_RANKS && (x->ranks <= 1 || x->grid % x->ranks == 0) &&
           (x->ranks <= 1 || x->block * x->ranks <= MAX_STACKS) && x->smem_bytes <= SHARED_BYTES &&
           x->parameter_bytes <= sizeof(parameters_t) && (int)x->order >= 0 &&
           x->order < TCGEMM_EMULATE_NUM_ORDERS;
}

/* Stacks for all threads, each with a page below it that nobody may touch; kept for the next run.
 */
static bool make_stacks(void) {
    machine_t *m = &tcgemm_machine;
    if (m->stacks)
        return true;
    const size_t bytes = (size_t)MAX_STACKS * STACK_BYTES;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    m->stacks = memory;
    for (int i = 0; i < MAX_STACKS; ++i)
        (void)mprotect(m->stacks + (size_t)i * STACK_BYTES, STACK_GUARD, PROT_NONE);
    return true;
}

static void run(tcgemm_emulate_launch_t *launch) {
    machine_t *m = &tcgemm_machine;
    fenv_t modes;
    (void)feholdexcept(&modes);
    (void)fesetenv(FE_DFL_ENV);
    m->launch = launch;
    m->num_warps = launch->block / LANES;
    m->random = launch->seed;
    m->is_stopped = m->is_telling = m->trace_is_over = false;
    tcgemm_emulate_num_fma = 0;
    tcgemm_trace_begin();
    run_grid();
    launch->trace_was_stopped = m->trace_is_over;
    launch->num_fma = (int64_t)tcgemm_emulate_num_fma;
    launch->num_macs += launch->num_fma;
    launch->operand_reads += 2 * launch->num_fma;
    (void)fesetenv(&modes);
}

__attribute__((visibility("default"))) int tcgemm_emulate_run(tcgemm_emulate_launch_t *launch) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (!is_a_launch(launch))
        return 2;
    (void)pthread_mutex_lock(&mutex);
    tcgemm_machine.launch = launch;
    tcgemm_machine.block = tcgemm_cluster_block(0);
    const bool has_room = make_stacks();
    if (has_room)
        run(launch);
    (void)pthread_mutex_unlock(&mutex);
    return has_room ? 0 : 1;
}
