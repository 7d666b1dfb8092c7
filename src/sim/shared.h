/* shared.h - the shared memory of one simulated block: cells of one element, poisoned at first.
 *
 * Threads of a block run between barriers in any order. So within one interval nobody may read what
 * another warp writes, nor write what another warp reads or writes; within a warp the same holds
 * between two __syncwarp. Copies by cp.async arrive when their group is waited for, and are seen by
 * others after the next barrier. What breaks these rules is a fault, as compute-sanitizer's
 * racecheck would say on the device.
 *
 *     interval            |  0              |  1              |  2
 *     cp.async            |  slot 0, slot 1 |  slot 2         |  slot 0      a fault if slot 0 is
 *     wait, barrier     g0^               g1^               g2^              read in interval 2
 *     reads               |                 |  slot 0         |  slot 1
 */
#ifndef TCGEMM_SIM_SHARED_H
#define TCGEMM_SIM_SHARED_H

#include "sim/sim.h"

/* Who touched a cell last, and when. */
typedef struct tcgemm_sim_touch {
    uint32_t interval; /* between block barriers, from 1 on; 0: never */
    uint32_t turn;     /* between barriers of any kind */
    int32_t thread;    /* -1: several ... */
    int32_t warp;      /* ... of one warp; -1: of several */
} tcgemm_sim_touch_t;

typedef struct tcgemm_sim_cell {
    tcgemm_sim_name_t name;
    uint32_t group; /* of cp.async that brings it */
    tcgemm_sim_touch_t write, read;
} tcgemm_sim_cell_t;

typedef struct tcgemm_sim_shared {
    tcgemm_sim_t *sim;
    uint32_t bytes;
    uint32_t cell_bytes; /* of an element of A and B */
    tcgemm_sim_cell_t *cells;
    tcgemm_sim_sum_t *sums; /* sums on their way to D, at their first cell */
    uint32_t interval, turn;
    uint32_t committed; /* groups of cp.async */
    uint32_t waited;    /* groups that the threads have waited for ... */
    uint32_t landed;    /* ... and a barrier has made known to all */
} tcgemm_sim_shared_t;

/* False without memory. */
bool tcgemm_sim_shared_make(tcgemm_sim_shared_t *shared, tcgemm_sim_t *sim, size_t bytes,
                            int cell_bytes);
void tcgemm_sim_shared_free(tcgemm_sim_shared_t *shared);

/* A new block: everything is poison. */
void tcgemm_sim_shared_poison(tcgemm_sim_shared_t *shared);

/* `count` elements at byte `at`, by a thread, with one access of all of them. With `async`
 * they belong to the group that is committed next. */
void tcgemm_sim_shared_write(tcgemm_sim_shared_t *shared, int thread, uint32_t at, int count,
                             const tcgemm_sim_name_t *names, bool async);
void tcgemm_sim_shared_read(tcgemm_sim_shared_t *shared, int thread, uint32_t at, int count,
                            tcgemm_sim_name_t *names);

/* A sum of `bytes` bytes. */
void tcgemm_sim_shared_put(tcgemm_sim_shared_t *shared, int thread, uint32_t at, uint32_t bytes,
                           const tcgemm_sim_sum_t *sum);
void tcgemm_sim_shared_get(tcgemm_sim_shared_t *shared, int thread, uint32_t at, uint32_t bytes,
                           tcgemm_sim_sum_t *sum);

void tcgemm_sim_commit(tcgemm_sim_shared_t *shared);
/* Until at most `pending` groups are in flight. */
void tcgemm_sim_wait(tcgemm_sim_shared_t *shared, uint32_t pending);
void tcgemm_sim_barrier(tcgemm_sim_shared_t *shared);
void tcgemm_sim_syncwarp(tcgemm_sim_shared_t *shared);

#endif
