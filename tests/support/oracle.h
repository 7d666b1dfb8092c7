/* oracle.h - number formats and products, written a second time.
 *
 * The tests must not ask the library whether the library is right. Formats are decoded from their
 * definition (sign, exponent, fraction) with ldexp, rounded by trying both neighbours, and products
 * of whole numbers are formed in 64-bit integers.
 */
#ifndef TCGEMM_TESTS_SUPPORT_ORACLE_H
#define TCGEMM_TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

bool oracle_is_float(tcgemm_dtype_t dtype);
int oracle_bits(tcgemm_dtype_t dtype);

/* The raw bits of element `index` of an array, and the way back (neighbours keep their bits). */
uint64_t oracle_get_bits(tcgemm_dtype_t dtype, const void *array, int64_t index);
void oracle_set_bits(tcgemm_dtype_t dtype, void *array, int64_t index, uint64_t bits);

/* The value of a bit pattern, for floats and integers alike. */
double oracle_decode(tcgemm_dtype_t dtype, uint64_t bits);

/* `value` rounded to nearest, ties to even, overflow to infinity (e4m3: NaN); integers: value must
 * be whole, its low bits are kept. */
uint64_t oracle_encode(tcgemm_dtype_t dtype, double value);

double oracle_get(tcgemm_dtype_t dtype, const void *array, int64_t index);
void oracle_set(tcgemm_dtype_t dtype, void *array, int64_t index, double value);

/* An f32 with 10 fraction bits: nearest, ties away from zero. */
float oracle_tf32(float value);

#endif
