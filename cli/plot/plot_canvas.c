/* plot_canvas.c - what all kinds of plots share. */
#include "plot/plot_canvas.h"

#include <math.h>
#include <string.h>

double canvas_across(double pixels) {
    return pixels / CANVAS_WIDTH;
}

double canvas_up(const canvas_t *s, double from_above) {
    return 1 - from_above / s->height;
}

/* Where a value lies on an axis, 0 .. 1. */
double canvas_fraction(double value, double from, double to, bool is_log) {
    return is_log ? log(value / from) / log(to / from) : (value - from) / (to - from);
}

/* gnuplot 5.4 stumbles over two doubled quotes in a row, so a quote becomes one of the other kind;
 * a backquote is nothing to it between single quotes, but need not find out. */
void canvas_quoted(const canvas_t *s, const char *text) {
    (void)putc('\'', s->out);
    for (; *text; ++text)
        (void)putc(*text == '\'' || *text == '`' ? '"' : *text, s->out);
    (void)putc('\'', s->out);
}

/* A text on the canvas; the rest of the command is the caller's. */
static void text_at(const canvas_t *s, const char *text, double x, double from_above,
                    const char *style) {
    if (!*text)
        return;
    (void)fputs("set label ", s->out);
    canvas_quoted(s, text);
    (void)fprintf(s->out, " at screen %.5f,%.5f %s\n", canvas_across(x), canvas_up(s, from_above),
                  style);
}

size_t canvas_num_footers(const chart_t *chart) {
    return 1 + (*chart->footers[1] != '\0');
}

static void write_terminal(const canvas_t *s) {
    if (s->png)
        (void)fprintf(s->out,
                      "set terminal pngcairo size %d,%.0f fontscale 2 linewidth 2 pointscale 2 "
                      "noenhanced font 'sans-serif,10' background '#ffffff'\n",
                      2 * CANVAS_WIDTH, 2 * s->height);
    else
        (void)fprintf(s->out,
                      "set terminal svg size %d,%.0f fixed noenhanced font 'sans-serif,14' "
                      "background '#ffffff'\n",
                      CANVAS_WIDTH, s->height);
}

void canvas_write_frame(const canvas_t *s) {
    const chart_t *chart = s->chart;
    write_terminal(s);
    (void)fprintf(s->out,
                  "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
                  "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
                  "set border 3 lc rgb '#666666'\nset tics nomirror tc rgb '#222222'\n"
                  "set grid %s lt 1 dt 1 lw 1 lc rgb '#e4e4e4', lt 1 dt 1 lw 1 lc rgb '#e4e4e4'\n",
                  canvas_across(s->left), canvas_across(s->right), canvas_up(s, s->top),
                  canvas_up(s, s->bottom), *chart->y_label ? "x y" : "x");
    text_at(s, chart->title, 16, 24, s->png ? "font ',13'" : "font ',18'");
    text_at(s, chart->subtitle, 16, 46, "tc rgb '#555555'");
    for (size_t i = 0; i < canvas_num_footers(chart); ++i)
        text_at(s, chart->footers[i], 16,
                s->height - 12 - CANVAS_FOOTER_ROW * (double)(canvas_num_footers(chart) - 1 - i),
                s->png ? "font ',8' tc rgb '#666666'" : "font ',11' tc rgb '#666666'");
    (void)fputs("set xlabel ", s->out);
    canvas_quoted(s, chart->x_label);
    (void)fputs("\n", s->out);
    text_at(s, chart->y_label, 20, (s->top + s->bottom) / 2, "center rotate");
    text_at(s, chart->y2_label, CANVAS_WIDTH - 16, (s->top + s->bottom) / 2, "center rotate");
}

void canvas_write_ranges(const canvas_t *s) {
    (void)fprintf(s->out, "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n", s->x0, s->x1,
                  s->y0, s->y1);
}

/* Those of Okabe and Ito, which people with any colour vision tell apart; but brown for their
 * yellow, which is pale on white. */
const char *canvas_colour(int style) {
    static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                          "#E69F00", "#56B4E9", "#7A5C00", "#000000"};
    const int count = sizeof colours / sizeof colours[0];
    return style == CHART_STYLE_SHARED ? "#444444" : colours[style % count];
}

void canvas_write_log_ticks(const canvas_t *s, char axis, double from, double to) {
    static const int steps[] = {1, 2, 5};
    const int num_steps = to / from > 2000 ? 1 : 3; /* on a long axis the decades are enough */
    const int lowest = (int)floor(log10(from));
    const int highest = (int)ceil(log10(to));
    bool first = true;
    (void)fprintf(s->out, "set logscale %c 10\nset %ctics (", axis, axis);
    for (int decade = lowest; decade <= highest; ++decade)
        for (int i = 0; i < num_steps; ++i) {
            const double value = pow(10, decade) * steps[i];
            if (value < from || value > to)
                continue;
            (void)fprintf(s->out, "%s%.10g", first ? "" : ",", value);
            first = false;
        }
    (void)fputs(")\n", s->out);
}
