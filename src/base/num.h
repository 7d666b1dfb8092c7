/* num.h - the whole-number arithmetic of blocks and tiles. Arguments are not negative and divisors
 * positive. */
#ifndef TCGEMM_BASE_NUM_H
#define TCGEMM_BASE_NUM_H

#include <stdint.h>

/* Of numbers that are no NaN: an instruction, where fmin and fmax are calls. */
static inline double min_f64(double x, double y) {
    return x < y ? x : y;
}

static inline double max_f64(double x, double y) {
    return x > y ? x : y;
}

static inline int64_t min_i64(int64_t x, int64_t y) {
    return x < y ? x : y;
}

/* Less than any sum of the terms of x, in whatever order they are added up. */
static inline double just_below(double x) {
    return x * (1.0 - 1e-12);
}

/* Of numbers from 0 on: instructions, where floor and ceil are calls. From 2^52 on all are whole.
 */
static inline double floor_f64(double x) {
    return x < 4503599627370496.0 ? (double)(int64_t)x : x;
}

static inline double ceil_f64(double x) {
    const double below = floor_f64(x);
    return below < x ? below + 1.0 : below;
}

/* x may be as large as an int64_t gets: a matrix without elements can have any m. */
static inline int64_t ceil_div(int64_t x, int64_t y) {
    return x / y + (x % y != 0);
}

/* x, or the next multiple of `multiple` above it. */
static inline int64_t round_up(int64_t x, int64_t multiple) {
    return ceil_div(x, multiple) * multiple;
}

/* The same for a multiple that is a power of two: no division. */
static inline int64_t round_up_to_power(int64_t x, int64_t power) {
    return (x + power - 1) & -power;
}

#endif
