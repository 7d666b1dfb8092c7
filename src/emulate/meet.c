/* meet.c - functions of a warp or a warpgroup: who comes last does the work of all. */
#include "emulate/async.h"
#include "emulate/trace.h"

static const uint32_t ALL = 0xFFFFFFFFu;

static bool is_of_warpgroup(operation_t op) {
    return op == OP_WGMMA || op == OP_SETMAXNREG;
}

/* ---- what is done ---- */

static void shuffle(thread_t *lanes) {
    uint32_t values[LANES];
    for (int i = 0; i < LANES; ++i)
        values[i] = lanes[i].request.a.u[0];
    for (int i = 0; i < LANES; ++i) {
        if (lanes[i].request.a.u[2] != ALL)
            tcgemm_machine_fault("a __shfl_sync of some lanes only is not modelled");
        lanes[i].request.a.u[0] = values[lanes[i].request.a.u[1] % LANES];
    }
}

static void perform(thread_t *lanes) {
    switch (lanes->request.op) {
    case OP_SYNCWARP:
        tcgemm_machine.block->warps[lanes->warp].turn += 1;
        tcgemm_async_share(own_rank(), lanes->index, LANES);
        break;
    case OP_SHFL:
        shuffle(lanes);
        break;
    case OP_LDMATRIX:
    case OP_LDMATRIX_TRANS:
        tcgemm_machine_ldmatrix(lanes, lanes->request.op == OP_LDMATRIX_TRANS);
        break;
    case OP_CLUSTER_ARRIVE:
    case OP_CLUSTER_WAIT:
        break;
    case OP_WGMMA_FENCE:
        tcgemm_machine_wgmma_fence(lanes);
        break;
    case OP_WGMMA_COMMIT:
        tcgemm_machine_wgmma_commit(lanes);
        break;
    case OP_WGMMA_WAIT:
        tcgemm_machine_wgmma_wait(lanes);
        break;
    case OP_WGMMA:
        tcgemm_machine_wgmma(lanes);
        break;
    case OP_SETMAXNREG:
        tcgemm_machine_setmaxnreg(lanes);
        break;
    default:
        tcgemm_machine_product(lanes);
        break;
    }
    tcgemm_trace_meeting(lanes);
}

/* ---- who takes part ---- */

static void check_meeting(const thread_t *lanes, int count) {
    const char *const word = count == LANES ? "lane" : "thread";
    const int first = count == LANES ? 0 : (int)lanes->index;
    for (int i = 1; i < count; ++i) {
        const operation_t op = lanes[0].request.op, other = lanes[i].request.op;
        const bool is_one_place = !tcgemm_machine_is_elsewhere(&lanes[0], &lanes[i]);
        if (op == other && is_one_place)
            continue;
        if (op != other)
            tcgemm_machine_fault("%s %d is at %s, %s %d at %s", word, first,
                                 tcgemm_machine_name_of(op), word, first + i,
                                 tcgemm_machine_name_of(other));
        else
            tcgemm_machine_fault("%s %d calls %s in line %u, %s %d in line %u", word, first + i,
                                 tcgemm_machine_name_of(op), lanes[i].line, word, first,
                                 lanes[0].line);
        tcgemm_machine_stop();
    }
}

/* The warps that this one meets with; count: how many. */
static warp_t *party_of(const thread_t *self, operation_t op, uint32_t *count) {
    machine_t *m = &tcgemm_machine;
    *count = is_of_warpgroup(op) ? WARPGROUP : 1;
    const uint32_t first = self->warp / *count * *count;
    if (first + *count > m->num_warps) {
        tcgemm_machine_fault("%s where there is no whole warpgroup", tcgemm_machine_name_of(op));
        tcgemm_machine_stop();
    }
    return &m->block->warps[first];
}

/* All threads of these warps are here. A warp that waits as a whole is at a warpgroup's function.
 */
static bool has_come(const warp_t *warps, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (warps[i].waiting != ALL)
            return false;
    return true;
}

void tcgemm_machine_meet(operation_t op) {
    machine_t *m = &tcgemm_machine;
    thread_t *self = m->self;
    warp_t *warp = &m->block->warps[self->warp];
    const uint32_t bit = 1u << self->lane;
    uint32_t count;
    self->request.op = op;
    warp->ready &= ~bit;
    warp->waiting |= bit;
    if (warp->waiting != ALL) {
        tcgemm_machine_leave();
        return;
    }
    check_meeting(&m->block->threads[self->warp * LANES], LANES);
    warp_t *party = party_of(self, op, &count);
    if (!has_come(party, count)) {
        tcgemm_machine_leave();
        return;
    }
    thread_t *threads = &m->block->threads[(party - m->block->warps) * LANES];
    check_meeting(threads, (int)count * LANES);
    perform(threads);
    for (uint32_t i = 0; i < count; ++i) {
        party[i].waiting = 0;
        party[i].ready = ALL;
    }
    tcgemm_machine_give_way();
}

/* ---- what kernels call ---- */

void tcgemm_emulate_syncwarp(void) {
    tcgemm_machine_meet(OP_SYNCWARP);
}

uint32_t tcgemm_emulate_shfl(uint32_t mask, uint32_t value, uint32_t from) {
    thread_t *self = self_thread();
    self->request.a.u[0] = value;
    self->request.a.u[1] = from;
    self->request.a.u[2] = mask;
    tcgemm_machine_meet(OP_SHFL);
    return self->request.a.u[0];
}
