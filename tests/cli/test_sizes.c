/* The grammar of sizes: what it takes, what it refuses, and that it never runs away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sizes.h"

static char why[SIZES_ERROR_SIZE];

static void expect_list(const char *text, size_t count, const int64_t *values) {
    size_list_t list;
    assert_true(sizes_parse_list(text, strlen(text), &list, why));
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; ++i)
        assert_int_equal(list.values[i], values[i]);
    sizes_free_list(&list);
}

static void refuse_list(const char *text, const char *clause) {
    size_list_t list;
    assert_false(sizes_parse_list(text, strlen(text), &list, why));
    assert_null(list.values);
    assert_int_equal(list.count, 0);
    assert_non_null(strstr(why, clause));
}

static void test_lists(void **state) {
    (void)state;
    expect_list("0", 1, (const int64_t[]){0});
    expect_list("9223372036854775807", 1, (const int64_t[]){INT64_MAX});
    expect_list("3,1,2", 3, (const int64_t[]){3, 1, 2});
    expect_list("128:512:128", 4, (const int64_t[]){128, 256, 384, 512});
    expect_list("128:500:*2", 2, (const int64_t[]){128, 256});
    expect_list("7,1:3:1,9", 5, (const int64_t[]){7, 1, 2, 3, 9});
    expect_list("5:5:1", 1, (const int64_t[]){5});
    expect_list("0:4:2", 3, (const int64_t[]){0, 2, 4});
    expect_list("9223372036854775806:9223372036854775807:5", 1, (const int64_t[]){INT64_MAX - 1});
    expect_list("4611686018427387904:9223372036854775807:*4", 1,
                (const int64_t[]){INT64_C(1) << 62});
}

static void test_refused_lists(void **state) {
    (void)state;
    refuse_list("", "is not a size");
    refuse_list(",", "is not a size");
    refuse_list("1,", "is not a size");
    refuse_list("-1", "is not a size");
    refuse_list("1 ", "is not a size");
    refuse_list("0x10", "is not a size");
    refuse_list("9223372036854775808", "2^63-1");
    refuse_list("1:2", "lacks its step");
    refuse_list("1:8:0", "never ends");
    refuse_list("1:8:*1", "never ends");
    refuse_list("1:8:*1.5", "has a step that is no whole number");
    refuse_list("1:8:0x", "has a step that is no whole number");
    refuse_list("0:8:*2", "never ends");
    refuse_list("8:1:1", "ends before it starts");
    refuse_list("1:9223372036854775807:1", "more than 10000");
    refuse_list("1\n", "is not a size");
}

static void test_no_nul_is_needed(void **state) {
    (void)state;
    size_list_t list;
    assert_true(sizes_parse_list("12345", 3, &list, why));
    assert_int_equal(list.values[0], 123);
    sizes_free_list(&list);
    assert_false(sizes_parse_list("1\0002", 3, &list, why));
    assert_false(sizes_parse_list("", 0, &list, why));
}

static void expect_shapes(const char *text, size_t count, const size_shape_t *values) {
    size_shapes_t shapes;
    assert_true(sizes_parse_shapes(text, strlen(text), &shapes, why));
    assert_int_equal(shapes.count, count);
    for (size_t i = 0; i < count; ++i) {
        assert_int_equal(shapes.values[i].m, values[i].m);
        assert_int_equal(shapes.values[i].n, values[i].n);
        assert_int_equal(shapes.values[i].k, values[i].k);
    }
    sizes_free_shapes(&shapes);
}

static void refuse_shapes(const char *text) {
    size_shapes_t shapes;
    assert_false(sizes_parse_shapes(text, strlen(text), &shapes, why));
    assert_null(shapes.values);
}

static void test_shapes(void **state) {
    (void)state;
    expect_shapes("3x4x5", 1, (const size_shape_t[]){{.m = 3, .n = 4, .k = 5}});
    expect_shapes("64,3x0x5", 2,
                  (const size_shape_t[]){{.m = 64, .n = 64, .k = 64}, {.m = 3, .n = 0, .k = 5}});
    expect_shapes("2:4:*2", 2,
                  (const size_shape_t[]){{.m = 2, .n = 2, .k = 2}, {.m = 4, .n = 4, .k = 4}});
    refuse_shapes("");
    refuse_shapes("3x4");
    refuse_shapes("3x4x");
    refuse_shapes("3x4x5x6");
    refuse_shapes("3X4X5");
    refuse_shapes("NT,3,4,5");
}

static void test_files(void **state) {
    (void)state;
    static const char text[] = "# all of it\n"
                               "NT,3,4,5\r\n"
                               "\n"
                               "  7x8x9  # a remark\n"
                               "TT,1x2x3\n"
                               "10,11,12";
    size_shapes_t shapes;
    assert_true(sizes_parse_file(text, sizeof text - 1, &shapes, why));
    assert_int_equal(shapes.count, 4);
    assert_true(shapes.values[0].has_ops);
    assert_false(shapes.values[0].trans_a);
    assert_true(shapes.values[0].trans_b);
    assert_false(shapes.values[1].has_ops);
    assert_int_equal(shapes.values[1].k, 9);
    assert_true(shapes.values[2].trans_a);
    assert_int_equal(shapes.values[3].n, 11);
    sizes_free_shapes(&shapes);
    assert_true(sizes_parse_file("", 0, &shapes, why));
    assert_int_equal(shapes.count, 0);
}

static void refuse_file(const char *text, const char *clause) {
    size_shapes_t shapes;
    assert_false(sizes_parse_file(text, strlen(text), &shapes, why));
    assert_null(shapes.values);
    assert_non_null(strstr(why, clause));
}

static void test_refused_files(void **state) {
    (void)state;
    refuse_file("1,2,3\n4,5\n", "line 2");
    refuse_file("NX,1,2,3", "line 1");
    refuse_file("1,2,3,4", "more than");
    refuse_file("1,2,3 4", "more than");
    refuse_file("\n\n99999999999999999999,1,1\n", "line 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refused_lists),
        cmocka_unit_test(test_no_nul_is_needed),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
