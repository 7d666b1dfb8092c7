/* box.c - boxes of a tensor, as the tensor memory accelerator fetches and writes them: row by row,
 * 128 bytes each, in the 128-byte swizzle; zeros where the tensor ends. When they come and go:
 * async.h. */
#include <string.h>

#include "emulate/async.h"
#include "emulate/trace.h"

enum { MAX_BOXES = 256, CHUNK = 16, MAX_EXTENT = 256 };

typedef struct flight {
    tcgemm_emulate_box_t box;
    uint32_t to, lines;
    barrier_t *barrier;
    uint32_t first, done; /* lines come from the first on, around the end, as far as `done` */
    bool is_backwards;
} flight_t;

/* A box that leaves. */
typedef struct departure {
    tcgemm_emulate_box_t box;
    uint32_t from, lines;
    uint32_t thread, group;
    bool is_read;
} departure_t;

/* What comes to a block, and leaves it. */
typedef struct boxes {
    flight_t flights[MAX_BOXES]; /* in the order in which they were asked for */
    int num_flights;
    departure_t departures[MAX_BOXES];
    int num_departures;
    uint32_t groups[MAX_THREADS]; /* that each thread has committed */
} boxes_t;

static boxes_t boxes_of[MAX_RANKS];

static boxes_t *own_boxes(void) {
    return &boxes_of[own_rank()];
}

void tcgemm_box_reset(void) {
    boxes_t *x = own_boxes();
    x->num_flights = x->num_departures = 0;
    memset(x->groups, 0, sizeof x->groups);
}

/* ---- where a row lies ---- */

/* Row `line` of the box: its bytes [*from, *to) lie in the tensor, at the address returned. */
static const char *row_of(const tcgemm_emulate_box_t *x, uint32_t line, uint32_t *from,
                          uint32_t *to) {
    const int64_t col = x->at[0];
    const int64_t row = (int64_t)x->at[1] + line % x->extent[1];
    const int64_t item = (int64_t)x->at[2] + line / x->extent[1];
    const int64_t end =
        col + x->extent[0] < (int64_t)x->size[0] ? col + x->extent[0] : (int64_t)x->size[0];
    const int64_t start = col > 0 ? col : 0;
    *from = *to = 0;
    if (row < 0 || row >= (int64_t)x->size[1] || item < 0 || item >= (int64_t)x->size[2] ||
        start >= end)
        return NULL;
    *from = (uint32_t)(start - col) * x->element_bytes;
    *to = (uint32_t)(end - col) * x->element_bytes;
    return (const char *)x->base + item * (int64_t)x->stride[1] + row * (int64_t)x->stride[0] +
           start * x->element_bytes;
}

/* To nearest, ties to even, as an H200 was seen to do (golden/sm90.hopper); cvt.rna goes away from
 * zero. */
static void round_to_tf32(char *row) {
    for (int i = 0; i < LINE; i += 4) {
        uint32_t bits;
        memcpy(&bits, row + i, sizeof bits);
        if ((bits & 0x7F800000u) != 0x7F800000u)
            bits = (bits + 0xFFFu + (bits >> 13 & 1)) & 0xFFFFE000u;
        memcpy(row + i, &bits, sizeof bits);
    }
}

/* Chunk c of the line at shared byte `at`. */
static char *chunk_of(uint32_t at, uint32_t c) {
    return tcgemm_emulate_shared + at + (c ^ (at / LINE % 8)) * CHUNK;
}

static void move(const flight_t *f, uint32_t line) {
    char row[LINE] = {0};
    uint32_t from, to;
    const char *source = row_of(&f->box, line, &from, &to);
    if (source)
        memcpy(row + from, source, to - from);
    if (f->box.rounds_to_tf32)
        round_to_tf32(row);
    const uint32_t at = f->to + line * LINE;
    for (uint32_t c = 0; c < LINE / CHUNK; ++c)
        memcpy(chunk_of(at, c), row + c * CHUNK, CHUNK);
}

/* ---- when they come ---- */

static void land(flight_t *f) {
    boxes_t *x = own_boxes();
    barrier_t *barrier = f->barrier;
    const uint32_t bytes = f->lines * LINE;
    tcgemm_line_deliver(f->to, bytes, barrier);
    const int at = (int)(f - x->flights);
    x->num_flights -= 1;
    memmove(f, f + 1, (size_t)(x->num_flights - at) * sizeof *f);
    tcgemm_barrier_complete(barrier, bytes);
}

static void bring(flight_t *f, uint32_t lines) {
    for (uint32_t i = 0; i < lines && f->done < f->lines; ++i, ++f->done) {
        const uint32_t turn = f->is_backwards ? f->lines - 1 - f->done : f->done;
        move(f, (f->first + turn) % f->lines);
    }
    if (f->done == f->lines)
        land(f);
}

static void bring_any(void) {
    boxes_t *x = own_boxes();
    flight_t *f = &x->flights[tcgemm_machine_random((uint32_t)x->num_flights)];
    bring(f, tcgemm_machine_random(4) ? f->lines : 1 + tcgemm_machine_random(f->lines));
}

bool tcgemm_box_bring(void) {
    boxes_t *x = own_boxes();
    if (x->num_flights == 0)
        return false;
    if (tcgemm_machine.launch->order == TCGEMM_EMULATE_FIRST)
        bring(&x->flights[0], x->flights[0].lines);
    else
        bring_any();
    return true;
}

void tcgemm_box_turn(void) {
    boxes_t *x = own_boxes();
    while (tcgemm_machine.launch->order == TCGEMM_EMULATE_LAST && x->num_flights > 0)
        bring(&x->flights[0], x->flights[0].lines);
}

void tcgemm_box_tick(void) {
    const tcgemm_emulate_order_t order = tcgemm_machine.launch->order;
    if (own_boxes()->num_flights > 0 && order != TCGEMM_EMULATE_FIRST &&
        tcgemm_machine_random(8) == 0)
        bring_any();
}

/* ---- what kernels call ---- */

/* What the driver would refuse when the map is made, or the unit when it is used. */
static const char *wrong_with(uint32_t rank, const tcgemm_emulate_box_t *x, uint32_t to) {
    for (int i = 0; i < 3; ++i)
        if (x->size[i] == 0 || x->size[i] > UINT64_C(1) << 32 || x->extent[i] == 0 ||
            x->extent[i] > MAX_EXTENT)
            return "with a size or a box that no map has";
    for (int i = 0; i < 2; ++i)
        if (x->stride[i] % 16 != 0 || x->stride[i] >= UINT64_C(1) << 40)
            return "of lines that are no multiple of 16 bytes apart";
    if ((uintptr_t)x->base % 16 != 0)
        return "of a tensor that does not begin on 16 bytes";
    if (x->extent[0] * x->element_bytes != LINE)
        return "whose rows are not 128 bytes";
    if (to % 1024 != 0)
        return "to an address that is no multiple of 1024";
    const size_t bytes = (size_t)x->extent[1] * x->extent[2] * LINE;
    if (to > tcgemm_machine.launch->smem_bytes || bytes > tcgemm_machine.launch->smem_bytes - to)
        return "beyond the end of shared memory";
    return boxes_of[rank].num_flights == MAX_BOXES || boxes_of[rank].num_departures == MAX_BOXES
               ? "that is one too many for the model"
               : NULL;
}

/* Whole chunks are written. */
static uint32_t end_of_write(uint32_t to) {
    return (to + CHUNK - 1) / CHUNK * CHUNK;
}

static void access_tensor(const tcgemm_emulate_box_t *x, uint32_t lines, bool write) {
    for (uint32_t i = 0; i < lines; ++i) {
        uint32_t from, to;
        const char *at = row_of(x, i, &from, &to);
        if (at)
            tcgemm_memory_access(at, (write ? end_of_write(to) : to) - from, write);
    }
}

/* To the shared memory of a rank, and the barrier there. */
static void send(uint32_t rank, uint32_t to, const tcgemm_emulate_box_t *x, uint32_t barrier) {
    barrier_t *b = tcgemm_barrier_use(rank, barrier, "a box's count");
    const char *wrong = wrong_with(rank, x, to);
    if (wrong) {
        tcgemm_machine_fault("a box to %u %s", to, wrong);
        tcgemm_machine_stop();
    }
    const uint32_t lines = x->extent[1] * x->extent[2];
    tcgemm_line_issue(rank, to, lines * LINE);
    memset(tcgemm_cluster_shared(rank) + to, POISON, (size_t)lines * LINE);
    const bool in_order = tcgemm_machine.launch->order == TCGEMM_EMULATE_FIRST;
    flight_t *f = &boxes_of[rank].flights[boxes_of[rank].num_flights++];
    *f = (flight_t){.box = *x, .to = to, .lines = lines, .barrier = b};
    f->first = in_order ? 0 : tcgemm_machine_random(lines);
    f->is_backwards = !in_order && tcgemm_machine_random(2);
    tcgemm_barrier_expect(b, lines * LINE);
}

void tcgemm_emulate_box_load(uint32_t to, const tcgemm_emulate_box_t *x, uint32_t barrier,
                             uint32_t ranks) {
    thread_t *self = self_thread();
    for (uint32_t rank = 0; rank < MAX_RANKS; ++rank)
        if (ranks >> rank & 1)
            send(rank, to, x, barrier);
    const uint32_t lines = x->extent[1] * x->extent[2];
    self->request.op = OP_BOX;
    access_tensor(x, lines, false);
    tcgemm_trace_box(to, lines * LINE);
    self->request.op = OP_NONE;
    if (tcgemm_machine.launch->order == TCGEMM_EMULATE_LAST)
        tcgemm_box_turn();
    else
        tcgemm_box_tick();
}

/* ---- boxes that leave ---- */

static void read_place(departure_t *x) {
    for (uint32_t line = 0; line < x->lines; ++line) {
        char row[LINE];
        uint32_t from, to;
        const char *target = row_of(&x->box, line, &from, &to);
        for (uint32_t c = 0; c < LINE / CHUNK; ++c)
            memcpy(row + c * CHUNK, chunk_of(x->from + line * LINE, c), CHUNK);
        if (target)
            memcpy((char *)(uintptr_t)target, row + from, end_of_write(to) - from);
    }
    x->is_read = true;
}

void tcgemm_emulate_box_store(uint32_t from, const tcgemm_emulate_box_t *x) {
    const thread_t *self = self_thread();
    boxes_t *own = own_boxes();
    const char *wrong = wrong_with(own_rank(), x, from);
    if (wrong) {
        tcgemm_machine_fault("a box from %u %s", from, wrong);
        tcgemm_machine_stop();
    }
    const uint32_t lines = x->extent[1] * x->extent[2];
    access_tensor(x, lines, true);
    departure_t *d = &own->departures[own->num_departures++];
    *d = (departure_t){*x, from, lines, self->index, own->groups[self->index], false};
    for (uint32_t i = 0; i < lines; ++i)
        tcgemm_line_leave(from + i * LINE);
    if (tcgemm_machine.launch->order == TCGEMM_EMULATE_LAST || tcgemm_machine_random(4) == 0)
        read_place(d);
}

void tcgemm_emulate_box_commit(void) {
    own_boxes()->groups[self_thread()->index] += 1;
}

void tcgemm_emulate_box_wait(uint32_t pending) {
    const uint32_t self = self_thread()->index;
    boxes_t *own = own_boxes();
    const uint32_t done = own->groups[self] > pending ? own->groups[self] - pending : 0;
    int kept = 0;
    for (int i = 0; i < own->num_departures; ++i) {
        departure_t *x = &own->departures[i];
        if (x->thread != self || x->group >= done) {
            own->departures[kept++] = *x;
            continue;
        }
        if (!x->is_read)
            read_place(x);
        for (uint32_t line = 0; line < x->lines; ++line)
            tcgemm_line_left(x->from + line * LINE);
    }
    own->num_departures = kept;
    tcgemm_machine_give_way();
}

void tcgemm_emulate_box_fence(void) {
    tcgemm_line_fence();
}

void tcgemm_box_end(const thread_t *thread) {
    const boxes_t *own = own_boxes();
    for (int i = 0; i < own->num_departures; ++i)
        if (own->departures[i].thread == thread->index) {
            tcgemm_machine_fault("the thread ends while a box leaves shared byte %u",
                                 own->departures[i].from);
            return;
        }
}
