/* Drawing and analyzing a plan through the public header: what options do, what is refused, and
 * that nothing of the caller's shows in it. */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tcgemm/inspect.h"

/* ---- a plan for a GPU that need not be here ---- */

typedef struct fixture {
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
} fixture_t;

static fixture_t fixture_of(const char *gpu, tcgemm_problem_t problem) {
    fixture_t f;
    tcgemm_context_options_t options = tcgemm_context_options();
    options.known_gpu = gpu;
    options.device = gpu ? TCGEMM_DEVICE_AUTO : TCGEMM_DEVICE_CPU;
    options.num_threads = 2;
    assert_int_equal(tcgemm_context_create(&options, &f.context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(f.context, &problem, NULL, &f.plan), TCGEMM_STATUS_OK);
    return f;
}

static int set_up(void **state) {
    static fixture_t f;
    f = fixture_of("h200", tcgemm_problem(TCGEMM_BF16_F32, 1000, 1500, 4000));
    *state = &f;
    return 0;
}

static void destroy(fixture_t *f) {
    tcgemm_plan_destroy(f->plan);
    tcgemm_context_destroy(f->context);
}

static int tear_down(void **state) {
    destroy(*state);
    return 0;
}

static char *drawn(const tcgemm_plan_t *plan, const tcgemm_draw_options_t *options) {
    const size_t length = tcgemm_plan_draw(plan, options, NULL, 0);
    assert_true(length > 0);
    char *const text = malloc(length + 1);
    assert_non_null(text);
    assert_int_equal(tcgemm_plan_draw(plan, options, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static tcgemm_draw_options_t svg_of(const char *picture) {
    tcgemm_draw_options_t options = tcgemm_draw_options(TCGEMM_FORMAT_SVG);
    options.picture = picture;
    return options;
}

/* ---- pictures and formats ---- */

static void pictures_have_names(void **state) {
    const fixture_t *f = *state;
    char *pictures[16] = {NULL};
    const int count = tcgemm_picture_count();
    assert_in_range(count, 6, 16);
    assert_null(tcgemm_picture_name(-1));
    assert_null(tcgemm_picture_name(count));
    assert_null(tcgemm_picture_caption(-1));
    assert_null(tcgemm_picture_caption(count));
    for (int i = 0; i < count; ++i) {
        const tcgemm_draw_options_t options = svg_of(tcgemm_picture_name(i));
        pictures[i] = drawn(f->plan, &options);
        assert_non_null(strstr(pictures[i], tcgemm_picture_caption(i)));
        for (int j = 0; j < i; ++j)
            assert_string_not_equal(pictures[i], pictures[j]);
    }
    char *const first = drawn(f->plan, NULL);
    assert_string_equal(first, pictures[0]);
    free(first);
    for (int i = 0; i < count; ++i)
        free(pictures[i]);
}

static void describe_draws_with_the_defaults(void **state) {
    const fixture_t *f = *state;
    static const tcgemm_format_t formats[] = {TCGEMM_FORMAT_SVG, TCGEMM_FORMAT_HTML,
                                              TCGEMM_FORMAT_HTML_PART};
    static const char *const starts[] = {"<svg ", "<!DOCTYPE html>", "<div>"};
    static const char *const ends[] = {"</svg>\n", "</html>\n", "</div>\n"};
    for (int i = 0; i < 3; ++i) {
        const tcgemm_draw_options_t options = tcgemm_draw_options(formats[i]);
        char *const text = drawn(f->plan, &options);
        const size_t length = strlen(text);
        char *const told = malloc(length + 1);
        assert_non_null(told);
        assert_int_equal(tcgemm_plan_describe(f->plan, formats[i], told, length + 1), length);
        assert_string_equal(told, text);
        assert_memory_equal(text, starts[i], strlen(starts[i]));
        assert_string_equal(text + length - strlen(ends[i]), ends[i]);
        free(told);
        free(text);
    }
    assert_int_equal(tcgemm_plan_describe(f->plan, (tcgemm_format_t)99, NULL, 0), 0);
}

static void a_drawing_is_cut_to_its_buffer(void **state) {
    const fixture_t *f = *state;
    char *const whole = drawn(f->plan, NULL);
    char buffer[101];
    for (size_t size = 1; size < sizeof buffer; ++size) {
        memset(buffer, '#', sizeof buffer);
        assert_int_equal(tcgemm_plan_draw(f->plan, NULL, buffer, size), strlen(whole));
        assert_memory_equal(buffer, whole, size - 1);
        assert_int_equal(buffer[size - 1], '\0');
        assert_int_equal(buffer[size], '#');
    }
    free(whole);
}

/* ---- options ---- */

static void schemes_have_their_colours(void **state) {
    const fixture_t *f = *state;
    static const char *const light = "fill:#fff}";
    static const char *const dark = "fill:#12161c}";
    static const char *const media = "@media(prefers-color-scheme:dark)";
    static const char *const classes[] = {"class=\"tcgemm\"", "class=\"tcgemm-light\"",
                                          "class=\"tcgemm-dark\""};
    for (int scheme = 0; scheme < 3; ++scheme) {
        tcgemm_draw_options_t options = svg_of("walk");
        options.scheme = (tcgemm_scheme_t)scheme;
        char *const svg = drawn(f->plan, &options);
        assert_non_null(strstr(svg, classes[scheme]));
        assert_non_null(strstr(svg, light));
        assert_int_equal(strstr(svg, media) != NULL, scheme == TCGEMM_SCHEME_AUTO);
        assert_int_equal(strstr(svg, dark) != NULL, scheme != TCGEMM_SCHEME_LIGHT);
        assert_null(strchr(strstr(svg, "</style>"), '@'));
        free(svg);
    }
}

static void a_width_scales_the_picture(void **state) {
    const fixture_t *f = *state;
    tcgemm_draw_options_t options = svg_of("roofline");
    char *const whole = drawn(f->plan, &options);
    options.width = 450;
    char *const half = drawn(f->plan, &options);
    assert_non_null(strstr(whole, "viewBox=\"0 0 900 540\" width=\"900\" height=\"540\""));
    assert_non_null(strstr(half, "viewBox=\"0 0 900 540\" width=\"450\" height=\"270\""));
    assert_string_equal(strstr(half, "<title"), strstr(whole, "<title"));
    free(half);
    free(whole);
}

/* The id that stands at `at`, of `count` in `ids`, is new and begins as asked. */
static void check_new_id(const char *at, char ids[][96], int count) {
    (void)snprintf(ids[count], 96, "%.*s", (int)strcspn(at, "\""), at);
    assert_memory_equal(ids[count], "cell_7-", 7);
    for (int i = 0; i < count; ++i)
        assert_string_not_equal(ids[i], ids[count]);
}

/* Ids, and what refers to them, begin with the caller's; none comes twice. */
static void ids_begin_as_asked(void **state) {
    const fixture_t *f = *state;
    char ids[64][96];
    int count = 0;
    tcgemm_draw_options_t options = tcgemm_draw_options(TCGEMM_FORMAT_HTML_PART);
    options.id = "cell_7";
    char *const part = drawn(f->plan, &options);
    for (const char *at = part; (at = strstr(at, " id=\"")) != NULL; ++count) {
        assert_true(count < 64);
        at += strlen(" id=\"");
        check_new_id(at, ids, count);
    }
    assert_int_equal(count, 3 * tcgemm_picture_count());
    const char *const hatch = strstr(part, "url(#");
    assert_non_null(hatch);
    assert_memory_equal(hatch, "url(#cell_7-", strlen("url(#cell_7-"));
    free(part);
}

static void refuse(const tcgemm_plan_t *plan, const tcgemm_draw_options_t *options,
                   const char *why) {
    char buffer[8] = "before";
    assert_int_equal(tcgemm_plan_draw(plan, options, buffer, sizeof buffer), 0);
    assert_string_equal(buffer, "");
    if (!strstr(tcgemm_last_error(), why))
        fail_msg("'%s' does not say '%s'", tcgemm_last_error(), why);
}

static void wrong_options_are_refused(void **state) {
    const fixture_t *f = *state;
    tcgemm_draw_options_t o = svg_of(NULL);
    tcgemm_analysis_options_t given = tcgemm_analysis_options();
    refuse(NULL, NULL, "plan is NULL");
    refuse(NULL, &o, "plan is NULL");
    o.picture = "nonsense";
    refuse(f->plan, &o, "nonsense");
    o = tcgemm_draw_options(TCGEMM_FORMAT_TEXT);
    refuse(f->plan, &o, "format is 0");
    o = tcgemm_draw_options((tcgemm_format_t)5);
    refuse(f->plan, &o, "format is 5");
    o = svg_of(NULL);
    o.scheme = (tcgemm_scheme_t)3;
    refuse(f->plan, &o, "scheme is 3");
    o = svg_of(NULL);
    o.width = 99;
    refuse(f->plan, &o, "width is 99");
    o.width = 10001;
    refuse(f->plan, &o, "width is 10001");
    o = svg_of(NULL);
    o.struct_size = 1;
    refuse(f->plan, &o, "struct_size");
    o = svg_of(NULL);
    o.id = "x\"><script>";
    refuse(f->plan, &o, "id may hold");
    o.id = "0123456789012345678901234567890123456789012345678901234567890123";
    refuse(f->plan, &o, "more than 62");
    o = svg_of(NULL);
    o.analysis = &given;
    given.bandwidth = -1;
    refuse(f->plan, &o, "bandwidth");
    given.bandwidth = NAN;
    refuse(f->plan, &o, "bandwidth");
    given = tcgemm_analysis_options();
    given.beta = INFINITY;
    refuse(f->plan, &o, "not finite");
    given.beta = 0;
    given.struct_size = 0;
    refuse(f->plan, &o, "struct_size");
}

/* ---- the analysis ---- */

static tcgemm_analysis_t analyzed(const tcgemm_plan_t *plan, const tcgemm_analysis_options_t *o) {
    tcgemm_analysis_t a = {.struct_size = sizeof a};
    assert_int_equal(tcgemm_plan_analyze(plan, o, &a), TCGEMM_STATUS_OK);
    return a;
}

static void a_gpu_is_analyzed_by_its_data_sheet(void **state) {
    const fixture_t *f = *state;
    const double m = 1000;
    const double n = 1500;
    const double k = 4000;
    tcgemm_analysis_options_t given = tcgemm_analysis_options();
    given.measured_peak = 1; /* of the CPU: nothing to a GPU */
    given.beta = 2;
    const tcgemm_analysis_t a = analyzed(f->plan, &given);
    assert_true(a.machine.is_gpu && !a.machine.is_here && !a.machine.peak_is_measured);
    assert_true(a.flop == 2 * m * n * k);
    assert_true(a.eops == m * k + (2 * k - 1) * m * n + 2 * m * n);
    assert_true(a.bytes == 2 * (m * k + k * n) + 2 * 4 * m * n);
    assert_true(a.multiply_floor == a.flop / a.machine.peak);
    assert_true(a.memory_floor == a.bytes / a.machine.bandwidth);
    assert_int_equal(a.is_memory_bound, a.intensity < a.balance);
    assert_true(fabs(2 * a.machine.num_units * a.machine.macs_per_clock * a.machine.clock_hz /
                         a.machine.peak -
                     1) < 1e-9);
    assert_string_equal(a.estimates[0].kernel, a.info.kernel);
    given.beta = 0;
    assert_true(a.bytes - analyzed(f->plan, &given).bytes == 4 * m * n);
}

static void a_cpu_is_as_fast_as_the_caller_says(void **state) {
    (void)state;
    fixture_t f = fixture_of(NULL, tcgemm_problem(TCGEMM_F64_F64, 300, 200, 100));
    tcgemm_analysis_options_t given = tcgemm_analysis_options();
    tcgemm_analysis_t a = analyzed(f.plan, NULL);
    assert_true(a.machine.peak == 0 && a.machine.bandwidth == 0 && !a.machine.peak_is_measured);
    assert_true(a.machine.is_here && a.machine.num_units == a.info.num_threads);
    assert_true(a.multiply_floor == 0 && a.memory_floor == 0 && a.balance == 0);
    given.measured_peak = 3e9;
    given.bandwidth = 6e9;
    a = analyzed(f.plan, &given);
    assert_true(a.machine.peak == 3e9 && a.machine.peak_is_measured && a.balance == 0.5);
    given.theoretical_peak = 8e9;
    given.clock_hz = 1e9;
    a = analyzed(f.plan, &given);
    assert_true(a.machine.peak == 8e9 && !a.machine.peak_is_measured);
    assert_true(a.machine.macs_per_clock * a.info.num_threads == 4);
    destroy(&f);
}

/* A clock that nobody gave is not shown as 0. */
static void a_peak_needs_no_clock(void **state) {
    (void)state;
    fixture_t f = fixture_of(NULL, tcgemm_problem(TCGEMM_F32_F32, 300, 200, 100));
    tcgemm_analysis_options_t given = tcgemm_analysis_options();
    given.theoretical_peak = 8e9;
    given.bandwidth = 2e9;
    tcgemm_draw_options_t options = tcgemm_draw_options(TCGEMM_FORMAT_HTML);
    options.analysis = &given;
    char *const page = drawn(f.plan, &options);
    assert_non_null(strstr(page, "8.00 GFLOP/s"));
    assert_null(strstr(page, " 0 multiply-adds"));
    assert_null(strstr(page, "&times; 0"));
    assert_null(strstr(page, " 0 GHz"));
    free(page);
    destroy(&f);
}

static void the_analysis_checks_its_arguments(void **state) {
    const fixture_t *f = *state;
    tcgemm_analysis_t a = {.struct_size = sizeof a};
    tcgemm_problem_t problem = {.struct_size = sizeof problem};
    assert_int_equal(tcgemm_plan_analyze(NULL, NULL, &a), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_analyze(f->plan, NULL, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    a.struct_size = 0;
    assert_int_equal(tcgemm_plan_analyze(f->plan, NULL, &a), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_problem(NULL, &problem), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_problem(f->plan, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_problem(f->plan, &problem), TCGEMM_STATUS_OK);
    assert_int_equal(problem.type, TCGEMM_BF16_F32);
    assert_true(problem.m == 1000 && problem.n == 1500 && problem.k == 4000);
}

/* An older program's structs end earlier: what they lack has its default. */
static void shorter_structs_are_taken(void **state) {
    const fixture_t *f = *state;
    tcgemm_draw_options_t options = svg_of(NULL);
    tcgemm_analysis_t a = {.struct_size = offsetof(tcgemm_analysis_t, eops), .eops = -1};
    options.picture = "nonsense";
    options.struct_size = offsetof(tcgemm_draw_options_t, picture);
    char *const svg = drawn(f->plan, &options);
    char *const first = drawn(f->plan, NULL);
    assert_string_equal(svg, first);
    free(first);
    free(svg);
    assert_int_equal(tcgemm_plan_analyze(f->plan, NULL, &a), TCGEMM_STATUS_OK);
    assert_int_equal(a.struct_size, offsetof(tcgemm_analysis_t, eops));
    assert_true(a.eops == -1 && a.problem.m == 1000);
}

/* The caller's rounding shows in no digit. */
static void digits_do_not_follow_the_rounding(void **state) {
    const fixture_t *f = *state;
    static const tcgemm_format_t formats[] = {TCGEMM_FORMAT_JSON, TCGEMM_FORMAT_HTML};
    for (int i = 0; i < 2; ++i) {
        const tcgemm_draw_options_t options = tcgemm_draw_options(formats[i]);
        char *const before = drawn(f->plan, &options);
        assert_int_equal(fesetround(FE_UPWARD), 0);
        char *const after = drawn(f->plan, &options);
        assert_int_equal(fegetround(), FE_UPWARD);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
}

/* ---- the caller's locale ---- */

static bool has_comma(const char *name) {
    return setlocale(LC_ALL, name) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* A locale with a decimal comma: one that is installed, or one made for the test. */
static bool take_comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    char folder[] = "/tmp/tcgemm-locale-XXXXXX";
    char command[160];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (has_comma(names[i]))
            return true;
    if (!mkdtemp(folder))
        return false;
    (void)snprintf(command, sizeof command,
                   "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", folder);
    const bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0;
    const bool taken = made && has_comma(names[0]);
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (system(command) != 0 || !taken)
        (void)setlocale(LC_ALL, "C");
    return taken;
}

static void a_decimal_point_is_a_point_everywhere(void **state) {
    const fixture_t *f = *state;
    static const tcgemm_format_t formats[] = {TCGEMM_FORMAT_JSON, TCGEMM_FORMAT_SVG,
                                              TCGEMM_FORMAT_HTML};
    char *before[3];
    char told[2][4096];
    char number[16];
    for (int i = 0; i < 3; ++i) {
        const tcgemm_draw_options_t options = tcgemm_draw_options(formats[i]);
        before[i] = drawn(f->plan, &options);
    }
    assert_true(tcgemm_plan_describe(f->plan, TCGEMM_FORMAT_JSON, told[0], 4096) < 4096);
    const bool taken = take_comma_locale();
    for (int i = 0; taken && i < 3; ++i) {
        const tcgemm_draw_options_t options = tcgemm_draw_options(formats[i]);
        char *const text = drawn(f->plan, &options);
        assert_string_equal(text, before[i]);
        free(text);
    }
    if (taken) {
        (void)tcgemm_plan_describe(f->plan, TCGEMM_FORMAT_JSON, told[1], 4096);
        assert_string_equal(told[0], told[1]);
        (void)snprintf(number, sizeof number, "%.1f", 0.5);
        assert_string_equal(number, "0,5"); /* the caller has its locale back */
    }
    (void)setlocale(LC_ALL, "C");
    for (int i = 0; i < 3; ++i)
        free(before[i]);
    if (!taken)
        skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_have_names),
        cmocka_unit_test(describe_draws_with_the_defaults),
        cmocka_unit_test(a_drawing_is_cut_to_its_buffer),
        cmocka_unit_test(schemes_have_their_colours),
        cmocka_unit_test(a_width_scales_the_picture),
        cmocka_unit_test(ids_begin_as_asked),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_gpu_is_analyzed_by_its_data_sheet),
        cmocka_unit_test(a_cpu_is_as_fast_as_the_caller_says),
        cmocka_unit_test(a_peak_needs_no_clock),
        cmocka_unit_test(the_analysis_checks_its_arguments),
        cmocka_unit_test(shorter_structs_are_taken),
        cmocka_unit_test(digits_do_not_follow_the_rounding),
        cmocka_unit_test(a_decimal_point_is_a_point_everywhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
