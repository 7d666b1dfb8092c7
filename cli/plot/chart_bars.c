/* chart_bars.c - one group of bars for each problem: ours, one for each kernel, then the peer's. */
#include <stdio.h>
#include <string.h>

#include "plot/chart.h"

/* What names a group, and a bar in it. */
typedef struct naming {
    unsigned problem, method;
    bool has_peers;
} naming_t;

static naming_t make_naming(const chart_t *chart, const plot_data_t *data, unsigned varying) {
    naming_t n;
    n.problem = varying & ~((unsigned)PROPERTIES_OF_METHOD | PROPERTY_MN);
    n.method = varying & PROPERTY_ALGO;
    n.has_peers = chart->kind == PLOT_PEER;
    if (chart->kind == PLOT_TILE || plot_label_needs_kernel(data, n.problem | n.method))
        n.method |= varying & PROPERTY_KERNEL;
    return n;
}

static chart_bar_t *add_bar(chart_t *chart, const plot_speed_t *speed) {
    if (chart->num_bars == CHART_MAX_BARS) {
        ++chart->num_left_out;
        return NULL;
    }
    chart_bar_t *bar = &chart->bars[chart->num_bars++];
    const chart_point_t point = chart_point(chart, 0, speed);
    *bar = (chart_bar_t){.y = point.y, .low = point.low, .high = point.high};
    plot_label_number(point.y, bar->value);
    return bar;
}

static void append_percent(char text[PLOT_LABEL_SIZE], double fraction) {
    char words[PLOT_LABEL_SIZE];
    (void)snprintf(words, sizeof words, "%.0f %% of peak", 100 * fraction);
    if (fraction > 0)
        plot_label_append(text, words);
}

static void add_ours(chart_t *chart, const naming_t *n, const plot_row_t *row, bool first) {
    char words[PLOT_LABEL_SIZE];
    chart_bar_t *bar = add_bar(chart, &row->ours);
    if (!bar)
        return;
    bar->begins_group = first;
    if (first)
        plot_label(row, n->problem, bar->label);
    plot_label(row, n->method, words);
    plot_label_append(bar->label, n->has_peers && !*words ? "tcgemm" : words);
    if (!*bar->label)
        plot_label_append(bar->label, row->algo);
    append_percent(bar->value, row->peak > 0 ? row->ours.rate / row->peak : 0);
    if (row->theirs.rate > 0) {
        (void)snprintf(words, sizeof words, "%.2f times %s", row->ratio, row->peer);
        plot_label_append(bar->value, words);
    }
}

static void add_peer(chart_t *chart, const plot_row_t *row) {
    chart_bar_t *bar = add_bar(chart, &row->theirs);
    if (!bar)
        return;
    bar->is_peer = true;
    plot_label_append(bar->label, row->peer);
    append_percent(bar->value, row->peer_of_peak);
}

/* Whether an earlier row of the group had this very peer. */
static bool has_bar_already(const plot_data_t *data, const naming_t *n, size_t index) {
    const plot_row_t *row = &data->rows[index];
    for (size_t i = 0; i < index; ++i) {
        const plot_row_t *other = &data->rows[i];
        if (other->theirs.rate == row->theirs.rate && strcmp(other->peer, row->peer) == 0 &&
            plot_label_same(other, row, n->problem))
            return true;
    }
    return false;
}

static void add_group(chart_t *chart, const plot_data_t *data, const naming_t *n, size_t head) {
    const plot_row_t *first = &data->rows[head];
    for (size_t i = head; i < data->count; ++i)
        if (plot_label_same(&data->rows[i], first, n->problem))
            add_ours(chart, n, &data->rows[i], i == head);
    for (size_t i = head; i < data->count && n->has_peers; ++i)
        if (plot_label_same(&data->rows[i], first, n->problem) && data->rows[i].theirs.rate > 0 &&
            !has_bar_already(data, n, i))
            add_peer(chart, &data->rows[i]);
}

void chart_add_bars(chart_t *chart, const plot_data_t *data, unsigned varying) {
    const naming_t naming = make_naming(chart, data, varying);
    for (size_t i = 0; i < data->count; ++i) {
        size_t head = 0;
        while (!plot_label_same(&data->rows[head], &data->rows[i], naming.problem))
            ++head;
        if (head == i)
            add_group(chart, data, &naming, i);
    }
}
