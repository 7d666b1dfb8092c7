/* plot_script.h - a chart in gnuplot's language. */
#ifndef CLI_PLOT_SCRIPT_H
#define CLI_PLOT_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>

#include "plot/chart.h"

/* Writes the script, whose picture goes to gnuplot's standard output; SVG, or PNG. */
void plot_script_write(const chart_t *chart, bool png, FILE *out);

#endif
