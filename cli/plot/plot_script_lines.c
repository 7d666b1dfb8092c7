/* plot_script_lines.c - throughput over size or k: points with error bars, joined by lines. */
#include <math.h>
#include <string.h>

#include "plot/plot_canvas.h"

/* The greatest x that was measured below `limit`; 0 if there is none. */
static double x_below(const chart_t *chart, double limit) {
    double found = 0;
    for (size_t i = 0; i < chart->num_series; ++i)
        for (size_t j = 0; j < chart->series[i].count; ++j) {
            const double x = chart->series[i].points[j].x;
            found = x < limit && x > found ? x : found;
        }
    return found;
}

static double least_x(const chart_t *chart) {
    double least = INFINITY;
    for (size_t i = 0; i < chart->num_series; ++i)
        least = fmin(least, chart->series[i].points[0].x);
    return least;
}

/* Labels the sizes that were measured, from the greatest on, as far as they stay clear of the label
 * before. */
static void write_ticks(const canvas_t *s) {
    double begin = INFINITY; /* of the label before */
    double x = x_below(s->chart, INFINITY);
    (void)fputs("set xtics (", s->out);
    while (x > 0) {
        char text[32];
        (void)snprintf(text, sizeof text, "%.10g", x);
        const double half = CANVAS_LETTER * (double)strlen(text) / 2;
        const double at = canvas_fraction(x, s->x0, s->x1, s->log_x) * (s->right - s->left);
        if (at + half <= begin - 12) {
            (void)fprintf(s->out, "%s%s", isinf(begin) ? "" : ",", text);
            begin = at - half;
        }
        x = x_below(s->chart, x);
    }
    (void)fputs(")\n", s->out);
}

static double highest(const chart_t *chart) {
    double most = 0;
    for (size_t i = 0; i < chart->num_series; ++i)
        for (size_t j = 0; j < chart->series[i].count; ++j)
            most = fmax(most, chart->series[i].points[j].high);
    for (size_t i = 0; i < chart->num_roofs; ++i)
        most = fmax(most, chart->roofs[i].y);
    return most;
}

/* Fractions of the one peak, at the right. */
static void write_percent_axis(const canvas_t *s) {
    (void)fprintf(s->out, "set border 11\nset y2range [0:%.10g]\nset y2tics 20 tc rgb '#222222'\n",
                  100 * s->y1 / s->chart->roofs[0].y);
}

void plot_script_lines(canvas_t *s) {
    const double first = least_x(s->chart);
    const double last = x_below(s->chart, INFINITY);
    s->log_x = last >= 4 * first;
    if (s->log_x) {
        s->x0 = first / pow(last / first, 0.04);
        s->x1 = last * pow(last / first, 0.04);
        (void)fputs("set logscale x 2\n", s->out);
    } else {
        const double margin = last > first ? 0.05 * (last - first) : 0.1 * first;
        s->x0 = first - margin;
        s->x1 = last + margin;
    }
    s->y1 = 1.1 * highest(s->chart);
    plot_script_make_room(s);
    canvas_write_ranges(s);
    write_ticks(s);
    if (*s->chart->y2_label)
        write_percent_axis(s);
    plot_script_roofs(s);
    plot_script_points(s);
}
