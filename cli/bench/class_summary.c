/* class_summary.c - geometric means, worst points, verdicts. */
#include "bench/class_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/statistics.h"

/* A goal that is reached to the last digits is reached. */
static const double rounding = 1e-9;

static const char *cell(const csv_t *rows, size_t row, const char *column) {
    return csv_cell(rows, row, csv_column(rows, column));
}

/* 0 for an empty cell. */
static double number(const csv_t *rows, size_t row, const char *column) {
    const double value = strtod(cell(rows, row, column), NULL);
    return value > 0 && value < HUGE_VAL ? value : 0;
}

static bool is_of(const csv_t *rows, size_t row, const char *class, const class_key_t *key) {
    return strcmp(cell(rows, row, "class"), class) == 0 &&
           strcmp(cell(rows, row, "peer_is_best"), "no") != 0 &&
           strcmp(cell(rows, row, "commit"), key->commit) == 0 &&
           strcmp(cell(rows, row, "cpu"), key->cpu) == 0 &&
           strcmp(cell(rows, row, "device"), key->device) == 0;
}

/* The median speed of a type in another class, or 0. */
static double speed_of(const csv_t *rows, const char *class, const char *type,
                       const class_key_t *key) {
    double *speeds = malloc((rows->num_rows + 1) * sizeof *speeds);
    int64_t count = 0;
    for (size_t row = 0; speeds && row < rows->num_rows; ++row)
        if (is_of(rows, row, class, key) && strcmp(cell(rows, row, "type"), type) == 0)
            speeds[count++] = number(rows, row, "gflops");
    const double median = count > 0 ? statistics_median(speeds, count) : 0;
    free(speeds);
    return median;
}

static double ratio_of(const suite_class_t *class, const csv_t *rows, size_t row,
                       const class_key_t *key) {
    if (!class->of[0])
        return number(rows, row, "ratio_median");
    const double theirs = speed_of(rows, class->of, cell(rows, row, "type"), key);
    return theirs > 0 ? number(rows, row, "gflops") / theirs : 0;
}

static void name_point(const csv_t *rows, size_t row, char *text, size_t size) {
    const char *batch = cell(rows, row, "batch");
    const bool on_cpu = strcmp(cell(rows, row, "device"), "cpu") == 0;
    int used =
        snprintf(text, size, "%s %s %sx%sx%s", cell(rows, row, "type"), cell(rows, row, "ops"),
                 cell(rows, row, "m"), cell(rows, row, "n"), cell(rows, row, "k"));
    if (strcmp(batch, "1") != 0 && used < (int)size)
        used += snprintf(text + used, size - (size_t)used, " *%s", batch);
    if (on_cpu && used < (int)size)
        (void)snprintf(text + used, size - (size_t)used, " on %s", cell(rows, row, "threads"));
}

/* What part of a goal is reached, at most 1; 1 without a goal. */
static double reached(double goal, double value) {
    if (goal <= 0 || value >= goal * (1 - rounding))
        return 1;
    return value / goal;
}

static void judge(class_summary_t *s, const suite_class_t *class) {
    const bool asks_ratio = class->geomean > 0 || class->worst > 0;
    s->missed_by = fmin(fmin(reached(class->geomean, s->geomean), reached(class->worst, s->worst)),
                        reached(class->roof, s->roof));
    if (s->problems == 0 || (asks_ratio && s->compared == 0))
        s->verdict = CLASS_UNKNOWN;
    else if (!asks_ratio && class->roof <= 0)
        s->verdict = CLASS_OPEN;
    else
        s->verdict = s->missed_by < 1 ? CLASS_MISSED : CLASS_MET;
}

class_summary_t class_summarize(const suite_class_t *class, const csv_t *rows,
                                const class_key_t *key) {
    class_summary_t s = {.roof_is = "", .worst_peer = ""};
    double *roofs = malloc((rows->num_rows + 1) * sizeof *roofs);
    int64_t num_roofs = 0;
    double logs = 0;
    for (size_t row = 0; roofs && row < rows->num_rows; ++row) {
        if (!is_of(rows, row, class->name, key))
            continue;
        ++s.problems;
        const double roof = number(rows, row, "roof_fraction");
        if (roof > 0) {
            const char *is = strcmp(cell(rows, row, "roof"), "memory") == 0 ? "memory" : "peak";
            s.roof_is = num_roofs == 0 || strcmp(s.roof_is, is) == 0 ? is : "both";
            roofs[num_roofs++] = roof;
        }
        const double ratio = ratio_of(class, rows, row, key);
        if (ratio <= 0)
            continue;
        logs += log(ratio);
        if (s.compared++ == 0 || ratio < s.worst) {
            s.worst = ratio;
            name_point(rows, row, s.worst_point, sizeof s.worst_point);
            s.worst_peer = class->of[0] ? "" : cell(rows, row, "peer");
        }
    }
    s.geomean = s.compared > 0 ? exp(logs / (double)s.compared) : 0;
    s.roof = num_roofs > 0 ? statistics_median(roofs, num_roofs) : 0;
    free(roofs);
    judge(&s, class);
    return s;
}

const char *class_verdict_text(class_verdict_t verdict) {
    static const char *const texts[] = {[CLASS_MET] = "met",
                                        [CLASS_MISSED] = "missed",
                                        [CLASS_UNFINISHED] = "unfinished",
                                        [CLASS_OPEN] = "no goal",
                                        [CLASS_UNKNOWN] = "no peer"};
    return texts[verdict];
}

static const table_column_t columns[] = {
    {"class", "class", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"problems", "n", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"compared", "compared", TABLE_RIGHT, 0, TABLE_MACHINES_ONLY},
    {"ratio_geomean", "geomean", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"goal_geomean", "goal", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"ratio_worst", "worst", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"goal_worst", "goal", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"roof_fraction_median", "of roof", TABLE_RIGHT, 3, TABLE_EVERYWHERE},
    {"goal_roof", "goal", TABLE_RIGHT, 3, TABLE_MACHINES_ONLY},
    {"roof", "roof", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"verdict", "verdict", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"worst_peer", "beside", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"worst_point", "worst point", TABLE_LEFT, 0, TABLE_EVERYWHERE},
};

static void real_or_empty(table_t *table, double value) {
    if (value > 0)
        table_real(table, value);
    else
        table_empty(table);
}

static int64_t wanted_of(const bench_items_t *items, const suite_class_t *class) {
    int64_t count = 0;
    for (size_t i = 0; i < items->count; ++i)
        count += strcmp(items->values[i].class_name, class->name) == 0;
    return count;
}

table_t *class_table(const suite_t *suite, const bench_items_t *items, const csv_t *rows,
                     const class_key_t *key) {
    table_t *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < suite->num_classes && table; ++i) {
        const suite_class_t *class = &suite->classes[i];
        class_summary_t s = class_summarize(class, rows, key);
        if (s.problems == 0)
            continue;
        if (s.problems < wanted_of(items, class))
            s.verdict = CLASS_UNFINISHED;
        table_text(table, class->name);
        table_integer(table, s.problems);
        table_integer(table, s.compared);
        real_or_empty(table, s.geomean);
        real_or_empty(table, class->geomean);
        real_or_empty(table, s.worst);
        real_or_empty(table, class->worst);
        real_or_empty(table, s.roof);
        real_or_empty(table, class->roof);
        table_text(table, s.roof_is);
        table_text(table, class_verdict_text(s.verdict));
        table_text(table, s.worst_peer);
        table_text(table, s.worst_point);
    }
    return table;
}
