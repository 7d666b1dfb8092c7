/* workload.c - random operands inside guarded blocks. */
#include "measure/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "files/layout.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "support/random.h"

enum { GUARD_BYTES = 256, MARK = 0xA5, NAN_BYTE = 0xFF };

/* Random numbers repeat behind so many, a prime, so that no two lines of a matrix are the same:
 * making more would take longer than most products. */
enum { RANDOM_PERIOD = 4194301 };

void *workload_allocate(size_t bytes) {
    void *block = NULL;
    if (bytes > SIZE_MAX - 4096 || posix_memalign(&block, 64, bytes ? bytes : 1) != 0)
        return NULL;
    return block;
}

int workload_check_memory(double bytes, const char *what) {
    struct sysinfo machine;
    if (sysinfo(&machine) != 0)
        return CLI_OK;
    const double there =
        ((double)machine.totalram + (double)machine.totalswap) * (double)machine.mem_unit;
    if (bytes <= there)
        return CLI_OK;
    return message_fail(CLI_NO_MEMORY, "%s need %.3g GiB, this machine has %.3g GiB", what,
                        bytes / 0x1p30, there / 0x1p30);
}

/* Sets the elements between the end of each line and the start of the next. */
static void mark_padding(const layout_t *x, void *data, int byte) {
    const size_t size = (size_t)tcgemm_dtype_bits(x->dtype) / 8;
    if (size == 0 || x->ld == x->length || x->elements == 0)
        return;
    for (int64_t t = 0; t < x->batch; ++t)
        for (int64_t line = 0; line < x->lines; ++line) {
            const int64_t end = t * x->stride + line * x->ld + x->length;
            if (end < x->elements)
                memset((char *)data + (size_t)end * size, byte, (size_t)(x->ld - x->length) * size);
        }
}

static void fill_random(const layout_t *x, void *data, uint64_t seed, char name) {
    const size_t size = (size_t)tcgemm_dtype_bits(x->dtype) / 8;
    const bool repeats = size > 0 && x->elements > RANDOM_PERIOD;
    random_fill(x->dtype, data, repeats ? RANDOM_PERIOD : x->elements, seed, name);
    if (!repeats)
        return;
    const size_t period = RANDOM_PERIOD * size;
    for (size_t done = period; done < x->bytes; done += period)
        memcpy((char *)data + done, data, x->bytes - done < period ? x->bytes - done : period);
}

static void *fill_operand(const layout_t *x, uint64_t seed, char name, bool with_nan) {
    void *data = workload_allocate(x->bytes);
    if (!data)
        return NULL;
    if (with_nan)
        memset(data, NAN_BYTE, x->bytes);
    else
        fill_random(x, data, seed, name);
    mark_padding(x, data, NAN_BYTE);
    return data;
}

static int check_memory(const tcgemm_problem_t *problem, bool with_c) {
    double bytes = 0;
    for (const char *x = "ABCD"; *x; ++x)
        if (*x != 'C' || with_c)
            bytes += (double)layout_of(problem, *x).bytes;
    char what[128];
    (void)snprintf(what, sizeof what, "the matrices of %lld x %lld x %lld", (long long)problem->m,
                   (long long)problem->n, (long long)problem->k);
    return workload_check_memory(bytes, what);
}

int workload_create(workload_t *w, const tcgemm_problem_t *problem, uint64_t seed, bool with_c,
                    bool in_place) {
    *w = (workload_t){.problem = *problem, .in_place = in_place};
    const int status = check_memory(problem, with_c || in_place);
    if (status != CLI_OK)
        return status;
    const layout_t a = layout_of(problem, 'A');
    const layout_t b = layout_of(problem, 'B');
    const layout_t c = layout_of(problem, 'C');
    const layout_t d = layout_of(problem, 'D');
    w->a = w->blocks[0] = fill_operand(&a, seed, 'A', false);
    w->b = w->blocks[1] = fill_operand(&b, seed, 'B', false);
    w->c = w->blocks[2] = fill_operand(&c, seed, 'C', !with_c);
    char *block = w->blocks[3] = workload_allocate(d.bytes + 2 * (size_t)GUARD_BYTES);
    if (!w->a || !w->b || !w->c || !block) {
        workload_free(w);
        return message_fail(CLI_NO_MEMORY,
                            "no memory for A (%zu bytes), B (%zu), C (%zu) and D (%zu)", a.bytes,
                            b.bytes, c.bytes, d.bytes);
    }
    w->d = block + GUARD_BYTES;
    workload_reset(w);
    return CLI_OK;
}

void workload_free(workload_t *w) {
    for (int i = 0; i < 4; ++i)
        free(w->blocks[i]);
    *w = (workload_t){0};
}

const void *workload_c(const workload_t *w) {
    return w->in_place ? w->d : w->c;
}

void workload_reset(workload_t *w) {
    const layout_t d = layout_of(&w->problem, 'D');
    memset((char *)w->d - GUARD_BYTES, MARK, d.bytes + 2 * (size_t)GUARD_BYTES);
    if (w->in_place) {
        memcpy(w->d, w->c, d.bytes);
        mark_padding(&d, w->d, MARK);
    }
}

static bool is_marked(const char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if ((unsigned char)data[i] != MARK)
            return false;
    return true;
}

const char *workload_out_of_bounds(const workload_t *w) {
    const layout_t d = layout_of(&w->problem, 'D');
    const char *data = w->d;
    const size_t size = (size_t)tcgemm_dtype_bits(d.dtype) / 8;
    if (!is_marked(data - GUARD_BYTES, GUARD_BYTES))
        return "the bytes before D were written";
    if (!is_marked(data + d.bytes, GUARD_BYTES))
        return "the bytes after D were written";
    if (d.elements == 0 || d.ld == d.length)
        return NULL;
    for (int64_t t = 0; t < d.batch; ++t)
        for (int64_t line = 0; line < d.lines; ++line) {
            const int64_t end = t * d.stride + line * d.ld + d.length;
            if (end < d.elements &&
                !is_marked(data + (size_t)end * size, (size_t)(d.ld - d.length) * size))
                return "the padding of D's rows was written";
        }
    return NULL;
}
