/* statistics.h - what `bench` and `run` make of measured times. Pure: numbers in, numbers out.
 *
 * What is not known is 0: a rate without a time, a fraction without a peak. */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include <stdint.h>

typedef struct summary {
    double median; /* of an even count the mean of the two in the middle */
    double least;
    double spread; /* half the distance of the quartiles / median */
} summary_t;

/* All 0 for no values, or without memory. */
summary_t statistics_summarize(const double *values, int64_t count);

/* The summary of theirs[i] / ours[i], round by round: how many times faster we are. */
summary_t statistics_ratio(const double *ours, const double *theirs, int64_t count);

/* The median alone; sorts the values, of which there is at least one. */
double statistics_median(double *values, int64_t count);

/* Operations, or bytes, a second. */
double statistics_rate(double amount, double seconds);

/* What part of the peak a rate is. */
double statistics_fraction(double rate, double peak);

/* What a triad a[i] = b[i] + s * c[i] of `length` doubles moves: two words read and one written. */
double statistics_triad_bytes(double length);

#endif
