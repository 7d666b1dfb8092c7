/* run.h - `tcgemm run`. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "options/options.h"

int command_run(const settings_t *settings);

#endif
