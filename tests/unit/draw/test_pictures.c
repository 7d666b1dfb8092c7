/* The pictures and the page of many plans: each picture is well-formed XML, all in it lies inside,
 * no text is wider than its picture, no number is missing; the page loads nothing and holds the
 * analysis; the pictures for a notebook stay small. */
#include <ctype.h>
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

#include "draw/svg.h"
#include "tcgemm/tcgemm.h"

/* What is being looked at, for the message of a failure. */
static char subject[256];

#define fail_picture(...)                                                                          \
    do {                                                                                           \
        print_error("%s: ", subject);                                                              \
        print_error(__VA_ARGS__);                                                                  \
        fail_msg("a picture is wrong");                                                            \
    } while (0)

/* ---- XML, as much of it as a drawing needs ---- */

enum { DEPTH = 32, NAME = 64 };

typedef struct element {
    const char *name, *attributes, *end; /* attributes: up to the '>' */
    size_t name_length;
} element_t;

static bool is_entity(const char *at) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

static void check_characters(const char *from, const char *end) {
    for (; from < end; ++from)
        if (*from == '<' || (*from == '&' && !is_entity(from)) ||
            ((unsigned char)*from < ' ' && *from != '\n'))
            fail_picture("a bare character %d in '%.40s'\n", *from, from);
}

/* name="value" ... up to the end of the tag. */
static const char *check_attributes(const char *at) {
    for (;;) {
        at += strspn(at, " \n");
        if (*at == '/' || *at == '>')
            return at;
        const size_t name = strcspn(at, "=<> \n");
        if (name == 0 || at[name] != '=' || at[name + 1] != '"')
            fail_picture("an attribute is malformed: '%.40s'\n", at);
        const char *const value = at + name + 2;
        at = strchr(value, '"');
        if (!at)
            fail_picture("an attribute has no end: '%.40s'\n", value);
        check_characters(value, at++);
    }
}

typedef void visit_fn(const element_t *element, const char *text, void *argument);

/* Walks all elements; `text` is what follows an opening tag. */
static void walk_xml(const char *xml, visit_fn *visit, void *argument) {
    const char *open[DEPTH];
    size_t lengths[DEPTH];
    int depth = 0;
    bool seen = false;
    for (const char *at = xml; *at;) {
        const char *const tag = strchr(at, '<');
        if (!tag) {
            check_characters(at, at + strlen(at));
            break;
        }
        check_characters(at, tag);
        const bool closes = tag[1] == '/';
        const char *const name = tag + 1 + closes;
        const size_t length = strcspn(name, " />\n");
        if (closes) {
            if (depth == 0 || lengths[depth - 1] != length ||
                strncmp(open[depth - 1], name, length) != 0)
                fail_picture("'%.20s' closes what is not open\n", name);
            --depth;
            at = strchr(name, '>') + 1;
            continue;
        }
        if (depth == 0 && seen)
            fail_picture("a second root: '%.20s'\n", name);
        seen = true;
        const char *const end = check_attributes(name + length);
        const element_t element = {name, name + length, end, length};
        at = strchr(end, '>') + 1;
        visit(&element, at, argument);
        if (*end != '/') {
            assert_true(depth < DEPTH);
            open[depth] = name;
            lengths[depth++] = length;
        }
    }
    if (depth != 0 || !seen)
        fail_picture("%d elements stay open\n", depth);
}

static bool is_called(const element_t *e, const char *name) {
    return e->name_length == strlen(name) && strncmp(e->name, name, e->name_length) == 0;
}

/* The value of an attribute in `value`; false if it is not there. */
static bool attribute(const element_t *e, const char *name, char value[256]) {
    char wanted[NAME];
    (void)snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *const at = strstr(e->attributes, wanted);
    if (!at || at > e->end)
        return false;
    const char *const from = at + strlen(wanted);
    (void)snprintf(value, 256, "%.*s", (int)strcspn(from, "\""), from);
    return true;
}

static double number(const element_t *e, const char *name, double otherwise) {
    char value[256];
    char *end;
    if (!attribute(e, name, value))
        return otherwise;
    const double result = strtod(value, &end);
    if (*end || !isfinite(result))
        fail_picture("%s is '%s'\n", name, value);
    return result;
}

/* ---- what a picture must hold ---- */

enum { MOST_BLANK = 110 }; /* pixels below the last thing drawn */

typedef struct counts {
    double width, height;
    double lowest; /* that anything but the paper reaches */
    int texts, shapes;
} counts_t;

/* "nan" or "inf" as a word. */
static void check_words(const char *text, size_t length) {
    for (size_t i = 0; i + 3 <= length; ++i) {
        const bool begins = i == 0 || !isalpha((unsigned char)text[i - 1]);
        const bool ends = i + 3 == length || !isalpha((unsigned char)text[i + 3]);
        if (begins && ends &&
            (strncmp(text + i, "nan", 3) == 0 || strncmp(text + i, "inf", 3) == 0))
            fail_picture("a number is missing: '%.*s'\n", (int)length, text);
    }
}

/* "tile tile". */
static void check_doubled_words(const char *text) {
    const char *before = "";
    size_t length_before = 0;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length == length_before && length > 0 && isalpha((unsigned char)*at) &&
            strncmp(at, before, length) == 0)
            fail_picture("a word is there twice: '%s'\n", text);
        before = at;
        length_before = length;
        at += length + (at[length] == ' ');
    }
}

static double font_size_of(const element_t *e) {
    static const char *const classes = "tlnsg";
    char value[256];
    if (attribute(e, "style", value)) {
        double size = 0;
        assert_int_equal(sscanf(value, "font-size:%lfpx", &size), 1);
        return size;
    }
    assert_true(attribute(e, "class", value));
    const char *const found = strchr(classes, value[0]);
    assert_true(found && value[1] == '\0');
    return tcgemm_svg_font_size((tcgemm_svg_font_t)(found - classes));
}

/* Where a text lies along its baseline, against the picture. */
static void check_text(const element_t *e, const char *from, counts_t *c) {
    char text[512];
    char value[256];
    const size_t length = strcspn(from, "<");
    assert_true(length < sizeof text);
    memcpy(text, from, length);
    text[length] = '\0';
    check_words(text, length);
    check_doubled_words(text);
    const double size = font_size_of(e);
    const double width = tcgemm_svg_text_width(text, size);
    const bool turned = attribute(e, "transform", value);
    double at = number(e, turned ? "y" : "x", -1);
    const double across = number(e, turned ? "x" : "y", -1);
    const double room = turned ? c->height : c->width;
    c->lowest = fmax(c->lowest, turned ? at : across);
    if (attribute(e, "text-anchor", value))
        at -= width * (strcmp(value, "middle") == 0 ? 0.5 : 1);
    if (size < 8.9)
        fail_picture("'%s' is set in %g\n", text, size);
    if (at < 0 || at + width > room || across - size < 0 ||
        across > (turned ? c->width : c->height))
        fail_picture("'%s' at %g, %g wide, leaves the picture\n", text, at, width);
}

static void check_box(const element_t *e, counts_t *c) {
    const double x = number(e, "x", 0);
    const double y = number(e, "y", 0);
    const double w = number(e, "width", -1);
    const double h = number(e, "height", -1);
    if (w < 0 || h < 0 || x < -0.1 || y < -0.1 || x + w > c->width + 0.1 || y + h > c->height + 0.1)
        fail_picture("a box at %g, %g of %g x %g leaves the picture\n", x, y, w, h);
    if (w < c->width)
        c->lowest = fmax(c->lowest, y + h);
}

static void check_path(const element_t *e) {
    char value[256];
    assert_true(attribute(e, "d", value));
    const char *const from = strstr(e->attributes, " d=\"") + 4;
    const size_t length = strcspn(from, "\"");
    check_words(from, length);
    if (strspn(from, "MLHVhvz0123456789.- ") < length)
        fail_picture("a path is malformed: '%.60s'\n", from);
}

static void check_element(const element_t *e, const char *text, void *argument) {
    counts_t *const c = argument;
    if (is_called(e, "svg")) {
        c->width = number(e, "width", 0);
        c->height = number(e, "height", 0);
        assert_true(c->width == 900 && c->height >= 150 && c->height <= 620);
    } else if (is_called(e, "text")) {
        check_text(e, text, c);
        ++c->texts;
    } else if (is_called(e, "rect")) {
        check_box(e, c);
        ++c->shapes;
    } else if (is_called(e, "path")) {
        check_path(e);
        ++c->shapes;
    }
}

/* ---- plans ---- */

static char *drawn(const tcgemm_plan_t *plan, const tcgemm_draw_options_t *options) {
    const size_t length = tcgemm_plan_draw(plan, options, NULL, 0);
    if (length == 0)
        fail_picture("%s\n", tcgemm_last_error());
    char *const text = malloc(length + 1);
    assert_non_null(text);
    assert_int_equal(tcgemm_plan_draw(plan, options, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void check_pictures(const tcgemm_plan_t *plan, const tcgemm_analysis_options_t *given) {
    const size_t length = strlen(subject);
    tcgemm_draw_options_t options = tcgemm_draw_options(TCGEMM_FORMAT_SVG);
    options.analysis = given;
    for (int i = 0; i < tcgemm_picture_count(); ++i) {
        options.picture = tcgemm_picture_name(i);
        (void)snprintf(subject + length, sizeof subject - length, " %s", options.picture);
        char *const svg = drawn(plan, &options);
        counts_t counts = {0};
        walk_xml(svg, check_element, &counts);
        assert_true(counts.texts >= 3 && counts.shapes >= 2);
        if (counts.height - counts.lowest > MOST_BLANK)
            fail_picture("of %g pixels the last %g are blank\n", counts.height,
                         counts.height - counts.lowest);
        assert_true(strlen(svg) < 120000);
        free(svg);
    }
    subject[length] = '\0';
}

/* Only names of the SVG namespace stand where an address might. */
static void check_loads_nothing(const char *page) {
    static const char *const suspects[] = {"src=", "href=", "@import", "url(", "http:", "https:"};
    static const char *const fine[] = {"url(#", "http://www.w3.org/2000/svg\""};
    for (size_t i = 0; i < sizeof suspects / sizeof suspects[0]; ++i) {
        for (const char *at = strstr(page, suspects[i]); at; at = strstr(at + 1, suspects[i])) {
            bool good = false;
            for (size_t j = 0; j < sizeof fine / sizeof fine[0]; ++j)
                good = good || strncmp(at, fine[j], strlen(fine[j])) == 0;
            if (!good)
                fail_picture("the page refers to '%.60s'\n", at);
        }
    }
}

/* The tiles to point at have their numbers, all of them. */
static void check_tile_numbers(const char *page) {
    static const char *const begin = "<text class=\"number\"";
    int blank = 0;
    int all = 0;
    for (const char *at = strstr(page, begin); at; at = strstr(at + 1, begin)) {
        const char *const text = strchr(at, '>');
        assert_non_null(text);
        blank += text[1] == '<';
        ++all;
    }
    if (blank > 0)
        fail_picture("%d of %d tiles have no number\n", blank, all);
}

static void check_page(const tcgemm_plan_t *plan, const tcgemm_analysis_options_t *given) {
    static const char *const mark = "<script type=\"application/json\" id=\"facts\">\n";
    tcgemm_draw_options_t options = tcgemm_draw_options(TCGEMM_FORMAT_HTML);
    options.analysis = given;
    char *const page = drawn(plan, &options);
    options.format = TCGEMM_FORMAT_JSON;
    char *const json = drawn(plan, &options);
    check_loads_nothing(page);
    check_tile_numbers(page);
    const char *const from = strstr(page, mark);
    assert_non_null(from);
    assert_memory_equal(from + strlen(mark), json, strlen(json));
    assert_null(strchr(json, '<'));
    free(json);
    free(page);
}

/* All pictures under one root, each of them sound and no larger than a notebook bears. */
static void check_part(const tcgemm_plan_t *plan, const tcgemm_analysis_options_t *given) {
    tcgemm_draw_options_t options = tcgemm_draw_options(TCGEMM_FORMAT_HTML_PART);
    options.analysis = given;
    char *const part = drawn(plan, &options);
    counts_t counts = {0};
    walk_xml(part, check_element, &counts);
    check_loads_nothing(part);
    if (strlen(part) > 60000)
        fail_picture("the pictures for a notebook take %zu bytes\n", strlen(part));
    assert_true(counts.texts >= 18);
    free(part);
}

/* Stands for what takes seconds to measure; the peak in theory is known for every other type. */
static tcgemm_analysis_options_t measured(tcgemm_type_t type, int num_threads) {
    tcgemm_analysis_options_t given = tcgemm_analysis_options();
    given.theoretical_peak = type % 2 ? 100e9 * num_threads : 0;
    given.measured_peak = 90e9 * num_threads;
    given.bandwidth = 12e9 * num_threads;
    given.clock_hz = 2.5e9;
    return given;
}

/* Draws the plan of a problem, on a known GPU or, with NULL, the CPU. Returns false if no kernel
 * there does it. */
static bool check_problem(const char *gpu, const tcgemm_problem_t *p, const char *algo,
                          bool with_page) {
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_plan_options_t how = tcgemm_plan_options();
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    options.known_gpu = gpu;
    options.device = gpu ? TCGEMM_DEVICE_AUTO : TCGEMM_DEVICE_CPU;
    how.algo = algo;
    (void)snprintf(subject, sizeof subject, "%s %s %lld x %lld x %lld batch %lld %s order %d",
                   gpu ? gpu : "cpu", tcgemm_type_info(p->type)->name, (long long)p->m,
                   (long long)p->n, (long long)p->k, (long long)p->batch, algo ? algo : "auto",
                   p->order);
    assert_int_equal(tcgemm_context_create(&options, &context), TCGEMM_STATUS_OK);
    const bool planned = tcgemm_plan_create(context, p, &how, &plan) == TCGEMM_STATUS_OK;
    if (planned) {
        assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
        const tcgemm_analysis_options_t given = measured(p->type, info.num_threads);
        check_pictures(plan, &given);
        check_part(plan, &given);
        if (with_page)
            check_page(plan, &given);
        if (with_page && !gpu) {
            check_pictures(plan, NULL);
            check_page(plan, NULL);
        }
        tcgemm_plan_destroy(plan);
    }
    tcgemm_context_destroy(context);
    return planned;
}

static const int64_t shapes[][3] = {{8192, 8192, 8192},
                                    {1, 1, 1},
                                    {0, 5, 7},
                                    {5, 0, 7},
                                    {33, 65, 0},
                                    {1000, 1001, 999},
                                    {10000, 10000, 10000},
                                    {1, 100000, 3},
                                    {100000, 1, 77},
                                    {129, 257, 65},
                                    {4000, 300, 20000},
                                    {2000000, 3000000, 1000000},
                                    {300, 70000, 5},
                                    {64, 64, 64}};

enum { NUM_SHAPES = sizeof shapes / sizeof shapes[0] };

static tcgemm_problem_t problem_of(tcgemm_type_t type, int shape, int variant) {
    const int64_t *const s = shapes[shape];
    tcgemm_problem_t p = tcgemm_problem(type, s[0], s[1], s[2]);
    p.op_a = variant & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = variant & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.order = variant & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    if (variant % 5 == 3) {
        p.batch = 7;
        p.stride_a = p.m * p.k;
        p.stride_b = p.k * p.n;
        p.stride_c = p.stride_d = p.m * p.n;
    }
    return p;
}

/* All GPUs with all types; of the shapes and variants some with each, all in the end. */
static void pictures_of_all_gpus_and_types(void **state) {
    (void)state;
    int done = 0;
    int turn = 0;
    for (int gpu = 0; gpu < tcgemm_known_gpu_count(); ++gpu) {
        for (int type = 1; type <= tcgemm_type_count(); ++type) {
            for (int i = 0; i < 3; ++i, ++turn) {
                const tcgemm_problem_t p =
                    problem_of((tcgemm_type_t)type, turn % NUM_SHAPES, turn / NUM_SHAPES % 8);
                done += check_problem(tcgemm_known_gpu_key(gpu), &p, NULL, i == 0);
            }
        }
    }
    assert_true(done > 150);
}

static void pictures_of_all_algorithms(void **state) {
    (void)state;
    static const struct {
        tcgemm_type_t type;
        const char *algo;
    } rows[] = {{TCGEMM_F16_F32, "wmma-direct"},   {TCGEMM_F64_F64, "wmma-direct"},
                {TCGEMM_S8_S32, "wmma-shared"},    {TCGEMM_F64_F64, "wmma-shared"},
                {TCGEMM_F32_F32, "simt-outer"},    {TCGEMM_F32_F32, "mma-pipelined"},
                {TCGEMM_TF32_F32, "mma-pipelined"}};
    int done = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (int shape = 0; shape < NUM_SHAPES; ++shape)
            for (int variant = 0; variant < 8; variant += 4) {
                const tcgemm_problem_t p = problem_of(rows[i].type, shape, variant);
                done += check_problem("a100", &p, rows[i].algo, false);
            }
    assert_int_equal(done, (int)(sizeof rows / sizeof rows[0]) * NUM_SHAPES * 2);
}

static void expect_bound(int64_t size, const char *expected) {
    tcgemm_context_options_t options = tcgemm_context_options();
    const tcgemm_draw_options_t how = tcgemm_draw_options(TCGEMM_FORMAT_HTML);
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F16_F32, size, size, size);
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
    char wanted[64];
    options.known_gpu = "h200";
    assert_int_equal(tcgemm_context_create(&options, &context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(context, &p, NULL, &plan), TCGEMM_STATUS_OK);
    char *const page = drawn(plan, &how);
    (void)snprintf(wanted, sizeof wanted, "<dt>bounded by</dt><dd>%s</dd>", expected);
    if (!strstr(page, wanted))
        fail_picture("a product of %d is not bounded by %s\n", (int)size, expected);
    (void)snprintf(wanted, sizeof wanted, "<p>T%s bounds it.</p>", expected + 1);
    if (!strstr(page, wanted))
        fail_picture("the roofs of a product of %d do not say that %s bounds it\n", (int)size,
                     expected);
    free(page);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
}

/* A product that takes as long as it takes to start it is bounded by neither memory nor peak. */
static void pages_name_the_bound(void **state) {
    (void)state;
    expect_bound(1, "the launch");
    expect_bound(512, "the memory");
    expect_bound(8192, "the peak");
}

static void pictures_of_the_cpu(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_F64_F64, TCGEMM_BF16_BF16,
                                          TCGEMM_S8_S32, TCGEMM_B1_S32};
    for (int shape = 0; shape < NUM_SHAPES; ++shape) {
        const tcgemm_problem_t p = problem_of(types[shape % 5], shape, shape % 8);
        assert_true(check_problem(NULL, &p, NULL, shape % 3 == 0));
    }
    const tcgemm_problem_t p = problem_of(TCGEMM_F32_F32, 9, 0);
    assert_true(check_problem(NULL, &p, "reference", true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_all_gpus_and_types),
        cmocka_unit_test(pictures_of_all_algorithms),
        cmocka_unit_test(pictures_of_the_cpu),
        cmocka_unit_test(pages_name_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
