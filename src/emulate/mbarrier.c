/* mbarrier.c - barriers that count arrivals and bytes, and what a thread knows by them. */
#include <stdio.h>
#include <string.h>

#include "emulate/async.h"
#include "emulate/trace.h"

async_t tcgemm_asyncs[MAX_RANKS];

/* ---- knowledge ---- */

static void learn_of(uint32_t *to, const uint32_t *from, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* What one of another block knows that is of use to others: not how far its threads had come. */
static void learn_from_afar(known_t *to, const known_t *from) {
    for (uint32_t r = 0; r < tcgemm_cluster_size(); ++r) {
        learn_of(to->phases[r], from->phases[r], tcgemm_asyncs[r].num_barriers);
        learn_of(to->groups[r], from->groups[r], tcgemm_machine.num_warps);
    }
}

static void learn(known_t *to, const known_t *from) {
    learn_from_afar(to, from);
    learn_of(to->times, from->times, tcgemm_machine.num_warps * LANES);
}

/* As much as one who knows all that it knows. */
static void know_the_same(known_t *to, const known_t *from) {
    for (uint32_t r = 0; r < tcgemm_cluster_size(); ++r) {
        memcpy(to->phases[r], from->phases[r],
               sizeof to->phases[r][0] * tcgemm_asyncs[r].num_barriers);
        memcpy(to->groups[r], from->groups[r], sizeof to->groups[r][0] * tcgemm_machine.num_warps);
    }
    memcpy(to->times, from->times, sizeof to->times[0] * tcgemm_machine.num_warps * LANES);
}

void tcgemm_async_share(uint32_t rank, uint32_t first, uint32_t count) {
    known_t *known = &tcgemm_asyncs[rank].known[first];
    if (tcgemm_asyncs[rank].num_barriers == 0)
        return;
    for (uint32_t i = 0; i < count; ++i) /* what each did before, the others know from here on */
        known[i].times[first + i] += 1;
    for (uint32_t i = 1; i < count; ++i)
        learn(known, known + i);
    for (uint32_t i = 1; i < count; ++i)
        know_the_same(known + i, known);
}

/* They have met in their blocks, so that one thread of each has all that its block knows. */
void tcgemm_async_share_all(void) {
    known_t *known = tcgemm_asyncs[0].known;
    for (uint32_t r = 1; r < tcgemm_cluster_size(); ++r)
        learn_from_afar(known, tcgemm_asyncs[r].known);
    for (uint32_t r = 0; r < tcgemm_cluster_size(); ++r)
        for (uint32_t i = 0; i < tcgemm_machine.num_warps * LANES; ++i)
            learn_from_afar(&tcgemm_asyncs[r].known[i], known);
}

void tcgemm_async_common(const thread_t *threads, uint32_t count, known_t *common) {
    const uint32_t own = own_rank();
    const known_t *known = known_by(threads);
    memcpy(common, known, sizeof *common);
    for (uint32_t i = 1; i < count; ++i)
        for (uint32_t b = 0; b < own_async()->num_barriers; ++b)
            if (known[i].phases[own][b] < common->phases[own][b])
                common->phases[own][b] = known[i].phases[own][b];
}

/* ---- phases ---- */

static void wake(const barrier_t *barrier) {
    block_t *block = tcgemm_cluster_block(barrier->rank);
    for (uint32_t i = 0; i < tcgemm_machine.num_warps * LANES; ++i) {
        const thread_t *t = &block->threads[i];
        if (t->awaited != barrier)
            continue;
        if (t->awaited_phase != barrier->phase)
            tcgemm_machine_fault("thread %u waited for phase %u of the mbarrier at %u and was not "
                                 "seen before phase %u ended: it would wait on",
                                 i, t->awaited_phase, barrier->at, barrier->phase);
        block->warps[t->warp].ready |= 1u << t->lane;
    }
}

static void end_phase_if_complete(barrier_t *b) {
    const uint32_t index = (uint32_t)(b - tcgemm_asyncs[b->rank].barriers);
    if (b->missing > 0 || b->bytes != 0)
        return;
    tcgemm_trace_phase(b->at, b->phase);
    wake(b);
    b->phase += 1;
    b->missing = b->arrivals;
    b->next.phases[b->rank][index] = b->phase;
    memcpy(&b->done, &b->next, sizeof b->done);
}

/* When all have arrived, no more bytes can be announced in this phase. */
static void check_bytes(const barrier_t *b) {
    if (b->missing > 0 || b->coming <= b->bytes)
        return;
    tcgemm_machine_fault(
        "the mbarrier at %u expects %lld more bytes in phase %u, but boxes of %lld "
        "are under way",
        b->at, (long long)b->bytes, b->phase, (long long)b->coming);
    tcgemm_machine_stop();
}

void tcgemm_barrier_expect(barrier_t *b, uint32_t bytes) {
    if (!b->is_fenced)
        tcgemm_machine_fault("a box counts on the mbarrier at %u, which no fence has made known "
                             "to copies",
                             b->at);
    b->coming += bytes;
    check_bytes(b);
}

void tcgemm_barrier_complete(barrier_t *b, uint32_t bytes) {
    b->coming -= bytes;
    b->bytes -= bytes;
    b->boxes = b->phase + 1;
    end_phase_if_complete(b);
}

/* ---- what kernels call ---- */

static barrier_t *find(async_t *x, uint32_t at) {
    for (uint32_t i = 0; i < x->num_barriers; ++i)
        if (x->barriers[i].at == at)
            return &x->barriers[i];
    return NULL;
}

static void check_rank(uint32_t rank, uint32_t at, const char *what) {
    const char *wrong = tcgemm_cluster_wrong_with(rank);
    if (!wrong)
        return;
    tcgemm_machine_fault("%s of the mbarrier at %u of rank %u, %s", what, at, rank, wrong);
    tcgemm_machine_stop();
}

barrier_t *tcgemm_barrier_use(uint32_t rank, uint32_t at, const char *what) {
    const bool is_own = rank == own_rank();
    if (!is_own)
        check_rank(rank, at, what);
    barrier_t *b = find(&tcgemm_asyncs[rank], at);
    if (!b) {
        tcgemm_machine_fault("%s of shared byte %u, where nobody has made an mbarrier", what, at);
        tcgemm_machine_stop();
    }
    if (!is_own && tcgemm_cluster_is_at_once(rank, &b->made))
        tcgemm_machine_fault("%s of the mbarrier at %u, which rank %u has made since the last "
                             "barrier of the cluster",
                             what, at, rank);
    if (is_own && tcgemm_shared_is_at_once(&b->made, 0xF))
        tcgemm_machine_fault("%s of the mbarrier at %u, which thread %u has made since the last "
                             "barrier",
                             what, at, b->made.thread);
    return b;
}

void tcgemm_emulate_mbarrier_init(uint32_t at, uint32_t arrivals) {
    async_t *x = own_async();
    const machine_t *m = &tcgemm_machine;
    const char *wrong = at % 8 != 0                              ? "is not aligned to 8 bytes"
                        : find(x, at)                            ? "is made again"
                        : x->num_barriers == MAX_BARRIERS        ? "is one too many for the model"
                        : arrivals == 0                          ? "waits for nobody"
                        : arrivals > (uint32_t)MAX_BARRIER_COUNT ? "counts too many arrivals"
                                                                 : NULL;
    if (wrong) {
        tcgemm_machine_fault("the mbarrier at %u %s", at, wrong);
        tcgemm_machine_stop();
    }
    tcgemm_shared_write(at, 8);
    barrier_t *b = &x->barriers[x->num_barriers++];
    memset(b, 0, sizeof *b);
    b->rank = own_rank();
    b->at = at;
    b->arrivals = b->missing = arrivals;
    b->made = (touch_t){.epoch = m->block->epoch,
                        .turn = m->block->warps[m->self->warp].turn,
                        .time = x->known[m->self->index].times[m->self->index],
                        .thread = (uint16_t)m->self->index,
                        .bytes = 0xF,
                        .bytes_of_turn = 0xF};
}

void tcgemm_emulate_mbarrier_fence_init(void) {
    async_t *x = own_async();
    for (uint32_t i = 0; i < x->num_barriers; ++i)
        if (x->barriers[i].made.thread == self_thread()->index)
            x->barriers[i].is_fenced = true;
}

static void arrive(uint32_t rank, uint32_t at, uint32_t bytes) {
    const uint32_t self = self_thread()->index;
    barrier_t *b = tcgemm_barrier_use(rank, at, "an arrival");
    known_t *known = known_by(self_thread());
    if (b->missing == 0) {
        tcgemm_machine_fault("one more arrival at the mbarrier at %u than the %u that it was made "
                             "for, in phase %u",
                             at, b->arrivals, b->phase);
        tcgemm_machine_stop();
    }
    if (b->bytes + bytes > MAX_BARRIER_COUNT)
        tcgemm_machine_fault("the mbarrier at %u is told of %lld bytes: more than it can count", at,
                             (long long)b->bytes + bytes);
    known->times[self] += 1;
    if (rank == own_rank())
        learn(&b->next, known);
    else
        learn_from_afar(&b->next, known);
    b->bytes += bytes;
    b->missing -= 1;
    check_bytes(b);
    end_phase_if_complete(b);
    tcgemm_box_tick();
    tcgemm_machine_give_way();
}

void tcgemm_emulate_mbarrier_arrive(uint32_t at, uint32_t bytes) {
    arrive(own_rank(), at, bytes);
}

void tcgemm_emulate_mbarrier_arrive_at(uint32_t at, uint32_t rank) {
    arrive(rank, at, 0);
}

void tcgemm_emulate_mbarrier_wait(uint32_t at, uint32_t parity) {
    thread_t *self = self_thread();
    barrier_t *b = tcgemm_barrier_use(own_rank(), at, "a wait");
    if (parity > 1) {
        tcgemm_machine_fault("a phase of parity %u of the mbarrier at %u", parity, at);
        tcgemm_machine_stop();
    }
    if (b->phase % 2 == parity) {
        self->request.op = OP_MBARRIER_WAIT;
        self->awaited = b;
        self->awaited_phase = b->phase;
        tcgemm_machine.block->warps[self->warp].ready &= ~(1u << self->lane);
        tcgemm_box_tick();
        tcgemm_machine_leave();
        self->awaited = NULL;
    } else {
        tcgemm_machine_give_way();
    }
    learn(known_by(self), &b->done);
}

/* ---- reports ---- */

void tcgemm_barrier_describe(const thread_t *t, char *text, size_t bytes) {
    const barrier_t *b = t->awaited;
    (void)snprintf(text, bytes,
                   "thread %u waits for phase %u of the mbarrier at %u: %u of %u arrivals and %lld "
                   "bytes are missing",
                   t->index, t->awaited_phase, b->at, b->missing, b->arrivals, (long long)b->bytes);
}

/* Whether some thread has waited for all its boxes. */
static bool has_been_waited_for(uint32_t barrier) {
    const machine_t *m = &tcgemm_machine;
    const async_t *x = own_async();
    for (uint32_t i = 0; i < m->num_warps * LANES; ++i)
        if (x->known[i].phases[own_rank()][barrier] >= x->barriers[barrier].boxes)
            return true;
    return false;
}

void tcgemm_async_end(void) {
    const async_t *x = own_async();
    for (uint32_t i = 0; i < x->num_barriers; ++i) {
        const barrier_t *b = &x->barriers[i];
        if (b->coming > 0)
            tcgemm_machine_fault("the block ends while %lld bytes are under way to the mbarrier at "
                                 "%u",
                                 (long long)b->coming, b->at);
        else if (b->missing != b->arrivals || b->bytes != 0)
            tcgemm_machine_fault("the block ends within phase %u of the mbarrier at %u: %u of %u "
                                 "arrivals and %lld bytes are missing",
                                 b->phase, b->at, b->missing, b->arrivals, (long long)b->bytes);
        else if (!has_been_waited_for(i))
            tcgemm_machine_fault("the block ends, and boxes that were under way in phase %u of the "
                                 "mbarrier at %u were not waited for",
                                 b->boxes - 1, b->at);
    }
    tcgemm_machine_count_registers();
}

void tcgemm_async_reset(void) {
    async_t *x = own_async();
    const machine_t *m = &tcgemm_machine;
    memset(x->lines, 0, (m->launch->smem_bytes + LINE - 1) / LINE * sizeof *x->lines);
    if (x->num_barriers > 0)
        memset(x->known, 0, MAX_THREADS * sizeof *x->known);
    x->num_barriers = 0;
    tcgemm_line_reset();
    tcgemm_box_reset();
    tcgemm_wgmma_reset();
}
