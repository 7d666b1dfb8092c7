/* divide.h - division by a number that is known before.
 *
 * A GPU takes some thirty instructions, one behind the other, to divide two numbers; of one that
 * the host knew already it takes a product and two shifts (Granlund, Montgomery: Division by
 * invariant integers using multiplication, PLDI 1994, figure 4.1). Exact for all numbers of 32
 * bits.
 */
#ifndef TCGEMM_TILE_DIVIDE_H
#define TCGEMM_TILE_DIVIDE_H

#include "tile/hd.h"

typedef struct tcgemm_divisor {
    uint32_t by;
    uint32_t magic, shift, last_shift;
} tcgemm_divisor_t;

/* 0 counts as 1. */
TCGEMM_HD tcgemm_divisor_t tcgemm_divisor_of(uint32_t number) {
    const uint32_t by = number ? number : 1;
    tcgemm_divisor_t d = {by, 0, 0, 0};
    uint32_t log2 = 0; /* rounded up */
    while (log2 < 32 && (uint64_t)1 << log2 < by)
        ++log2;
    d.magic = (uint32_t)(((((uint64_t)1 << log2) - by) << 32) / by + 1);
    d.shift = log2 > 0;
    d.last_shift = log2 > 0 ? log2 - 1 : 0;
    return d;
}

/* TCGEMM_DIVIDES: as it stands, for kernels that have no register left. */
TCGEMM_HD uint32_t tcgemm_divide(uint32_t number, tcgemm_divisor_t d) {
#ifdef TCGEMM_DIVIDES
    return number / d.by;
#else
    const uint32_t part = (uint32_t)((uint64_t)number * d.magic >> 32);
    return (part + ((number - part) >> d.shift)) >> d.last_shift;
#endif
}

#endif
