/* chart.h - a picture before it is drawn: what to write where, in the units of its axes.
 *
 *     size, k, roofline     series of points over x, and roofs: the peak of a type
 *     model                 series of points, predicted over measured times
 *     tile, peer            bars, one below the other */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "options/options.h"
#include "plot/plot_data.h"
#include "plot/plot_label.h"

enum { CHART_MAX_SERIES = 16, CHART_MAX_ROOFS = 8, CHART_MAX_BARS = 64, CHART_STYLE_SHARED = -1 };

typedef struct chart_point {
    double x, y, low, high;
} chart_point_t;

typedef struct chart_series {
    char label[PLOT_LABEL_SIZE];
    int style;             /* its colour and marker; a peer has those of who it ran beside, */
    bool is_peer;          /* or CHART_STYLE_SHARED if it ran beside several */
    chart_point_t *points; /* in the order of x */
    size_t count;
} chart_series_t;

typedef struct chart_bar {
    char label[PLOT_LABEL_SIZE];
    char value[PLOT_LABEL_SIZE]; /* what stands at its end */
    double y, low, high;
    bool is_peer, begins_group;
} chart_bar_t;

/* A peak, or with `is_slope` a memory's bandwidth. */
typedef struct chart_roof {
    char label[PLOT_LABEL_SIZE];
    char where[PLOT_LABEL_SIZE]; /* on how many threads of which machine, if that varies */
    bool is_slope, is_integer;
    double y;     /* units; of a slope: at an intensity of 1 */
    double ridge; /* from which intensity on the memory can feed this peak; 0: not known */
} chart_roof_t;

typedef struct chart {
    plot_choice_t kind;
    char title[3 * PLOT_LABEL_SIZE], subtitle[PLOT_LABEL_SIZE];
    char footers[2][3 * PLOT_LABEL_SIZE]; /* how it was measured; the peer */
    char x_label[PLOT_LABEL_SIZE], y_label[PLOT_LABEL_SIZE];
    char y2_label[PLOT_LABEL_SIZE]; /* of an axis at the right: percents of the one peak */
    const char *unit_name;          /* "TFLOP/s" */
    double unit;                    /* operations a second in one of them */
    chart_series_t series[CHART_MAX_SERIES];
    chart_bar_t bars[CHART_MAX_BARS];
    chart_roof_t roofs[CHART_MAX_ROOFS]; /* peaks in rising order, then slopes */
    size_t num_series, num_bars, num_roofs;
    size_t num_left_out; /* series or bars beyond what a picture can hold */
} chart_t;

/* `kind` is not PLOT_AUTO, and there is a row. Returns an exit status; free the chart anyway. */
int chart_create(chart_t *chart, const plot_data_t *data, plot_choice_t kind);
void chart_free(chart_t *chart);

/* The parts of chart_create, which has set kind and unit. `varying` is plot_label_varying. */
int chart_add_series(chart_t *chart, const plot_data_t *data, unsigned varying);
void chart_add_model(chart_t *chart, const plot_data_t *data);
void chart_add_bars(chart_t *chart, const plot_data_t *data, unsigned varying);
void chart_add_roofs(chart_t *chart, const plot_data_t *data, unsigned varying);

/* A point with its error bar: the spread to both sides of the median time, up to the best. */
chart_point_t chart_point(const chart_t *chart, double x, const plot_speed_t *speed);

#endif
