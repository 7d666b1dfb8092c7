/* sim.h - products played on the CPU, with every element under its name.
 *
 * The loop nests (nest.c) and the CPU's rows (cpu.c) are played here; a GPU row's own kernel is run
 * by the emulator (emulated.c, src/emulate). What moves through a nest is not the elements but
 * their names, so that questions have answers that do not depend on the data: was each k of an
 * element of D added once? Does the sum that is stored at (i, j) consist of row i of A and column j
 * of B? A "no" is a fault, told in one sentence. The values follow the names and are summed in f64;
 * they are compared with the reference at the end.
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

enum { TCGEMM_SIM_ZERO = -1 /* mn of a zero that fills up a tile beyond the matrix */ };

/* What an accumulator holds. */
typedef struct tcgemm_sim_sum {
    double sum;
    int32_t row, col; /* names; TCGEMM_SIM_ZERO: of nothing inside the matrices */
    int64_t terms;    /* products added, each of another k */
} tcgemm_sim_sum_t;

/* A or B. */
typedef struct tcgemm_sim_matrix {
    const tcgemm_operand_t *operand;
    const void *data;
    int form;   /* TCGEMM_FORM_K or TCGEMM_FORM_MN: what is contiguous */
    int64_t mn; /* rows of A, columns of B, of one item */
} tcgemm_sim_matrix_t;

typedef struct tcgemm_sim {
    const struct tcgemm_plan *plan;
    const tcgemm_canonical_t *g;
    const tcgemm_call_t *call;
    tcgemm_sim_matrix_t side[2]; /* TCGEMM_SIDE_A, TCGEMM_SIDE_B */
    uint32_t group;              /* tile rows of D that are swept together */
    uint8_t *written; /* how often each element of D was stored, items one after the other */
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
void tcgemm_sim_trace(tcgemm_sim_t *sim, int depth, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether somebody listens, so that a line is worth its making. */
static inline bool tcgemm_sim_is_traced(const tcgemm_sim_t *sim) {
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

/* The tile of D with this number, in the order of the plan (tile/raster.h). */
tcgemm_batch_tile_t tcgemm_sim_tile(const tcgemm_sim_t *sim, uint32_t index, uint32_t tiles_m,
                                    uint32_t tiles_n);

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
void tcgemm_sim_emulated(tcgemm_sim_t *sim);

#endif
