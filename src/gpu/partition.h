/* partition.h - how a product of host matrices is divided for its way through a GPU.
 *
 * A unit is what is on the GPU at once: all of the product if there is room, else so many batch
 * items, rows, columns and steps of k of it. Its operands arrive in panels, and after each panel
 * the strip of D that it completes is computed and leaves:
 *
 *                 B0  B1  B2  B3         A0 B0 | A1 | B1 | A2 | B2 | A3 | B3     panels, in order
 *                +---+---+---+---+
 *            A0  | 0 | 2 | 4 | 6 |       so the part of D that is done grows as a square, by as
 *                +---+   |   |   |       much as any order can let it for the bytes that have come;
 *            A1  | 1   1 |   |   |       where an operand costs less bytes for a row (column) of
 *                +-------+   |   |       D, its panels come earlier
 *            A2  | 3   3   3 |   |
 *                +-----------+   |       a long strip is computed in pieces, so that the first of
 *            A3  | 5   5   5   5 |       them is on its way while the next is computed
 *                +---------------+
 *
 * Panels are so wide that a strip keeps a GPU busy, and so narrow that the first product begins
 * early and that what is left to do when the last one has arrived is short against the whole: the
 * first two and the last two of a side are halves. How wide, a model of the bus and the GPU says
 * (panel_clock.h), tried with some widths of either side. One of them may be the whole side:
 *
 *     A0 | B | A1 | A2 | A3       nothing is computed before B is there, but then all that comes
 *                                 and leaves is whole rows, and the rest of A keeps the GPU busy
 *
 * which wins where the product takes no longer than A, because copies of parts of lines are slow.
 */
#ifndef TCGEMM_GPU_PARTITION_H
#define TCGEMM_GPU_PARTITION_H

#include "plan/plan.h"

/* Rows, columns and steps of k of so many batch items. */
typedef struct tcgemm_extent {
    int64_t items, m, n, k;
} tcgemm_extent_t;

enum { TCGEMM_MOST_STRIPS = 6 /* of D on the GPU: that are computed, wait or leave */ };

typedef struct tcgemm_partition {
    tcgemm_extent_t unit;     /* at most */
    int64_t step_m, step_n;   /* rows of a panel of A, columns of one of B */
    int64_t piece_m, piece_n; /* rows of a piece of a strip of step_n columns, and the reverse */
    int most_d;               /* strips of D on the GPU, if there are so many */
    bool tight;               /* one buffer of each kind */
    bool is_staged;           /* by the CPU: panels as wide as high */
    int num_a, num_b, num_d;  /* buffers: units of A and of B, strips of D */
    int num_lanes;            /* products side by side, each with its workspace */
    size_t a_bytes, b_bytes, d_bytes, workspace_bytes, bytes;
} tcgemm_partition_t;

/* The partition that overlaps best, whatever memory is free. `most_bytes`: what it may ever take,
 * by which alone k is split: that rounds D between the parts, so it is done only where D is as wide
 * as the accumulator and even small panels of all of k would fill half of it. `is_staged`: the CPU
 * brings an operand or D to where the bus takes them; it gathers parts of lines as fast as whole
 * ones, and is busy both ways at once, so that D had better grow as a square. */
void tcgemm_partition_best(const struct tcgemm_plan *plan, size_t most_bytes, bool is_staged,
                           tcgemm_partition_t *c);

/* The next smaller partition; false if there is none. k is never split here: free memory, which
 * others change, must not decide the order of a sum. */
bool tcgemm_partition_smaller(const struct tcgemm_plan *plan, tcgemm_partition_t *c);

/* The plan of a strip (or piece) of a unit, which lies at that place of D: the kernels and the
 * parts of k of the whole, on tight copies of the unit's operands. */
void tcgemm_partition_plan(const struct tcgemm_plan *whole, const tcgemm_extent_t *unit,
                           const tcgemm_area_t *strip, struct tcgemm_plan *plan);

/* Bytes from line to line of a tight copy: lines start on 16-byte boundaries, up to which zeros go
 * on. */
int64_t tcgemm_tight_pitch(int64_t elements, tcgemm_dtype_t dtype);

/* ---- the order of the panels ---- */

/* One operand's side of D: rows for A, columns for B. */
typedef struct tcgemm_side {
    int64_t size, step;
    double bytes;    /* of one row or column */
    int64_t arrived; /* that are on the GPU */
    int64_t used;    /* of these, in strips that are computed */
} tcgemm_side_t;

/* The sides of a unit of which nothing has arrived. */
tcgemm_side_t tcgemm_side_of_a(const struct tcgemm_plan *plan, const tcgemm_partition_t *c,
                               const tcgemm_extent_t *unit);
tcgemm_side_t tcgemm_side_of_b(const struct tcgemm_plan *plan, const tcgemm_partition_t *c,
                               const tcgemm_extent_t *unit);

/* Goes on to the next panel: whose it is and where it begins; `used` of its side is where it ends.
 * False: all panels have been used. */
bool tcgemm_next_panel(tcgemm_side_t *a, tcgemm_side_t *b, bool *is_a, int64_t *begin);

#endif
