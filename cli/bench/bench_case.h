/* bench_case.h - one problem of `bench`: its plans judged, then timed in turns beside the peer. */
#ifndef CLI_BENCH_CASE_H
#define CLI_BENCH_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/bench_output.h"
#include "bench/bench_rows.h"
#include "bench/bench_table.h"
#include "bench/interleave.h"
#include "bench/peer.h"
#include "options/options.h"
#include "options/setup.h"
#include "support/sizes.h"
#include "tcgemm/tcgemm.h"

typedef struct bench {
    const settings_t *settings;
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int num_types;
    size_shapes_t shapes;
    size_list_t threads;
    peer_t *peer;
    int device;               /* a GPU's number, or TCGEMM_DEVICE_CPU */
    tcgemm_device_info_t gpu; /* on a GPU: its facts, */
    gpu_clock_t *clock;       /* its time, */
    cublaslt_t *lt;           /* and the peer there */
    tcgemm_context_t *context;
    int num_threads; /* of the context */
    double cold_bytes;
    bench_rows_t rows;
    bench_output_t output;
    bench_table_t before; /* --resume: rows that need not be measured again */
    int64_t done, total, wrong, skipped;
} bench_t;

bool bench_is_on_gpu(const bench_t *b);

/* Whether the matrices of the problem, the peer's and the copies of --cold, can be had at all.
 * Returns an exit status. */
int bench_case_check(const bench_t *b, tcgemm_type_t type, const size_shape_t *shape);

/* Measures it on the context and writes its rows. A wrong kernel is told, counted and not timed.
 * Returns an exit status; CLI_INTERRUPTED without a row of a case that was under way. */
int bench_case_run(bench_t *b, tcgemm_type_t type, const size_shape_t *shape);

#endif
