/* statistics.c - medians, quartiles and quotients. */
#include "measure/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "support/sort.h"

static double middle(const double *sorted, int64_t count) {
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

double statistics_median(double *values, int64_t count) {
    sort_doubles(values, (size_t)count);
    return middle(values, count);
}

summary_t statistics_summarize(const double *values, int64_t count) {
    summary_t s = {0};
    double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted)
        return s;
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    s.median = statistics_median(sorted, count);
    s.least = sorted[0];
    if (s.median > 0)
        s.spread = 0.5 * (sorted[count - 1 - count / 4] - sorted[count / 4]) / s.median;
    free(sorted);
    return s;
}

summary_t statistics_ratio(const double *ours, const double *theirs, int64_t count) {
    summary_t s = {0};
    double *ratios = count > 0 ? malloc((size_t)count * sizeof *ratios) : NULL;
    if (!ratios)
        return s;
    for (int64_t i = 0; i < count; ++i)
        ratios[i] = theirs[i] / ours[i];
    s = statistics_summarize(ratios, count);
    free(ratios);
    return s;
}

double statistics_rate(double amount, double seconds) {
    return seconds > 0 ? amount / seconds : 0;
}

double statistics_fraction(double rate, double peak) {
    return peak > 0 ? rate / peak : 0;
}

double statistics_triad_bytes(double length) {
    return 3 * (double)sizeof(double) * length;
}
