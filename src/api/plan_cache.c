/* plan_cache.c - see plan_cache.h.
 *
 * A problem has one slot, found by a hash of its sizes; another one with the same hash takes its
 * place. The slots of a thread are made at its first product and go with the thread, by free()
 * itself: nothing of ours runs in a thread that ends, and a destructor of the application that
 * comes later finds no slots and makes new ones.
 */
#include "api/plan_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_SLOTS = 16 }; /* a power of two */

typedef struct slot {
    bool is_full;
    tcgemm_plan_key_t key; /* its problem is the plan's */
    struct tcgemm_plan plan;
} slot_t;

static pthread_key_t key_of_slots;
static atomic_bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) {
    atomic_store(&has_key, pthread_key_create(&key_of_slots, free) == 0);
}

/* Keys are few, so the unloaded library gives its own back. What runs after it has no cache. */
__attribute__((destructor)) static void forget_key(void) {
    if (!atomic_exchange(&has_key, false))
        return;
    free(pthread_getspecific(key_of_slots)); /* those of other threads go with the process */
    (void)pthread_key_delete(key_of_slots);
}

static slot_t *make_slots(void) {
    slot_t *slots = calloc(NUM_SLOTS, sizeof *slots);
    if (slots && pthread_setspecific(key_of_slots, slots) != 0) {
        free(slots);
        slots = NULL;
    }
    return slots;
}

/* The slots of this thread, or NULL. */
static slot_t *slots_of_thread(void) {
    (void)pthread_once(&once, make_key);
    if (!atomic_load_explicit(&has_key, memory_order_relaxed))
        return NULL;
    slot_t *const slots = pthread_getspecific(key_of_slots);
    return slots ? slots : make_slots();
}

/* The struct has a gap between `flags` and `m`, whose bytes mean nothing. */
static bool is_same(const tcgemm_plan_key_t *x, const tcgemm_plan_key_t *y) {
    enum {
        HEAD = offsetof(tcgemm_problem_t, flags) + sizeof(uint32_t),
        TAIL = offsetof(tcgemm_problem_t, m)
    };
    return x->threads == y->threads && x->place == y->place &&
           memcmp(x->problem, y->problem, HEAD) == 0 &&
           memcmp(&x->problem->m, &y->problem->m, sizeof *x->problem - TAIL) == 0;
}

/* What calls in turns differ in. */
static size_t slot_index(const tcgemm_plan_key_t *key) {
    const tcgemm_problem_t *p = key->problem;
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15); /* Fibonacci hashing */
    uint64_t hash = (uint64_t)p->m * factor + (uint64_t)p->n;
    hash = hash * factor + (uint64_t)p->k;
    hash = hash * factor + (uint64_t)p->lda + (uint64_t)p->ldb * 8191 + (uint64_t)p->type * 64 +
           (uint64_t)p->op_a * 16 + (uint64_t)p->op_b * 8 + (uint64_t)p->order * 4 +
           (uint64_t)p->flags * 4096 + (uint64_t)key->place;
    hash *= factor;
    return (size_t)(hash >> 60 & (NUM_SLOTS - 1));
}

const struct tcgemm_plan *tcgemm_plan_cache_find(const tcgemm_plan_key_t *key,
                                                 struct tcgemm_plan **slot) {
    slot_t *const slots = slots_of_thread();
    *slot = NULL;
    if (!slots)
        return NULL;
    slot_t *const at = &slots[slot_index(key)];
    if (at->is_full && is_same(&at->key, key))
        return &at->plan;
    at->is_full = false;
    *slot = &at->plan;
    return NULL;
}

void tcgemm_plan_cache_keep(const tcgemm_plan_key_t *key) {
    slot_t *const at = (slot_t *)pthread_getspecific(key_of_slots) + slot_index(key);
    at->key = *key;
    at->key.problem = &at->plan.problem;
    at->is_full = true;
}

void tcgemm_plan_cache_forget(const tcgemm_plan_key_t *key) {
    slot_t *const at = (slot_t *)pthread_getspecific(key_of_slots) + slot_index(key);
    at->is_full = false;
}
