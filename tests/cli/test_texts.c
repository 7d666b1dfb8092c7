/* Numbers as text, read from memory: every layout and separator against the same matrix, every
 * prefix and every changed byte of good texts without a fault. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files/text_matrix.h"

typedef bool parse_fn(const uint8_t *, size_t, const char *, text_matrix_t *, file_error_t *);

/* In memory of exactly its size, so that the address sanitizer sees a byte too far. */
static bool parse(parse_fn *parser, const char *text, size_t length, text_matrix_t *m,
                  file_error_t *err) {
    uint8_t *copy = malloc(length + !length);
    assert_non_null(copy);
    memcpy(copy, text, length);
    const bool good = parser(copy, length, "t", m, err);
    free(copy);
    return good;
}

static double at(const text_matrix_t *m, int64_t i, int64_t j) {
    return m->values[m->order == TCGEMM_COL_MAJOR ? i + j * m->rows : i * m->cols + j];
}

static void expect(parse_fn *parser, const char *text, int64_t rows, int64_t cols,
                   const double *expected) {
    text_matrix_t m;
    file_error_t err;
    if (!parse(parser, text, strlen(text), &m, &err))
        fail_msg("'%s': %s", text, err.message);
    assert_int_equal(m.rows, rows);
    assert_int_equal(m.cols, cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            if (at(&m, i, j) != expected[i * cols + j])
                fail_msg("'%s': [%d][%d] is %g", text, (int)i, (int)j, at(&m, i, j));
    free(m.values);
}

static void refuse(parse_fn *parser, const char *text, const char *reason) {
    text_matrix_t m;
    file_error_t err;
    if (parse(parser, text, strlen(text), &m, &err))
        fail_msg("'%s' is accepted", text);
    if (strstr(err.message, reason) == NULL)
        fail_msg("'%s': '%s' does not say '%s'", text, err.message, reason);
    assert_int_equal(err.exit_status, FILE_EXIT_BAD_FILE);
}

static void test_rows(void **state) {
    (void)state;
    static const double two[] = {1, -2.5, 3e4, 0};
    expect(rows_parse, "1,-2.5\n3e4,0\n", 2, 2, two);
    expect(rows_parse, "1;-2.5\n3e4;0", 2, 2, two);
    expect(rows_parse, "# x\n\n 1\t -2.5 # y\r\n3e4 0\n\n", 2, 2, two);
    expect(rows_parse,
           "\xEF\xBB\xBF"
           "1 , -2.5\n30000, 0.0",
           2, 2, two);
    expect(rows_parse, "1\n-2.5\n3e4\n0\n", 4, 1, two);
    refuse(rows_parse, "1,5;2,5\n", "line 1 separates numbers by ';'");
    refuse(rows_parse, "1 2\n3;4\n", "line 2 separates numbers by ';'");
    refuse(rows_parse, "1,2\n3\n", "line 2 has 1 numbers, the first row 2");
    refuse(rows_parse, "1,2,\n", "line 1 has an empty field");
    refuse(rows_parse, "1,two\n", "line 1 holds 'two', which is no number");
    refuse(rows_parse, "1\r2", "carriage return");
    refuse(rows_parse, "", "there are no numbers");
}

#define HEAD "%%MatrixMarket matrix array "

static void test_mtx(void **state) {
    (void)state;
    static const double general[] = {1, 3, 5, 2, 4, 6};
    static const double symmetric[] = {1, 2, 3, 2, 4, 5, 3, 5, 6};
    static const double skew[] = {0, -2, -3, 2, 0, -5, 3, 5, 0};
    expect(mtx_parse, HEAD "real general\n% c\n2 3\n1\n2\n3\n4\n5\n6\n", 2, 3, general);
    expect(mtx_parse, HEAD "integer symmetric\n3 3\n1 2 3 4 5 6", 3, 3, symmetric);
    expect(mtx_parse, HEAD "real skew-symmetric\n3 3\n2\n3\n5\n", 3, 3, skew);
    expect(mtx_parse, HEAD "real general\n0 9000000000000\n", 0, 9000000000000, general);
    refuse(mtx_parse, "%%MatrixMarket matrix coordinate real general\n1 1 1\n", "a sparse matrix");
    refuse(mtx_parse, HEAD "complex general\n1 1\n1 0\n", "'complex'");
    refuse(mtx_parse, HEAD "real general\n2 2\n1\n2\n3\n", "ends before element [1][1]");
    refuse(mtx_parse, HEAD "real general\n1 1\n1\n2\n", "line 4 holds more than");
    refuse(mtx_parse, HEAD "real symmetric\n2 3\n1\n", "a symmetric matrix of 2 x 3");
    refuse(mtx_parse, HEAD "real general\n4611686018427387904 3\n1\n", "than the file can hold");
    refuse(mtx_parse, HEAD "integer general\n1 1\n9007199254740993\n", "no type of ours holds");
    refuse(mtx_parse, HEAD "integer general\n1 1\n1.5\n", "no whole number");
}

/* Ends anywhere, and bytes of all kinds in each place: a matrix or a sentence. */
static void test_damages(void **state) {
    (void)state;
    static const char *const texts[] = {"1,-2.5\r\n3e4,nan # c\n",
                                        HEAD "real symmetric\n%\n2 2\n1\n2\n3\n"};
    static const char others[] = "\0\n\r,; #%-9e\xFF";
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i <= strlen(texts[t]); i++)
            for (size_t o = 0; o < sizeof others; o++) {
                char text[128];
                text_matrix_t m;
                file_error_t err;
                const size_t length = o == 0 ? i : strlen(texts[t]);
                memcpy(text, texts[t], strlen(texts[t]) + 1);
                text[i] = o == 0 ? text[i] : others[o - 1];
                if (parse(t ? mtx_parse : rows_parse, text, length, &m, &err))
                    free(m.values);
                else
                    assert_memory_equal(err.message, "t: ", 3);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_mtx),
        cmocka_unit_test(test_damages),
    };
    return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
