/* model.h - the blocking of a product on the CPU, and its time. */
#ifndef TCGEMM_CPU_MODEL_H
#define TCGEMM_CPU_MODEL_H

#include "plan/plan.h"

/* Where the time of one product goes, in seconds, one after the other. */
typedef struct tcgemm_cpu_time {
    double pack, multiply, store;
    double barrier; /* threads waiting for one another */
    double total;
} tcgemm_cpu_time_t;

/* Fills in plan->cpu and plan->num_threads for plan->kernel, a row of the CPU or the reference. */
tcgemm_cpu_time_t tcgemm_cpu_plan(struct tcgemm_plan *plan, int max_threads);

/* Multiply-adds that the vector units of one core start in a cycle for the kernel's instructions; 0
 * if this processor's are not known. */
double tcgemm_cpu_theoretical_macs(const tcgemm_kernel_t *kernel);

/* Columns of D that small products (plan.h) take for rows, at most. */
enum { TCGEMM_MOST_TURNED = 32 };

/* True if small products (plan.h) pack A by one call: as rows of lanes, lines along k that are
 * converted, or as lines across k. */
bool tcgemm_cpu_packs_rows(const struct tcgemm_plan *plan);

/* True if they make such lines of A, or of B, f32 as they lie: tiles read them by strides, as they
 * read what is f32. */
bool tcgemm_cpu_packs_lines_of_a(const struct tcgemm_plan *plan);
bool tcgemm_cpu_packs_lines_of_b(const struct tcgemm_plan *plan);

/* What a tile multiplies lies in memory as it is: f32 and f64, not tf32, which are rounded. */
bool tcgemm_cpu_lanes_are_elements(const tcgemm_canonical_t *g);

/* Whether lines along k, or rows across it, are a multiple of so many bytes apart. */
bool tcgemm_cpu_lie_apart(const tcgemm_operand_t *lines, int64_t bytes);

/* Rows or columns of floating types, at most, that may be summed in lanes of k: of more an operand
 * packed ahead leaves D its bits. */
enum { TCGEMM_MOST_INNER = 16 };

/* True if rows of A are whole lanes of the kernel as they lie, where they begin with one: bf16 in
 * pairs, u8 in fours. */
bool tcgemm_cpu_has_lanes(const struct tcgemm_plan *plan);

/* True if the panels of such an A, which would only be copies, are left out in a product of units.
 * There is room for them all the same, for an A that does not begin with a lane. */
bool tcgemm_cpu_leaves_a(const struct tcgemm_plan *plan);

/* True if the panels of A are rows of lanes, made of A's as they lie, which tiles read by strides.
 */
bool tcgemm_cpu_has_rows_of_lanes(const struct tcgemm_plan *plan);

/* True if who takes a unit (plan.h, packs_units) packs all panels of some elements of k before the
 * first tile. Vectors are multiplied from the first-level cache, so that others pack a panel when
 * it is needed, where the last one was; but what lies across k and has several elements of it in a
 * lane is read by rows of the unit, as one piece. */
bool tcgemm_cpu_packs_whole_units(const struct tcgemm_plan *plan);

/* True if tiles of such a unit fetch what is packed for the next ones, a part each: prefetchers do
 * not follow rows of B that lie as far apart, and packing would wait for each of them. */
bool tcgemm_cpu_fetches_units(const struct tcgemm_plan *plan);

enum { TCGEMM_MOST_OWN_PANELS = 64 }; /* of such a unit */

/* So few columns of D that A is read once, or little more, and best where it lies. */
bool tcgemm_cpu_is_narrow(const struct tcgemm_plan *plan);

#endif
