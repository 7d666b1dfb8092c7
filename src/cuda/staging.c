/* staging.c - see staging.h.
 *
 *     buffer 0   fill     >>>>>>>>        fill     >>>>>>>>         fill: the CPU's threads
 *     buffer 1            fill    >>>>>>>>         fill    >>>>     >>>>: the copy engine
 */
#include "cuda/staging.h"

#include <string.h>

#include "base/num.h"
#include "host/pool.h"

enum {
    BUFFER_BYTES = 16 << 20,
    BYTES_PER_THREAD = 1 << 19,  /* the least that is worth waking a thread for */
    KEPT_ARENA_BYTES = 256 << 20 /* GPU memory that is kept from call to call */
};

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

/* ---- what is kept ---- */

static tcgemm_status_t make(tcgemm_gpu_t *gpu, tcgemm_staging_t *s) {
    for (int i = 0; i < TCGEMM_STAGING_BUFFERS; ++i) {
        if (!s->buffer[i])
            TCGEMM_FORWARD(tcgemm_gpu_check(gpu,
                                            driver()->alloc_pinned(&s->buffer[i], BUFFER_BYTES, 0),
                                            "allocating a pinned buffer"));
        if (!s->is_free[i])
            TCGEMM_FORWARD(tcgemm_gpu_check(
                gpu, driver()->event_create(&s->is_free[i], CU_EVENT_DISABLE_TIMING),
                "making an event"));
    }
    CUstream *const streams[] = {&s->copy, &s->compute};
    for (int i = 0; i < 2; ++i)
        if (!*streams[i])
            TCGEMM_FORWARD(
                tcgemm_gpu_check(gpu, driver()->stream_create(streams[i], CU_STREAM_NON_BLOCKING),
                                 "making a stream"));
    CUevent *const events[] = {&s->arrived, &s->start[0], &s->start[1], &s->end[0], &s->end[1]};
    for (int i = 0; i < 5; ++i)
        if (!*events[i])
            TCGEMM_FORWARD(tcgemm_gpu_check(
                gpu, driver()->event_create(events[i], CU_EVENT_DEFAULT), "making an event"));
    s->is_ready = true;
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_staging_open(tcgemm_gpu_t *gpu) {
    TCGEMM_FORWARD(tcgemm_driver_need(TCGEMM_DRIVER_STAGING, "a product of host matrices"));
    return gpu->staging.is_ready ? TCGEMM_STATUS_OK : make(gpu, &gpu->staging);
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
    if (gpu->staging.arena_bytes > KEPT_ARENA_BYTES)
        free_arena(&gpu->staging);
}

/* ---- between the host's lines and a buffer with bytes [begin, end) of the GPU's block ---- */

typedef struct chunk {
    const tcgemm_block_t *block;
    char *buffer; /* of byte `begin` */
    int64_t begin, end;
    bool to_host;
} chunk_t;

static void move_range(const chunk_t *c, int64_t begin, int64_t end) {
    const tcgemm_block_t *b = c->block;
    while (begin < end) {
        const int64_t line = begin / b->pitch;
        const int64_t offset = begin - line * b->pitch;
        const int64_t stop = min_i64(end, (line + 1) * b->pitch);
        const int64_t inside = min_i64(stop, line * b->pitch + b->length) - begin;
        const int64_t bytes = inside > 0 ? inside : 0;
        char *const buffer = c->buffer + (begin - c->begin);
        if (bytes > 0) {
            char *const host =
                b->host + line / b->lines * b->host_item + line % b->lines * b->host_line + offset;
            if (c->to_host)
                memcpy(host, buffer, (size_t)bytes);
            else
                memcpy(buffer, host, (size_t)bytes);
        }
        if (!c->to_host)
            memset(buffer + bytes, 0, (size_t)(stop - begin - bytes));
        begin = stop;
    }
}

static void move_share(void *argument, int thread, int num_threads) {
    const chunk_t *const c = argument;
    const int64_t share = (((c->end - c->begin) / num_threads + 63) / 64 + 1) * 64;
    const int64_t begin = c->begin + thread * share;
    move_range(c, begin, min_i64(c->end, begin + share));
}

static void move(chunk_t *c, int num_threads) {
    const int64_t useful = (c->end - c->begin) / BYTES_PER_THREAD;
    const int threads = useful < num_threads ? (int)useful : num_threads;
    if (threads > 1)
        tcgemm_pool_run(threads, move_share, c);
    else
        move_range(c, c->begin, c->end);
}

/* ---- to the GPU and back ---- */

static int64_t bytes_of(const tcgemm_block_t *block) {
    return block->items * block->lines * block->pitch;
}

tcgemm_status_t tcgemm_staging_upload(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                      int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    const int64_t total = bytes_of(block);
    int parity = 0;
    for (int64_t begin = 0; begin < total; begin += BUFFER_BYTES, parity ^= 1) {
        chunk_t c = {block, s->buffer[parity], begin, min_i64(total, begin + BUFFER_BYTES), false};
        TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver()->event_synchronize(s->is_free[parity]),
                                        "waiting for a pinned buffer"));
        move(&c, num_threads);
        TCGEMM_FORWARD(
            tcgemm_gpu_check(gpu,
                             driver()->to_device(block->device + (CUdeviceptr)begin, c.buffer,
                                                 (size_t)(c.end - begin), s->copy),
                             "copying to the GPU"));
        TCGEMM_FORWARD(
            tcgemm_gpu_check(gpu, driver()->event_record(s->is_free[parity], s->copy), "copying"));
    }
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t request(tcgemm_gpu_t *gpu, const tcgemm_block_t *block, int64_t begin,
                               int parity) {
    tcgemm_staging_t *const s = &gpu->staging;
    const int64_t bytes = min_i64(bytes_of(block) - begin, BUFFER_BYTES);
    TCGEMM_FORWARD(
        tcgemm_gpu_check(gpu,
                         driver()->to_host(s->buffer[parity], block->device + (CUdeviceptr)begin,
                                           (size_t)bytes, s->copy),
                         "copying from the GPU"));
    return tcgemm_gpu_check(gpu, driver()->event_record(s->is_free[parity], s->copy), "copying");
}

tcgemm_status_t tcgemm_staging_download(tcgemm_gpu_t *gpu, const tcgemm_block_t *block,
                                        int num_threads) {
    tcgemm_staging_t *const s = &gpu->staging;
    const int64_t total = bytes_of(block);
    int parity = 0;
    TCGEMM_FORWARD(request(gpu, block, 0, parity));
    for (int64_t begin = 0; begin < total; begin += BUFFER_BYTES, parity ^= 1) {
        if (begin + BUFFER_BYTES < total)
            TCGEMM_FORWARD(request(gpu, block, begin + BUFFER_BYTES, parity ^ 1));
        TCGEMM_FORWARD(tcgemm_gpu_check(gpu, driver()->event_synchronize(s->is_free[parity]),
                                        "waiting for D"));
        chunk_t c = {block, s->buffer[parity], begin, min_i64(total, begin + BUFFER_BYTES), true};
        move(&c, num_threads);
    }
    return TCGEMM_STATUS_OK;
}
