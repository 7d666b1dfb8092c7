/* plot_canvas.h - the canvas on which a plot is drawn, and how gnuplot is set up for it.
 *
 *     +--------------------------------------+
 *     | title                                |  sizes are in pixels of the SVG; a PNG has
 *     | subtitle                             |  twice as many
 *     | |                                    |
 *     | |  the plot                          |
 *     | +----------------                    |
 *     |   x label                            |
 *     |   legend (of series)                 |
 *     | footers                              |
 *     +--------------------------------------+
 *
 * Texts stand between single quotes, where gnuplot takes everything for a letter; numbers stand in
 * data blocks. */
#ifndef CLI_PLOT_CANVAS_H
#define CLI_PLOT_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#include "plot/chart.h"

enum {
    CANVAS_WIDTH = 860,
    CANVAS_RIGHT = 24, /* margin, and with an axis there */
    CANVAS_RIGHT_AXIS = 72,
    CANVAS_HEAD = 66,  /* title and subtitle */
    CANVAS_PLOT = 360, /* of the plot */
    CANVAS_AXIS = 64,  /* numbers and name of the x axis */
    CANVAS_LEGEND_ROW = 21,
    CANVAS_FOOTER_ROW = 16,
    CANVAS_KEY_LETTER = 9 /* as much room as gnuplot leaves for one letter in a legend */
};

/* The width of a letter, about, at the size of labels. */
#define CANVAS_LETTER 7.5

typedef struct canvas {
    const chart_t *chart;
    FILE *out;
    bool png;
    double height;                   /* of the canvas */
    double left, right, top, bottom; /* of the plot, from the left and from above */
    size_t legend_rows;
    double x0, x1, y0, y1; /* ranges of the axes */
    bool log_x, log_y;
} canvas_t;

/* Pixels, from the left and from above, in gnuplot's screen coordinates. */
double canvas_across(double pixels);
double canvas_up(const canvas_t *s, double from_above);

size_t canvas_num_footers(const chart_t *chart);

/* Where a value lies on an axis, 0 .. 1. */
double canvas_fraction(double value, double from, double to, bool is_log);

/* A text as gnuplot takes it. */
void canvas_quoted(const canvas_t *s, const char *text);

/* Terminal, margins, title, names of the axes, footers. */
void canvas_write_frame(const canvas_t *s);

void canvas_write_ranges(const canvas_t *s);

/* Makes an axis logarithmic, with 1, 2, 5, 10, 20 ... on it. */
void canvas_write_log_ticks(const canvas_t *s, char axis, double from, double to);

/* The colour of a style. */
const char *canvas_colour(int style);

/* The bodies of plots; each sets the ranges, and writes all that is left of the script. */
void plot_script_lines(canvas_t *s);
void plot_script_roofline(canvas_t *s);
void plot_script_model(canvas_t *s);
void plot_script_bars(canvas_t *s);

/* The height of the bars of a chart. */
double plot_script_bars_height(const chart_t *chart);

/* Raises the end of the y axis until the names of the roofs have room below it. */
void plot_script_make_room(canvas_t *s);

/* The roofs of the chart, within the ranges of the canvas. */
void plot_script_roofs(const canvas_t *s);

/* The points of all series as data blocks, and the plot command that draws them. */
void plot_script_points(const canvas_t *s);

#endif
