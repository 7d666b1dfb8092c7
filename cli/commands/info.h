/* info.h - `tcgemm info`, and `tcgemm --version`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "options/options.h"

int command_info(const settings_t *settings);

void info_version(void);

#endif
