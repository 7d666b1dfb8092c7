/* plot_data.c - from the cells of a table to numbers, one kind of fault after the other. */
#include "plot/plot_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "support/sizes.h"

/* Where a row is being read. */
typedef struct cursor {
    const csv_t *table;
    size_t row;
    const char *name; /* of the file */
    int status;       /* of the first fault */
} cursor_t;

/* gnuplot, SVG and HTML get no control character and nothing beyond ASCII. */
static void make_printable(char *text) {
    for (; *text; ++text)
        if (*text < 0x20 || *text > 0x7E)
            *text = '?';
}

static const char *text_of(const cursor_t *c, const char *column) {
    char *cell = csv_cell(c->table, c->row, csv_column(c->table, column));
    make_printable(cell);
    return cell;
}

static int refuse(cursor_t *c, const char *column, const char *text) {
    if (c->status == CLI_OK)
        c->status = message_fail(CLI_BAD_FILE, "%s: row %zu: %s is '%.40s'", c->name, c->row + 1,
                                 column, text);
    return 0;
}

/* What no cell exceeds, so that no arithmetic on it does. */
static const double most = 1e30;

/* A cell that is not there, or empty, is `otherwise`. */
static double real_of(cursor_t *c, const char *column, double otherwise) {
    const char *text = text_of(c, column);
    char *end;
    if (!*text)
        return otherwise;
    const double value = strtod(text, &end);
    return *end || !(value >= 0 && value <= most) ? refuse(c, column, text) : value;
}

static int64_t size_of(cursor_t *c, const char *column, int64_t otherwise) {
    const double value = real_of(c, column, (double)otherwise);
    if (value <= 0x1p53 && value == floor(value))
        return (int64_t)value;
    return refuse(c, column, text_of(c, column));
}

static tcgemm_type_t type_of(cursor_t *c) {
    tcgemm_type_t type = TCGEMM_F32_F32;
    const char *text = text_of(c, "type");
    if (tcgemm_type_from_name(text, &type) != TCGEMM_STATUS_OK)
        (void)refuse(c, "type", text);
    return type;
}

/* The columns of one speed have one prefix. */
static plot_speed_t speed_of(cursor_t *c, const char *prefix) {
    char names[4][48];
    static const char *const columns[] = {"gflops", "time_spread_fraction", "time_median_seconds",
                                          "time_min_seconds"};
    for (int i = 0; i < 4; ++i)
        (void)snprintf(names[i], sizeof names[i], "%s%s", prefix, columns[i]);
    plot_speed_t speed = {real_of(c, names[0], 0) * 1e9, real_of(c, names[1], 0), 0};
    const double median = real_of(c, names[2], 0);
    const double least = real_of(c, names[3], 0);
    if (least > 0 && median >= least)
        speed.best = speed.rate * median / least;
    return speed;
}

static plot_row_t read_row(cursor_t *c) {
    plot_row_t row = {
        .type = type_of(c),
        .m = size_of(c, "m", 0),
        .n = size_of(c, "n", 0),
        .k = size_of(c, "k", 0),
        .batch = size_of(c, "batch", 1),
        .threads = size_of(c, "threads", 1),
        .cold = strcmp(text_of(c, "cold"), "yes") == 0,
        .ops = text_of(c, "ops"),
        .order = text_of(c, "order"),
        .algo = text_of(c, "algo"),
        .kernel = text_of(c, "kernel"),
        .class_name = text_of(c, "class"),
        .peer = text_of(c, "peer"),
        .peer_version = text_of(c, "peer_version"),
        .is_best = strcmp(text_of(c, "peer_is_best"), "no") != 0,
        .device = text_of(c, "device"),
        .cpu = text_of(c, "cpu"),
        .driver = text_of(c, "driver"),
        .commit = text_of(c, "commit"),
        .date = text_of(c, "date_utc"),
        .seconds = real_of(c, "time_median_seconds", 0),
        .predicted = real_of(c, "predicted_seconds", 0),
        .ours = speed_of(c, ""),
        .peak = real_of(c, "peak_gflops", 0) * 1e9,
        .peak_measured = strcmp(text_of(c, "peak_kind"), "measured") == 0,
        .theirs = speed_of(c, "peer_"),
        .peer_of_peak = real_of(c, "peer_peak_fraction", 0),
        .ratio = real_of(c, "ratio_median", 0),
        .bandwidth = real_of(c, "memory_gb_per_second", 0) * 1e9,
    };
    return row;
}

/* Tables of before the bandwidth was kept: that of a GPU stands in its data sheet. */
static void find_bandwidth(plot_row_t *row) {
    tcgemm_device_info_t gpu;
    if (row->bandwidth <= 0 && setup_known_gpu(row->device, &gpu))
        row->bandwidth = gpu.bandwidth;
}

static int check_columns(const csv_t *table, const char *name) {
    static const char *const needed[] = {"type", "m", "n", "k", "algo", "kernel", "gflops"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; ++i)
        if (csv_column(table, needed[i]) < 0)
            return message_fail(CLI_BAD_FILE, "%s: no table of tcgemm bench, it has no column %s",
                                name, needed[i]);
    return CLI_OK;
}

/* A product of size 0 has no speed and cannot be drawn; of several peers the best one is. */
static bool is_drawable(const plot_row_t *row) {
    return row->is_best && row->ours.rate > 0 && row->m > 0 && row->n > 0 && row->k > 0;
}

/* Where one library is the best at one point and another at the next, the best are one line. */
static void join_peers(plot_row_t *rows, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (rows[i].theirs.rate > 0 && plot_row_peer_has_type(&rows[i]))
            rows[i].peer = "best peer";
}

static int add_rows(plot_data_t *data, const char *name, const csv_t *table) {
    plot_row_t *rows = realloc(data->rows, (data->count + table->num_rows + 1) * sizeof *rows);
    if (!rows)
        return message_fail(CLI_NO_MEMORY, "%s: no memory for its rows", name);
    data->rows = rows;
    const size_t before = data->count;
    bool several_peers = false;
    cursor_t c = {.table = table, .name = name, .status = check_columns(table, name)};
    for (; c.row < table->num_rows && c.status == CLI_OK; ++c.row) {
        plot_row_t row = read_row(&c);
        find_bandwidth(&row);
        several_peers |= !row.is_best;
        if (c.status == CLI_OK && is_drawable(&row))
            data->rows[data->count++] = row;
    }
    if (several_peers)
        join_peers(rows + before, data->count - before);
    return c.status;
}

int plot_data_add(plot_data_t *data, const char *name, const char *text, size_t length) {
    csv_t *tables = realloc(data->tables, (data->num_tables + 1) * sizeof *tables);
    char why[CSV_ERROR_SIZE];
    if (!tables)
        return message_fail(CLI_NO_MEMORY, "%s: no memory for the table", name);
    data->tables = tables;
    if (!csv_parse(text, length, &tables[data->num_tables], why))
        return message_fail(CLI_BAD_FILE, "%s: %s", name, why);
    return add_rows(data, name, &tables[data->num_tables++]);
}

void plot_data_free(plot_data_t *data) {
    for (size_t i = 0; i < data->num_tables; ++i)
        csv_free(&data->tables[i]);
    free(data->tables);
    free(data->rows);
    *data = (plot_data_t){0};
}

/* ---- what to keep ---- */

/* Whether the word is one of "a,b,c"; every word is, if there is no list. */
static bool is_listed(const char *list, const char *word) {
    const size_t length = strlen(word);
    if (!list || strcmp(list, "all") == 0)
        return true;
    for (;;) {
        const size_t next = strcspn(list, ",");
        if (next == length && strncmp(list, word, length) == 0)
            return true;
        if (!list[next])
            return false;
        list += next + 1;
    }
}

typedef struct filter {
    const settings_t *settings;
    size_list_t threads;
    size_shapes_t shapes;
} filter_t;

static bool has_threads(const filter_t *f, const plot_row_t *row) {
    for (size_t i = 0; i < f->threads.count; ++i)
        if (f->threads.values[i] == row->threads)
            return true;
    return !f->settings->threads;
}

static bool has_shape(const filter_t *f, const plot_row_t *row) {
    for (size_t i = 0; i < f->shapes.count; ++i) {
        const size_shape_t *s = &f->shapes.values[i];
        if (s->m == row->m && s->n == row->n && s->k == row->k)
            return true;
    }
    return !f->settings->shape;
}

static bool is_kept(const filter_t *f, const plot_row_t *row) {
    const settings_t *s = f->settings;
    return is_listed(s->type, tcgemm_type_info(row->type)->name) && is_listed(s->algo, row->algo) &&
           is_listed(s->kernel, row->kernel) && is_listed(s->classes, row->class_name) &&
           has_threads(f, row) && has_shape(f, row);
}

static int parse_filter(filter_t *f) {
    const settings_t *s = f->settings;
    char why[SIZES_ERROR_SIZE];
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int count;
    if (s->threads && !sizes_parse_list(s->threads, strlen(s->threads), &f->threads, why))
        return message_usage("plot", "--threads: %s", why);
    if (s->shape && !sizes_parse_shapes(s->shape, strlen(s->shape), &f->shapes, why))
        return message_usage("plot", "--shape: %s", why);
    return setup_types(s, types, &count); /* misspelt names are refused */
}

int plot_data_filter(plot_data_t *data, const settings_t *settings) {
    filter_t filter = {.settings = settings};
    const int status = parse_filter(&filter);
    size_t kept = 0;
    for (size_t i = 0; i < data->count && status == CLI_OK; ++i)
        if (is_kept(&filter, &data->rows[i]))
            data->rows[kept++] = data->rows[i];
    data->count = kept;
    sizes_free_list(&filter.threads);
    sizes_free_shapes(&filter.shapes);
    return status;
}

/* ---- what follows from a row ---- */

bool plot_row_is_gpu(const plot_row_t *row) {
    return *row->device && strcmp(row->device, "cpu") != 0;
}

const char *plot_row_machine(const plot_row_t *row) {
    if (plot_row_is_gpu(row))
        return row->device;
    return *row->cpu ? row->cpu : "CPU";
}

/* "cublaslt" does as asked; "openblas sgemm" and "tcgemm f32_f32" stand in for what they lack. */
bool plot_row_peer_has_type(const plot_row_t *row) {
    static const char *const words[] = {"sgemm", "f32", "f32_f32"};
    const char *blank = strrchr(row->peer, ' ');
    for (size_t i = 0; blank && i < sizeof words / sizeof *words; ++i)
        if (strcmp(blank + 1, words[i]) == 0)
            return row->type == TCGEMM_F32_F32;
    return true;
}

double plot_row_intensity(const plot_row_t *row) {
    const tcgemm_type_info_t *type = tcgemm_type_info(row->type);
    const double m = (double)row->m;
    const double n = (double)row->n;
    const double k = (double)row->k;
    const double bits = m * k * tcgemm_dtype_bits(type->a) + k * n * tcgemm_dtype_bits(type->b) +
                        m * n * tcgemm_dtype_bits(type->d);
    return bits > 0 ? 2 * m * n * k / (bits / 8) : 0;
}
