/* memory.c - global memory: matrices and their bounds, element by element. */
#include "emulate/machine.h"
#include "emulate/trace.h"

/* The place of an access in a matrix. */
typedef struct place {
    int64_t item, line, at; /* bytes from the start of the line */
    bool inside;
} place_t;

static int64_t span_of(const tcgemm_emulate_region_t *x) {
    return (x->batch - 1) * x->stride + (x->lines - 1) * x->pitch + x->width;
}

/* Bytes from there to the next gap: lines that follow one another are one, and so are items. */
static int64_t without_gap(const tcgemm_emulate_region_t *x, place_t p) {
    int64_t bytes = x->width - p.at;
    if (x->lines > 1 && x->pitch != x->width)
        return bytes;
    bytes += (x->lines - 1 - p.line) * x->width;
    if (x->batch > 1 && x->stride == x->lines * x->width)
        bytes += (x->batch - 1 - p.item) * x->stride;
    return bytes;
}

static place_t place_of(const tcgemm_emulate_region_t *x, int64_t at, uint32_t size) {
    const int64_t item_span = (x->lines - 1) * x->pitch + x->width;
    place_t p = {0, 0, at, false};
    if (x->batch > 1 && x->stride >= item_span) {
        p.item = at / x->stride;
        p.at = at - p.item * x->stride;
    } else if (x->batch > 1 && x->stride > 0) { /* items overlap: every byte may be meant */
        p.inside = true;
        return p;
    }
    if (x->lines > 1) {
        p.line = p.at / x->pitch;
        p.at -= p.line * x->pitch;
    }
    p.inside = p.line < x->lines && p.at < x->width && (int64_t)size <= without_gap(x, p);
    return p;
}

/* Every byte as often as it may be. */
static void note_written(const tcgemm_emulate_region_t *x, place_t p, uint32_t size) {
    uint8_t *written = x->written + (p.item * x->lines + p.line) * x->width + p.at;
    const bool is_once = (x->flags & TCGEMM_EMULATE_ONCE) != 0;
    const uint8_t most = is_once ? 1 : x->flags & TCGEMM_EMULATE_TWICE ? 2 : UINT8_MAX;
    for (uint32_t i = 0; i < size; ++i) {
        if (written[i] < most) {
            ++written[i];
        } else if (most < UINT8_MAX) {
            tcgemm_machine_fault("%s(%lld, %lld) of item %lld is written %s", x->name,
                                 (long long)p.line, (long long)(p.at / x->element_bytes),
                                 (long long)p.item, is_once ? "twice" : "three times");
            return;
        }
    }
}

static bool may(const tcgemm_emulate_region_t *x, bool write) {
    return (x->flags & (write ? TCGEMM_EMULATE_WRITE : TCGEMM_EMULATE_READ)) != 0;
}

static void note(tcgemm_emulate_region_t *x, place_t p, uint32_t size, bool write) {
    *(write ? &x->bytes_written : &x->bytes_read) += size;
    if (write && x->written)
        note_written(x, p, size);
    if (tcgemm_machine_is_told())
        tcgemm_trace_access(x, p.line, p.at, size, write);
}

static void refuse(const tcgemm_emulate_region_t *x, place_t p, uint32_t size, bool write) {
    const char *did = write ? "written" : "read";
    if (!x)
        tcgemm_machine_fault("%u bytes of global memory are %s that belong to no matrix", size,
                             did);
    else if (!may(x, write))
        tcgemm_machine_fault("%s is %s", x->name, did);
    else
        tcgemm_machine_fault("%u bytes beside %s are %s: %s %lld, byte %lld of %lld", size, x->name,
                             did, x->line, (long long)p.line, (long long)p.at, (long long)x->width);
    tcgemm_machine_stop();
}

/* Whether it is a read of a word that an element lies in, and x allows such. */
static bool is_word(const tcgemm_emulate_region_t *x, int64_t at, uint32_t size, bool write) {
    if (!(x->flags & TCGEMM_EMULATE_WORDS) || size != 4 || write || at + 4 > span_of(x))
        return false;
    for (int64_t i = at; i < at + 4; ++i)
        if (i >= 0 && place_of(x, i, 1).inside)
            return true;
    return false;
}

/* Matrices that are only read may overlap: one that allows the access is enough. */
void tcgemm_memory_access(const void *address, uint32_t size, bool write) {
    const tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    const tcgemm_emulate_region_t *nearest = NULL;
    place_t where = {0};
    for (int i = 0; i < launch->num_regions; ++i) {
        tcgemm_emulate_region_t *x = &launch->regions[i];
        const int64_t at = (int64_t)((uintptr_t)address - (uintptr_t)x->base);
        const bool is_word_of = is_word(x, at, size, write);
        if (!is_word_of && (at < 0 || at >= span_of(x)))
            continue;
        const place_t p = place_of(x, at, size);
        if (p.inside && may(x, write))
            note(x, p, size, write);
        if (is_word_of || (p.inside && may(x, write)))
            return;
        if (!nearest || !p.inside) {
            nearest = x;
            where = p;
        }
    }
    if (launch->num_regions > 0)
        refuse(nearest, where, size, write);
}
