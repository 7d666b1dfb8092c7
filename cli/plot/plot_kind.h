/* plot_kind.h - which picture suits a table. */
#ifndef CLI_PLOT_KIND_H
#define CLI_PLOT_KIND_H

#include "options/options.h"
#include "plot/plot_data.h"

/* The kind asked for, or, for PLOT_AUTO, the one for what varies among the rows; those that do not
 * fit it are taken out. Returns an exit status. */
int plot_kind_choose(plot_data_t *data, plot_choice_t wanted, plot_choice_t *kind);

#endif
