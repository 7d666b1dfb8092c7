/* box.c - boxes of a tensor, as the tensor memory accelerator fetches them: row by row, 128 bytes
 * each, in the 128-byte swizzle; zeros where the tensor ends. When they come: async.h. */
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

static flight_t flights[MAX_BOXES]; /* in the order in which they were asked for */
static int num_flights;

void tcgemm_box_reset(void) {
    num_flights = 0;
}

int tcgemm_box_count(void) {
    return num_flights;
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
        memcpy(tcgemm_emulate_shared + at + (c ^ (at / LINE % 8)) * CHUNK, row + c * CHUNK, CHUNK);
}

/* ---- when they come ---- */

static void land(flight_t *f) {
    barrier_t *barrier = f->barrier;
    const uint32_t bytes = f->lines * LINE;
    tcgemm_line_deliver(f->to, bytes, barrier);
    const int at = (int)(f - flights);
    num_flights -= 1;
    memmove(f, f + 1, (size_t)(num_flights - at) * sizeof *f);
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
    flight_t *f = &flights[tcgemm_machine_random((uint32_t)num_flights)];
    bring(f, tcgemm_machine_random(4) ? f->lines : 1 + tcgemm_machine_random(f->lines));
}

bool tcgemm_box_bring(void) {
    if (num_flights == 0)
        return false;
    if (tcgemm_machine.launch->order == TCGEMM_EMULATE_FIRST)
        bring(&flights[0], flights[0].lines);
    else
        bring_any();
    return true;
}

void tcgemm_box_tick(void) {
    const tcgemm_emulate_order_t order = tcgemm_machine.launch->order;
    if (num_flights > 0 && order != TCGEMM_EMULATE_FIRST && tcgemm_machine_random(8) == 0)
        bring_any();
}

/* ---- what kernels call ---- */

/* What the driver would refuse when the map is made, or the unit when it is used. */
static const char *wrong_with(const tcgemm_emulate_box_t *x, uint32_t to) {
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
    return num_flights == MAX_BOXES ? "that is one too many for the model" : NULL;
}

static void read_tensor(const tcgemm_emulate_box_t *x, uint32_t lines) {
    for (uint32_t i = 0; i < lines; ++i) {
        uint32_t from, to;
        const char *source = row_of(x, i, &from, &to);
        if (source)
            tcgemm_memory_access(source, to - from, false);
    }
}

void tcgemm_emulate_box_load(uint32_t to, const tcgemm_emulate_box_t *x, uint32_t barrier) {
    thread_t *self = self_thread();
    barrier_t *b = tcgemm_barrier_use(barrier, "a box's count");
    const char *wrong = wrong_with(x, to);
    if (wrong) {
        tcgemm_machine_fault("a box to %u %s", to, wrong);
        tcgemm_machine_stop();
    }
    const uint32_t lines = x->extent[1] * x->extent[2];
    self->request.op = OP_BOX;
    read_tensor(x, lines);
    tcgemm_trace_box(to, lines * LINE);
    self->request.op = OP_NONE;
    tcgemm_line_issue(to, lines * LINE);
    memset(tcgemm_emulate_shared + to, POISON, (size_t)lines * LINE);
    const bool in_order = tcgemm_machine.launch->order == TCGEMM_EMULATE_FIRST;
    flight_t *f = &flights[num_flights++];
    *f = (flight_t){.box = *x, .to = to, .lines = lines, .barrier = b};
    f->first = in_order ? 0 : tcgemm_machine_random(lines);
    f->is_backwards = !in_order && tcgemm_machine_random(2);
    tcgemm_barrier_expect(b, lines * LINE);
    if (tcgemm_machine.launch->order == TCGEMM_EMULATE_LAST)
        bring(f, lines);
    else
        tcgemm_box_tick();
}
