/* CSV as RFC 4180 has it, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/csv.h"

static void parse(csv_t *csv, const char *text) {
    char why[CSV_ERROR_SIZE] = "";
    if (!csv_parse(text, strlen(text), csv, why))
        fail_msg("%s", why);
}

static void refuse(const char *text, const char *reason) {
    csv_t csv;
    char why[CSV_ERROR_SIZE] = "";
    assert_false(csv_parse(text, strlen(text), &csv, why));
    assert_string_equal(why, reason);
    assert_null(csv.cells);
    assert_null(csv.text);
}

static void test_cells(void **state) {
    (void)state;
    csv_t csv;
    parse(&csv, "a,b,c\r\n1,,\"x,\"\"y\"\"\nz\"\n\n4,5,6");
    assert_int_equal(csv.num_columns, 3);
    assert_int_equal(csv.num_rows, 2);
    assert_int_equal(csv_column(&csv, "c"), 2);
    assert_int_equal(csv_column(&csv, "d"), -1);
    assert_string_equal(csv_cell(&csv, 0, 0), "1");
    assert_string_equal(csv_cell(&csv, 0, 1), "");
    assert_string_equal(csv_cell(&csv, 0, 2), "x,\"y\"\nz");
    assert_string_equal(csv_cell(&csv, 1, 2), "6");
    assert_string_equal(csv_cell(&csv, 1, -1), "");
    csv_free(&csv);
}

static void test_heading_alone(void **state) {
    (void)state;
    csv_t csv;
    parse(&csv, "\n\nonly\n");
    assert_int_equal(csv.num_columns, 1);
    assert_int_equal(csv.num_rows, 0);
    csv_free(&csv);
}

/* More cells than the first allocation holds. */
static void test_many(void **state) {
    (void)state;
    enum { ROWS = 1000 };
    char *text = malloc(8 * (ROWS + 1));
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "x,y\n");
    for (int i = 0; i < ROWS; ++i)
        used += (size_t)sprintf(text + used, "%d,%d\n", i, i % 10);
    csv_t csv;
    parse(&csv, text);
    assert_int_equal(csv.num_rows, ROWS);
    assert_string_equal(csv_cell(&csv, ROWS - 1, 0), "999");
    csv_free(&csv);
    free(text);
}

static void test_refusals(void **state) {
    (void)state;
    refuse("", "line 1: there is no table");
    refuse("a,b\n1,2\n3\n", "line 3: not as many cells as the heading");
    refuse("a,b\n1,2,3\n", "line 2: not as many cells as the heading");
    refuse("a\n\"x\n", "line 3: a quote is not closed");
    refuse("a\n\"x\"y\n", "line 2: something follows a closing quote");
    csv_t csv;
    char why[CSV_ERROR_SIZE] = "";
    assert_false(csv_parse("a\0b", 3, &csv, why));
    assert_non_null(strstr(why, "no text"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_heading_alone),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
