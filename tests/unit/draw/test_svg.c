/* The vocabulary of the drawings: text that fits, paragraphs, and text in a caller's buffer. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "draw/page.h"
#include "draw/svg.h"

static char *sentence(double room, const char *text) {
    char *const written = malloc(4096);
    assert_non_null(written);
    tcgemm_text_t out;
    tcgemm_text_begin(&out, written, 4096);
    const tcgemm_svg_t svg = {.out = &out, .width = 900, .height = 500};
    tcgemm_svg_text(&svg, SVG_LABEL, SVG_START, 10, 20, room, "%s", text);
    assert_true(tcgemm_text_end(&out) < 4096);
    return written;
}

static void text_is_made_to_fit(void **state) {
    (void)state;
    char *whole = sentence(400, "a < b & \"c\"");
    assert_string_equal(
        whole, "<text class=\"l\" x=\"10.0\" y=\"20.0\">a &lt; b &amp; &quot;c&quot;</text>\n");
    char *smaller = sentence(0.8 * tcgemm_svg_text_width("twelve words", 14), "twelve words");
    assert_non_null(strstr(smaller, "font-size:11.2"));
    assert_non_null(strstr(smaller, ">twelve words<"));
    char *cut = sentence(40, "8192 \u00d7 8192 \u00d7 8192");
    assert_non_null(strstr(cut, "font-size:9.00"));
    assert_non_null(strstr(cut, "...</text>"));
    char *tiny = sentence(1, "1234");
    assert_non_null(strstr(tiny, "...</text>"));
    free(whole);
    free(smaller);
    free(cut);
    free(tiny);
}

static void paragraphs_break_between_words(void **state) {
    (void)state;
    static char written[4096];
    tcgemm_text_t out;
    tcgemm_text_begin(&out, written, sizeof written);
    const tcgemm_svg_t svg = {.out = &out, .width = 900, .height = 500};
    const double end =
        tcgemm_svg_paragraph(&svg, SVG_NOTE, 0, 100, tcgemm_svg_text_width("12 345 tiles", 12.5),
                             "%d tiles %s", 7, "12 345 of them");
    assert_true(tcgemm_text_end(&out) < sizeof written);
    assert_non_null(strstr(written, ">7 tiles<"));
    assert_non_null(strstr(written, ">12 345 of<"));
    assert_non_null(strstr(written, ">them<"));
    assert_true(fabs(end - 100 - 3 * 1.42 * 12.5) < 1e-9);
}

/* As snprintf: cut, ended, and counted in full, for every size of the buffer. */
static void text_is_cut_to_its_buffer(void **state) {
    (void)state;
    static const char *const whole = "12|ab|c|3.50";
    for (size_t size = 0; size <= strlen(whole) + 2; ++size) {
        char buffer[32];
        tcgemm_text_t text;
        memset(buffer, '#', sizeof buffer);
        tcgemm_text_begin(&text, buffer, size);
        tcgemm_text_add(&text, "%d|", 12);
        tcgemm_text_put(&text, "ab|");
        tcgemm_text_char(&text, 'c');
        tcgemm_text_add(&text, "|%.2f", 3.5);
        assert_int_equal(tcgemm_text_end(&text), strlen(whole));
        const size_t kept = size == 0 ? 0 : size - 1 < strlen(whole) ? size - 1 : strlen(whole);
        assert_memory_equal(buffer, whole, kept);
        assert_int_equal(buffer[kept], size > 0 ? '\0' : '#');
        assert_int_equal(buffer[size], '#');
    }
}

/* No name can end the element of a page that the JSON stands in, or break the JSON. */
static void json_escapes_names(void **state) {
    (void)state;
    static char json[8192];
    tcgemm_text_t text;
    tcgemm_analysis_t analysis = {.type = tcgemm_type_info(TCGEMM_F32_F32),
                                  .machine = {.name = "</script> \"x\" \\ \n"},
                                  .info = {.kernel = "k", .algo = "a", .reason = "r"}};
    analysis.problem = tcgemm_problem(TCGEMM_F32_F32, 1, 2, 3);
    tcgemm_text_begin(&text, json, sizeof json);
    tcgemm_page_json(&analysis, &text);
    assert_true(tcgemm_text_end(&text) < sizeof json);
    assert_null(strchr(json, '<'));
    assert_non_null(strstr(json, "\"\\u003c/script> \\\"x\\\" \\\\ \\u000a\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_made_to_fit),
        cmocka_unit_test(paragraphs_break_between_words),
        cmocka_unit_test(text_is_cut_to_its_buffer),
        cmocka_unit_test(json_escapes_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
