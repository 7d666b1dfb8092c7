/* suite.c - reads a suite line by line. */
#include "bench/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 2048, MAX_WORDS = 64, MAX_TYPES = 64 };

/* What reads. */
typedef struct reader {
    suite_t *suite;
    int line;
    char *words[MAX_WORDS];
    int num_words;
    char *error;
} reader_t;

static bool fail(const reader_t *r, const char *word, const char *why) {
    (void)snprintf(r->error, SUITE_ERROR_SIZE, "line %d: '%.60s' %.100s", r->line, word, why);
    return false;
}

/* ---- words ---- */

static bool take_positive(const reader_t *r, const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return (end != text && !*end && *value > 0 && *value < 1e9) ||
           fail(r, text, "is no number above 0");
}

static bool take_count(const reader_t *r, const char *text, int64_t low, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return (!errno && end != text && !*end && *value >= low && *value < INT32_MAX) ||
           fail(r, text, "is no such number");
}

static bool take_list(const reader_t *r, const char *text, size_list_t *list) {
    char why[SIZES_ERROR_SIZE];
    if (!sizes_parse_list(text, strlen(text), list, why)) {
        (void)snprintf(r->error, SUITE_ERROR_SIZE, "line %d: %.160s", r->line, why);
        return false;
    }
    for (size_t i = 0; i < list->count; ++i)
        if (list->values[i] < 1 || list->values[i] > TCGEMM_MAX_THREADS) {
            sizes_free_list(list);
            return fail(r, text, "is no list of numbers of threads");
        }
    return true;
}

/* "key=value": whether the word has that key; the value. */
static const char *value_of(const char *word, const char *key) {
    const size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

/* ---- lines ---- */

static bool copy_name(const reader_t *r, const char *text, char name[SUITE_NAME_SIZE]) {
    if (!*text || strlen(text) >= SUITE_NAME_SIZE || strpbrk(text, ",=\""))
        return fail(r, text, "is no name of a class");
    (void)snprintf(name, SUITE_NAME_SIZE, "%s", text);
    return true;
}

static bool take_goal(const reader_t *r, const char *word, suite_class_t *class) {
    const char *value;
    if ((value = value_of(word, "geomean")))
        return take_positive(r, value, &class->geomean);
    if ((value = value_of(word, "worst")))
        return take_positive(r, value, &class->worst);
    if ((value = value_of(word, "roof")))
        return take_positive(r, value, &class->roof);
    if (!(value = value_of(word, "of")))
        return fail(r, word, "is not geomean=, worst=, roof= or of=");
    return suite_class(r->suite, value) ? copy_name(r, value, class->of)
                                        : fail(r, value, "is no class above");
}

static bool take_class(const reader_t *r) {
    suite_t *suite = r->suite;
    if (r->num_words < 2)
        return fail(r, "class", "lacks its name");
    if (suite_class(suite, r->words[1]))
        return fail(r, r->words[1], "is there twice");
    if (suite->num_classes == SUITE_MAX_CLASSES)
        return fail(r, r->words[1], "is one class too many");
    suite_class_t class = {.geomean = 0};
    bool good = copy_name(r, r->words[1], class.name);
    for (int i = 2; i < r->num_words && good; ++i)
        good = take_goal(r, r->words[i], &class);
    if (good)
        suite->classes[suite->num_classes++] = class;
    return good;
}

/* What a line of a class says. */
typedef struct line {
    tcgemm_type_t types[MAX_TYPES];
    int num_types;
    bool has_ops[4]; /* NN, NT, TN, TT */
    size_shapes_t shapes;
    size_list_t threads; /* empty: not said */
    int64_t batch, pad, beta;
    bool cold, fast;
} line_t;

static bool take_types(const reader_t *r, char *text, line_t *line) {
    for (char *rest, *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (line->num_types == MAX_TYPES ||
            tcgemm_type_from_name(word, &line->types[line->num_types++]) != TCGEMM_STATUS_OK)
            return fail(r, word, "is no type");
    return line->num_types > 0 || fail(r, text, "is no type");
}

static bool take_ops(const reader_t *r, char *text, line_t *line) {
    static const char *const names[4] = {"NN", "NT", "TN", "TT"};
    for (char *rest, *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int i = 0;
        while (i < 4 && strcmp(word, names[i]) != 0)
            ++i;
        if (i == 4)
            return fail(r, word, "is not NN, NT, TN or TT");
        line->has_ops[i] = true;
    }
    return true;
}

static bool take_shapes(const reader_t *r, const char *text, line_t *line) {
    char why[SIZES_ERROR_SIZE];
    if (sizes_parse_shapes(text, strlen(text), &line->shapes, why))
        return true;
    (void)snprintf(r->error, SUITE_ERROR_SIZE, "line %d: %.160s", r->line, why);
    return false;
}

static bool take_truth(const reader_t *r, const char *value, bool *truth) {
    *truth = strcmp(value, "yes") == 0;
    return *truth || strcmp(value, "no") == 0 || fail(r, value, "is not yes or no");
}

static bool take_option(const reader_t *r, const char *word, line_t *line) {
    const char *value;
    if ((value = value_of(word, "batch")))
        return take_count(r, value, 1, &line->batch);
    if ((value = value_of(word, "pad")))
        return take_count(r, value, 0, &line->pad);
    if ((value = value_of(word, "beta")))
        return take_count(r, value, 0, &line->beta);
    if ((value = value_of(word, "cold")))
        return take_truth(r, value, &line->cold);
    if ((value = value_of(word, "fast")))
        return take_truth(r, value, &line->fast);
    if (!(value = value_of(word, "threads")))
        return fail(r, word, "is not batch=, pad=, beta=, cold=, fast= or threads=");
    if (r->suite->on_gpu)
        return fail(r, word, "says nothing on a GPU");
    sizes_free_list(&line->threads);
    return take_list(r, value, &line->threads);
}

static bool add_item(const reader_t *r, const line_t *line, tcgemm_type_t type, int ops,
                     size_t shape, int64_t threads) {
    suite_t *suite = r->suite;
    bench_item_t item = {.class_name = suite->classes[suite->num_classes - 1].name,
                         .type = type,
                         .shape = line->shapes.values[shape],
                         .batch = line->batch,
                         .pad = line->pad,
                         .threads = threads,
                         .cold = line->cold,
                         .fast_accumulate = line->fast,
                         .beta = (double)line->beta};
    item.shape.has_ops = true;
    item.shape.trans_a = ops >= 2;
    item.shape.trans_b = ops % 2 == 1;
    if (suite->items.count == SIZES_MAX_COUNT)
        return fail(r, r->words[2], "makes more than 10000 problems");
    return bench_items_add(&suite->items, &item) || fail(r, r->words[2], "finds no memory");
}

static bool add_items(const reader_t *r, const line_t *line) {
    const size_t num_threads = line->threads.count > 0 ? line->threads.count : 1;
    bool good = true;
    for (size_t t = 0; t < num_threads; ++t)
        for (int type = 0; type < line->num_types; ++type)
            for (size_t shape = 0; shape < line->shapes.count; ++shape)
                for (int ops = 0; ops < 4 && good; ++ops)
                    good = !line->has_ops[ops] ||
                           add_item(r, line, line->types[type], ops, shape,
                                    line->threads.count > 0 ? line->threads.values[t] : 0);
    return good;
}

static bool take_problems(const reader_t *r) {
    line_t line = {.batch = 1};
    if (r->suite->num_classes == 0)
        return fail(r, r->words[0], "belongs to no class");
    if (r->num_words < 3)
        return fail(r, r->words[0], "is not followed by transposes and shapes");
    bool good = take_types(r, r->words[0], &line) && take_ops(r, r->words[1], &line) &&
                take_shapes(r, r->words[2], &line);
    for (int i = 3; i < r->num_words && good; ++i)
        good = take_option(r, r->words[i], &line);
    good = good && add_items(r, &line);
    sizes_free_shapes(&line.shapes);
    sizes_free_list(&line.threads);
    return good;
}

static bool take_words(const reader_t *r) {
    const char *first = r->words[0];
    suite_t *suite = r->suite;
    if (strcmp(first, "class") == 0)
        return take_class(r);
    const bool known = strcmp(first, "device") == 0 || strcmp(first, "seconds") == 0 ||
                       strcmp(first, "samples") == 0;
    if (!known)
        return take_problems(r);
    if (suite->num_classes > 0)
        return fail(r, first, "stands behind a class");
    if (r->num_words != 2)
        return fail(r, first, "takes one word");
    if (first[0] == 'd') {
        suite->on_gpu = strcmp(r->words[1], "gpu") == 0;
        return suite->on_gpu || strcmp(r->words[1], "cpu") == 0 ||
               fail(r, r->words[1], "is not cpu or gpu");
    }
    return strcmp(first, "seconds") == 0 ? take_positive(r, r->words[1], &suite->seconds)
                                         : take_count(r, r->words[1], 1, &suite->samples);
}

static bool take_line(reader_t *r, const char *text, size_t length) {
    char line[LINE_SIZE];
    const char *comment = memchr(text, '#', length);
    if (comment)
        length = (size_t)(comment - text);
    if (length >= LINE_SIZE || memchr(text, '\0', length))
        return fail(r, "the line", "is too long, or no text");
    (void)snprintf(line, sizeof line, "%.*s", (int)length, text);
    r->num_words = 0;
    char *rest;
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (r->num_words == MAX_WORDS)
            return fail(r, word, "is one word too many");
        r->words[r->num_words++] = word;
    }
    return r->num_words == 0 || take_words(r);
}

/* A class that nothing is measured for can meet no goal. */
static bool has_problems(const reader_t *r) {
    const suite_t *suite = r->suite;
    for (int i = 0; i < suite->num_classes; ++i) {
        size_t count = 0;
        for (size_t j = 0; j < suite->items.count; ++j)
            count += suite->items.values[j].class_name == suite->classes[i].name;
        if (count == 0)
            return fail(r, suite->classes[i].name, "has no problems");
    }
    return suite->num_classes > 0 || fail(r, "class", "is missing: there is none");
}

bool suite_parse(const char *text, size_t length, suite_t *suite, char error[SUITE_ERROR_SIZE]) {
    *suite = (suite_t){.classes = calloc(SUITE_MAX_CLASSES, sizeof *suite->classes)};
    reader_t r = {.suite = suite, .error = error};
    const char *const end = text + length;
    bool good = suite->classes != NULL || fail(&r, "the suite", "finds no memory");
    while (text < end && good) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;
        ++r.line;
        good = take_line(&r, text, (size_t)(line_end - text));
        text = newline ? newline + 1 : end;
    }
    good = good && has_problems(&r);
    if (!good)
        suite_free(suite);
    return good;
}

void suite_free(suite_t *suite) {
    bench_items_free(&suite->items);
    free(suite->classes);
    *suite = (suite_t){0};
}

const suite_class_t *suite_class(const suite_t *suite, const char *name) {
    for (int i = 0; i < suite->num_classes; ++i)
        if (strcmp(suite->classes[i].name, name) == 0)
            return &suite->classes[i];
    return NULL;
}
