/* sort.c - the comparison that qsort wants. */
#include "support/sort.h"

#include <stdlib.h>

static int compare(const void *x, const void *y) {
    const double a = *(const double *)x;
    const double b = *(const double *)y;
    return (a > b) - (a < b);
}

void sort_doubles(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
}
