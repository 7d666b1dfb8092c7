/* shared.c - shared memory by its 32-bit addresses, and the shadow that knows who did what. */
#include <string.h>

#include "emulate/async.h"
#include "emulate/trace.h"

/* ---- the shadow ---- */

void tcgemm_shared_reset(void) {
    machine_t *m = &tcgemm_machine;
    const size_t bytes = m->launch->smem_bytes;
    memset(tcgemm_emulate_shared, POISON, bytes);
    memset(m->block->cells, 0, (bytes + 3) / 4 * sizeof *m->block->cells);
    memset(m->block->cells + SHARED_BYTES / 4, 0,
           (SHARED_ROOM - SHARED_BYTES) / 4 * sizeof *m->block->cells); /* static */
}

static void check_bounds(uint32_t at, uint32_t size, const char *what) {
    const size_t bytes = tcgemm_machine.launch->smem_bytes;
    if (at <= bytes && size <= bytes - at)
        return;
    if (at >= SHARED_BYTES && at + size <= SHARED_BYTES + tcgemm_machine.block->static_bytes)
        return;
    tcgemm_machine_fault("%u bytes at %u of shared memory are %s, but there are %zu", size, at,
                         what, bytes);
    tcgemm_machine_stop();
}

bool tcgemm_shared_is_at_once(const touch_t *touch, uint8_t bytes) {
    const machine_t *m = &tcgemm_machine;
    const thread_t *self = m->self;
    if (touch->epoch != m->block->epoch || !(touch->bytes & bytes) || touch->thread == self->index)
        return false;
    const bool is_many = touch->thread & MANY;
    if (!is_many && known_by(self)->times[touch->thread] > touch->time)
        return false;
    const uint32_t warp = is_many ? touch->thread & ~(uint32_t)MANY : touch->thread / LANES;
    if (touch->thread == MANY_WARPS || warp != self->warp)
        return true;
    return touch->turn == m->block->warps[self->warp].turn && touch->bytes_of_turn & bytes;
}

/* Whether one thread alone touched the bytes, and this one knows that it has: who comes behind this
 * one comes behind that one, too. */
static bool is_behind(const touch_t *touch, uint8_t bytes, const thread_t *self) {
    return !(touch->thread & MANY) && (touch->bytes & ~bytes) == 0 &&
           known_by(self)->times[touch->thread] > touch->time;
}

static void add_touch(touch_t *touch, uint8_t bytes, const thread_t *self) {
    const machine_t *m = &tcgemm_machine;
    if (touch->epoch == m->block->epoch && is_behind(touch, bytes, self))
        touch->epoch = 0;
    const uint32_t turn = m->block->warps[self->warp].turn;
    const uint32_t time = known_by(self)->times[self->index];
    const uint32_t warp =
        touch->thread & MANY ? touch->thread & ~(uint32_t)MANY : touch->thread / LANES;
    const bool is_same =
        touch->epoch == m->block->epoch && warp == self->warp && touch->turn == turn;
    const uint8_t bytes_of_turn = (uint8_t)((is_same ? touch->bytes_of_turn : 0) | bytes);
    if (touch->epoch != m->block->epoch || touch->thread == self->index) {
        const uint8_t others = touch->epoch == m->block->epoch ? touch->bytes : 0;
        *touch = (touch_t){m->block->epoch,           turn,         time, (uint16_t)self->index,
                           (uint8_t)(others | bytes), bytes_of_turn};
        return;
    }
    touch->thread = (uint16_t)(touch->thread != MANY_WARPS && warp == self->warp ? MANY | self->warp
                                                                                 : MANY_WARPS);
    touch->turn = turn;
    touch->bytes |= bytes;
    touch->bytes_of_turn = bytes_of_turn;
}

static void report_race(uint32_t at, const touch_t *touch, const char *did, const char *was) {
    if (touch->thread & MANY)
        tcgemm_machine_fault("race: shared byte %u is %s, and several threads have %s it since "
                             "the last barrier",
                             at, did, was);
    else
        tcgemm_machine_fault("race: shared byte %u is %s, and thread %u has %s it since the last "
                             "barrier",
                             at, did, touch->thread, was);
}

/* The bytes of cell `i` that [at, end) covers, as bits. */
static uint8_t bytes_of(uint32_t i, uint32_t at, uint32_t end) {
    const uint32_t first = at > 4 * i ? at - 4 * i : 0;
    const uint32_t last = end < 4 * i + 4 ? end - 4 * i : 4;
    return (uint8_t)((1u << last) - (1u << first));
}

void tcgemm_shared_read(uint32_t at, uint32_t size) {
    machine_t *m = &tcgemm_machine;
    const thread_t *self = m->self;
    check_bounds(at, size, "read");
    m->launch->shared_reads += size;
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        cell_t *cell = &m->block->cells[i];
        const uint8_t bytes = bytes_of(i, at, at + size);
        if (cell->pending & bytes)
            tcgemm_machine_fault("shared byte %u is read, which a cp.async of thread %u has yet to "
                                 "bring",
                                 4 * i, cell->copier);
        else if ((cell->valid & bytes) != bytes)
            tcgemm_machine_fault("shared byte %u is read, which nobody has written", 4 * i);
        else if (tcgemm_shared_is_at_once(&cell->write, bytes))
            report_race(4 * i, &cell->write, "read", "written");
        add_touch(&cell->read, bytes, self);
    }
    tcgemm_line_load(at, size);
}

void tcgemm_shared_multiply(uint32_t at, uint32_t size, const known_t *known) {
    const block_t *block = tcgemm_machine.block;
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        const cell_t *cell = &block->cells[i];
        const touch_t *by = &cell->write;
        if (cell->valid != 0xF) {
            tcgemm_machine_fault("a wgmma reads shared byte %u, which nobody has brought", 4 * i);
            return;
        }
        if (by->epoch == block->epoch &&
            (by->thread & MANY || known->times[by->thread] <= by->time)) {
            tcgemm_machine_fault("race: a wgmma reads shared byte %u, and it cannot know that who "
                                 "wrote it has done so",
                                 4 * i);
            return;
        }
    }
}

/* Whether a load may happen at the same time as the running thread's write: of several threads' the
 * line knows more than the touch. */
static bool is_read_at_once(const cell_t *cell, uint32_t i, uint8_t bytes) {
    return tcgemm_shared_is_at_once(&cell->read, bytes) &&
           !(cell->read.thread & MANY && tcgemm_line_loads_are_behind(4 * i));
}

/* Whether somebody else is in the way of a write. */
static void check_claim(const cell_t *cell, uint32_t i, uint8_t bytes) {
    if (cell->far && cell->far == tcgemm_machine.block->meetings)
        tcgemm_machine_fault("race: shared byte %u is written, and another block has read it since "
                             "the last barrier of the cluster",
                             4 * i);
    if (cell->pending & bytes)
        tcgemm_machine_fault("shared byte %u is written, which a cp.async of thread %u has yet to "
                             "write",
                             4 * i, cell->copier);
    if (tcgemm_shared_is_at_once(&cell->write, bytes))
        report_race(4 * i, &cell->write, "written", "written");
    if (is_read_at_once(cell, i, bytes))
        report_race(4 * i, &cell->read, "written", "read");
}

/* What a write means to the others, be it there at once or later. */
static void claim(cell_t *cell, uint32_t i, uint8_t bytes) {
    check_claim(cell, i, bytes);
    add_touch(&cell->write, bytes, tcgemm_machine.self);
}

void tcgemm_shared_claim(uint32_t at, uint32_t size) {
    const block_t *block = tcgemm_machine.block;
    bool by_many = false;
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        const cell_t *cell = &block->cells[i];
        check_claim(cell, i, 0xF);
        by_many = by_many || (cell->read.epoch == block->epoch && cell->read.thread & MANY);
    }
    if (by_many)
        tcgemm_line_check_loads(at);
}

void tcgemm_shared_write(uint32_t at, uint32_t size) {
    machine_t *m = &tcgemm_machine;
    check_bounds(at, size, "written");
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        const uint8_t bytes = bytes_of(i, at, at + size);
        claim(&m->block->cells[i], i, bytes);
        m->block->cells[i].valid |= bytes;
        if (m->self->has_arrived)
            m->block->cells[i].late = m->block->meetings + 1;
    }
    tcgemm_line_store(at, size);
    tcgemm_trace_forget(at, size);
}

void tcgemm_shared_issue(uint32_t at, uint32_t size) {
    machine_t *m = &tcgemm_machine;
    check_bounds(at, size, "written");
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        claim(&m->block->cells[i], i, 0xF);
        m->block->cells[i].pending = 0xF;
        m->block->cells[i].copier = (uint16_t)m->self->index;
    }
    tcgemm_line_store(at, size);
}

void tcgemm_shared_deliver(uint32_t at, uint32_t size) {
    machine_t *m = &tcgemm_machine;
    for (uint32_t i = at / 4; 4 * i < at + size; ++i) {
        cell_t *cell = &m->block->cells[i];
        cell->pending = 0;
        cell->valid = 0xF;
        if (is_read_at_once(cell, i, 0xF))
            report_race(4 * i, &cell->read, "written by cp.async", "read");
        add_touch(&cell->write, 0xF, m->self);
    }
}

/* ---- what kernels call ---- */

uint32_t tcgemm_emulate_shared_address(const void *p) {
    const uintptr_t at = (uintptr_t)p - (uintptr_t)tcgemm_emulate_shared;
    if (at >= SHARED_ROOM) {
        tcgemm_machine_fault("an address that is not in shared memory is taken for one");
        tcgemm_machine_stop();
    }
    return (uint32_t)at;
}

static void load(void *to, uint32_t from, uint32_t size) {
    if (from % size != 0) {
        tcgemm_machine_fault("%u bytes of shared memory are read at %u", size, from);
        tcgemm_machine_stop();
    }
    tcgemm_shared_read(from, size);
    memcpy(to, tcgemm_emulate_shared + from, size);
    tcgemm_trace_shared_read(from, size);
}

uint32_t tcgemm_emulate_lds_32(uint32_t from) {
    uint32_t r;
    load(&r, from, sizeof r);
    return r;
}

tcgemm_emulate_u2_t tcgemm_emulate_lds_64(uint32_t from) {
    tcgemm_emulate_u2_t r;
    load(&r, from, sizeof r);
    return r;
}

tcgemm_emulate_u4_t tcgemm_emulate_lds_128(uint32_t from) {
    tcgemm_emulate_u4_t r;
    load(&r, from, sizeof r);
    return r;
}

tcgemm_emulate_d2_t tcgemm_emulate_lds_128_f64(uint32_t from) {
    tcgemm_emulate_d2_t r;
    load(&r, from, sizeof r);
    return r;
}

static void store(uint32_t to, const void *from, uint32_t size) {
    if (to % size != 0) {
        tcgemm_machine_fault("%u bytes of shared memory are written at %u", size, to);
        tcgemm_machine_stop();
    }
    tcgemm_shared_write(to, size);
    memcpy(tcgemm_emulate_shared + to, from, size);
}

void tcgemm_emulate_sts_32(uint32_t to, uint32_t value) {
    store(to, &value, sizeof value);
}

void tcgemm_emulate_sts_64(uint32_t to, tcgemm_emulate_u2_t value) {
    store(to, &value, sizeof value);
}

void tcgemm_emulate_sts_128(uint32_t to, tcgemm_emulate_u4_t value) {
    store(to, &value, sizeof value);
}

tcgemm_emulate_u4_t tcgemm_emulate_ldmatrix_x4(uint32_t from, int trans) {
    thread_t *self = self_thread();
    self->request.b.u[0] = from;
    load(self->request.a.u, from, 16);
    tcgemm_machine_meet(trans ? OP_LDMATRIX_TRANS : OP_LDMATRIX);
    tcgemm_emulate_u4_t r;
    memcpy(&r, &self->request.a.u[8], sizeof r);
    return r;
}

/* PTX ISA, "ldmatrix": lane l has read row l % 8 of matrix l / 8. It receives of each matrix
 * columns 2(l % 4) and the next of row l / 4; transposed, rows 2(l % 4) and the next of column
 * l / 4. */
void tcgemm_machine_ldmatrix(thread_t *lanes, bool trans) {
    uint16_t matrix[4][8][8];
    for (int i = 0; i < LANES; ++i)
        memcpy(matrix[i / 8][i % 8], lanes[i].request.a.u, 16);
    for (int i = 0; i < LANES; ++i)
        for (int j = 0; j < 4; ++j) {
            const int one = i / 4, two = i % 4 * 2;
            const uint32_t low = trans ? matrix[j][two][one] : matrix[j][one][two];
            const uint32_t high = trans ? matrix[j][two + 1][one] : matrix[j][one][two + 1];
            lanes[i].request.a.u[8 + j] = high << 16 | low;
        }
}
