/* The option table is consistent, and the parser fills the settings by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "options/options.h"
#include "support/exit_status.h"
#include "tcgemm/tcgemm.h"

static int parse(settings_t *settings, command_id_t command, char **words) {
    int count = 0;
    while (words[count])
        ++count;
    return options_parse(command, count, words, settings);
}

#define WORDS(...) ((char *[]){"tcgemm", __VA_ARGS__, NULL})

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < num_options; ++i) {
        const option_row_t *row = &option_table[i];
        assert_true(row->commands != 0);
        assert_non_null(row->help);
        assert_int_equal(row->argument != NULL,
                         row->kind != OPTION_FLAG && row->kind != OPTION_HELP);
        assert_int_equal(row->kind == OPTION_COUNT, row->high != 0);
        for (size_t j = 0; j < i; ++j) {
            /* A command has one option of a name, the same for all in what it does. */
            const bool same = strcmp(row->name, option_table[j].name) == 0;
            assert_false(same && row->commands & option_table[j].commands);
            assert_false(same && row->offset != option_table[j].offset);
            assert_true(same || row->key == 0 || row->key != option_table[j].key);
        }
    }
}

static void test_choice(void **state) {
    (void)state;
    char word[8];
    assert_true(options_choice("row|col", 0, word, sizeof word));
    assert_string_equal(word, "row");
    assert_true(options_choice("row|col", 1, word, sizeof word));
    assert_string_equal(word, "col");
    assert_false(options_choice("row|col", 2, word, sizeof word));
    assert_true(options_choice("jsonlines|x", 0, word, sizeof word));
    assert_string_equal(word, "jsonlin"); /* cut, never overrun */
}

static void test_run(void **state) {
    (void)state;
    settings_t s;
    char **words = WORDS("A.npy", "--alpha", "-2", "-m3", "--trans-b", "B.npy", "--order=col",
                         "--seed", "9223372036854775807", "--verify", "full", "--json", "-o", "D");
    assert_int_equal(parse(&s, COMMAND_RUN, words), -1);
    assert_int_equal(s.num_files, 2);
    assert_string_equal(s.files[1], "B.npy");
    assert_true(s.alpha == -2 && s.beta == 0);
    assert_string_equal(s.m, "3");
    assert_true(s.trans_b && !s.trans_a);
    assert_int_equal(s.order, TCGEMM_COL_MAJOR);
    assert_int_equal(s.seed, INT64_MAX);
    assert_int_equal(s.verify, VERIFY_FULL);
    assert_int_equal(s.format, TABLE_FORMAT_JSON);
    assert_string_equal(s.output, "D");
    assert_int_equal(s.print, PRINT_NOTHING);
}

static void test_operands_after_dashes(void **state) {
    (void)state;
    settings_t s;
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("--", "-m", "--json")), -1);
    assert_int_equal(s.num_files, 2);
    assert_string_equal(s.files[0], "-m");
}

static void test_refusals(void **state) {
    (void)state;
    settings_t s;
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("--alpha", "two")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("--alpha")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("--batch", "-1")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("--seed", "9223372036854775808")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("--order", "ro")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_RUN, WORDS("a", "b", "c")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_LIST, WORDS("--alpha", "1")), CLI_USAGE);
    assert_int_equal(parse(&s, COMMAND_LIST, WORDS("operand")), CLI_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_choice),
        cmocka_unit_test(test_run),      cmocka_unit_test(test_operands_after_dashes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
