/* plot_script_model.c - predicted over measured times, about the line where they agree. */
#include <math.h>

#include "plot/plot_canvas.h"

/* One range for both axes, so that the line runs from corner to corner. */
static void model_ranges(canvas_t *s) {
    double least = INFINITY;
    double most = 0;
    for (size_t i = 0; i < s->chart->num_series; ++i)
        for (size_t j = 0; j < s->chart->series[i].count; ++j) {
            const chart_point_t *p = &s->chart->series[i].points[j];
            least = fmin(least, fmin(p->x, p->y));
            most = fmax(most, fmax(p->x, p->y));
        }
    s->x0 = s->y0 = least / 1.5;
    s->x1 = s->y1 = most * 1.5;
    s->log_x = s->log_y = true;
}

/* Predicted = factor * measured. */
static void write_line(const canvas_t *s, double factor, int dashes) {
    const double from = fmax(s->x0, s->y0 / factor);
    const double to = fmin(s->x1, s->y1 / factor);
    (void)fprintf(s->out,
                  "set arrow from %.10g,%.10g to %.10g,%.10g nohead lt 1 dt %d lw 1 "
                  "lc rgb '#444444'\n",
                  from, factor * from, to, factor * to, dashes);
}

void plot_script_model(canvas_t *s) {
    model_ranges(s);
    canvas_write_ranges(s);
    canvas_write_log_ticks(s, 'x', s->x0, s->x1);
    canvas_write_log_ticks(s, 'y', s->y0, s->y1);
    write_line(s, 1.0, 1);
    write_line(s, 1.25, 3);
    write_line(s, 0.75, 3);
    plot_script_points(s);
}
