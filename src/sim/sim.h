/* sim.h - a machine that runs the kernels' index arithmetic on the CPU.
 *
 * The simulators of this room play a kernel of the table step by step, through the headers of
 * src/tile, which host and device share. What moves through the simulated machine is not
 * the elements but their names:
 *
 *     global memory          shared memory             registers             D
 *     address -> (row, k) -> cells of names -> lanes -> products of names -> (row, column)
 *              sim.c           shared.c                   product.c             sim.c
 *
 * So every question has an answer that does not depend on the data: was this cell ever written? Do
 * the two factors of a product belong to the same k? Was each k of an element of D added once? Does
 * the sum that is stored at (i, j) consist of row i of A and column j of B? A "no" is a fault, told
 * in one sentence. The values follow the names and are summed in f64; they are compared with the
 * reference at the end.
 */
#ifndef TCGEMM_SIM_SIM_H
#define TCGEMM_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"
#include "tile/fragment.h" /* TCGEMM_SIDE_A, TCGEMM_SIDE_B */
#include "tile/raster.h"

/* The name of an element of A (mn: its row) or B (mn: its column), rows and columns counted through
 * the batch: item * m + i. */
typedef struct tcgemm_sim_name {
    int32_t mn;
    int32_t k;
} tcgemm_sim_name_t;

enum {
    TCGEMM_SIM_ZERO = -1,  /* mn of a zero that fills up a tile beyond the matrix */
    TCGEMM_SIM_POISON = -2 /* mn of what was never written */
};

/* Names of zeros that fill up a tile. */
static inline void tcgemm_sim_zeros(tcgemm_sim_name_t *names, int count) {
    for (int i = 0; i < count; ++i)
        names[i] = (tcgemm_sim_name_t){TCGEMM_SIM_ZERO, 0};
}

/* What an accumulator holds. */
typedef struct tcgemm_sim_sum {
    double sum;
    int32_t row, col; /* names; TCGEMM_SIM_ZERO: of nothing inside the matrices */
    int64_t terms;    /* products added, each of another k */
} tcgemm_sim_sum_t;

/* A or B as a GPU kernel finds it: lines of elements that lie ld apart. */
typedef struct tcgemm_sim_matrix {
    const tcgemm_operand_t *operand;
    const void *data;
    int element_bytes; /* 0 for elements below a byte */
    bool trans;        /* gpu_args.h: a_trans, b_trans */
    int form;          /* TCGEMM_FORM_K or TCGEMM_FORM_MN */
    int64_t mn;        /* rows of A, columns of B, of one item */
    int64_t ld;
    uint32_t vector; /* bytes that every line is aligned to */
} tcgemm_sim_matrix_t;

typedef struct tcgemm_sim {
    const struct tcgemm_plan *plan;
    const tcgemm_canonical_t *g;
    const tcgemm_call_t *call;
    tcgemm_sim_matrix_t side[2]; /* TCGEMM_SIDE_A, TCGEMM_SIDE_B */
    uint32_t vector_c, vector_d;
    uint32_t group;      /* tile rows of D that are swept together */
    bool has_async_copy; /* cp.async, from sm_80 on */
    uint8_t *written;    /* how often each element of D was stored, items one after the other */
    tcgemm_trace_fn *trace;
    void *trace_user;
    bool trace_is_over;
    bool is_out_of_memory;
    tcgemm_simulate_report_t *report;
} tcgemm_sim_t;

/* ---- telling ---- */

/* Counts a fault and keeps the sentence of the first. */
void tcgemm_sim_fault(tcgemm_sim_t *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One line of the trace; `depth` levels of the hierarchy further in. */
void tcgemm_sim_tell(tcgemm_sim_t *sim, int depth, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether somebody listens, so that a line is worth its making. */
static inline bool tcgemm_sim_is_told(const tcgemm_sim_t *sim) {
    return sim->trace && !sim->trace_is_over;
}

/* "rows 16..31", "rows 96.. (beyond)": what a tile of `count` from `first` on has of `end`. */
typedef struct tcgemm_sim_span {
    char text[48];
} tcgemm_sim_span_t;
tcgemm_sim_span_t tcgemm_sim_span(const char *what, int64_t first, int64_t count, int64_t end);

/* Zeroed memory, or NULL; then the simulation is over, and is_out_of_memory is set. */
void *tcgemm_sim_allocate(tcgemm_sim_t *sim, int64_t count, size_t size);

/* ---- A, B, C and D ---- */

/* The value of an element of a side: floats as they are (tf32 rounded), integers as whole numbers,
 * bits for XOR as 1 and -1. */
double tcgemm_sim_value(const tcgemm_sim_t *sim, int side, tcgemm_sim_name_t name);

/* Reads `count` neighbouring elements at element `offset` of item `item`, in one access of `width`
 * bytes to which the address must be aligned. */
void tcgemm_sim_load(tcgemm_sim_t *sim, int side, int64_t item, int64_t offset, int count,
                     int width, tcgemm_sim_name_t *names);

/* The offset at which a GPU kernel expects element (mn, k). */
static inline int64_t tcgemm_sim_offset(const tcgemm_sim_matrix_t *x, int64_t mn, int64_t k) {
    return x->form == TCGEMM_FORM_K ? mn * x->ld + k : k * x->ld + mn;
}

/* The tile of D with this number, in the order of the plan (tile/raster.h). */
tcgemm_batch_tile_t tcgemm_sim_tile(const tcgemm_sim_t *sim, uint32_t index, uint32_t tiles_m,
                                    uint32_t tiles_n);

/* Whether `width` bytes of C and D at element `offset` of an item may be moved in one access. */
void tcgemm_sim_check_alignment(tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col,
                                int width);

/* D(row, col) of an item = alpha * sum + beta * C, once, complete, from the row and column it is
 * for. */
void tcgemm_sim_store(tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col,
                      const tcgemm_sim_sum_t *sum);

/* The two halves of it, for sums without names: alpha * sum + beta * C, and the store. */
double tcgemm_sim_scaled(const tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col,
                         double sum);
void tcgemm_sim_put(tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col, double value);

/* ---- the simulators: one for each way of computing ---- */

void tcgemm_sim_nest(tcgemm_sim_t *sim, const tcgemm_tiles_t *tiles, tcgemm_depth_t depth);
void tcgemm_sim_cpu(tcgemm_sim_t *sim);
void tcgemm_sim_reference(tcgemm_sim_t *sim);
void tcgemm_sim_mma(tcgemm_sim_t *sim);
void tcgemm_sim_simt(tcgemm_sim_t *sim);
void tcgemm_sim_outer(tcgemm_sim_t *sim);
void tcgemm_sim_wmma_direct(tcgemm_sim_t *sim);
void tcgemm_sim_wmma_shared(tcgemm_sim_t *sim);

#endif
