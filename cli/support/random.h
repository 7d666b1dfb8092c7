/* random.h - reproducible data: element i of an operand depends on (seed, operand, i) alone, so it
 * is the same on every machine, for every thread count, and for every part of a matrix. */
#ifndef CLI_RANDOM_H
#define CLI_RANDOM_H

#include <stdint.h>

#include "tcgemm/tcgemm.h"

/* Fills elements 0 .. count-1 of `data`: floats uniform in [-1, 1), rounded to the dtype; integers
 * uniform over their whole range. `operand` is 'A', 'B', 'C', or 'V' for the bias. */
void random_fill(tcgemm_dtype_t dtype, void *data, int64_t count, uint64_t seed, char operand);

/* 64 bits by chance, the same for the same numbers. */
uint64_t random_word(uint64_t stream, uint64_t index);

#endif
