/* hooks.c - every load and store of a kernel, before it happens.
 *
 * Kernels are compiled with -fsanitize=thread, which calls these functions before each access to
 * memory that other threads might see, and with -fsanitize=alignment, which calls one when an
 * access is not aligned to its type. The sanitizers' own libraries are not linked: the functions
 * here stand in for them. A thread's stack is its own business, but for the accumulators of
 * wgmma; shared memory and matrices are looked at; anything else is nobody's.
 */
#include "emulate/async.h"
#include "emulate/trace.h"

static inline void access_memory(const void *at, uint32_t size, bool write) {
    const machine_t *m = &tcgemm_machine;
    if ((uintptr_t)at - (uintptr_t)m->self->stack < STACK_BYTES - STACK_GUARD) {
        if (m->self->num_sums > 0)
            tcgemm_wgmma_touch(at, size, write);
        return;
    }
    const uintptr_t offset = (uintptr_t)at - (uintptr_t)tcgemm_emulate_shared;
    if (offset >= SHARED_ROOM) {
        tcgemm_memory_access(at, size, write);
    } else if (write) {
        tcgemm_shared_write((uint32_t)offset, size);
        tcgemm_trace_shared_write((uint32_t)offset, size);
    } else {
        tcgemm_shared_read((uint32_t)offset, size);
        tcgemm_trace_shared_read((uint32_t)offset, size);
    }
}

#define HOOKS(size)                                                                                \
    void __tsan_read##size(const void *at);                                                        \
    void __tsan_write##size(const void *at);                                                       \
    void __tsan_unaligned_read##size(const void *at);                                              \
    void __tsan_unaligned_write##size(const void *at);                                             \
    void __tsan_read##size(const void *at) {                                                       \
        access_memory(at, size, false);                                                            \
    }                                                                                              \
    void __tsan_write##size(const void *at) {                                                      \
        access_memory(at, size, true);                                                             \
    }                                                                                              \
    void __tsan_unaligned_read##size(const void *at) {                                             \
        access_memory(at, size, false);                                                            \
    }                                                                                              \
    void __tsan_unaligned_write##size(const void *at) {                                            \
        access_memory(at, size, true);                                                             \
    }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(const void *at, unsigned long size);
void __tsan_write_range(const void *at, unsigned long size);
void __tsan_read_range(const void *at, unsigned long size) {
    access_memory(at, (uint32_t)size, false);
}
void __tsan_write_range(const void *at, unsigned long size) {
    access_memory(at, (uint32_t)size, true);
}

void __tsan_init(void);
void __tsan_func_entry(void *from);
void __tsan_func_exit(void);
void __tsan_init(void) {
}
void __tsan_func_entry(void *from) {
    (void)from;
}
void __tsan_func_exit(void) {
}

/* ---- -fsanitize=alignment ---- */

typedef struct location {
    const char *file;
    uint32_t line, column;
} location_t;

/* As gcc and clang lay it out: an alignment of 2^log, or none to speak of. */
typedef struct mismatch {
    location_t at;
    const void *type;
    uint8_t log_alignment, kind;
} mismatch_t;

void __ubsan_handle_type_mismatch_v1(const mismatch_t *x, uintptr_t address);
void __ubsan_handle_type_mismatch_v1(const mismatch_t *x, uintptr_t address) {
    const char *file = x->at.file;
    for (const char *c = file; *c; ++c)
        file = *c == '/' ? c + 1 : file;
    tcgemm_machine_fault("an access that wants %u bytes of alignment is %u bytes off (%s:%u)",
                         1u << x->log_alignment,
                         (uint32_t)(address & ((UINT64_C(1) << x->log_alignment) - 1)), file,
                         x->at.line);
    tcgemm_machine_stop();
}
