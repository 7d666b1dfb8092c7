/* plot_script.c - lays out the canvas and has its parts written. Markers and dashes say what
 * colours say, once more. */
#include "plot/plot_script.h"

#include <string.h>

#include "plot/plot_canvas.h"

/* ---- series ---- */

/* Full markers are ours, hollow ones the peer's. */
static int marker_of(const chart_series_t *series) {
    static const int full[] = {7, 5, 9, 13, 11, 15};
    const int count = sizeof full / sizeof full[0];
    const int marker = series->style == CHART_STYLE_SHARED ? 7 : full[series->style % count];
    return series->is_peer ? marker - 1 : marker;
}

static void write_blocks(const canvas_t *s) {
    for (size_t i = 0; i < s->chart->num_series; ++i) {
        const chart_series_t *series = &s->chart->series[i];
        (void)fprintf(s->out, "$series%zu << END\n", i);
        for (size_t j = 0; j < series->count; ++j) {
            const chart_point_t *p = &series->points[j];
            (void)fprintf(s->out, "%.10g %.10g %.10g %.10g\n", p->x, p->y, p->low, p->high);
        }
        (void)fputs("END\n", s->out);
    }
}

/* Without a known spread there are no error bars, rather than some of no length. */
static bool has_spread(const chart_series_t *series) {
    for (size_t i = 0; i < series->count; ++i)
        if (series->points[i].high > series->points[i].low)
            return true;
    return false;
}

static const char *style_of(const chart_series_t *series, bool lines) {
    if (has_spread(series))
        return lines ? "using 1:2:3:4 with yerrorlines" : "using 1:2:3:4 with yerrorbars";
    return lines ? "using 1:2 with linespoints" : "using 1:2 with points";
}

void plot_script_points(const canvas_t *s) {
    const bool lines = s->chart->kind == PLOT_SIZE || s->chart->kind == PLOT_K;
    write_blocks(s);
    (void)fputs("plot ", s->out);
    for (size_t i = 0; i < s->chart->num_series; ++i) {
        const chart_series_t *series = &s->chart->series[i];
        (void)fprintf(s->out, "%s$series%zu %s lc rgb '%s' lw 2 ", i > 0 ? ", " : "", i,
                      style_of(series, lines), canvas_colour(series->style));
        (void)fprintf(s->out, "lt 1 dt %d pt %d ps %s title ",
                      series->is_peer ? 2 : 1 + 3 * (series->style >= 8), marker_of(series),
                      lines                          ? "0.9"
                      : s->chart->kind == PLOT_MODEL ? "0.6"
                                                     : "1.1");
        canvas_quoted(s, series->label);
    }
    (void)fputs("\n", s->out);
}

/* ---- legend ---- */

static void measure_legend(canvas_t *s) {
    size_t widest = 0;
    if (s->chart->num_series < 2)
        return;
    for (size_t i = 0; i < s->chart->num_series; ++i) {
        const size_t width = strlen(s->chart->series[i].label);
        widest = width > widest ? width : widest;
    }
    const size_t fitting = (size_t)(CANVAS_WIDTH - s->left) / (CANVAS_KEY_LETTER * widest + 70);
    const size_t columns = fitting < 1 ? 1 : fitting > 3 ? 3 : fitting;
    s->legend_rows = (s->chart->num_series + columns - 1) / columns;
}

static void write_legend(const canvas_t *s) {
    if (s->legend_rows == 0) {
        (void)fputs("set key off\n", s->out);
        return;
    }
    (void)fprintf(s->out,
                  "set key at screen %.5f,%.5f top left vertical maxrows %zu Left reverse "
                  "samplen 3 spacing %s\n",
                  canvas_across(s->left - 20), canvas_up(s, s->bottom + CANVAS_AXIS),
                  s->legend_rows, s->png ? "1.25" : "1.0");
}

/* ---- all of it ---- */

/* Room for the names of bars, or for the numbers of the y axis. */
static double left_margin(const chart_t *chart) {
    size_t widest = 0;
    for (size_t i = 0; i < chart->num_bars; ++i) {
        const size_t width = strlen(chart->bars[i].label);
        widest = width > widest ? width : widest;
    }
    return widest > 0 ? 32 + CANVAS_LETTER * (double)widest : 80;
}

void plot_script_write(const chart_t *chart, bool png, FILE *out) {
    const bool bars = chart->kind == PLOT_TILE || chart->kind == PLOT_PEER;
    canvas_t s = {.chart = chart,
                  .out = out,
                  .png = png,
                  .top = *chart->subtitle ? CANVAS_HEAD : CANVAS_HEAD - 18};
    s.left = left_margin(chart);
    s.right = CANVAS_WIDTH - (*chart->y2_label ? CANVAS_RIGHT_AXIS : CANVAS_RIGHT);
    if (!bars)
        measure_legend(&s);
    s.bottom = s.top + (bars ? plot_script_bars_height(chart) : CANVAS_PLOT);
    s.height = s.bottom + CANVAS_AXIS + CANVAS_LEGEND_ROW * (double)s.legend_rows + 16 +
               CANVAS_FOOTER_ROW * (double)canvas_num_footers(chart);
    canvas_write_frame(&s);
    if (bars) {
        plot_script_bars(&s);
        return;
    }
    write_legend(&s);
    if (chart->kind == PLOT_ROOFLINE)
        plot_script_roofline(&s);
    else if (chart->kind == PLOT_MODEL)
        plot_script_model(&s);
    else
        plot_script_lines(&s);
}
