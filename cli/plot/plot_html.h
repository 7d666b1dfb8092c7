/* plot_html.h - what becomes of gnuplot's SVG: a file, or a page that needs nothing but itself, the
 * picture and the numbers below it. */
#ifndef CLI_PLOT_HTML_H
#define CLI_PLOT_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "plot/chart.h"
#include "plot/plot_data.h"

/* `svg` is what gnuplot has drawn, from its beginning. Both return false if there is no drawing in
 * it. */
bool plot_svg_write(const chart_t *chart, FILE *svg, FILE *out);
bool plot_html_write(const chart_t *chart, const plot_data_t *data, FILE *svg, FILE *out);

#endif
