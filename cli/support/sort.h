/* sort.h - doubles in rising order, for medians and quantiles. */
#ifndef CLI_SORT_H
#define CLI_SORT_H

#include <stddef.h>

void sort_doubles(double *values, size_t count);

#endif
