/* judge.c - see judge.h; the theory is in docs/numerics.md. */
#include "ref/judge.h"

#include <float.h>
#include <math.h>

#include "base/dtype.h"

/* The most that one operation of this plan's kernel can lose to underflow. The instruction
 * VDPBF16PS flushes sums below the smallest normal f32, BFMMLA products as well, at most two of the
 * four results that a pair of products passes through; their kernels see to subnormal inputs by
 * other means. */
static double underflow_unit(const struct tcgemm_plan *plan, tcgemm_dtype_t accumulator) {
    if (plan->kernel &&
        (plan->kernel->bound == TCGEMM_BOUND_FLUSHED || plan->kernel->bound == TCGEMM_BOUND_ODD))
        return (double)FLT_MIN;
    return tcgemm_dtype_tiny(accumulator);
}

/* What the plan's kernel sums in. */
static tcgemm_dtype_t accumulator_of(const struct tcgemm_plan *plan) {
    if (plan->kernel && plan->kernel->needs == TCGEMM_FLAG_F16_ACCUMULATE)
        return TCGEMM_DTYPE_F16;
    return plan->g.type->accumulator;
}

/* T(k): how many roundings the error of a sum of k products may amount to. */
static double growth_factor(int64_t k, tcgemm_bound_t bound) {
    const double terms = (double)k;
    switch (bound) {
    case TCGEMM_BOUND_ODD: /* an error of up to two units, but only one for two products */
        return fmin(terms + 3.0, 3.0 * sqrt(2.0 * terms) + 4.0);
    case TCGEMM_BOUND_TRUNCATED: /* errors lean to one side */
        return fmin(2.0 * terms + 4.0, terms / 8.0 + 3.0 * sqrt(terms) + 8.0);
    case TCGEMM_BOUND_SHORT: /* likewise, but for no more than the products of one short sum */
        return fmin(terms + 4.0, 72.0);
    default:
        return fmin(terms + 2.0, 3.0 * sqrt(terms) + 4.0);
    }
}

static double largest_of(tcgemm_dtype_t dtype) {
    switch (dtype) {
    case TCGEMM_DTYPE_F64:
        return DBL_MAX;
    case TCGEMM_DTYPE_F16:
        return 65504.0;
    case TCGEMM_DTYPE_BF16:
        return 0x1.FEp127;
    default:
        return (double)FLT_MAX;
    }
}

void tcgemm_judge_init(tcgemm_judge_t *judge, const struct tcgemm_plan *plan,
                       const tcgemm_call_t *call) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_type_info_t *type = g->type;
    *judge = (tcgemm_judge_t){.g = g, .call = call};
    judge->is_integer = tcgemm_dtype_is_integer(type->d) != 0;
    if (judge->is_integer)
        return;
    const tcgemm_dtype_t accumulator = accumulator_of(plan);
    const int64_t k = tcgemm_reads_product(g, call) ? g->k : 0;
    const double d_unit = tcgemm_dtype_unit(type->d);
    const double d_largest = largest_of(type->d);
    judge->accumulator_unit = tcgemm_plan_sum_unit(plan);
    judge->growth = growth_factor(k, plan->kernel ? plan->kernel->bound : TCGEMM_BOUND_NEAREST) *
                    judge->accumulator_unit;
    judge->rounding = d_unit > judge->accumulator_unit ? d_unit : 0.0;
    judge->underflow =
        ((double)k + 2.0) * underflow_unit(plan, accumulator) * fmax(1.0, fabs(call->alpha)) +
        tcgemm_dtype_tiny(type->d);
    judge->accumulator_largest = largest_of(accumulator);
    /* Half a unit in the last place above the largest; for f64 the sum is infinite. */
    judge->d_overflow = d_largest + d_unit * ldexp(1.0, ilogb(d_largest));
}

/* The bound on |d - ref|, in units of 2^exponent like the reference itself. */
static double bound_of(const tcgemm_judge_t *judge, const tcgemm_ref_value_t *ref) {
    const double before = judge->growth * ref->magnitude +
                          judge->accumulator_unit * ref->epilogue_units + ref->epilogue_tiny +
                          ldexp(judge->underflow, -ref->exponent);
    if (judge->rounding == 0.0) /* near the largest number 0 * infinity would make a NaN */
        return before;
    return before + judge->rounding * (fabs(ref->hi) + before);
}

/* A sum may overflow only where its terms are large enough: if their magnitudes, with or without
 * alpha, exceed the largest accumulator. Then some order of summation gives an infinity, and two
 * infinities may meet in a NaN. */
static bool sum_may_overflow(const tcgemm_judge_t *judge, const tcgemm_ref_value_t *ref) {
    const double magnitude = fmax(ldexp(ref->magnitude, ref->exponent), ref->product);
    return magnitude * (1.0 + judge->growth) > judge->accumulator_largest;
}

/* True if a kernel may find a NaN where the exact value is infinite, because an element is: its
 * finite terms may overflow on the way, and to the other side. */
static bool infinity_may_become_nan(const tcgemm_judge_t *judge, int64_t batch, int64_t i,
                                    int64_t j) {
    const double finite = tcgemm_reference_finite_magnitude(judge->g, judge->call, batch, i, j);
    return finite * (1.0 + judge->growth) > judge->accumulator_largest;
}

/* The error as a fraction of its bound; infinity where no bound can help. */
static double error_ratio(const tcgemm_judge_t *judge, int64_t batch, int64_t i, int64_t j,
                          const tcgemm_ref_value_t *ref, double got) {
    if (isnan(ref->hi))
        return isnan(got) ? 0.0 : (double)INFINITY;
    if (isinf(ref->hi))
        return got == ref->hi || (isnan(got) && infinity_may_become_nan(judge, batch, i, j))
                   ? 0.0
                   : (double)INFINITY;
    const double bound = bound_of(judge, ref);
    if (!isfinite(got)) {
        if (sum_may_overflow(judge, ref))
            return 0.0;
        const double reach = fabs(ref->hi) + judge->growth * ref->magnitude;
        const bool rounds_to_it = isinf(got) && signbit(got) == signbit(ref->hi) &&
                                  ldexp(reach, ref->exponent) >= judge->d_overflow;
        return rounds_to_it ? 0.0 : (double)INFINITY;
    }
    const double error = fabs((ldexp(got, -ref->exponent) - ref->hi) - ref->lo);
    if (error <= bound)
        return error == 0.0 ? 0.0 : error / bound;
    /* Only where it matters: it takes k steps. (tf32 is never scaled by an exponent.) */
    return error / (bound + tcgemm_reference_ties(judge->g, judge->call, batch, i, j));
}

static void count(tcgemm_tally_t *tally, int64_t batch, int64_t i, int64_t j, double ratio,
                  double got, double expected) {
    tally->num_checked += 1;
    if (!(ratio <= tally->max_ratio))
        tally->max_ratio = ratio;
    if (ratio <= 1.0)
        return;
    const tcgemm_tally_t one = {
        .num_wrong = 1, .batch = batch, .row = i, .col = j, .got = got, .expected = expected};
    tcgemm_tally_merge(tally, &one);
}

void tcgemm_judge_element(const tcgemm_judge_t *judge, int64_t batch, int64_t i, int64_t j,
                          const tcgemm_ref_value_t *ref, tcgemm_tally_t *tally) {
    const tcgemm_canonical_t *g = judge->g;
    const int64_t index = batch * g->stride_d + i * g->ldd + j;
    if (judge->is_integer) {
        const int32_t got = tcgemm_load_integer(g->type->d, judge->call->d, index);
        const bool is_right = (uint32_t)got == ref->integer;
        count(tally, batch, i, j, is_right ? 0.0 : (double)INFINITY, (double)got,
              (double)(int32_t)ref->integer);
        return;
    }
    const double got = tcgemm_load_float(g->type->d, judge->call->d, index);
    const double ratio = error_ratio(judge, batch, i, j, ref, got);
    const double bound = ldexp(bound_of(judge, ref), ref->exponent);
    if (isfinite(bound) && bound > tally->max_bound)
        tally->max_bound = bound;
    count(tally, batch, i, j, ratio, got, ldexp(ref->hi, ref->exponent));
}

void tcgemm_tally_init(tcgemm_tally_t *tally) {
    *tally = (tcgemm_tally_t){.batch = -1, .row = -1, .col = -1};
}

/* True if the wrong element of `x` comes before that of `y`. */
static bool is_before(const tcgemm_tally_t *x, const tcgemm_tally_t *y) {
    if (x->batch != y->batch)
        return x->batch < y->batch;
    return x->row != y->row ? x->row < y->row : x->col < y->col;
}

void tcgemm_tally_merge(tcgemm_tally_t *whole, const tcgemm_tally_t *part) {
    if (part->num_wrong > 0 && (whole->num_wrong == 0 || is_before(part, whole))) {
        whole->batch = part->batch;
        whole->row = part->row;
        whole->col = part->col;
        whole->got = part->got;
        whole->expected = part->expected;
    }
    whole->num_checked += part->num_checked;
    whole->num_wrong += part->num_wrong;
    if (!(part->max_ratio <= whole->max_ratio)) /* a NaN is kept: fmax would drop it */
        whole->max_ratio = part->max_ratio;
    whole->max_bound = fmax(whole->max_bound, part->max_bound);
}
