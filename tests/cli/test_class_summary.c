/* What made-up rows say of a class: means, worst points, fractions, and the verdict at the
 * boundary. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/class_summary.h"

static const char heading[] =
    "class,type,ops,m,n,k,batch,threads,gflops,peer,peer_is_best,ratio_median,roof,"
    "roof_fraction,commit,cpu,device\n";

static const class_key_t key = {"abc", "a cpu", "cpu"};

static class_summary_t summarize(const suite_class_t *class, const char *rows, csv_t *csv) {
    char text[4096];
    char why[CSV_ERROR_SIZE];
    (void)snprintf(text, sizeof text, "%s%s", heading, rows);
    assert_true(csv_parse(text, strlen(text), csv, why));
    return class_summarize(class, csv, &key);
}

static void near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", got, expected);
}

/* Rows that do not count have ratios that would be seen. */
static const char several[] = "x,f32_f32,NN,1,2,3,1,4,10,one,yes,2,peak,0.5,abc,a cpu,cpu\n"
                              "x,f32_f32,NN,1,2,3,1,4,10,two,no,100,peak,0.5,abc,a cpu,cpu\n"
                              "x,bf16_f32,TN,4,5,6,7,2,20,two,yes,0.25,memory,0.75,abc,a cpu,cpu\n"
                              "x,f32_f32,NN,8,8,8,1,1,30,none,,,peak,0.25,abc,a cpu,cpu\n"
                              "y,f32_f32,NN,9,9,9,1,1,5,one,yes,0.01,peak,0.9,abc,a cpu,cpu\n"
                              "x,f32_f32,NN,9,9,9,1,1,5,one,yes,0.01,peak,0.9,old,a cpu,cpu\n"
                              "x,f32_f32,NN,9,9,9,1,1,5,one,yes,0.01,peak,0.9,abc,another,cpu\n"
                              "x,f32_f32,NN,9,9,9,1,1,5,one,yes,0.01,peak,0.9,abc,a cpu,NVIDIA\n";

static void the_figures(void **state) {
    (void)state;
    const suite_class_t class = {.name = "x"};
    csv_t csv;
    const class_summary_t s = summarize(&class, several, &csv);
    assert_int_equal(s.problems, 3);
    assert_int_equal(s.compared, 2);
    near(s.geomean, sqrt(2 * 0.25));
    near(s.worst, 0.25);
    assert_string_equal(s.worst_point, "bf16_f32 TN 4x5x6 *7 on 2");
    assert_string_equal(s.worst_peer, "two");
    near(s.roof, 0.5);
    assert_string_equal(s.roof_is, "both");
    assert_int_equal(s.verdict, CLASS_OPEN);
    csv_free(&csv);
}

static class_verdict_t verdict(double geomean, double worst, double roof, const char *rows) {
    const suite_class_t class = {.name = "x", .geomean = geomean, .worst = worst, .roof = roof};
    csv_t csv;
    const class_summary_t s = summarize(&class, rows, &csv);
    csv_free(&csv);
    return s.verdict;
}

/* A goal that is just reached is met, one missed by a millionth is missed, each by itself. */
static void at_the_boundary(void **state) {
    (void)state;
    static const char equal[] = "x,f32_f32,NN,1,1,1,1,1,1,p,yes,1.03,peak,0.97,abc,a cpu,cpu\n"
                                "x,f32_f32,NN,2,2,2,1,1,1,p,yes,1.03,peak,0.97,abc,a cpu,cpu\n"
                                "x,f32_f32,NN,3,3,3,1,1,1,p,yes,1.03,peak,0.97,abc,a cpu,cpu\n";
    static const char mixed[] = "x,f32_f32,NN,1,1,1,1,1,1,p,yes,0.97,peak,0.9,abc,a cpu,cpu\n"
                                "x,f32_f32,NN,2,2,2,1,1,1,p,yes,1.5,peak,0.96,abc,a cpu,cpu\n";
    assert_int_equal(verdict(1.03, 1.03, 0.97, equal), CLASS_MET);
    assert_int_equal(verdict(1.030001, 0, 0, equal), CLASS_MISSED);
    assert_int_equal(verdict(0, 1.030001, 0, equal), CLASS_MISSED);
    assert_int_equal(verdict(0, 0, 0.970001, equal), CLASS_MISSED);
    assert_int_equal(verdict(0, 0, 0.97, equal), CLASS_MET);
    assert_int_equal(verdict(1.2, 0.97, 0.93, mixed), CLASS_MET);
    assert_int_equal(verdict(1.2, 0.9700001, 0, mixed), CLASS_MISSED);
    assert_int_equal(verdict(1.207, 0.97, 0, mixed), CLASS_MISSED); /* of 1.2062... */
}

static void without_a_peer(void **state) {
    (void)state;
    static const char alone[] = "x,f32_f32,NN,1,1,1,1,1,1,,,,peak,0.9,abc,a cpu,cpu\n";
    assert_int_equal(verdict(1, 0, 0, alone), CLASS_UNKNOWN);
    assert_int_equal(verdict(0, 1, 0, alone), CLASS_UNKNOWN);
    assert_int_equal(verdict(0, 0, 0.9, alone), CLASS_MET);
    assert_int_equal(verdict(0, 0, 0, alone), CLASS_OPEN);
    assert_int_equal(verdict(1, 0, 0, ""), CLASS_UNKNOWN);
}

/* The ratio to our own speed in another class, type by type; no peer is asked. */
static void of_another_class(void **state) {
    (void)state;
    static const char rows[] = "own,f32_f32,NN,1,1,1,1,1,100,,,,peak,0.9,abc,a cpu,cpu\n"
                               "own,f32_f32,NN,2,2,2,1,1,300,,,,peak,0.9,abc,a cpu,cpu\n"
                               "own,s8_s32,NN,2,2,2,1,1,1000,,,,peak,0.9,abc,a cpu,cpu\n"
                               "x,f32_f32,NN,3,3,3,1,1,100,p,yes,9,peak,0.9,abc,a cpu,cpu\n"
                               "x,s8_s32,NN,4,4,4,1,1,2000,p,yes,9,peak,0.9,abc,a cpu,cpu\n"
                               "x,f64_f64,NN,5,5,5,1,1,50,p,yes,9,peak,0.9,abc,a cpu,cpu\n";
    const suite_class_t class = {.name = "x", .of = "own", .geomean = 1, .worst = 0.6};
    csv_t csv;
    const class_summary_t s = summarize(&class, rows, &csv);
    assert_int_equal(s.problems, 3);
    assert_int_equal(s.compared, 2);
    near(s.geomean, 1);
    near(s.worst, 0.5);
    near(s.missed_by, 0.5 / 0.6);
    assert_int_equal(s.verdict, CLASS_MISSED);
    assert_string_equal(s.worst_point, "f32_f32 NN 3x3x3 on 1");
    csv_free(&csv);
}

/* What the table of classes says of class x, when so many of its problems were to be measured. */
static void expect_verdict(int num_items, const char *verdict) {
    suite_class_t classes[2] = {{.name = "none", .geomean = 1}, {.name = "x", .geomean = 0.5}};
    bench_item_t items[3] = {{.class_name = "x"}, {.class_name = "x"}, {.class_name = "x"}};
    const suite_t suite = {.classes = classes, .num_classes = 2};
    const bench_items_t wanted = {items, (size_t)num_items};
    char text[512];
    char why[CSV_ERROR_SIZE];
    csv_t csv;
    (void)snprintf(text, sizeof text,
                   "%sx,f32_f32,NN,1,1,1,1,1,1,p,yes,0.6,peak,0.9,abc,a cpu,cpu\n"
                   "x,f32_f32,NN,2,2,2,1,1,1,p,yes,0.6,peak,0.9,abc,a cpu,cpu\n",
                   heading);
    assert_true(csv_parse(text, strlen(text), &csv, why));
    table_t *table = class_table(&suite, &wanted, &csv, &key);
    json_t *rows = table_rows(table);
    assert_int_equal(json_array_size(rows), 1); /* none of the other class */
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "verdict")),
                        verdict);
    json_decref(rows);
    table_free(table);
    csv_free(&csv);
}

static void of_what_is_missing_there_is_no_verdict(void **state) {
    (void)state;
    expect_verdict(2, "met");
    expect_verdict(0, "met"); /* a file of another run */
    expect_verdict(3, "unfinished");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figures),
        cmocka_unit_test(at_the_boundary),
        cmocka_unit_test(without_a_peer),
        cmocka_unit_test(of_another_class),
        cmocka_unit_test(of_what_is_missing_there_is_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
