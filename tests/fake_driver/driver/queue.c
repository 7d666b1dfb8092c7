/* queue.c - streams and events. Work is queued as a list of operations, in the order of the calls;
 * an operation may run once all before it have run that it must come after:
 *
 *     of its own stream     of the legacy stream, if its stream is a blocking one, and the reverse
 *     of an event's recording, for a stream that waits for the event
 *
 * Nothing else is promised by CUDA, so nothing else is kept: FAKE_LAZY runs an operation only when
 * something that is waited for depends on it.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_driver/driver/state.h"

typedef enum op_kind { NOTHING, COPY, SET, FREE, KERNEL, RECORD, WAIT } op_kind_t;

typedef struct op {
    uint64_t number;
    op_kind_t kind;
    CUstream stream;
    uintptr_t to, from; /* COPY; SET and FREE: to */
    fake_lines_t lines; /* COPY and SET */
    void *snapshot;     /* COPY: what was read already, owned */
    struct fake_launch *launch;
    CUevent event;    /* RECORD */
    uint64_t awaited; /* WAIT: the number of a recording */
    bool is_wanted;
    struct op *next;
} op_t;

static op_t *queue; /* oldest first */
static uint64_t last_number;
static CUstream streams;
static CUevent events;
static fake_order_t order = FAKE_LAZY;
static uint64_t random_state = 1;

void fake_set_order(fake_order_t new_order, uint64_t seed) {
    order = new_order;
    random_state = seed;
}

fake_order_t fake_order(void) {
    return order;
}

/* splitmix64 */
static uint64_t random_next(void) {
    uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* ---- what must come before what ---- */

static bool must_precede(const op_t *first, const op_t *second) {
    if (first->number >= second->number)
        return false;
    if (first->stream == second->stream)
        return true;
    if (second->kind == WAIT && second->awaited == first->number)
        return true;
    return first->stream->context == second->stream->context && first->stream->is_blocking &&
           second->stream->is_blocking && (first->stream->is_legacy || second->stream->is_legacy);
}

static bool is_ready(const op_t *op) {
    for (const op_t *other = queue; other != op; other = other->next)
        if (must_precede(other, op))
            return false;
    return true;
}

/* Marks what must run before the last operation of the list `queue .. end` can. */
static void want(op_t *op) {
    op->is_wanted = true;
    for (op_t *other = queue; other != op; other = other->next)
        if (!other->is_wanted && must_precede(other, op))
            want(other);
}

/* ---- running ---- */

/* From the first to behind the last byte of so many lines. */
static size_t span(const fake_lines_t *x, size_t pitch) {
    return x->lines ? (x->lines - 1) * pitch + x->bytes : 0;
}

static void copy(CUcontext context, const op_t *op) {
    const fake_lines_t *x = &op->lines;
    char *const to = fake_resolve(context, op->to, span(x, x->to_pitch), "the end of a copy");
    const char *from = op->snapshot ? op->snapshot
                                    : fake_resolve(context, op->from, span(x, x->from_pitch),
                                                   "the source of a copy");
    if (!to || !from)
        context->lost = CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t i = 0; to && from && i < x->lines; ++i)
        memmove(to + i * x->to_pitch, from + i * x->from_pitch, x->bytes);
    context->clock += 1e-6 + 1e-11 * (double)(x->bytes * x->lines);
}

static void set(CUcontext context, const op_t *op) {
    const fake_lines_t *x = &op->lines;
    char *const to = fake_resolve(context, op->to, span(x, x->to_pitch), "what is set");
    if (!to)
        context->lost = CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t i = 0; to && i < x->lines; ++i)
        memset(to + i * x->to_pitch, x->value, x->bytes);
}

static void run(op_t *op) {
    CUcontext context = op->stream->context;
    const bool is_well = context->lost == CUDA_SUCCESS;
    if (op->kind == COPY && is_well)
        copy(context, op);
    else if (op->kind == SET && is_well)
        set(context, op);
    else if (op->kind == FREE && is_well)
        fake_free_now(op->to);
    else if (op->kind == KERNEL)
        context->clock += fake_run_launch(context, op->launch);
    else if (op->kind == RECORD && op->event->recorded == op->number)
        op->event->time = context->clock;
}

static void run_and_forget(op_t *op) {
    run(op);
    op_t **link = &queue;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    free(op->snapshot);
    free(op);
}

/* Any operation that may run now; of the wanted alone, if only those shall. */
static op_t *pick(bool only_wanted) {
    op_t *picked = NULL;
    uint64_t found = 0;
    for (op_t *op = queue; op; op = op->next)
        if ((op->is_wanted || !only_wanted) && is_ready(op) && random_next() % ++found == 0)
            picked = op;
    return picked;
}

static bool is_pending(uint64_t number) {
    for (const op_t *op = queue; op; op = op->next)
        if (op->number == number)
            return true;
    return false;
}

static void finish(uint64_t number) {
    for (op_t *op = queue; op; op = op->next)
        if (op->number == number)
            want(op);
    while (is_pending(number))
        run_and_forget(pick(order != FAKE_RANDOM));
}

void fake_finish_all(void) {
    while (queue)
        run_and_forget(pick(false));
}

/* ---- queueing ---- */

/* Appends an operation. There is no memory problem worth handling in a test. */
static op_t *append(op_kind_t kind, CUstream stream) {
    op_t **link = &queue;
    op_t *const op = calloc(1, sizeof *op);
    if (!op)
        abort();
    op->number = ++last_number;
    op->kind = kind;
    op->stream = stream;
    while (*link)
        link = &(*link)->next;
    *link = op;
    return op;
}

static void queued(const op_t *op) {
    if (order == FAKE_EAGER)
        finish(op->number);
}

void fake_finish_stream(CUstream stream) {
    finish(append(NOTHING, stream)->number);
}

void fake_queue_lines(CUstream stream, uintptr_t to, uintptr_t from, const fake_lines_t *lines,
                      void *snapshot) {
    op_t *const op = append(COPY, stream);
    op->to = to;
    op->from = from;
    op->lines = *lines;
    op->snapshot = snapshot;
    queued(op);
}

void fake_queue_copy(CUstream stream, uintptr_t to, uintptr_t from, size_t bytes, void *snapshot) {
    const fake_lines_t whole = {.bytes = bytes, .lines = 1};
    fake_queue_lines(stream, to, from, &whole, snapshot);
}

void fake_queue_set(CUstream stream, uintptr_t to, const fake_lines_t *lines) {
    op_t *const op = append(SET, stream);
    op->to = to;
    op->lines = *lines;
    queued(op);
}

void fake_queue_free(CUstream stream, uintptr_t address) {
    op_t *const op = append(FREE, stream);
    op->to = address;
    queued(op);
}

void fake_queue_kernel(CUstream stream, struct fake_launch *launch) {
    op_t *const op = append(KERNEL, stream);
    op->launch = launch;
    queued(op);
}

void fake_count_queue(fake_live_t *live) {
    for (const op_t *op = queue; op; op = op->next)
        live->pending += 1;
    for (CUstream stream = streams; stream; stream = stream->next)
        live->streams += stream->is_live;
    for (CUevent event = events; event; event = event->next)
        live->events += event->is_live;
}

/* ---- streams ---- */

CUstream fake_stream(CUstream handle) {
    if (!handle || handle == CU_STREAM_LEGACY)
        return &fake_current()->legacy;
    for (CUstream stream = streams; stream; stream = stream->next)
        if (stream == handle)
            return stream->is_live && stream->context == fake_current() ? stream : NULL;
    return NULL;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->context = fake_current();
    made->is_blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
    made->is_live = true;
    made->next = streams;
    streams = made;
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream || stream->is_legacy)
        return CUDA_ERROR_INVALID_HANDLE;
    fake_finish_stream(stream);
    stream->is_live = false;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    fake_finish_stream(stream);
    return fake_current()->lost;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    (void)flags;
    if (!stream || !event || !event->is_live)
        return CUDA_ERROR_INVALID_HANDLE;
    op_t *const op = append(WAIT, stream);
    op->awaited = event->recorded;
    queued(op);
    return CUDA_SUCCESS;
}

/* ---- events ---- */

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUevent made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->context = fake_current();
    made->has_timing = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    made->is_live = true;
    made->next = events;
    events = made;
    *event = made;
    return CUDA_SUCCESS;
}

/* Returns at once, whatever still waits for the event. */
CUresult cuEventDestroy(CUevent event) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (!event || !event->is_live) {
        fake_complain("an event is destroyed that is none");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    event->is_live = false;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream || !event || !event->is_live || event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    op_t *const op = append(RECORD, stream);
    op->event = event;
    event->recorded = op->number;
    queued(op);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (!event || !event->is_live)
        return CUDA_ERROR_INVALID_HANDLE;
    finish(event->recorded);
    return fake_current()->lost;
}

/* Time passes from one question to the next: each lets one operation run that the event needs. */
CUresult cuEventQuery(CUevent event) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (!event || !event->is_live)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!is_pending(event->recorded))
        return fake_current()->lost;
    for (op_t *op = queue; op; op = op->next)
        if (op->number == event->recorded)
            want(op);
    run_and_forget(pick(order != FAKE_RANDOM));
    return CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (!start || !end || !start->has_timing || !end->has_timing || !start->recorded ||
        !end->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    if (is_pending(start->recorded) || is_pending(end->recorded))
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)(1e3 * (end->time - start->time));
    return CUDA_SUCCESS;
}

/* The name that drivers before CUDA 12.8 know alone. */
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
#endif
