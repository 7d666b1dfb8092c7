/* The word that may have been meant: distances by hand, and what is too far off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/suggest.h"

static void distances(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {
        {"", "", 0},
        {"run", "", 3},
        {"run", "run", 0},
        {"run", "RUN", 0},
        {"runn", "run", 1},
        {"rn", "run", 1},
        {"rnu", "run", 1},
        {"bnech", "bench", 1},
        {"kitten", "sitting", 3},
        {"verfiy", "verify", 1},
        {"bf16_f23", "bf16_f32", 1},
        {"abcd", "dcba", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (suggest_distance(cases[i].a, cases[i].b) != cases[i].distance ||
            suggest_distance(cases[i].b, cases[i].a) != cases[i].distance)
            fail_msg("%s, %s: %zu, expected %zu", cases[i].a, cases[i].b,
                     suggest_distance(cases[i].a, cases[i].b), cases[i].distance);
    }
    char long_a[200];
    memset(long_a, 'a', sizeof long_a - 1);
    long_a[sizeof long_a - 1] = '\0';
    assert_int_equal(suggest_distance(long_a, ""), 63); /* cut, never overrun */
}

static const char *meant(const char *word) {
    static const char *const words[] = {"run",     "verify", "bench", "plot",
                                        "explain", "info",   "list"};
    suggestion_t s = suggest(word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        suggest_consider(&s, words[i]);
    return suggest_best(&s);
}

static void near_and_far(void **state) {
    (void)state;
    assert_string_equal(meant("bnch"), "bench");
    assert_string_equal(meant("EXPLIAN"), "explain");
    assert_string_equal(meant("exlpian"), "explain"); /* two of seven letters */
    assert_null(meant("frobnicate"));
    assert_null(meant("xyz"));
    assert_null(meant("lost!")); /* list is two away, which is half of it */
    const suggestion_t none = suggest("run");
    assert_null(suggest_best(&none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(near_and_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
