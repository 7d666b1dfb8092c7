/* Suites: what a text means, and each fault by its line. The suites that the tool brings along are
 * read, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/suite.h"

static const char good[] = "# a comment\n"
                           "device cpu\n"
                           "seconds 0.25   # for each\n"
                           "samples 7\n"
                           "class one geomean=1.05 worst=0.9 roof=0.5\n"
                           "  f32_f32,s8_s32 NN,TT 8:32:*2,5x6x7 threads=1,2 pad=3\r\n"
                           "\n"
                           "class two of=one geomean=2\n"
                           "\tbf16_f32 TN 1x2x3 batch=9 beta=2 cold=yes fast=yes\n"
                           "  bf16_f32 NT 4";

static void what_a_text_means(void **state) {
    (void)state;
    suite_t suite;
    char why[SUITE_ERROR_SIZE] = "";
    if (!suite_parse(good, strlen(good), &suite, why))
        fail_msg("%s", why);
    assert_false(suite.on_gpu);
    assert_true(suite.seconds == 0.25 && suite.samples == 7);
    assert_int_equal(suite.num_classes, 2);
    const suite_class_t *one = suite_class(&suite, "one");
    const suite_class_t *two = suite_class(&suite, "two");
    assert_true(one->geomean == 1.05 && one->worst == 0.9 && one->roof == 0.5 && !one->of[0]);
    assert_true(two->geomean == 2 && two->worst == 0 && two->roof == 0);
    assert_string_equal(two->of, "one");
    assert_null(suite_class(&suite, "three"));
    assert_int_equal(suite.items.count, 2 * 2 * 2 * 4 + 2);
    int64_t sums[2] = {0, 0}; /* every combination once: of types and transposes, of threads */
    for (size_t i = 0; i < 32; ++i) {
        const bench_item_t *item = &suite.items.values[i];
        assert_ptr_equal(item->class_name, one->name);
        assert_true(item->pad == 3 && item->batch == 1 && !item->cold && !item->fast_accumulate &&
                    item->shape.has_ops);
        assert_int_equal(item->shape.trans_a, item->shape.trans_b);
        sums[0] += (item->type == TCGEMM_S8_S32) + 100 * item->shape.trans_a;
        sums[1] +=
            item->threads + 100 * (item->shape.m == 5 && item->shape.n == 6 && item->shape.k == 7);
    }
    assert_int_equal(sums[0], 16 + 1600);
    assert_int_equal(sums[1], 48 + 800);
    const bench_item_t *last = &suite.items.values[33];
    const bench_item_t *cold = &suite.items.values[32];
    assert_true(cold->fast_accumulate && !last->fast_accumulate);
    assert_true(cold->beta == 2 && last->beta == 0);
    assert_true(cold->cold && cold->batch == 9 && cold->shape.trans_a && !cold->shape.trans_b);
    assert_true(last->threads == 0 && last->shape.m == 4 && last->shape.trans_b &&
                !last->shape.trans_a);
    suite_free(&suite);
}

static void each_fault_by_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } faults[] = {
        {"", "line 0: 'class' is missing"},
        {"\ndevice tpu\n", "line 2: 'tpu' is not cpu or gpu"},
        {"seconds 0\n", "line 1: '0' is no number above 0"},
        {"seconds 1 2\n", "line 1: 'seconds' takes one word"},
        {"samples 1.5\n", "line 1: '1.5' is no such number"},
        {"class\n", "line 1: 'class' lacks its name"},
        {"class a,b\n", "line 1: 'a,b' is no name"},
        {"class a goal=1\n", "line 1: 'goal=1' is not geomean="},
        {"class a worst=-1\n", "line 1: '-1' is no number"},
        {"class a geomean=nan\n", "line 1: 'nan' is no number"},
        {"class a of=b\n f32_f32 NN 8\n", "line 1: 'b' is no class above"},
        {"class a\n f32_f32 NN 8\nclass a\n", "line 3: 'a' is there twice"},
        {"class a\n", "line 1: 'a' has no problems"},
        {"f32_f32 NN 8\n", "line 1: 'f32_f32' belongs to no class"},
        {"class a\n f32_f32 NN\n", "line 2: 'f32_f32' is not followed"},
        {"class a\n f33_f32 NN 8\n", "line 2: 'f33_f32' is no type"},
        {"class a\n f32_f32 NX 8\n", "line 2: 'NX' is not NN"},
        {"class a\n f32_f32 NN 8x9\n", "line 2: '8x9' is not MxNxK"},
        {"class a\n\n f32_f32 NN 8 batch=0\n", "line 3: '0' is no such number"},
        {"class a\n f32_f32 NN 8 pad=x\n", "line 2: 'x' is no such number"},
        {"class a\n f32_f32 NN 8 cold=maybe\n", "line 2: 'maybe' is not yes or no"},
        {"class a\n e4m3_f32 NN 8 fast=1\n", "line 2: '1' is not yes or no"},
        {"class a\n f32_f32 NN 8 threads=0\n", "line 2: '0' is no list"},
        {"class a\n f32_f32 NN 8 threads=1,x\n", "line 2: 'x' is not a size"},
        {"class a\n f32_f32 NN 8 warm=yes\n", "line 2: 'warm=yes' is not batch="},
        {"device gpu\nclass a\n f32_f32 NN 8 threads=1\n",
         "line 3: 'threads=1' says nothing on a GPU"},
        {"class a\n f32_f32 NN 8\nseconds 1\n", "line 3: 'seconds' stands behind a class"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        suite_t suite;
        char why[SUITE_ERROR_SIZE] = "";
        assert_false(suite_parse(faults[i].text, strlen(faults[i].text), &suite, why));
        if (strncmp(why, faults[i].why, strlen(faults[i].why)) != 0)
            fail_msg("'%s' instead of '%s'", why, faults[i].why);
    }
}

/* A text may end anywhere, and is not ended by a NUL. */
static void every_beginning(void **state) {
    (void)state;
    for (size_t length = 0; length < sizeof good; ++length) {
        suite_t suite;
        char why[SUITE_ERROR_SIZE] = "";
        char copy[sizeof good];
        memcpy(copy, good, length);
        memset(copy + length, '7', sizeof copy - length);
        if (suite_parse(copy, length, &suite, why))
            suite_free(&suite);
        else
            assert_true(strncmp(why, "line ", 5) == 0);
    }
}

static void those_of_the_tool(void **state) {
    (void)state;
    static const char *const names[] = {"h200", "cpu"};
    for (int i = 0; i < 2; ++i) {
        suite_t suite;
        char why[SUITE_ERROR_SIZE] = "";
        size_t length = 0;
        const char *text = suite_text(names[i], &length);
        assert_non_null(text);
        if (!suite_parse(text, length, &suite, why))
            fail_msg("%s: %s", names[i], why);
        assert_int_equal(suite.on_gpu, i == 0);
        for (size_t j = 0; j < suite.items.count; ++j)
            assert_true((suite.items.values[j].threads > 0) == (i == 1));
        suite_free(&suite);
    }
    size_t length;
    assert_null(suite_text("tpu", &length));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_text_means),
        cmocka_unit_test(each_fault_by_its_line),
        cmocka_unit_test(every_beginning),
        cmocka_unit_test(those_of_the_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
