/* plot_script_lines.c - throughput over size or k: points with error bars, joined by lines. */
#include <math.h>
#include <string.h>

#include "plot_sheet.h"

/* Labels those values of a rising list that stay clear of the label before. */
static void write_ticks(const sheet_t *s, const double *values, size_t count) {
    double last = -1;
    (void)fputs("set xtics (", s->out);
    for (size_t i = 0; i < count; ++i) {
        char text[32];
        (void)snprintf(text, sizeof text, "%.10g", values[i]);
        const double width = SHEET_LETTER * (double)strlen(text) + 14;
        const double at = sheet_place(values[i], s->x0, s->x1, s->log_x) * (s->right - s->left);
        if (last >= 0 && at - last < width)
            continue;
        (void)fprintf(s->out, "%s%s", last < 0 ? "" : ",", text);
        last = at;
    }
    (void)fputs(")\n", s->out);
}

/* The values of x that were measured, in order. */
static size_t measured_x(const chart_t *chart, double *values, size_t most) {
    size_t count = 0;
    double last = -1;
    for (;;) {
        double next = INFINITY;
        for (size_t i = 0; i < chart->num_series; ++i)
            for (size_t j = 0; j < chart->series[i].count; ++j) {
                const double x = chart->series[i].points[j].x;
                next = x > last && x < next ? x : next;
            }
        if (isinf(next) || count == most)
            return count;
        values[count++] = last = next;
    }
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
    enum { MOST = 512 };
    double x[MOST];
    const size_t count = measured_x(s->chart, x, MOST);
    const double first = x[0];
    const double last = count > 0 ? x[count - 1] : 1;
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
    write_ticks(s, x, count);
    if (*s->chart->y2_label)
        write_percent_axis(s);
    plot_script_roofs(s);
    plot_script_points(s);
}
