/* short_sum.c - sums of FP8, as its tensor cores have them: the terms and the sum so far are
 * aligned to the largest exponent among them, where SHORT_BITS fractional bits are kept and the
 * rest cut off; their sum is cut to as many bits. Khattak and Mikaitis, Accurate models of NVIDIA
 * tensor cores, arXiv 2512.07004. So measured of wgmma on an H200 (tests/emulate/golden_hopper.h),
 * bit by bit; the mma.sync of sm_89 is taken to do the same.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "emulate/machine.h"

/* Exponents: that of zero is below all others, and that of what is not finite above them, whatever
 * the other factor is. */
enum { SHORT_BITS = 13, OF_ZERO = -1000, NOT_FINITE = 4000, LEAST_NOT_FINITE = 2000 };
enum { MAX_ROWS = 64, MAX_N = 256, MAX_K = 32 };

static int exponent_of(double factor) {
    return factor == 0.0 ? OF_ZERO : isfinite(factor) ? ilogb(factor) : NOT_FINITE;
}

static double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The highest SHORT_BITS + 1 bits of a number. */
static int32_t cut(int32_t number) {
    uint32_t bits = number < 0 ? 0u - (uint32_t)number : (uint32_t)number, ones = 0;
    while (bits >> ones >= 2u << SHORT_BITS)
        ++ones;
    bits = bits >> ones << ones;
    return number < 0 ? -(int32_t)bits : (int32_t)bits;
}

/* before + the sum of k terms, whose exponents are the sums of those of their factors: in units of
 * the last bit that is kept, a term is less than 2^15. */
static float short_sum(const double *terms, const int *exponents, uint32_t k, float before) {
    int largest = before == 0.0f ? 2 * OF_ZERO : exponent_of((double)before);
    for (uint32_t p = 0; p < k; ++p)
        largest = exponents[p] > largest ? exponents[p] : largest;
    if (largest <= OF_ZERO || largest >= LEAST_NOT_FINITE) {
        double whole = (double)before;
        for (uint32_t p = 0; p < k; ++p)
            whole += terms[p];
        return (float)whole;
    }
    const double units = power_of_two(SHORT_BITS - largest);
    int32_t sum = (int32_t)((double)before * units);
    for (uint32_t p = 0; p < k; ++p)
        sum += (int32_t)(terms[p] * units);
    return (float)((double)cut(sum) * power_of_two(largest - SHORT_BITS));
}

void tcgemm_machine_multiply_short(const short_product_t *x) {
    static struct line {
        double v[MAX_K];
        int exponent[MAX_K];
    } a[MAX_ROWS], b[MAX_N]; /* rows of A, columns of B */
    assert(x->rows <= MAX_ROWS && x->n <= MAX_N && x->k <= MAX_K);
    for (uint32_t p = 0; p < x->k; ++p) {
        for (uint32_t i = 0; i < x->rows; ++i) {
            a[i].v[p] = x->a[i * x->a_pitch + p];
            a[i].exponent[p] = exponent_of(a[i].v[p]);
        }
        for (uint32_t j = 0; j < x->n; ++j) {
            b[j].v[p] = x->b[p * x->b_pitch + j];
            b[j].exponent[p] = exponent_of(b[j].v[p]);
        }
    }
    for (uint32_t i = 0; i < x->rows; ++i)
        for (uint32_t j = 0; j < x->n; ++j) {
            double terms[MAX_K];
            int exponents[MAX_K];
            for (uint32_t p = 0; p < x->k; ++p) {
                terms[p] = a[i].v[p] * b[j].v[p];
                exponents[p] = a[i].exponent[p] + b[j].exponent[p];
            }
            float *sum = &x->sums[i * x->sums_pitch + j];
            *sum = short_sum(terms, exponents, x->k, *sum);
        }
}
