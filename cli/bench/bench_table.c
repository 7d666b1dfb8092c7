/* bench_table.c - compares the cells that name a measurement. */
#include "bench/bench_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"

static bool has_columns(const csv_t *csv, const bench_rows_t *rows) {
    size_t count = 0;
    for (size_t i = 0; i < BENCH_NUM_COLUMNS; ++i) {
        const table_column_t *column = &rows->columns[i];
        if (column->place == TABLE_SCREEN_ONLY)
            continue;
        if (csv_column(csv, column->name) != (int)count++)
            return false;
    }
    return count == csv->num_columns;
}

int bench_table_read(bench_table_t *table, const char *path, const bench_rows_t *rows) {
    char *text;
    size_t length;
    char why[CSV_ERROR_SIZE];
    *table = (bench_table_t){.num_bytes = 0};
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return CLI_OK;
    const int status = setup_read_text(path, &text, &length);
    if (status != CLI_OK)
        return status;
    while (length > 0 && text[length - 1] != '\n') /* a line that was not finished */
        --length;
    const bool read = length == 0 || csv_parse(text, length, &table->csv, why);
    free(text);
    if (!read)
        return message_fail(CLI_BAD_FILE, "%s: %s", path, why);
    table->num_bytes = length; /* from here on bench_table_free frees */
    if (length > 0 && !has_columns(&table->csv, rows))
        return message_fail(CLI_BAD_FILE, "%s: its columns are not those of this version's table",
                            path);
    return CLI_OK;
}

void bench_table_free(bench_table_t *table) {
    if (table->num_bytes > 0)
        csv_free(&table->csv);
    *table = (bench_table_t){.num_bytes = 0};
}

static bool is_text(const csv_t *csv, size_t row, const char *column, const char *text) {
    return strcmp(csv_cell(csv, row, csv_column(csv, column)), text) == 0;
}

static bool is_number(const csv_t *csv, size_t row, const char *column, int64_t number) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)number);
    return is_text(csv, row, column, text);
}

static bool is_problem(const csv_t *csv, size_t row, const tcgemm_problem_t *p) {
    const char ops[3] = {p->op_a == TCGEMM_OP_T ? 'T' : 'N', p->op_b == TCGEMM_OP_T ? 'T' : 'N', 0};
    return is_number(csv, row, "m", p->m) && is_number(csv, row, "n", p->n) &&
           is_number(csv, row, "k", p->k) && is_number(csv, row, "batch", p->batch) &&
           is_text(csv, row, "type", tcgemm_type_info(p->type)->name) &&
           is_text(csv, row, "ops", ops) &&
           is_text(csv, row, "order", p->order == TCGEMM_ROW_MAJOR ? "row" : "col");
}

bool bench_table_has(const bench_table_t *table, const bench_key_t *key) {
    const csv_t *csv = &table->csv;
    for (size_t row = 0; table->num_bytes > 0 && row < csv->num_rows; ++row)
        if (is_problem(csv, row, key->problem) && is_text(csv, row, "kernel", key->plan->kernel) &&
            is_number(csv, row, "threads", key->num_threads) &&
            is_text(csv, row, "cold", key->cold ? "yes" : "no") &&
            is_number(csv, row, "pad", key->pad) &&
            atof(csv_cell(csv, row, csv_column(csv, "beta"))) == key->beta &&
            is_text(csv, row, "class", key->class_name ? key->class_name : "") &&
            (!key->peer || is_text(csv, row, "peer", key->peer)) &&
            is_text(csv, row, "cpu", key->cpu) && is_text(csv, row, "device", key->plan->device) &&
            is_text(csv, row, "commit", key->commit))
            return true;
    return false;
}
