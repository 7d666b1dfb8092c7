/* bench.h - `tcgemm bench`. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "options/options.h"

int command_bench(const settings_t *settings);

#endif
