/* info.h - `tcgemm info`, and `tcgemm --version`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include <stddef.h>

#include "commands/options.h"

int command_info(const settings_t *settings);

void info_version(void);

/* The value of the line "name   value" of tcgemm_build_info(), or "unknown". */
void info_build_fact(const char *name, char *value, size_t size);

#endif
