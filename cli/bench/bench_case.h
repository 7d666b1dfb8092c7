/* bench_case.h - one problem of `bench`: its plans judged, then timed in turns beside the peer. */
#ifndef CLI_BENCH_CASE_H
#define CLI_BENCH_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/bench_item.h"
#include "bench/bench_output.h"
#include "bench/bench_peers.h"
#include "bench/bench_rows.h"
#include "bench/bench_table.h"
#include "bench/interleave.h"
#include "bench/suite.h"
#include "options/options.h"
#include "options/setup.h"
#include "support/sizes.h"
#include "tcgemm/tcgemm.h"

typedef struct bench {
    const settings_t *settings;
    bench_items_t items;
    suite_t suite;       /* of --suite; without it no classes */
    double min_seconds;  /* of --min-seconds, the suite or by default */
    int64_t min_samples; /* likewise */
    bench_peers_t peers;
    int device;               /* a GPU's number, or TCGEMM_DEVICE_CPU */
    tcgemm_device_info_t gpu; /* on a GPU: its facts */
    gpu_clock_t *clock;       /* and its time */
    tcgemm_context_t *context;
    int num_threads;     /* of the context */
    int64_t context_for; /* the number of threads that it was made for */
    double cold_bytes;
    bench_rows_t rows;
    bench_output_t output;
    bench_table_t before; /* --resume: rows that need not be measured again */
    int64_t done, total, wrong, skipped;
} bench_t;

bool bench_is_on_gpu(const bench_t *b);

/* Whether the matrices of the problem, the peer's and the copies of a cold run, can be had at all.
 * Returns an exit status. */
int bench_case_check(const bench_t *b, const bench_item_t *item);

/* Measures it on the context and writes its rows. A wrong kernel is told, counted and not timed.
 * Returns an exit status; CLI_INTERRUPTED without a row of a case that was under way. */
int bench_case_run(bench_t *b, const bench_item_t *item);

#endif
