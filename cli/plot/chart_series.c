/* chart_series.c - points that belong together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot/chart.h"
#include "support/exit_status.h"
#include "support/message.h"

/* What names a series. */
typedef struct naming {
    const plot_data_t *data;
    unsigned ours, peers;
    bool has_peers;
} naming_t;

static double x_of(const chart_t *chart, const plot_row_t *row) {
    switch (chart->kind) {
    case PLOT_SIZE:
        return (double)row->n;
    case PLOT_K:
        return (double)row->k;
    case PLOT_MODEL:
        return row->seconds * 1e6;
    default:
        return plot_row_intensity(row);
    }
}

/* ---- names ---- */

/* Whether a peer's name says what type it computed: "openblas dgemm". */
static bool peer_names_type(const plot_data_t *data) {
    for (size_t i = 0; i < data->count; ++i)
        for (size_t j = 0; j < i; ++j)
            if (data->rows[i].type != data->rows[j].type &&
                strcmp(data->rows[i].peer, data->rows[j].peer) == 0)
                return false;
    return true;
}

static naming_t make_naming(const chart_t *chart, const plot_data_t *data, unsigned varying) {
    char peers[PLOT_LABEL_SIZE];
    naming_t n = {.data = data};
    if (chart->kind == PLOT_MODEL) { /* the rest would make too many */
        n.ours = varying & (PROPERTY_ALGO | PROPERTY_MACHINE | PROPERTY_THREADS);
        return n;
    }
    const unsigned size = PROPERTIES_OF_SIZE;
    n.ours = varying & ~(size | PROPERTY_KERNEL);
    if (chart->kind == PLOT_K)
        n.ours |= varying & PROPERTY_MN;
    /* The planner may take another kernel for each size: that is one series, unless two kernels
     * were asked to do the same. */
    if (plot_label_needs_kernel(data, n.ours | PROPERTY_SHAPE))
        n.ours |= PROPERTY_KERNEL;
    n.peers = n.ours & ~(unsigned)PROPERTIES_OF_METHOD;
    if (peer_names_type(data))
        n.peers &= ~(unsigned)PROPERTY_TYPE;
    plot_label_peers(data, peers);
    n.has_peers = *peers;
    return n;
}

static void our_label(const naming_t *n, const plot_row_t *row, char text[PLOT_LABEL_SIZE]) {
    char words[PLOT_LABEL_SIZE];
    plot_label(row, n->ours, words);
    if (n->has_peers)
        (void)snprintf(text, PLOT_LABEL_SIZE, "tcgemm %.*s", PLOT_LABEL_SIZE - 8, words);
    else
        (void)snprintf(text, PLOT_LABEL_SIZE, "%s", *words ? words : row->algo);
}

static void peer_label(const naming_t *n, const plot_row_t *row, char text[PLOT_LABEL_SIZE]) {
    char words[PLOT_LABEL_SIZE];
    plot_label(row, n->peers, words);
    if (*words && (n->peers & PROPERTY_TYPE) && !plot_row_peer_has_type(row))
        (void)snprintf(text, PLOT_LABEL_SIZE, "%.80s beside %.100s", row->peer, words);
    else {
        (void)snprintf(text, PLOT_LABEL_SIZE, "%s", row->peer);
        plot_label_append(text, words);
    }
}

/* ---- points ---- */

/* The series of that name, made if need be; NULL if there are too many. */
static chart_series_t *series_of(chart_t *chart, const char *label, bool is_peer) {
    for (size_t i = 0; i < chart->num_series; ++i)
        if (chart->series[i].is_peer == is_peer && strcmp(chart->series[i].label, label) == 0)
            return &chart->series[i];
    if (chart->num_series == CHART_MAX_SERIES) {
        ++chart->num_left_out;
        return NULL;
    }
    chart_series_t *series = &chart->series[chart->num_series++];
    *series = (chart_series_t){.is_peer = is_peer};
    (void)snprintf(series->label, sizeof series->label, "%s", label);
    return series;
}

static int add_point(chart_series_t *series, chart_point_t point, size_t most) {
    if (!series->points)
        series->points = malloc(most * sizeof *series->points);
    if (!series->points)
        return message_fail(CLI_NO_MEMORY, "no memory for the points of the plot");
    series->points[series->count++] = point;
    return CLI_OK;
}

/* One peer run beside several of ours stands in the row of each. */
static bool has_point(const chart_series_t *series, const chart_point_t *point) {
    for (size_t i = 0; i < series->count; ++i)
        if (series->points[i].x == point->x && series->points[i].y == point->y)
            return true;
    return false;
}

static int num_ours(const chart_t *chart) {
    int count = 0;
    for (size_t i = 0; i < chart->num_series; ++i)
        count += !chart->series[i].is_peer;
    return count;
}

/* A peer that computes another type moves other bytes: it has no place at our intensity. */
static bool shows_peer(const chart_t *chart, const plot_row_t *row) {
    return row->theirs.rate > 0 && chart->kind != PLOT_MODEL &&
           (chart->kind != PLOT_ROOFLINE || plot_row_peer_has_type(row));
}

static chart_point_t our_point(const chart_t *chart, double x, const plot_row_t *row) {
    const double y = row->predicted * 1e6;
    return chart->kind == PLOT_MODEL ? (chart_point_t){x, y, y, y}
                                     : chart_point(chart, x, &row->ours);
}

static int add_row(chart_t *chart, const naming_t *n, const plot_row_t *row) {
    char label[PLOT_LABEL_SIZE];
    our_label(n, row, label);
    const int next_style = num_ours(chart);
    chart_series_t *ours = series_of(chart, label, false);
    if (!ours)
        return CLI_OK;
    if (ours->count == 0)
        ours->style = next_style;
    const double x = x_of(chart, row);
    int status = add_point(ours, our_point(chart, x, row), n->data->count);
    if (status != CLI_OK || !shows_peer(chart, row))
        return status;
    peer_label(n, row, label);
    chart_series_t *peer = series_of(chart, label, true);
    if (!peer)
        return CLI_OK;
    const chart_point_t point = chart_point(chart, x, &row->theirs);
    if (peer->count == 0)
        peer->style = ours->style;
    else if (peer->style != ours->style)
        peer->style = CHART_STYLE_SHARED;
    return has_point(peer, &point) ? CLI_OK : add_point(peer, point, n->data->count);
}

static int by_x(const void *a, const void *b) {
    const chart_point_t *one = a;
    const chart_point_t *other = b;
    if (one->x != other->x)
        return one->x < other->x ? -1 : 1;
    return (one->y > other->y) - (one->y < other->y);
}

int chart_add_series(chart_t *chart, const plot_data_t *data, unsigned varying) {
    const naming_t naming = make_naming(chart, data, varying);
    int status = CLI_OK;
    for (size_t i = 0; i < data->count && status == CLI_OK; ++i)
        status = add_row(chart, &naming, &data->rows[i]);
    for (size_t i = 0; i < chart->num_series; ++i)
        if (chart->series[i].is_peer && num_ours(chart) == 1)
            chart->series[i].style = 1; /* two lines need not share a colour */
    for (size_t i = 0; i < chart->num_series; ++i)
        if (chart->series[i].count > 1)
            qsort(chart->series[i].points, chart->series[i].count, sizeof(chart_point_t), by_x);
    return status;
}
