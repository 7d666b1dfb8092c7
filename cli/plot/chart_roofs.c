/* chart_roofs.c - what no product can exceed: the peak of its type, and what the memory feeds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot/chart.h"
#include "support/message.h"

/* Peaks so near are one line: f16 and bf16, or one peak that was measured twice. */
static const double nearness = 0.02;

/* A longer list of types ends in "...". */
enum { MOST_WORDS = 20 };

static chart_roof_t *find_or_add(chart_t *chart, double y, bool is_slope) {
    for (size_t i = 0; i < chart->num_roofs; ++i) {
        chart_roof_t *roof = &chart->roofs[i];
        if (roof->is_slope == is_slope && fabs(roof->y - y) <= nearness * y)
            return roof;
    }
    if (chart->num_roofs == CHART_MAX_ROOFS)
        return NULL;
    chart_roof_t *roof = &chart->roofs[chart->num_roofs++];
    *roof = (chart_roof_t){.is_slope = is_slope};
    return roof;
}

/* Whether the list "bf16_f32, s8_s32" has the word; f16_f32 is none of its words. */
static bool has_words(const char *list, const char *words) {
    const size_t length = strlen(words);
    for (const char *at = strstr(list, words); at; at = strstr(at + 1, words))
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

static void add_words(char list[PLOT_LABEL_SIZE], const char *words) {
    if (!*words || has_words(list, words) || strstr(list, "..."))
        return;
    plot_label_append(list, strlen(list) + strlen(words) <= MOST_WORDS ? words : "...");
}

/* Rows of one roof may be of several types and, less often, of several machines. */
static void name_roof(chart_roof_t *roof, const plot_row_t *row, unsigned mask) {
    char words[PLOT_LABEL_SIZE];
    plot_label(row, mask & PROPERTY_TYPE, words);
    add_words(roof->label, words);
    plot_label(row, mask & ~(unsigned)PROPERTY_TYPE, words);
    add_words(roof->where, words);
}

/* "peak of f32_f32, f64_f64: 66.9 TFLOP/s". */
static void finish_label(chart_roof_t *roof, const char *what, double value, const char *unit) {
    char number[PLOT_LABEL_SIZE];
    char words[PLOT_LABEL_SIZE];
    plot_label_append(roof->label, roof->where);
    plot_label_number(value, number);
    (void)snprintf(words, sizeof words, "%s%s%.130s: %.20s %s", what, *roof->label ? " of " : "",
                   roof->label, number, unit);
    (void)snprintf(roof->label, sizeof roof->label, "%s", words);
}

static int by_height(const void *a, const void *b) {
    const chart_roof_t *one = a;
    const chart_roof_t *other = b;
    return (one->y > other->y) - (one->y < other->y);
}

static void add_peaks(chart_t *chart, const plot_data_t *data, unsigned mask) {
    static const char *const units[2][2] = {{"GFLOP/s", "GOP/s"}, {"TFLOP/s", "TOP/s"}};
    for (size_t i = 0; i < data->count; ++i) {
        const plot_row_t *row = &data->rows[i];
        const double y = row->peak / chart->unit;
        chart_roof_t *roof = y > 0 ? find_or_add(chart, y, false) : NULL;
        if (!roof)
            continue;
        roof->y = fmax(roof->y, y);
        if (row->bandwidth > 0)
            roof->ridge = row->peak / row->bandwidth;
        roof->is_integer = tcgemm_type_info(row->type)->d == TCGEMM_DTYPE_S32;
        name_roof(roof, row, mask);
    }
    qsort(chart->roofs, chart->num_roofs, sizeof chart->roofs[0], by_height);
    for (size_t i = 0; i < chart->num_roofs; ++i)
        finish_label(&chart->roofs[i], "peak", chart->roofs[i].y,
                     units[chart->unit > 1e9][chart->roofs[i].is_integer]);
}

static void add_slopes(chart_t *chart, const plot_data_t *data, unsigned mask) {
    const size_t first = chart->num_roofs;
    for (size_t i = 0; i < data->count; ++i) {
        const plot_row_t *row = &data->rows[i];
        const double y = row->bandwidth / chart->unit;
        chart_roof_t *roof = y > 0 ? find_or_add(chart, y, true) : NULL;
        if (!roof)
            continue;
        roof->y = fmax(roof->y, y);
        name_roof(roof, row, mask);
    }
    for (size_t i = first; i < chart->num_roofs; ++i) {
        const double bytes = chart->roofs[i].y * chart->unit;
        finish_label(&chart->roofs[i], "memory", bytes >= 1e12 ? bytes * 1e-12 : bytes * 1e-9,
                     bytes >= 1e12 ? "TB/s" : "GB/s");
    }
    if (first == chart->num_roofs)
        message_note("no row has the bandwidth of the memory: the roofline has no slope");
}

void chart_add_roofs(chart_t *chart, const plot_data_t *data, unsigned varying) {
    const unsigned machine = varying & (PROPERTY_THREADS | PROPERTY_MACHINE);
    add_peaks(chart, data, machine | (varying & PROPERTY_TYPE));
    if (chart->kind == PLOT_ROOFLINE)
        add_slopes(chart, data, machine);
    else if (chart->num_roofs == 1)
        plot_label_append(chart->y2_label, "share of the peak (%)");
}
