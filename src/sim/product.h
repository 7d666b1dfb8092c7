/* product.h - one instruction on names: rows of A times columns of B, step by step of k.
 *
 *                      slots of k                     columns
 *     operand A   +----------------+    operand B  +---------+     product   +---------+
 *          rows   | names          |    (slot,     | names   |        rows   | sums    |
 *                 +----------------+     column)   +---------+               +---------+
 *
 * An operand is sound if all names of a row belong to one row of A, and all names of a slot to one
 * k; zeros stand only where the row or the k lies outside. Two sound operands may be multiplied if
 * their slots agree in k: a zero that fills up k must meet a zero, since 0 * infinity is NaN.
 */
#ifndef TCGEMM_SIM_PRODUCT_H
#define TCGEMM_SIM_PRODUCT_H

#include "sim/sim.h"

enum {
    TCGEMM_SIM_MAX_ROWS = 64,
    TCGEMM_SIM_MAX_SLOTS = 32,
    TCGEMM_SIM_MAX_SUMS = 256,
    TCGEMM_SIM_WINDOW = 4096
};

typedef struct tcgemm_sim_operand {
    int rows, slots;
    tcgemm_sim_name_t name[TCGEMM_SIM_MAX_ROWS][TCGEMM_SIM_MAX_SLOTS];
    int32_t mn[TCGEMM_SIM_MAX_ROWS]; /* found by identify: of each row ... */
    int32_t k[TCGEMM_SIM_MAX_SLOTS]; /* ... of each slot; or SIM_ZERO */
    double value[TCGEMM_SIM_MAX_SLOTS][TCGEMM_SIM_MAX_ROWS]; /* the other way round */
    bool is_empty;                                           /* nothing but zeros */
} tcgemm_sim_operand_t;

typedef struct tcgemm_sim_product {
    int rows, cols;
    int32_t row[TCGEMM_SIM_MAX_ROWS];
    int32_t col[TCGEMM_SIM_MAX_ROWS];
    int64_t terms;
    int64_t highest;                       /* k so far; -1: none */
    uint64_t seen[TCGEMM_SIM_WINDOW / 64]; /* which of the last k, at bit k % WINDOW */
    double sum[TCGEMM_SIM_MAX_SUMS];
} tcgemm_sim_product_t;

/* Finds the rows and slots of an operand of a side and fetches the values. */
void tcgemm_sim_identify(tcgemm_sim_t *sim, int side, tcgemm_sim_operand_t *x);

/* product += a * b, both identified. */
void tcgemm_sim_multiply(tcgemm_sim_t *sim, tcgemm_sim_product_t *product,
                         const tcgemm_sim_operand_t *a, const tcgemm_sim_operand_t *b);

/* An array of products of rows x cols, which the caller frees; NULL without memory. */
tcgemm_sim_product_t *tcgemm_sim_products_make(tcgemm_sim_t *sim, int64_t count, int rows,
                                               int cols);
void tcgemm_sim_products_clear(tcgemm_sim_product_t *products, int64_t count);

/* The accumulator of row i and column j. */
static inline tcgemm_sim_sum_t tcgemm_sim_sum_of(const tcgemm_sim_product_t *x, int i, int j) {
    return (tcgemm_sim_sum_t){x->sum[i * x->cols + j], x->row[i], x->col[j], x->terms};
}

#endif
