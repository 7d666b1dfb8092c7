/* ways.h - a few rows or columns of D beside the lines of the other operand: which way takes least.
 *
 * All ways give the same sums. Beside lines along k: tiles of panels, lines transposed in registers
 * (dots_tmpl.h, parts_tmpl.h), and lanes of k that are added up at the end (inner_tmpl.h); beside
 * lines across it tiles, and lines as they lie (across_tmpl.h). Which is soonest turns on how a
 * processor's loads, shuffles and multiply-adds stand to one another, so the cycles of each way are
 * counted and weighed with what was measured there (ways_zen4.def and others).
 */
#ifndef TCGEMM_CPU_WAYS_H
#define TCGEMM_CPU_WAYS_H

#include "plan/plan.h"

typedef enum tcgemm_cpu_way {
    TCGEMM_WAY_TILES,  /* of panels, or of operands where they lie */
    TCGEMM_WAY_DOTS,   /* transposed: some rows at a time, as many as the kernel takes */
    TCGEMM_WAY_PARTS,  /* the same of columns of f32 and f64 that are few enough for parts */
    TCGEMM_WAY_INNER,  /* lanes of k */
    TCGEMM_WAY_ACROSS, /* lines across k */
    TCGEMM_NUM_WAYS
} tcgemm_cpu_way_t;

/* Rows or columns of D that are few, beside lines that lie along k or across it. */
typedef struct tcgemm_few {
    tcgemm_dots_of_t of;
    bool across;
} tcgemm_few_t;

/* What the cycles of a way are made of; those of a way that has fewer are 0. */
enum { TCGEMM_NUM_WAY_COUNTS = 11 };

/* Of the product of a plan's problem and row:
 *   tiles   a call; vectors of multiply-adds; elements of B along k, and across it, that become
 *           panels; the same of A across k, and along it; vectors of D; rows of k of A, and of B,
 *           that become panels; steps of k beyond the first; elements of A beside each tile's
 *           columns, however few
 *   dots,   a call; vectors of lines for each pass, and of multiply-adds; elements of D, and of the
 *   across  few; elements of D whose rows are columns of it; of the few where they lie across k
 *   parts   a call; multiply-adds; elements of D, and of the few
 *   inner   a call; vectors of multiply-adds, and of lines for each pass; elements of D, and of the
 *           few where they lie across k */
void tcgemm_count_way(const struct tcgemm_plan *plan, tcgemm_few_t few, tcgemm_cpu_way_t way,
                      double count[TCGEMM_NUM_WAY_COUNTS]);

/* True, and the soonest way with its cycles, where this processor was measured with the plan's type
 * and vectors and the few are no more than that. A product that is to be reproducible has no lanes
 * of k. */
bool tcgemm_soonest_way(const struct tcgemm_plan *plan, tcgemm_few_t few, tcgemm_cpu_way_t *way,
                        double *cycles);

/* Bytes of lines along k that so many rows or columns read from the last cache again and again, of
 * which they have nearly half. */
int64_t tcgemm_most_read_again(int64_t few);

/* What all plans take from now on where they can, TCGEMM_NUM_WAYS being what is soonest: for tests
 * and for those who measure ways, on one thread. */
extern tcgemm_cpu_way_t tcgemm_forced_way;

#endif
