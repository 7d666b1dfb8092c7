/* bench_items.h - all that a command line of `bench` asks to be measured. */
#ifndef CLI_BENCH_ITEMS_H
#define CLI_BENCH_ITEMS_H

#include "bench/bench_item.h"
#include "bench/suite.h"
#include "options/options.h"

/* Reads the suite that --suite names. Returns an exit status. */
int bench_suite_read(const settings_t *s, suite_t *suite);

/* With --suite those of the suite's problems that --class, --type and --threads leave, on at most
 * `num_processors` threads; otherwise types x shapes x threads. Returns an exit status; the caller
 * frees the items anyway. */
int bench_items_make(const settings_t *s, const suite_t *suite, int num_processors,
                     bench_items_t *items);

#endif
