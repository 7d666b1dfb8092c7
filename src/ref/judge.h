/* judge.h - is this element right? The bound of tcgemm.h section 10, and a tally of verdicts. */
#ifndef TCGEMM_REF_JUDGE_H
#define TCGEMM_REF_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"
#include "ref/reference.h"

/* What is the same for all elements of D. */
typedef struct tcgemm_judge {
    const tcgemm_canonical_t *g;
    const tcgemm_call_t *call; /* d is only read */
    bool is_integer;
    double accumulator_unit;
    double growth;              /* T(k) * u of the accumulator */
    double rounding;            /* u of D where D is narrower than the accumulator, else 0 */
    double underflow;           /* what underflow may lose, absolute */
    double accumulator_largest; /* finite value */
    double d_overflow;          /* from here on D rounds to infinity */
} tcgemm_judge_t;

typedef struct tcgemm_tally {
    int64_t num_checked;
    int64_t num_wrong;
    int64_t batch, row, col; /* the first wrong element as the kernel sees D; -1 if none */
    double got, expected;
    double max_ratio;
    double max_bound; /* the largest finite bound met */
} tcgemm_tally_t;

void tcgemm_judge_init(tcgemm_judge_t *judge, const struct tcgemm_plan *plan,
                       const tcgemm_call_t *call);

/* Compares d_ij with its reference value and counts it. */
void tcgemm_judge_element(const tcgemm_judge_t *judge, int64_t batch, int64_t i, int64_t j,
                          const tcgemm_ref_value_t *ref, tcgemm_tally_t *tally);

void tcgemm_tally_init(tcgemm_tally_t *tally);

/* Adds `part` to `whole`. */
void tcgemm_tally_merge(tcgemm_tally_t *whole, const tcgemm_tally_t *part);

#endif
