/* prepack.h - an operand packed ahead, for every product that it will be part of.
 *
 *     bytes    0        64
 *              | mark   | item 0 | item 1 | ...         items on 64-byte boundaries; one if shared
 *     item     | panels of k block 0 | of k block 1 | ... | terms | flags |
 *
 * A panel is mr rows of A or nr columns of B by the steps of a block of k, as gemm.c packs it on
 * the way: the blocks of k depend on k and the kernel alone, so the same data serve any m (or n),
 * any number of threads and any cut. Terms (of integers) and flags (of bf16) are those of
 * ukernel.h, a row of them for each block of k. What lies between the parts is zero.
 */
#ifndef TCGEMM_CPU_PREPACK_H
#define TCGEMM_CPU_PREPACK_H

#include "plan/plan.h"

/* Where the parts of one item lie. */
typedef struct tcgemm_prepacked {
    int64_t lines;  /* rows of A or columns of B, whole panels */
    int width;      /* of a panel */
    int64_t kc, k;  /* elements of k in a block; all of them */
    int64_t blocks; /* of k */
    int64_t steps;  /* lanes along k in a whole block */
    int ku;         /* elements of k in a lane */
    int lane_bytes;
    size_t terms, flags; /* offsets in an item */
    size_t item_bytes;
    int64_t items; /* apart; 1 if the batch shares one */
    size_t bytes;  /* of all */
} tcgemm_prepacked_t;

tcgemm_prepacked_t tcgemm_cpu_prepacked(const struct tcgemm_plan *plan, bool is_b);

/* The parts of block `block` of k of an item, from the start of packed data. */
char *tcgemm_prepacked_panel(const tcgemm_prepacked_t *p, const void *data, int64_t item,
                             int64_t block, int64_t line);
uint32_t *tcgemm_prepacked_terms(const tcgemm_prepacked_t *p, const void *data, int64_t item,
                                 int64_t block);
bool *tcgemm_prepacked_flags(const tcgemm_prepacked_t *p, const void *data, int64_t item,
                             int64_t block);

/* Runs a plan whose only step packs an operand: from call->a or b to call->d. `stats` may be NULL.
 */
tcgemm_status_t tcgemm_cpu_prepack(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                   tcgemm_run_stats_t *stats);

/* Checks the marks of operands that come packed. Returns OK, BAD_ALIGNMENT or BAD_ARGUMENT. */
tcgemm_status_t tcgemm_cpu_check_packed(const struct tcgemm_plan *plan, const tcgemm_call_t *call);

#endif
