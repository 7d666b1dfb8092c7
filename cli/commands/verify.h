/* verify.h - `tcgemm verify`. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "options/options.h"

int command_verify(const settings_t *settings);

#endif
