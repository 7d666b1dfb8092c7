/* plot_script_lines.c - throughput over size or k: points with error bars, joined by lines. */
#include <math.h>
#include <string.h>

#include "plot_sheet.h"

/* The least x that was measured beyond `x`; infinity if there is none. */
static double next_x(const chart_t *chart, double x) {
    double next = INFINITY;
    for (size_t i = 0; i < chart->num_series; ++i)
        for (size_t j = 0; j < chart->series[i].count; ++j) {
            const double value = chart->series[i].points[j].x;
            next = value > x && value < next ? value : next;
        }
    return next;
}

static double last_x(const chart_t *chart) {
    double last = 0;
    for (size_t i = 0; i < chart->num_series; ++i)
        last = fmax(last, chart->series[i].points[chart->series[i].count - 1].x);
    return last;
}

/* Labels the sizes that were measured, as far as they stay clear of the label before. */
static void write_ticks(const sheet_t *s) {
    double end = -INFINITY; /* of the label before */
    (void)fputs("set xtics (", s->out);
    double x = next_x(s->chart, 0);
    while (!isinf(x)) {
        char text[32];
        (void)snprintf(text, sizeof text, "%.10g", x);
        const double half = SHEET_LETTER * (double)strlen(text) / 2;
        const double at = sheet_place(x, s->x0, s->x1, s->log_x) * (s->right - s->left);
        if (at - half >= end + 12) {
            (void)fprintf(s->out, "%s%s", isinf(end) ? "" : ",", text);
            end = at + half;
        }
        x = next_x(s->chart, x);
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
static void write_percent_axis(const sheet_t *s) {
    (void)fprintf(s->out, "set border 11\nset y2range [0:%.10g]\nset y2tics 20 tc rgb '#222222'\n",
                  100 * s->y1 / s->chart->roofs[0].y);
}

void plot_script_lines(sheet_t *s) {
    const double first = next_x(s->chart, 0);
    const double last = last_x(s->chart);
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
    sheet_write_ranges(s);
    write_ticks(s);
    if (*s->chart->y2_label)
        write_percent_axis(s);
    plot_script_roofs(s);
    plot_script_points(s);
}
