/* bench_rows.h - the results of `bench` as a table, with what a reader needs to judge them. */
#ifndef CLI_BENCH_ROWS_H
#define CLI_BENCH_ROWS_H

#include "bench/interleave.h"
#include "options/options.h"
#include "tables/table_writer.h"
#include "tcgemm/tcgemm.h"

enum { BENCH_MAX_PEAKS = 128, BENCH_MAX_BANDWIDTHS = 16, BENCH_NUM_COLUMNS = 47 };

typedef struct bench_peak {
    tcgemm_type_t type;
    int num_threads;
    double measured; /* operations per second; 0 if unknown */
} bench_peak_t;

/* Of the memory, bytes per second. */
typedef struct bench_bandwidth {
    int num_threads;
    double measured;
} bench_bandwidth_t;

typedef struct bench_rows {
    const settings_t *settings;
    table_t *table;
    table_column_t columns[BENCH_NUM_COLUMNS];
    tcgemm_machine_info_t machine;
    const tcgemm_device_info_t *gpu;     /* NULL: the CPU is measured */
    char driver[64];                     /* of the GPU */
    bench_peak_t peaks[BENCH_MAX_PEAKS]; /* measured once each */
    int num_peaks;
    bench_bandwidth_t bandwidths[BENCH_MAX_BANDWIDTHS]; /* likewise */
    int num_bandwidths;
    char commit[64], compiler[96], date[32];
} bench_rows_t;

typedef struct bench_row {
    const tcgemm_problem_t *problem;
    const candidate_t *ours;
    const candidate_t *peer; /* NULL: none */
    const char *peer_name;   /* without a peer: what to say instead, or NULL */
    const char *peer_version;
    bool is_best;           /* no other peer is faster: the row that a screen shows */
    const char *class_name; /* NULL: of no suite */
    int64_t pad;
    int64_t num_samples;
    int num_threads;
    bool cold;
    double steady_seconds;
} bench_row_t;

/* Both return an exit status. `gpu` must outlive the rows; NULL for the CPU. */
int bench_rows_create(bench_rows_t *rows, const settings_t *settings,
                      const tcgemm_device_info_t *gpu);
int bench_rows_add(bench_rows_t *rows, const bench_row_t *row);

bool bench_rows_write(const bench_rows_t *rows, table_format_t format, FILE *out);
void bench_rows_free(bench_rows_t *rows);

/* Bytes of the last cache of what is measured, or a guess. */
double bench_rows_last_cache(const bench_rows_t *rows);

#endif
