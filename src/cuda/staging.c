/* staging.c - see staging.h. */
#include "cuda/staging.h"

#include <string.h>

#include "base/num.h"
#include "host/pool.h"

enum {
    BUFFER_BYTES = 8 << 20,
    BYTES_PER_THREAD = 1 << 18, /* the least that is worth waking a thread for */
    ZEROS_TO = 16,              /* bytes: lines on the GPU go on with zeros up to there */
    KEPT_ARENA = 16,            /* of the GPU's memory: what is kept from call to call */
    SHORT_RUN = 512,            /* bytes: shorter ones the CPU gathers faster */
    SMALL_COPY = 64 << 10,      /* bytes of a copy that is worth its call ... */
    MANY_COPIES = 16            /* ... where there are more than so many */
};
static const int64_t most_pitch = INT32_MAX; /* CU_DEVICE_ATTRIBUTE_MAX_PITCH */

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

/* ---- what is kept ---- */

tcgemm_status_t tcgemm_staging_event(tcgemm_gpu_t *gpu, CUevent *event) {
    return *event ? TCGEMM_STATUS_OK
                  : tcgemm_gpu_check(gpu, driver()->event_create(event, CU_EVENT_DEFAULT),
                                     "making an event");
}

tcgemm_status_t tcgemm_staging_open(tcgemm_gpu_t *gpu) {
    tcgemm_staging_t *const s = &gpu->staging;
    CUstream *const streams[] = {&s->in, &s->out, &s->compute[0], &s->compute[1]};
    TCGEMM_FORWARD(tcgemm_driver_need(TCGEMM_DRIVER_STAGING, "a product of host matrices"));
    for (int i = 0; i < 4; ++i)
        if (!*streams[i])
            TCGEMM_FORWARD(
                tcgemm_gpu_check(gpu, driver()->stream_create(streams[i], CU_STREAM_NON_BLOCKING),
                                 "making a stream"));
    TCGEMM_FORWARD(tcgemm_staging_event(gpu, &s->arrived));
    return tcgemm_staging_event(gpu, &s->begin);
}

static void free_arena(tcgemm_staging_t *s) {
    if (s->arena)
        (void)driver()->release(s->arena);
    s->arena = 0;
    s->arena_bytes = 0;
}

tcgemm_status_t tcgemm_staging_reserve(tcgemm_gpu_t *gpu, size_t bytes) {
    tcgemm_staging_t *const s = &gpu->staging;
    if (s->arena_bytes >= bytes)
        return TCGEMM_STATUS_OK;
    free_arena(s);
    TCGEMM_FORWARD(
        tcgemm_gpu_check(gpu, driver()->alloc(&s->arena, bytes), "allocating GPU memory"));
    s->arena_bytes = bytes;
    return TCGEMM_STATUS_OK;
}

void tcgemm_staging_close(tcgemm_gpu_t *gpu) {
    if (gpu->staging.arena_bytes > gpu->facts.memory_bytes / KEPT_ARENA)
        free_arena(&gpu->staging);
}

/* The next buffer of a way, made when it is first needed. */
static tcgemm_status_t next_buffer(tcgemm_gpu_t *gpu, tcgemm_buffers_t *way, int *buffer) {
    *buffer = (int)(way->used % TCGEMM_STAGING_BUFFERS);
    TCGEMM_FORWARD(tcgemm_staging_event(gpu, &way->copied[*buffer]));
    return way->at[*buffer]
               ? TCGEMM_STATUS_OK
               : tcgemm_gpu_check(gpu, driver()->alloc_pinned(&way->at[*buffer], BUFFER_BYTES, 0),
                                  "allocating a pinned buffer");
}

/* ---- blocks and chunks ---- */

/* Items that follow one another as lines do become lines. */
static tcgemm_block_t merged(const tcgemm_block_t *block) {
    tcgemm_block_t b = *block;
    if (b.lines == 1)
        b.host_line = b.host_item;
    if (b.items > 1 && (b.lines == 1 || b.host_item == b.lines * b.host_line)) {
        b.lines *= b.items;
        b.items = 1;
    }
    return b;
}

static int64_t lines_of(const tcgemm_block_t *b) {
    return b->items * b->lines;
}

/* A line with the zeros behind it. */
static int64_t row_of(const tcgemm_block_t *b) {
    return round_up(b->length, ZEROS_TO);
}

/* The chunk that begins where the last one ended: as many lines as a buffer holds, or a part of
 * one; false: there is none. */
static bool next_chunk(const tcgemm_block_t *b, tcgemm_chunk_t *c) {
    const int64_t row = row_of(b);
    if (c->lines > 0 && c->offset + c->bytes < row) {
        c->offset += c->bytes;
    } else {
        c->line += c->lines;
        c->offset = 0;
    }
    c->lines = row < BUFFER_BYTES ? min_i64(lines_of(b) - c->line, BUFFER_BYTES / row) : 1;
    c->bytes = min_i64(row - c->offset, BUFFER_BYTES);
    return c->line < lines_of(b);
}

/* ---- the copy engines ---- */

/* So many lines between the GPU and host memory that is pinned. */
typedef struct copy {
    CUdeviceptr device;
    char *host;
    int64_t device_pitch, host_pitch, bytes, lines;
    bool to_host;
} copy_t;

static CUresult copy_run(const copy_t *c, int64_t line, int64_t bytes, CUstream stream) {
    const CUdeviceptr device = c->device + (CUdeviceptr)(line * c->device_pitch);
    char *const host = c->host + line * c->host_pitch;
    return c->to_host ? driver()->to_host(host, device, (size_t)bytes, stream)
                      : driver()->to_device(device, host, (size_t)bytes, stream);
}

static CUresult copy_lines(const copy_t *c, CUstream stream) {
    CUDA_MEMCPY2D x;
    memset(&x, 0, sizeof x);
    x.srcMemoryType = c->to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    x.dstMemoryType = c->to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    x.srcHost = x.dstHost = c->host;
    x.srcDevice = x.dstDevice = c->device;
    x.srcPitch = (size_t)(c->to_host ? c->device_pitch : c->host_pitch);
    x.dstPitch = (size_t)(c->to_host ? c->host_pitch : c->device_pitch);
    x.WidthInBytes = (size_t)c->bytes;
    x.Height = (size_t)c->lines;
    return driver()->copy_lines(&x, stream);
}

static CUresult copy_any(const copy_t *c, CUstream stream) {
    if (c->lines == 1 || (c->device_pitch == c->bytes && c->host_pitch == c->bytes))
        return copy_run(c, 0, c->lines * c->bytes, stream);
    if (c->device_pitch <= most_pitch && c->host_pitch <= most_pitch)
        return copy_lines(c, stream);
    CUresult result = CUDA_SUCCESS;
    for (int64_t line = 0; line < c->lines && result == CUDA_SUCCESS; ++line)
        result = copy_run(c, line, c->bytes, stream);
    return result;
}

static tcgemm_status_t queue_copy(tcgemm_gpu_t *gpu, const copy_t *c) {
    return tcgemm_gpu_check(gpu, copy_any(c, c->to_host ? gpu->staging.out : gpu->staging.in),
                            c->to_host ? "copying from the GPU" : "copying to the GPU");
}

/* A chunk between the GPU and a buffer. */
static tcgemm_status_t queue_chunk(tcgemm_gpu_t *gpu, const tcgemm_block_t *b,
                                   const tcgemm_chunk_t *k, void *buffer, bool to_host) {
    const copy_t c = {.device = b->device + (CUdeviceptr)(k->line * b->pitch + k->offset),
                      .host = buffer,
                      .device_pitch = b->pitch,
                      .host_pitch = k->bytes,
                      .bytes = k->bytes,
                      .lines = k->lines,
                      .to_host = to_host};
    return queue_copy(gpu, &c);
}

/* ---- pinned blocks ---- */

/* Whether the copy engines do it well: not lines of a few bytes, nor many small items. */
static bool goes_direct(const tcgemm_block_t *b) {
    const bool is_run = b->lines == 1 || (b->host_line == b->length && b->pitch == b->length);
    return b->is_pinned && (is_run || b->length >= SHORT_RUN) &&
           (b->items <= MANY_COPIES || b->lines * b->length >= SMALL_COPY) &&
           b->pitch <= most_pitch && b->host_line <= most_pitch;
}

static tcgemm_status_t copy_direct(tcgemm_gpu_t *gpu, const tcgemm_block_t *b, bool to_host) {
    for (int64_t t = 0; t < b->items; ++t) {
        const copy_t c = {.device = b->device + (CUdeviceptr)(t * b->lines * b->pitch),
                          .host = b->host + t * b->host_item,
                          .device_pitch = b->pitch,
                          .host_pitch = b->host_line,
                          .bytes = b->length,
                          .lines = b->lines,
                          .to_host = to_host};
        TCGEMM_FORWARD(queue_copy(gpu, &c));
    }
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t upload_direct(tcgemm_gpu_t *gpu, const tcgemm_block_t *b) {
    const int64_t zeros = row_of(b) - b->length;
    if (zeros > 0)
        TCGEMM_FORWARD(tcgemm_gpu_check(gpu,
                                        driver()->set_lines(b->device + (CUdeviceptr)b->length,
                                                            (size_t)b->pitch, 0, (size_t)zeros,
                                                            (size_t)lines_of(b), gpu->staging.in),
                                        "writing zeros between lines"));
    return copy_direct(gpu, b, false);
}

/* ---- the CPU's part: between the host's lines and a buffer ---- */

typedef struct move {
    const tcgemm_block_t *block;
    const tcgemm_chunk_t *chunk;
    char *buffer;
    bool to_host;
} move_t;

/* Bytes [begin, end) of the buffer. */
static void move_range(const move_t *m, int64_t begin, int64_t end) {
    const tcgemm_block_t *b = m->block;
    const tcgemm_chunk_t *c = m->chunk;
    while (begin < end) {
        const int64_t line = begin / c->bytes;
        const int64_t stop = min_i64(end, (line + 1) * c->bytes);
        const int64_t offset = c->offset + begin - line * c->bytes;
        const int64_t inside = min_i64(stop - begin, b->length - offset);
        const int64_t bytes = inside > 0 ? inside : 0;
        const int64_t at = c->line + line;
        char *const buffer = m->buffer + begin;
        if (bytes > 0) {
            char *const host =
                b->host + at / b->lines * b->host_item + at % b->lines * b->host_line + offset;
            if (m->to_host)
                memcpy(host, buffer, (size_t)bytes);
            else
                memcpy(buffer, host, (size_t)bytes);
        }
        if (!m->to_host)
            memset(buffer + bytes, 0, (size_t)(stop - begin - bytes));
        begin = stop;
    }
}

static void move_share(void *argument, int thread, int num_threads) {
    const move_t *const m = argument;
    const int64_t total = m->chunk->lines * m->chunk->bytes;
    const int64_t share = ((total / num_threads + 63) / 64 + 1) * 64;
    const int64_t begin = thread * share;
    move_range(m, begin, min_i64(total, begin + share));
}

static void move(const tcgemm_block_t *block, const tcgemm_chunk_t *chunk, char *buffer,
                 bool to_host, int num_threads) {
    move_t m = {block, chunk, buffer, to_host};
    const int64_t useful = chunk->lines * chunk->bytes / BYTES_PER_THREAD;
    const int threads = useful < num_threads ? (int)useful : num_threads;
    if (threads > 1)
        tcgemm_pool_run(threads, move_share, &m);
    else
        move_range(&m, 0, chunk->lines * chunk->bytes);
}

/* ---- from the GPU, through buffers ---- */

/* Asks for chunks of D as far as there are buffers. */
static tcgemm_status_t request_chunks(tcgemm_gpu_t *gpu) {
    tcgemm_staging_t *const s = &gpu->staging;
    while (s->num_returns > 0 && s->to_host.used - s->emptied < TCGEMM_STAGING_BUFFERS) {
        tcgemm_return_t *const x = &s->returns[0];
        int buffer;
        TCGEMM_FORWARD(next_buffer(gpu, &s->to_host, &buffer));
        if (x->next.line == 0 && x->next.offset == 0)
            TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver()->stream_wait_event(s->out, x->ready, 0),
                                            "ordering"));
        TCGEMM_FORWARD(queue_chunk(gpu, &x->block, &x->next, s->to_host.at[buffer], true));
        s->requested[buffer].block = x->block;
        s->requested[buffer].chunk = x->next;
        const bool is_last = !next_chunk(&x->block, &x->next);
        if (is_last)
            TCGEMM_FORWARD(
                tcgemm_gpu_check(gpu, driver()->event_record(s->left[x->slot], s->out), "copying"));
        TCGEMM_FORWARD(tcgemm_gpu_check(
            gpu, driver()->event_record(s->to_host.copied[buffer], s->out), "copying"));
        s->to_host.used += 1;
        if (!is_last)
            continue;
        s->num_returns -= 1;
        memmove(&s->returns[0], &s->returns[1], (size_t)s->num_returns * sizeof s->returns[0]);
    }
    return TCGEMM_STATUS_OK;
}

/* Stores the oldest chunk that was asked for, waiting for it if told so; then asks for more. */
static tcgemm_status_t empty_buffer(tcgemm_gpu_t *gpu, bool waits, int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    const int buffer = (int)(s->emptied % TCGEMM_STAGING_BUFFERS);
    if (s->emptied == s->to_host.used)
        return TCGEMM_STATUS_OK;
    const CUresult result = waits ? driver()->event_synchronize(s->to_host.copied[buffer])
                                  : driver()->event_query(s->to_host.copied[buffer]);
    if (result == CUDA_ERROR_NOT_READY)
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_check(gpu, result, "waiting for D"));
    move(&s->requested[buffer].block, &s->requested[buffer].chunk, s->to_host.at[buffer], true,
         num_threads);
    s->emptied += 1;
    return request_chunks(gpu);
}

static bool is_returning(const tcgemm_staging_t *s, int slot) {
    for (int i = 0; i < s->num_returns; ++i)
        if (s->returns[i].slot == slot)
            return true;
    return false;
}

tcgemm_status_t tcgemm_staging_await_slot(tcgemm_gpu_t *gpu, int slot, CUstream stream,
                                          int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    while (is_returning(s, slot))
        TCGEMM_FORWARD(empty_buffer(gpu, true, num_threads));
    return tcgemm_gpu_check(gpu, driver()->stream_wait_event(stream, s->left[slot], 0),
                            "waiting for a buffer of D");
}

tcgemm_status_t tcgemm_staging_download(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                        CUevent ready, int slot, int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    const tcgemm_block_t b = merged(block);
    TCGEMM_FORWARD(tcgemm_staging_event(gpu, &s->left[slot]));
    if (goes_direct(&b)) {
        TCGEMM_FORWARD(
            tcgemm_gpu_check(gpu, driver()->stream_wait_event(s->out, ready, 0), "ordering"));
        s->leaves_direct = true;
        TCGEMM_FORWARD(copy_direct(gpu, &b, true));
        return tcgemm_gpu_check(gpu, driver()->event_record(s->left[slot], s->out), "copying");
    }
    while (s->num_returns == TCGEMM_STAGING_STRIPS)
        TCGEMM_FORWARD(empty_buffer(gpu, true, num_threads));
    tcgemm_return_t *const x = &s->returns[s->num_returns++];
    *x = (tcgemm_return_t){.block = b, .ready = ready, .slot = slot};
    (void)next_chunk(&x->block, &x->next);
    return request_chunks(gpu);
}

tcgemm_status_t tcgemm_staging_finish(tcgemm_gpu_t *gpu, int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    while (s->emptied < s->to_host.used)
        TCGEMM_FORWARD(empty_buffer(gpu, true, num_threads));
    if (!s->leaves_direct)
        return TCGEMM_STATUS_OK;
    s->leaves_direct = false;
    return tcgemm_gpu_check(gpu, driver()->stream_synchronize(s->out), "waiting for D");
}

void tcgemm_staging_abandon(tcgemm_gpu_t *gpu) {
    tcgemm_staging_t *const s = &gpu->staging;
    CUstream const streams[] = {s->in, s->compute[0], s->compute[1], s->out};
    for (int i = 0; i < 4; ++i)
        if (streams[i])
            (void)driver()->stream_synchronize(streams[i]);
    s->leaves_direct = false;
    s->num_returns = 0;
    s->emptied = s->to_host.used;
}

/* ---- to the GPU, through buffers ---- */

/* Waits until the buffer may be filled, and empties what comes home meanwhile. */
static tcgemm_status_t await_buffer(tcgemm_gpu_t *gpu, CUevent copied, int num_threads) {
    TCGEMM_FORWARD(empty_buffer(gpu, false, num_threads));
    return tcgemm_gpu_check(gpu, driver()->event_synchronize(copied),
                            "waiting for a pinned buffer");
}

tcgemm_status_t tcgemm_staging_upload(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                      int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    const tcgemm_block_t b = merged(block);
    tcgemm_chunk_t c = {0, 0, 0, 0};
    if (goes_direct(&b))
        return upload_direct(gpu, &b);
    while (next_chunk(&b, &c)) {
        int buffer;
        TCGEMM_FORWARD(next_buffer(gpu, &s->to_gpu, &buffer));
        TCGEMM_FORWARD(await_buffer(gpu, s->to_gpu.copied[buffer], num_threads));
        move(&b, &c, s->to_gpu.at[buffer], false, num_threads);
        TCGEMM_FORWARD(queue_chunk(gpu, &b, &c, s->to_gpu.at[buffer], false));
        TCGEMM_FORWARD(tcgemm_gpu_check(
            gpu, driver()->event_record(s->to_gpu.copied[buffer], s->in), "copying"));
        s->to_gpu.used += 1;
    }
    return TCGEMM_STATUS_OK;
}
