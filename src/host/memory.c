/* memory.c - a short list of free workspaces. */
#include "host/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_KEPT = 8 };
#define MAX_KEPT_BYTES ((size_t)512 << 20)
#define HUGE_PAGE      ((size_t)2 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tcgemm_workspace_t kept[MAX_KEPT];
static int num_kept;
static size_t kept_bytes;

/* The list must be whole in a child, so nobody may be half-way through it at the fork. */
static void lock_for_fork(void) {
    (void)pthread_mutex_lock(&lock);
}

static void unlock_after_fork(void) {
    (void)pthread_mutex_unlock(&lock);
}

static void register_fork_handlers(void) {
    (void)pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
}

__attribute__((destructor)) static void free_kept(void) {
    for (int i = 0; i < num_kept; ++i)
        free(kept[i].data);
    num_kept = 0;
    kept_bytes = 0;
}

/* Panels are read with a stride of one page now and then: huge pages spare the TLB. */
static tcgemm_workspace_t allocate(size_t bytes) {
    const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    tcgemm_workspace_t w = {NULL, (bytes + alignment - 1) / alignment * alignment};
    if (w.bytes < bytes || posix_memalign(&w.data, alignment, w.bytes) != 0)
        return (tcgemm_workspace_t){NULL, 0};
    if (alignment == HUGE_PAGE)
        (void)madvise(w.data, w.bytes, MADV_HUGEPAGE);
    return w;
}

tcgemm_workspace_t tcgemm_workspace_take(size_t bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, register_fork_handlers);
    tcgemm_workspace_t found = {NULL, 0};
    (void)pthread_mutex_lock(&lock);
    int best = -1;
    for (int i = 0; i < num_kept; ++i)
        if (kept[i].bytes >= bytes && (best < 0 || kept[i].bytes < kept[best].bytes))
            best = i;
    if (best >= 0) {
        found = kept[best];
        kept_bytes -= found.bytes;
        kept[best] = kept[--num_kept];
    }
    (void)pthread_mutex_unlock(&lock);
    return found.data ? found : allocate(bytes ? bytes : 1);
}

void tcgemm_workspace_give_back(tcgemm_workspace_t workspace) {
    tcgemm_workspace_t surplus = workspace;
    (void)pthread_mutex_lock(&lock);
    if (workspace.data && workspace.bytes <= MAX_KEPT_BYTES - kept_bytes) {
        /* Make room by dropping the smallest: large ones are the dear ones to make again. */
        if (num_kept == MAX_KEPT) {
            int smallest = 0;
            for (int i = 1; i < num_kept; ++i)
                if (kept[i].bytes < kept[smallest].bytes)
                    smallest = i;
            surplus = kept[smallest];
            kept_bytes -= surplus.bytes;
            kept[smallest] = kept[--num_kept];
        } else {
            surplus.data = NULL;
        }
        kept[num_kept++] = workspace;
        kept_bytes += workspace.bytes;
    }
    (void)pthread_mutex_unlock(&lock);
    free(surplus.data);
}
