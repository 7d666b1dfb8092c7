/* plot_script_bars.c - a bar for each kernel, or ours and the peer's: one below the other, so that
 * names can be long. The peer's are hatched. */
#include <math.h>
#include <string.h>

#include "plot/plot_canvas.h"

enum { BAR = 24, GROUP_GAP = 12 };

/* The middle of a bar, in pixels below the upper end of the plot. */
static double middle(const chart_t *chart, size_t index) {
    double at = GROUP_GAP / 2.0 + BAR / 2.0;
    for (size_t i = 1; i <= index; ++i)
        at += BAR + (chart->bars[i].begins_group ? GROUP_GAP : 0);
    return at;
}

double plot_script_bars_height(const chart_t *chart) {
    return middle(chart, chart->num_bars - 1) + BAR / 2.0 + GROUP_GAP / 2.0;
}

/* A data block "middle, speed, ends of the error bar" of the bars that are wanted; how many. */
typedef bool wanted_t(const chart_bar_t *bar);

static bool is_ours(const chart_bar_t *bar) {
    return !bar->is_peer;
}

static bool is_peer(const chart_bar_t *bar) {
    return bar->is_peer;
}

static bool has_spread(const chart_bar_t *bar) {
    return bar->high > bar->low;
}

static size_t write_block(const canvas_t *s, const char *name, wanted_t *wanted) {
    size_t count = 0;
    (void)fprintf(s->out, "$%s << END\n", name);
    for (size_t i = 0; i < s->chart->num_bars; ++i) {
        const chart_bar_t *bar = &s->chart->bars[i];
        if (!wanted(bar))
            continue;
        (void)fprintf(s->out, "%.10g %.10g %.10g %.10g\n", middle(s->chart, i), bar->y, bar->low,
                      bar->high);
        ++count;
    }
    (void)fputs("END\n", s->out);
    return count;
}

/* Names at the left, values at the end of the bars. */
static void write_texts(const canvas_t *s) {
    const chart_t *chart = s->chart;
    (void)fputs("set ytics scale 0 (", s->out);
    for (size_t i = 0; i < chart->num_bars; ++i) {
        (void)fputs(i > 0 ? "," : "", s->out);
        canvas_quoted(s, chart->bars[i].label);
        (void)fprintf(s->out, " %.10g", middle(chart, i));
    }
    (void)fputs(")\n", s->out);
    for (size_t i = 0; i < chart->num_bars; ++i) {
        (void)fputs("set label ", s->out);
        canvas_quoted(s, chart->bars[i].value);
        (void)fprintf(s->out, " at %.10g,%.10g left offset 0.8,0 tc rgb '#222222'\n",
                      chart->bars[i].high, middle(chart, i));
    }
}

/* The longest bar leaves room for the longest text. */
static void set_ranges(canvas_t *s) {
    const chart_t *chart = s->chart;
    const double room = s->right - s->left;
    double most = 0;
    size_t widest = 0;
    for (size_t i = 0; i < chart->num_bars; ++i) {
        const size_t width = strlen(chart->bars[i].value);
        most = fmax(most, chart->bars[i].high);
        widest = width > widest ? width : widest;
    }
    s->x1 = most * room / fmax(room - CANVAS_LETTER * (double)widest - 16, room / 3);
    s->y0 = plot_script_bars_height(chart);
    s->y1 = 0;
}

void plot_script_bars(canvas_t *s) {
    static const char boxes[] = "using (0):1:(0):2:($1-9):($1+9) with boxxyerror";
    set_ranges(s);
    canvas_write_ranges(s);
    write_texts(s);
    (void)write_block(s, "ours", is_ours);
    const bool peers = write_block(s, "peers", is_peer) > 0;
    const bool spreads = write_block(s, "spreads", has_spread) > 0;
    (void)fprintf(s->out,
                  "set key off\nset style fill solid 1 border lc rgb '#222222'\n"
                  "plot $ours %s lc rgb '%s' notitle",
                  boxes, canvas_colour(5));
    if (peers)
        (void)fprintf(s->out, ", $peers %s fs pattern 4 lc rgb '%s' notitle", boxes,
                      canvas_colour(1));
    if (spreads)
        (void)fputs(", $spreads using 2:1:3:4 with xerrorbars lt 1 lw 1.5 pt 0 lc rgb '#000000' "
                    "notitle",
                    s->out);
    (void)fputs("\n", s->out);
}
