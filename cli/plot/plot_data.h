/* plot_data.h - measurements to be drawn: the rows of one or several tables of `tcgemm bench`. */
#ifndef CLI_PLOT_DATA_H
#define CLI_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "tables/csv.h"
#include "tcgemm/tcgemm.h"

/* A speed in operations a second, of the median of the times; 0: not known. */
typedef struct plot_speed {
    double rate;
    double spread; /* half the distance of the times' quartiles, a fraction of the median */
    double best;   /* of the least time; 0: not known */
} plot_speed_t;

/* Texts are printable ASCII, and "" where the table has none. */
typedef struct plot_row {
    tcgemm_type_t type;
    int64_t m, n, k, batch, threads;
    bool cold;
    const char *ops, *order, *algo, *kernel;
    const char *class_name, *peer, *peer_version;
    bool is_best; /* no other peer was faster here */
    const char *device, *cpu, *driver, *commit, *date;
    double seconds, predicted; /* predicted: by the planner's model; 0: not known */
    plot_speed_t ours, theirs; /* theirs: the peer's */
    double peak;
    bool peak_measured;
    double peer_of_peak;
    double ratio;     /* how many times the peer's speed is ours */
    double bandwidth; /* bytes a second */
} plot_row_t;

typedef struct plot_data {
    plot_row_t *rows;
    size_t count;
    csv_t *tables; /* that the texts belong to */
    size_t num_tables;
} plot_data_t;

/* Adds the rows of a CSV text, which came from `name`. Returns an exit status. */
int plot_data_add(plot_data_t *data, const char *name, const char *text, size_t length);

/* Keeps what --type, --algo, --kernel, --shape, --class and --threads list. Returns an exit status.
 */
int plot_data_filter(plot_data_t *data, const settings_t *settings);

void plot_data_free(plot_data_t *data);

/* Whether the speed is that of a GPU. */
bool plot_row_is_gpu(const plot_row_t *row);

/* The name of what was measured: the GPU's or the processor's. */
const char *plot_row_machine(const plot_row_t *row);

/* Whether the peer computed this row's type, not its own f32 instead. */
bool plot_row_peer_has_type(const plot_row_t *row);

/* Operations per byte, if A and B are read and D is written once. */
double plot_row_intensity(const plot_row_t *row);

#endif
