/* cost.h - what a product on the CPU has to do, counted, and the cycles that each of it takes. */
#ifndef TCGEMM_CPU_COST_H
#define TCGEMM_CPU_COST_H

#include "plan/plan.h"

/* What is counted for one item of the batch. */
typedef enum tcgemm_cpu_count {
    TCGEMM_COUNT_CALL,     /* 1 / items: the call's own */
    TCGEMM_COUNT_ITEM,     /* 1, but of small ones, which have no phases and units, 0 */
    TCGEMM_COUNT_TILE,     /* register tiles, each step of k anew, ... */
    TCGEMM_COUNT_EDGE,     /* ... and those of them that are not whole */
    TCGEMM_COUNT_MULTIPLY, /* cycles that multiply-adds keep the units busy, edges padded */
    TCGEMM_COUNT_A_ALONG,  /* elements of A that are packed, lying along k, ... */
    TCGEMM_COUNT_A_ACROSS, /* ... and lying across it */
    TCGEMM_COUNT_B_ALONG,
    TCGEMM_COUNT_B_ACROSS,
    TCGEMM_COUNT_PANEL,    /* panels that they make, each step of k anew */
    TCGEMM_COUNT_A_PIECE,  /* lanes of panels of A that lies across k, ... */
    TCGEMM_COUNT_B_PIECE,  /* ... of B, ... */
    TCGEMM_COUNT_ROW,      /* ... and rows of k, each for 128 lines */
    TCGEMM_COUNT_IN_PLACE, /* elements of A that tiles read where they lie, for each panel of B */
    TCGEMM_COUNT_OWN,      /* elements of B that units of few rows read */
    TCGEMM_COUNT_STORE,    /* elements of D, each step of k anew */
    TCGEMM_COUNT_FAR,    /* lines of 64 bytes of all matrices, beyond what a near cache holds ... */
    TCGEMM_COUNT_FAR_A,  /* ... of A that is packed and lies across k, ... */
    TCGEMM_COUNT_FAR_B,  /* ... of such B, ... */
    TCGEMM_COUNT_FAR_D,  /* ... and of D */
    TCGEMM_COUNT_AGAIN,  /* the same of panels of B that units of other rows read again */
    TCGEMM_COUNT_LINE,   /* elements of lines that are transposed in registers */
    TCGEMM_COUNT_DOT,    /* vectors of 16 multiply-adds with them */
    TCGEMM_COUNT_ACROSS, /* elements of lines across k that few rows are multiplied by, ... */
    TCGEMM_COUNT_ACROSS_DOT, /* ... and vectors of 16 multiply-adds with them */
    TCGEMM_COUNT_TILE_LINE,  /* elements of lines that matrix tiles read where they lie */
    TCGEMM_COUNT_INNER,      /* vectors of multiply-adds whose lanes are elements of k, ... */
    TCGEMM_COUNT_INNER_SUM,  /* ... and elements of D whose lanes are added up */
    TCGEMM_NUM_COUNTS
} tcgemm_cpu_count_t;

/* Of a plan with its blocks. */
void tcgemm_cpu_work(const struct tcgemm_plan *plan, double count[TCGEMM_NUM_COUNTS]);

/* Cycles of the nominal clock for each of them, as measured on a Xeon (cost.def), a Zen 4
 * (cost_zen4.def) and a Zen 5 (cost_zen5.def); NULL where nobody has. */
const double *tcgemm_cpu_costs(const struct tcgemm_plan *plan);

#endif
