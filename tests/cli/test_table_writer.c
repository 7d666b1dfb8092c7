/* One table in six formats, quotes and empty cells included. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/table_writer.h"

static const table_column_t columns[] = {
    {"name", "name", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"time_seconds", "s", TABLE_RIGHT, 3, TABLE_EVERYWHERE},
    {"hidden", "hidden", TABLE_LEFT, 0, TABLE_MACHINES_ONLY},
    {"screen", "shown", TABLE_LEFT, 0, TABLE_SCREEN_ONLY},
};

static char *written(table_format_t format) {
    table_t *table = table_new(columns, 4);
    table_text(table, "a,\"b\"\tc");
    table_real(table, 0.1);
    table_truth(table, true);
    table_integer(table, INT64_MAX);
    table_text(table, "plain");
    table_real(table, NAN);
    table_empty(table);
    table_text(table, "x");
    assert_int_equal(table_num_rows(table), 2);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(table_write(table, format, "tcgemm.test/1", out));
    (void)fclose(out);
    table_free(table);
    return text;
}

static void expect(table_format_t format, const char *text) {
    char *got = written(format);
    assert_string_equal(got, text);
    free(got);
}

static void test_screen(void **state) {
    (void)state;
    expect(TABLE_FORMAT_TEXT, "name       s  shown\n"
                              "a,\"b\"\tc  0.1  9223372036854775807\n"
                              "plain         x\n");
    expect(TABLE_FORMAT_MD, "| name    |   s | shown               |\n"
                            "| ------- | --: | ------------------- |\n"
                            "| a,\"b\"\tc | 0.1 | 9223372036854775807 |\n"
                            "| plain   |     | x                   |\n");
}

static void test_separated(void **state) {
    (void)state;
    expect(TABLE_FORMAT_CSV, "name,time_seconds,hidden\n"
                             "\"a,\"\"b\"\"\tc\",0.1,yes\n"
                             "plain,,\n");
    expect(TABLE_FORMAT_TSV, "name\ttime_seconds\thidden\n"
                             "a,\"b\" c\t0.1\tyes\n"
                             "plain\t\t\n");
}

static void test_json(void **state) {
    (void)state;
    char *text = written(TABLE_FORMAT_JSON);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "tcgemm.test/1");
    json_t *row = json_array_get(json_object_get(document, "rows"), 0);
    assert_true(json_real_value(json_object_get(row, "time_seconds")) == 0.1);
    assert_true(json_is_true(json_object_get(row, "hidden")));
    assert_null(json_object_get(row, "screen"));
    json_decref(document);
    free(text);
    text = written(TABLE_FORMAT_JSONL);
    assert_non_null(strstr(text, "{\"name\":\"plain\",\"time_seconds\":null,\"hidden\":null}\n"));
    free(text);
}

/* A table that is written as it grows: made room for, no width taken back, each row once. */
static void test_rows_as_they_come(void **state) {
    (void)state;
    table_t *table = table_new(columns, 4);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    table_set_width(table, "name", 6);
    for (int row = 0; row < 3; ++row) {
        table_text(table, row == 1 ? "long name" : "a");
        table_real(table, 0.5);
        table_empty(table);
        table_text(table, "x");
        if (row == 0)
            assert_true(table_write_heading(table, TABLE_FORMAT_TEXT, out));
        assert_true(table_write_rows(table, TABLE_FORMAT_TEXT, (size_t)row, out));
    }
    (void)fflush(out);
    assert_string_equal(text, "name      s  shown\n"
                              "a       0.5  x\n"
                              "long name  0.5  x\n"
                              "a          0.5  x\n");
    assert_true(table_write_rows(table, TABLE_FORMAT_CSV, 2, out));
    assert_true(table_write_rows(table, TABLE_FORMAT_JSON, 0, out));
    (void)fclose(out);
    assert_string_equal(strrchr(text, 'x'), "x\na,0.5,\n");
    free(text);
    table_free(table);
}

static void test_no_table(void **state) {
    (void)state;
    table_text(NULL, "nowhere"); /* what happens when table_new found no memory */
    assert_int_equal(table_num_rows(NULL), 0);
    assert_false(table_write(NULL, TABLE_FORMAT_TEXT, "", stderr));
    assert_false(table_write_rows(NULL, TABLE_FORMAT_TEXT, 0, stderr));
    assert_false(table_write_heading(NULL, TABLE_FORMAT_TEXT, stderr));
    table_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_screen),   cmocka_unit_test(test_separated),
        cmocka_unit_test(test_json),     cmocka_unit_test(test_rows_as_they_come),
        cmocka_unit_test(test_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
