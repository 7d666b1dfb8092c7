/* plot_script_roofs.c - the lines that no product exceeds, each with its name on it.
 *
 * Peaks may lie closer than names are high. Then these lines make a group, and their names stand
 * one above the other on its highest line, in the order of the lines: no name is left out, and none
 * is struck through by the next line. */
#include <math.h>
#include <string.h>

#include "plot/plot_canvas.h"

enum { LINE_HEIGHT = 20 };

static void write_line(const canvas_t *s, double x0, double y0, double x1, double y1) {
    (void)fprintf(s->out,
                  "set arrow from %.10g,%.10g to %.10g,%.10g nohead lt 1 dt %d lw 1.5 "
                  "lc rgb '#444444'\n",
                  x0, y0, x1, y1, s->log_y ? 1 : 3);
}

/* In pixels from below. */
static double height_of(const canvas_t *s, double y) {
    return canvas_fraction(y, s->y0, s->y1, s->log_y) * (s->bottom - s->top);
}

/* The memory's bandwidth, up to the highest peak that it feeds; its name runs along it. */
static void write_slope(const canvas_t *s, const chart_roof_t *slope) {
    double top = 0;
    for (size_t i = 0; i < s->chart->num_roofs; ++i) {
        const chart_roof_t *roof = &s->chart->roofs[i];
        if (!roof->is_slope && fabs(roof->y / slope->y - roof->ridge) <= 0.1 * roof->ridge)
            top = fmax(top, roof->y);
    }
    top = top > 0 ? top : s->y1;
    const double from_x = fmax(s->x0, s->y0 / slope->y);
    const double to_x = fmin(s->x1, top / slope->y);
    const double rise = (s->bottom - s->top) / log(s->y1 / s->y0);
    const double run = (s->right - s->left) / log(s->x1 / s->x0);
    const double middle = sqrt(from_x * to_x);
    write_line(s, from_x, slope->y * from_x, to_x, slope->y * to_x);
    (void)fputs("set label ", s->out);
    canvas_quoted(s, slope->label);
    (void)fprintf(s->out, " at %.10g,%.10g center rotate by %.1f offset 0,0.9 tc rgb '#444444'\n",
                  middle, slope->y * middle, atan2(rise, run) * 57.29578);
}

/* ---- groups of peaks ---- */

typedef struct group {
    size_t first, count; /* of the chart's roofs, in rising order */
} group_t;

static size_t num_peaks(const chart_t *chart) {
    size_t count = 0;
    while (count < chart->num_roofs && !chart->roofs[count].is_slope)
        ++count;
    return count;
}

static double height_of_group(const canvas_t *s, const group_t *g) {
    return height_of(s, s->chart->roofs[g->first + g->count - 1].y);
}

/* The peaks from `first` on whose names have no room below the next line. */
static group_t group_from(const canvas_t *s, size_t first) {
    group_t g = {first, 1};
    for (size_t next = first + 1; next < num_peaks(s->chart); ++next) {
        const double room = height_of(s, s->chart->roofs[next].y) - height_of_group(s, &g);
        if (room >= LINE_HEIGHT * (double)g.count)
            break;
        ++g.count;
    }
    return g;
}

static group_t last_group(const canvas_t *s) {
    group_t g = {0, 0};
    while (g.first + g.count < num_peaks(s->chart))
        g = group_from(s, g.first + g.count);
    return g;
}

/* Names above the highest line stay inside the plot. A higher end of the axis brings lines closer
 * to each other, so that a group may grow. */
void plot_script_make_room(canvas_t *s) {
    const double all = s->bottom - s->top;
    for (size_t i = 0; i < num_peaks(s->chart); ++i) {
        const group_t g = last_group(s);
        const double needed = (LINE_HEIGHT * (double)g.count + 4) / all;
        const double top = s->chart->roofs[g.first + g.count - 1].y;
        if (1 - canvas_fraction(top, s->y0, s->y1, s->log_y) >= needed)
            return;
        s->y1 = s->log_y ? s->y0 * pow(top / s->y0, 1 / (1 - needed))
                         : s->y0 + (top - s->y0) / (1 - needed);
    }
}

/* How many points a name would cover that stands above a line, between two places in pixels. */
static int num_covered(const canvas_t *s, double height, double from, double to) {
    int count = 0;
    for (size_t i = 0; i < s->chart->num_series; ++i)
        for (size_t j = 0; j < s->chart->series[i].count; ++j) {
            const chart_point_t *p = &s->chart->series[i].points[j];
            const double above = height_of(s, p->y) - height;
            const double at = canvas_fraction(p->x, s->x0, s->x1, s->log_x) * (s->right - s->left);
            count += above > -4 && above < LINE_HEIGHT + 6 && at > from - 6 && at < to + 6;
        }
    return count;
}

/* From where the memory can feed all of a group, and its slope is out of the way of the names, in
 * pixels. */
static double begin_of(const canvas_t *s, const group_t *g) {
    double from = s->x0;
    for (size_t i = g->first; i < g->first + g->count; ++i)
        from = fmax(from, s->chart->roofs[i].ridge);
    return canvas_fraction(from, s->x0, s->x1, s->log_x) * (s->right - s->left) +
           LINE_HEIGHT * (double)g->count;
}

/* Names stand at the right end of their lines, unless they cover fewer points at the left one. */
static bool goes_left(const canvas_t *s, const group_t *g) {
    const double begin = begin_of(s, g);
    const double end = s->right - s->left;
    int covered[2] = {0, 0};
    for (size_t i = 0; i < g->count; ++i) {
        const double width =
            CANVAS_LETTER * (double)strlen(s->chart->roofs[g->first + i].label) + 10;
        const double height = height_of_group(s, g) + LINE_HEIGHT * (double)i;
        if (begin + width > end)
            return false;
        covered[0] += num_covered(s, height, end - width, end);
        covered[1] += num_covered(s, height, begin, begin + width);
    }
    return covered[1] < covered[0];
}

/* The peak of a type, from where the memory can feed it. */
static void write_peak(const canvas_t *s, const chart_roof_t *roof) {
    write_line(s, fmax(s->x0, roof->ridge), roof->y, s->x1, roof->y);
}

static void write_group(const canvas_t *s, const group_t *g) {
    const bool left = goes_left(s, g);
    const double x = left ? s->left + begin_of(s, g) : s->right - 8;
    for (size_t i = 0; i < g->count; ++i) {
        const chart_roof_t *roof = &s->chart->roofs[g->first + i];
        const double height = height_of_group(s, g) + LINE_HEIGHT * ((double)i + 0.5);
        write_peak(s, roof);
        (void)fputs("set label ", s->out);
        canvas_quoted(s, roof->label);
        (void)fprintf(s->out, " at screen %.5f,%.5f %s tc rgb '#444444'\n", canvas_across(x),
                      canvas_up(s, s->bottom - height), left ? "left" : "right");
    }
}

void plot_script_roofs(const canvas_t *s) {
    for (size_t i = num_peaks(s->chart); i < s->chart->num_roofs; ++i)
        write_slope(s, &s->chart->roofs[i]);
    group_t g = {0, 0};
    while (g.first + g.count < num_peaks(s->chart)) {
        g = group_from(s, g.first + g.count);
        write_group(s, &g);
    }
}
