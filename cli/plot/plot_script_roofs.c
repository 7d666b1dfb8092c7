/* plot_script_roofs.c - the lines that no product exceeds, each with its name on it. */
#include <math.h>
#include <string.h>

#include "plot/plot_canvas.h"

enum { LINE_HEIGHT = 20 };

/* Begins a line and its label. */
static void write_line(const canvas_t *s, double x0, double y0, double x1, double y1) {
    (void)fprintf(s->out,
                  "set arrow from %.10g,%.10g to %.10g,%.10g nohead lt 1 dt %d lw 1.5 "
                  "lc rgb '#444444'\nset label ",
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
    canvas_quoted(s, slope->label);
    (void)fprintf(s->out, " at %.10g,%.10g center rotate by %.1f offset 0,0.9 tc rgb '#444444'\n",
                  middle, slope->y * middle, atan2(rise, run) * 57.29578);
}

/* Where names already stand at one end of the lines. */
typedef struct side {
    double height;
    size_t length;
} side_t;

static bool is_free(const side_t *side, double height) {
    return side->length == 0 || height - side->height >= LINE_HEIGHT;
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

/* Where the name of a peak stands: 0 at the right end of its line, 1 at the left one, -1 nowhere.
 * The name of the peak just below may be in the way, or points. */
static int side_of(const canvas_t *s, double height, double begin, size_t length,
                   const side_t sides[2]) {
    const double end = s->right - s->left;
    const double width = CANVAS_LETTER * (double)length + 10;
    const bool left = is_free(&sides[1], height) &&
                      (is_free(&sides[0], height) ||
                       begin + width + CANVAS_LETTER * (double)sides[0].length < end);
    if (!is_free(&sides[0], height))
        return left ? 1 : -1;
    return left &&
           num_covered(s, height, begin, begin + width) < num_covered(s, height, end - width, end);
}

/* The peak of a type, from where the memory can feed it. */
static void write_peak(const canvas_t *s, const chart_roof_t *roof, side_t sides[2]) {
    const double from = fmax(s->x0, roof->ridge);
    const double begin = canvas_fraction(from, s->x0, s->x1, s->log_x) * (s->right - s->left);
    const double height = height_of(s, roof->y);
    const size_t length = strlen(roof->label);
    const int side = side_of(s, height, begin, length, sides);
    write_line(s, from, roof->y, s->x1, roof->y);
    canvas_quoted(s, side >= 0 ? roof->label : "");
    (void)fprintf(s->out, " at %.10g,%.10g %s offset %s,0.6 tc rgb '#444444'\n",
                  side == 0 ? s->x1 : from, roof->y, side == 0 ? "right" : "left",
                  side == 0 ? "-1" : "1");
    if (side >= 0)
        sides[side] = (side_t){height, length};
}

void plot_script_roofs(const canvas_t *s) {
    side_t sides[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < s->chart->num_roofs; ++i) {
        const chart_roof_t *roof = &s->chart->roofs[i];
        if (roof->is_slope)
            write_slope(s, roof);
        else
            write_peak(s, roof, sides);
    }
}
