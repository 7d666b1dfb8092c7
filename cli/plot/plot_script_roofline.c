/* plot_script_roofline.c - throughput over arithmetic intensity, below what no product exceeds. */
#include <math.h>

#include "plot/plot_canvas.h"

static void roofline_ranges(canvas_t *s) {
    const chart_t *chart = s->chart;
    double least_y = INFINITY;
    double most_y = 0;
    s->x0 = INFINITY;
    for (size_t i = 0; i < chart->num_series; ++i)
        for (size_t j = 0; j < chart->series[i].count; ++j) {
            const chart_point_t *p = &chart->series[i].points[j];
            s->x0 = fmin(s->x0, p->x);
            s->x1 = fmax(s->x1, p->x);
            least_y = fmin(least_y, p->low);
            most_y = fmax(most_y, p->high);
        }
    for (size_t i = 0; i < chart->num_roofs; ++i) {
        const chart_roof_t *roof = &chart->roofs[i];
        if (!roof->is_slope)
            most_y = fmax(most_y, roof->y);
        if (!roof->is_slope && roof->ridge > 0) {
            s->x0 = fmin(s->x0, roof->ridge);
            s->x1 = fmax(s->x1, roof->ridge);
        }
    }
    s->x0 /= 4;
    s->x1 *= 4;
    s->y0 = least_y / 2;
    s->y1 = most_y * 2;
    s->log_x = s->log_y = true;
}

void plot_script_roofline(canvas_t *s) {
    roofline_ranges(s);
    plot_script_make_room(s);
    canvas_write_ranges(s);
    canvas_write_log_ticks(s, 'x', s->x0, s->x1);
    canvas_write_log_ticks(s, 'y', s->y0, s->y1);
    plot_script_roofs(s);
    plot_script_points(s);
}
