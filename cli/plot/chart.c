/* chart.c - units, titles and footer; series and bars are made next door. */
#include "plot/chart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exit_status.h"
#include "support/message.h"

chart_point_t chart_point(const chart_t *chart, double x, const plot_speed_t *speed) {
    const double y = speed->rate / chart->unit;
    const double best = speed->best / chart->unit;
    chart_point_t point = {x, y, y / (1 + speed->spread), y};
    if (speed->spread < 1)
        point.high = y / (1 - speed->spread);
    if (best > 0 && (speed->spread >= 1 || point.high > best))
        point.high = best;
    return point;
}

/* ---- units ---- */

static bool is_integer_type(const plot_row_t *row) {
    return tcgemm_type_info(row->type)->d == TCGEMM_DTYPE_S32;
}

static void choose_unit(chart_t *chart, const plot_data_t *data) {
    static const char *const names[2][3] = {{"GFLOP/s", "GOP/s", "GFLOP/s, GOP/s"},
                                            {"TFLOP/s", "TOP/s", "TFLOP/s, TOP/s"}};
    double most = 0;
    bool floats = false;
    bool integers = false;
    for (size_t i = 0; i < data->count; ++i) {
        const plot_row_t *row = &data->rows[i];
        most = row->ours.rate > most ? row->ours.rate : most;
        most = row->theirs.rate > most ? row->theirs.rate : most;
        integers = integers || is_integer_type(row);
        floats = floats || !is_integer_type(row);
    }
    const bool tera = most >= 2e12;
    chart->unit = tera ? 1e12 : 1e9;
    chart->unit_name = names[tera][integers ? 1 + floats : 0];
}

static void name_axes(chart_t *chart) {
    (void)snprintf(chart->y_label, sizeof chart->y_label, "throughput (%s)", chart->unit_name);
    switch (chart->kind) {
    case PLOT_SIZE:
        plot_label_append(chart->x_label, "size m = n = k (elements)");
        break;
    case PLOT_K:
        plot_label_append(chart->x_label, "depth k (elements)");
        break;
    case PLOT_MODEL:
        plot_label_append(chart->x_label, "measured time (us)");
        (void)snprintf(chart->y_label, sizeof chart->y_label, "predicted time (us)");
        break;
    case PLOT_ROOFLINE:
        (void)snprintf(chart->x_label, sizeof chart->x_label, "arithmetic intensity (%s/byte)",
                       strcmp(chart->unit_name + 1, "OP/s") == 0 ? "OP" : "FLOP");
        break;
    default: /* bars lie on their side */
        plot_label_append(chart->x_label, chart->y_label);
        *chart->y_label = '\0';
    }
}

/* ---- words around the picture ---- */

static void write_title(chart_t *chart, const plot_data_t *data, unsigned varying) {
    static const char *const subjects[] = {
        [PLOT_SIZE] = "Throughput over size",         [PLOT_K] = "Throughput over k",
        [PLOT_TILE] = "Throughput by kernel",         [PLOT_ROOFLINE] = "Roofline",
        [PLOT_MODEL] = "Predicted and measured time",
    };
    const plot_row_t *row = &data->rows[0];
    char where[PLOT_LABEL_SIZE];
    char types[PLOT_LABEL_SIZE];
    char peers[PLOT_LABEL_SIZE];
    plot_label(row, (PROPERTY_MACHINE | PROPERTY_THREADS) & ~varying, where);
    plot_label_types(data, types);
    plot_label_append(where, types);
    plot_label_peers(data, peers);
    if (chart->kind == PLOT_PEER)
        (void)snprintf(chart->title, sizeof chart->title, "tcgemm against %s: %s", peers, where);
    else
        (void)snprintf(chart->title, sizeof chart->title, "%s: %s", subjects[chart->kind], where);
}

/* What all rows share and the title does not say. */
static void write_subtitle(chart_t *chart, const plot_data_t *data, unsigned varying) {
    const unsigned said = PROPERTY_TYPE | PROPERTY_MACHINE | PROPERTY_THREADS | PROPERTY_KERNEL;
    unsigned shared = PROPERTIES_ALL & ~varying & ~said;
    if (chart->kind == PLOT_K)
        shared &= ~(unsigned)PROPERTY_SHAPE;
    else
        shared &= ~(unsigned)PROPERTY_MN;
    plot_label(&data->rows[0], shared, chart->subtitle);
}

/* The value of a column if it is the same in all rows, else "". */
#define SHARED(data, field) shared_text(data, offsetof(plot_row_t, field))
static const char *shared_text(const plot_data_t *data, size_t offset) {
    const char *first = NULL;
    for (size_t i = 0; i < data->count; ++i) {
        const char *text;
        memcpy(&text, (const char *)&data->rows[i] + offset, sizeof text);
        first = first ? first : text;
        if (strcmp(first, text) != 0)
            return "";
    }
    return first;
}

static bool has_spread(const plot_data_t *data) {
    for (size_t i = 0; i < data->count; ++i)
        if (data->rows[i].ours.spread > 0)
            return true;
    return false;
}

/* The day of the measurements, or the first and the last. */
static void write_dates(const plot_data_t *data, char *text, size_t size) {
    const char *first = data->rows[0].date;
    const char *last = first;
    for (size_t i = 1; i < data->count; ++i) {
        const char *date = data->rows[i].date;
        first = strcmp(date, first) < 0 ? date : first;
        last = strcmp(date, last) > 0 ? date : last;
    }
    if (strncmp(first, last, 10) == 0)
        (void)snprintf(text, size, "%.10s", first);
    else
        (void)snprintf(text, size, "%.10s to %.10s", first, last);
}

/* Peaks of processors are measured, those of GPUs worked out. */
static const char *nature_of_peaks(const chart_t *chart, const plot_data_t *data) {
    size_t measured = 0;
    size_t known = 0;
    for (size_t i = 0; i < data->count; ++i) {
        known += data->rows[i].peak > 0;
        measured += data->rows[i].peak > 0 && data->rows[i].peak_measured;
    }
    const bool roofline = chart->kind == PLOT_ROOFLINE;
    if (known == 0 || chart->kind == PLOT_MODEL)
        return "";
    if (measured == known)
        return roofline ? "; peaks and memory as measured" : "; peaks as measured";
    if (measured == 0)
        return roofline ? "; peaks and memory in theory" : "; peaks in theory";
    return "; peaks of CPUs as measured, of GPUs in theory";
}

static void write_footers(chart_t *chart, const plot_data_t *data) {
    const size_t size = sizeof chart->footers[0];
    const char *version = SHARED(data, peer_version);
    const char *commit = SHARED(data, commit);
    const char *driver = SHARED(data, driver);
    char dates[32];
    write_dates(data, dates, sizeof dates);
    (void)snprintf(chart->footers[0], size, "Median%s%s%s%s%s%s%s%s",
                   has_spread(data) && chart->kind != PLOT_MODEL
                       ? " and half the distance of the quartiles"
                       : "",
                   nature_of_peaks(chart, data), *commit ? "; commit " : "", commit,
                   *driver ? ", driver " : "", driver, *dates ? ", " : "", dates);
    if (*version)
        (void)snprintf(chart->footers[1], size, "Version of the peer: %s", version);
}

/* ---- all of it ---- */

int chart_create(chart_t *chart, const plot_data_t *data, plot_choice_t kind) {
    const unsigned varying = plot_label_varying(data);
    int status = CLI_OK;
    *chart = (chart_t){.kind = kind};
    choose_unit(chart, data);
    name_axes(chart);
    write_title(chart, data, varying);
    write_subtitle(chart, data, varying);
    write_footers(chart, data);
    if (kind == PLOT_TILE || kind == PLOT_PEER) {
        chart_add_bars(chart, data, varying);
    } else {
        status = chart_add_series(chart, data, varying);
        if (kind == PLOT_MODEL)
            chart_add_model(chart, data);
        else
            chart_add_roofs(chart, data, varying);
    }
    if (status == CLI_OK && chart->num_left_out > 0)
        message_note("%zu more would not be legible and are left out; choose by --type, --algo, "
                     "--kernel, --shape or --threads",
                     chart->num_left_out);
    return status;
}

void chart_free(chart_t *chart) {
    for (size_t i = 0; i < chart->num_series; ++i)
        free(chart->series[i].points);
    chart->num_series = 0;
}
