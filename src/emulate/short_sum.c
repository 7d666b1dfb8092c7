/* short_sum.c - sums of FP8, as its tensor cores have them: the terms and the sum so far are
 * aligned to the largest exponent among them, where SHORT_BITS fractional bits are kept and the
 * rest cut off; their sum is cut to as many bits. Khattak and Mikaitis, Accurate models of NVIDIA
 * tensor cores, arXiv 2512.07004. So measured of wgmma on an H200 (tests/emulate/golden_hopper.h),
 * bit by bit; the mma.sync of sm_89 is taken to do the same.
 */
#include <math.h>

#include "emulate/machine.h"

enum { SHORT_BITS = 13, NO_EXPONENT = -1000 /* of zero: no other is below */ };

int tcgemm_machine_exponent(double factor) {
    return factor == 0.0 ? NO_EXPONENT : ilogb(factor);
}

static double cut(double value, int exponent) {
    return ldexp(trunc(ldexp(value, SHORT_BITS - exponent)), exponent - SHORT_BITS);
}

float tcgemm_machine_short_sum(const double *terms, const int *exponents, uint32_t k,
                               float before) {
    int largest = before == 0.0f ? 2 * NO_EXPONENT : ilogbf(before);
    double whole = (double)before;
    for (uint32_t p = 0; p < k; ++p) {
        whole += terms[p];
        largest = exponents[p] > largest ? exponents[p] : largest;
    }
    if (!isfinite(whole) || largest <= NO_EXPONENT)
        return (float)whole;
    double sum = cut((double)before, largest);
    for (uint32_t p = 0; p < k; ++p)
        sum += cut(terms[p], largest);
    return sum == 0.0 ? 0.0f : (float)cut(sum, ilogb(sum));
}
