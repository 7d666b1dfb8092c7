/* plan_cache.c - see plan_cache.h.
 *
 * A problem has one slot, found by a hash of its sizes; another one with the same hash takes its
 * place. The slots of a thread are made at its first product and go with the thread.
 */
#include "api/plan_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_SLOTS = 16 }; /* a power of two */

typedef struct slot {
    bool is_full;
    tcgemm_plan_key_t key;
    struct tcgemm_plan plan;
} slot_t;

static _Thread_local slot_t *slots;
static pthread_key_t key_of_slots;
static bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Another destructor of the thread may still want a product, which makes new ones. */
static void drop_slots(void *of_thread) {
    free(of_thread);
    slots = NULL;
}

static void make_key(void) {
    has_key = pthread_key_create(&key_of_slots, drop_slots) == 0;
}

/* After dlclose nobody could call the destructor of the key. */
__attribute__((destructor)) static void forget_key(void) {
    if (has_key)
        (void)pthread_key_delete(key_of_slots);
    free(slots); /* of the thread that unloads; those of others go with the process */
    slots = NULL;
}

static bool make_slots(void) {
    (void)pthread_once(&once, make_key);
    slots = has_key ? calloc(NUM_SLOTS, sizeof *slots) : NULL;
    if (slots && pthread_setspecific(key_of_slots, slots) != 0) {
        free(slots);
        slots = NULL;
    }
    return slots != NULL;
}

/* The struct has a gap between `flags` and `m`, whose bytes mean nothing. */
static bool is_same(const tcgemm_plan_key_t *x, const tcgemm_plan_key_t *y) {
    enum {
        HEAD = offsetof(tcgemm_problem_t, flags) + sizeof(uint32_t),
        TAIL = offsetof(tcgemm_problem_t, m)
    };
    return x->threads == y->threads && x->place == y->place &&
           memcmp(&x->problem, &y->problem, HEAD) == 0 &&
           memcmp(&x->problem.m, &y->problem.m, sizeof x->problem - TAIL) == 0;
}

static slot_t *slot_of(const tcgemm_plan_key_t *key) {
    const tcgemm_problem_t *p = &key->problem;
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15); /* Fibonacci hashing */
    uint64_t hash = (uint64_t)p->m * factor + (uint64_t)p->n;
    hash = hash * factor + (uint64_t)p->k;
    hash = hash * factor + (uint64_t)p->lda + (uint64_t)p->type * 64 + (uint64_t)p->op_a * 16 +
           (uint64_t)p->op_b * 8 + (uint64_t)key->place;
    hash *= factor;
    return &slots[hash >> 60 & (NUM_SLOTS - 1)];
}

const struct tcgemm_plan *tcgemm_plan_cache_find(const tcgemm_plan_key_t *key,
                                                 struct tcgemm_plan **slot) {
    *slot = NULL;
    if (!slots && !make_slots())
        return NULL;
    slot_t *const at = slot_of(key);
    if (at->is_full && is_same(&at->key, key))
        return &at->plan;
    at->is_full = false;
    *slot = &at->plan;
    return NULL;
}

void tcgemm_plan_cache_keep(const tcgemm_plan_key_t *key) {
    slot_t *const at = slot_of(key);
    at->key = *key;
    at->is_full = true;
}
