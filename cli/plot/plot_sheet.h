/* plot_sheet.h - the sheet on which a plot is drawn, and how gnuplot is told of it.
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
#ifndef CLI_PLOT_SHEET_H
#define CLI_PLOT_SHEET_H

#include <stdbool.h>
#include <stdio.h>

#include "plot/chart.h"

enum {
    SHEET_WIDTH = 860,
    SHEET_RIGHT = 24, /* margin, and with an axis there */
    SHEET_RIGHT_AXIS = 72,
    SHEET_HEAD = 66,  /* title and subtitle */
    SHEET_PLOT = 360, /* of the plot */
    SHEET_AXIS = 64,  /* numbers and name of the x axis */
    SHEET_LEGEND_ROW = 21,
    SHEET_FOOTER_ROW = 16,
    SHEET_KEY_LETTER = 9 /* as much room as gnuplot leaves for one letter in a legend */
};

/* The width of a letter, about, at the size of labels. */
#define SHEET_LETTER 7.5

typedef struct sheet {
    const chart_t *chart;
    FILE *out;
    bool png;
    double height;                   /* of the sheet */
    double left, right, top, bottom; /* of the plot, from the left and from above */
    size_t legend_rows;
    double x0, x1, y0, y1; /* ranges of the axes */
    bool log_x, log_y;
} sheet_t;

/* Pixels, from the left and from above, in gnuplot's screen coordinates. */
double sheet_across(double pixels);
double sheet_up(const sheet_t *s, double from_above);

size_t sheet_num_footers(const chart_t *chart);

/* Where a value lies on an axis, 0 .. 1. */
double sheet_place(double value, double from, double to, bool is_log);

/* A text as gnuplot takes it. */
void sheet_quoted(const sheet_t *s, const char *text);

/* Terminal, margins, title, names of the axes, footers. */
void sheet_write_frame(const sheet_t *s);

void sheet_write_ranges(const sheet_t *s);

/* Makes an axis logarithmic, with 1, 2, 5, 10, 20 ... on it. */
void sheet_write_log_ticks(const sheet_t *s, char axis, double from, double to);

/* The colour of a style. */
const char *sheet_colour(int style);

/* The bodies of plots; each sets the ranges, and writes all that is left of the script. */
void plot_script_lines(sheet_t *s);
void plot_script_roofline(sheet_t *s);
void plot_script_model(sheet_t *s);
void plot_script_bars(sheet_t *s);

/* The height of the bars of a chart. */
double plot_script_bars_height(const chart_t *chart);

/* The roofs of the chart, within the ranges of the sheet. */
void plot_script_roofs(const sheet_t *s);

/* The points of all series as data blocks, and the plot command that draws them. */
void plot_script_points(const sheet_t *s);

#endif
