/* guard.h - memory that ends, and begins, at a page nobody may touch. */
#ifndef TCGEMM_TESTS_SUPPORT_GUARD_H
#define TCGEMM_TESTS_SUPPORT_GUARD_H

#include <stddef.h>
#include <stdint.h>

typedef struct guard {
    uint8_t *base; /* the mapping: a forbidden page, `bytes` of memory, a forbidden page */
    uint8_t *data;
    size_t bytes; /* whole pages */
} guard_t;

/* At least `bytes` bytes between two forbidden pages. Fails the test if there is no memory. */
guard_t guard_make(size_t bytes);
void guard_free(guard_t *guard);

/* Where `bytes` bytes must lie so that they end (at_end) or begin at a forbidden page. */
static inline uint8_t *guard_place(const guard_t *guard, size_t bytes, int at_end) {
    return at_end ? guard->data + guard->bytes - bytes : guard->data;
}

#endif
