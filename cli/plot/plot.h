/* plot.h - `tcgemm plot`, and the --plot of bench. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "options/options.h"
#include "plot/plot_data.h"

int command_plot(const settings_t *settings);

/* That a picture can be drawn into that file: its extension, gnuplot, the file itself. To be asked
 * before anything is measured. Returns an exit status. */
int plot_check(const settings_t *settings, const char *path);

/* Draws the rows, some of which may be taken out on the way. Returns an exit status. */
int plot_draw(const settings_t *settings, plot_data_t *data, const char *path);

#endif
