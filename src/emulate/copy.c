/* copy.c - cp.async as an adversary: what is asked for is poison until it is waited for; some of it
 * comes at once, the rest as late as it may, in any order. */
#include <stdlib.h>
#include <string.h>

#include "emulate/machine.h"
#include "emulate/trace.h"

void tcgemm_copy_reset(thread_t *thread) {
    thread->num_copies = 0;
    thread->committed = 0;
}

static void move(const copy_t *copy) {
    char *to = tcgemm_emulate_shared + copy->to;
    if (copy->bytes > 0)
        memcpy(to, copy->from, copy->bytes);
    memset(to + copy->bytes, 0, copy->size - copy->bytes);
}

static void deliver(const copy_t *copy) {
    if (!copy->early)
        move(copy);
    tcgemm_shared_deliver(copy->to, copy->size);
}

static copy_t *new_copy(thread_t *thread) {
    if (thread->num_copies == thread->max_copies) {
        const int more = thread->max_copies ? 2 * thread->max_copies : 64;
        copy_t *copies = realloc(thread->copies, (size_t)more * sizeof *copies);
        if (!copies) {
            tcgemm_machine_fault("no memory for a copy");
            tcgemm_machine_stop();
        }
        thread->copies = copies;
        thread->max_copies = more;
    }
    return &thread->copies[thread->num_copies++];
}

void tcgemm_emulate_cp_async(uint32_t to, const void *from, uint32_t size, uint32_t bytes) {
    thread_t *thread = self_thread();
    if (to % size != 0 || (bytes > 0 && (uintptr_t)from % size != 0)) {
        tcgemm_machine_fault("cp.async of %u bytes %s an address that is not aligned to them", size,
                             to % size ? "to" : "from");
        tcgemm_machine_stop();
    }
    if (bytes > size) {
        tcgemm_machine_fault("cp.async of %u bytes reads %u", size, bytes);
        tcgemm_machine_stop();
    }
    thread->request.op = OP_CP_ASYNC;
    if (bytes > 0)
        tcgemm_memory_access(from, bytes, false);
    tcgemm_shared_issue(to, size);
    copy_t *copy = new_copy(thread);
    *copy = (copy_t){to, size, bytes, thread->committed, from, tcgemm_machine_random(4) == 0};
    memset(tcgemm_emulate_shared + to, POISON, size);
    if (copy->early)
        move(copy);
    tcgemm_trace_copy(to, size, bytes);
    thread->request.op = OP_NONE;
}

void tcgemm_emulate_cp_async_commit(void) {
    self_thread()->committed += 1;
    tcgemm_trace_commit();
}

/* The groups but for the newest `pending` are there, the last first or the first first. */
void tcgemm_emulate_cp_async_wait(uint32_t pending) {
    thread_t *thread = self_thread();
    const uint32_t done = thread->committed > pending ? thread->committed - pending : 0;
    const bool backwards = tcgemm_machine_random(2);
    int kept = 0;
    for (int i = 0; i < thread->num_copies; ++i) {
        const int at = backwards ? thread->num_copies - 1 - i : i;
        if (thread->copies[at].group < done)
            deliver(&thread->copies[at]);
    }
    for (int i = 0; i < thread->num_copies; ++i)
        if (thread->copies[i].group >= done)
            thread->copies[kept++] = thread->copies[i];
    thread->num_copies = kept;
    tcgemm_trace_wait(pending);
}

/* All of them are there now: who reads them has to know of the phase, however early they come. */
void tcgemm_emulate_cp_async_arrive(uint32_t barrier) {
    tcgemm_emulate_cp_async_commit();
    tcgemm_emulate_cp_async_wait(0);
    tcgemm_emulate_mbarrier_arrive(barrier, 0);
}

void tcgemm_copy_end(const thread_t *thread) {
    if (thread->num_copies > 0)
        tcgemm_machine_fault("the thread ends while %d copies by cp.async are in flight",
                             thread->num_copies);
}
