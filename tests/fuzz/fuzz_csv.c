/* libFuzzer on tables of comma-separated values: cut into cells, and read as a table of bench.
 *
 *     fuzz_csv -max_total_time=60 tests/fuzz/corpus/csv */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot_data.h"
#include "tables/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every cell is a text of its own within the table's. */
static void check(const csv_t *csv, size_t size) {
    for (size_t row = 0; row < csv->num_rows; ++row)
        for (int col = -1; col < (int)csv->num_columns; ++col)
            if (strlen(csv_cell(csv, row, col)) > size)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    char why[CSV_ERROR_SIZE] = "";
    csv_t csv;
    if (csv_parse(text, size, &csv, why))
        check(&csv, size);
    else if (!why[0] || csv.cells || csv.text)
        abort();
    csv_free(&csv);

    static FILE *quiet;
    if (!quiet)
        quiet = freopen("/dev/null", "w", stderr); /* faults are told, thousands a second */
    plot_data_t rows = {0};
    (void)plot_data_add(&rows, "table", text, size);
    for (size_t i = 0; i < rows.count; ++i)
        if (!(rows.rows[i].ours.rate > 0) || !(plot_row_intensity(&rows.rows[i]) >= 0))
            abort();
    plot_data_free(&rows);
    return 0;
}
