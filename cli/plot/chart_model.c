/* chart_model.c - how far the planner's predictions lie from what was measured, in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot/chart.h"
#include "support/sort.h"

void chart_add_model(chart_t *chart, const plot_data_t *data) {
    double *errors = malloc(data->count * sizeof *errors);
    size_t within = 0;
    if (!errors)
        return;
    for (size_t i = 0; i < data->count; ++i) {
        errors[i] = fabs(data->rows[i].predicted / data->rows[i].seconds - 1);
        within += errors[i] <= 0.25;
    }
    sort_doubles(errors, data->count);
    (void)snprintf(
        chart->subtitle, sizeof chart->subtitle,
        "%zu problems: median error %.1f %%, nine in ten within %.1f %%; %.0f %% of them "
        "between the dotted lines, 25 %% off",
        data->count, 100 * errors[data->count / 2],
        100 * errors[(size_t)(0.9 * (double)(data->count - 1))],
        floor(100 * (double)within / (double)data->count));
    free(errors);
}
