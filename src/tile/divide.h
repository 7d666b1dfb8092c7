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

typedef struct tcgemm_divisor { /* small: a kernel waits for each line of what it receives */
    uint32_t by, magic;
} tcgemm_divisor_t;

/* The logarithm of base 2, rounded up. */
TCGEMM_HD uint32_t tcgemm_log2_up(uint32_t by) {
#ifdef __CUDA_ARCH__
    return by > 1 ? 32 - (uint32_t)__clz((int)(by - 1)) : 0;
#else
    return by > 1 ? 32 - (uint32_t)__builtin_clz(by - 1) : 0;
#endif
}

/* 0 counts as 1. */
TCGEMM_HD tcgemm_divisor_t tcgemm_divisor_of(uint32_t number) {
    const uint32_t by = number ? number : 1;
    const uint64_t above = ((uint64_t)1 << tcgemm_log2_up(by)) - by;
    const tcgemm_divisor_t d = {by, (uint32_t)((above << 32) / by + 1)};
    return d;
}

/* TCGEMM_DIVIDES: as it stands, for kernels that have no register left. */
TCGEMM_HD uint32_t tcgemm_divide(uint32_t number, tcgemm_divisor_t d) {
#ifdef TCGEMM_DIVIDES
    return number / d.by;
#else
    const uint32_t part = (uint32_t)((uint64_t)number * d.magic >> 32);
    const uint32_t shift = d.by > 1;
    return (part + ((number - part) >> shift)) >> (tcgemm_log2_up(d.by) - shift);
#endif
}

#endif
