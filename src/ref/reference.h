/* reference.h - the product computed slowly and obviously: the kernel of last resort, and the
 * judge.
 *
 * One element of D at a time, from the formula, in arithmetic wider than any kernel's:
 *
 *     inputs            sum of products                                     alpha, beta
 *     8- to 32-bit      f64; every product is exact in it                   f64
 *     f64               two f64, each product and sum with its error        two f64
 *     integers          32 bits, wrapping round                             32 bits
 *
 * Never optimised: it is read more often than it is run.
 */
#ifndef TCGEMM_REF_REFERENCE_H
#define TCGEMM_REF_REFERENCE_H

#include "plan/backend.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "problem/canonical.h"

struct tcgemm_plan;

/* One element of D before rounding. For floats the value is (hi + lo) * 2^exponent and hi is that
 * sum rounded; the exponent is 0 unless the magnitude is beyond f64. */
typedef struct tcgemm_ref_value {
    double hi;
    double lo;
    double magnitude; /* s = |alpha| sum |a||b| + |beta c|, also times 2^exponent */
    double product;   /* sum |a||b|, no exponent: infinite where it is beyond f64 */
    int exponent;
    double epilogue_units; /* what bias and activation may lose: units of the accumulator, ... */
    double epilogue_tiny;  /* ... and what underflow may in an activation, absolute */
    uint32_t integer;      /* the result of an integer type; nothing else is set then */
} tcgemm_ref_value_t;

/* A sum as an unevaluated pair: hi is the plain sum in f64, lo gathers what its roundings lost.
 * (Ogita, Rump and Oishi, Accurate sum and dot product, 2005, algorithm Dot2.) */
typedef struct tcgemm_wide {
    double hi;
    double lo;
} tcgemm_wide_t;

/* sum += a * b. The error of the product is exact unless it lies below 2^-1074; that of the sum is
 * always exact. Once hi has overflowed lo is meaningless, and hi is the answer of IEEE sums. */
static inline void tcgemm_wide_add_product(tcgemm_wide_t *sum, double a, double b) {
    const double product = a * b;
    const double product_error = fma(a, b, -product);
    const double hi = sum->hi + product;
    const double rest = hi - sum->hi;
    const double sum_error = (sum->hi - (hi - rest)) + (product - rest);
    sum->hi = hi;
    sum->lo += sum_error + product_error;
}

/* False if alpha or k is 0, so that A and B must not be read. */
static inline bool tcgemm_reads_product(const tcgemm_canonical_t *g, const tcgemm_call_t *call) {
    return g->k > 0 && call->alpha != 0;
}

/* Element `index` of A or B as the product sees it: tf32 types round it first. */
double tcgemm_reference_load(const tcgemm_canonical_t *g, const tcgemm_operand_t *operand,
                             const void *array, int64_t index);

/* alpha * (sum.hi + sum.lo) + beta * c_ij for a float type, from the sum of the products and the
 * sum of their magnitudes, both times 2^exponent. */
void tcgemm_reference_combine(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                              int64_t i, int64_t j, tcgemm_wide_t sum, double product, int exponent,
                              tcgemm_ref_value_t *out);

/* The same for an integer type. */
uint32_t tcgemm_reference_combine_integer(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                          int64_t batch, int64_t i, int64_t j, uint32_t sum);

/* Element (i, j) of D of one batch item, exactly or nearly so (see above). */
void tcgemm_reference_element(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                              int64_t i, int64_t j, tcgemm_ref_value_t *out);

/* The most that the finite terms of a float element may add up to on the way: of sum |a||b| over
 * finite factors alone, and of that times alpha and |beta c|. For elements whose value is infinite.
 */
double tcgemm_reference_finite_magnitude(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                         int64_t batch, int64_t i, int64_t j);

/* How far d_ij moves if elements of A and B that lie half-way between two tf32 numbers are rounded
 * to the other one: |alpha| sum |a_ip| |b_pj'-b_pj| + |a_ip'-a_ip| |b_pj'|. 0 for other types. */
double tcgemm_reference_ties(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                             int64_t i, int64_t j);

/* The kernel `reference`. Always OK. */
tcgemm_status_t tcgemm_reference_run(const struct tcgemm_plan *plan, const struct tcgemm_call *call,
                                     tcgemm_run_stats_t *stats);

/* Runs plans of it. */
extern const tcgemm_backend_t tcgemm_reference_backend;

#endif
