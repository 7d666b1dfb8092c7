/* list.h - `tcgemm list`. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "options/options.h"

int command_list(const settings_t *settings);

#endif
