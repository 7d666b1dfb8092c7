/* bench_items.c - from lists of words to problems. */
#include "bench/bench_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_shapes.h"
#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"

/* What the options say, each as a list. */
typedef struct choice {
    const settings_t *settings;
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int num_types; /* 0: not said */
    size_list_t threads;
    size_shapes_t shapes;
} choice_t;

static int parse_threads(choice_t *c) {
    const char *text = c->settings->threads;
    char why[SIZES_ERROR_SIZE];
    if (text && !sizes_parse_list(text, strlen(text), &c->threads, why))
        return message_usage("bench", "--threads: %s", why);
    for (size_t i = 0; i < c->threads.count; ++i)
        if (c->threads.values[i] > TCGEMM_MAX_THREADS)
            return message_usage("bench", "--threads is %lld, more than %d",
                                 (long long)c->threads.values[i], TCGEMM_MAX_THREADS);
    return CLI_OK;
}

static int parse(choice_t *c) {
    int status = c->settings->type ? setup_types(c->settings, c->types, &c->num_types) : CLI_OK;
    return status == CLI_OK ? parse_threads(c) : status;
}

static int add(bench_items_t *items, const bench_item_t *item) {
    return bench_items_add(items, item) ? CLI_OK
                                        : message_fail(CLI_NO_MEMORY, "no memory for the problems");
}

/* ---- without a suite ---- */

static int add_product(const choice_t *c, bench_items_t *items) {
    const settings_t *s = c->settings;
    const size_t num_threads = c->threads.count > 0 ? c->threads.count : 1;
    const int num_types = c->num_types > 0 ? c->num_types : 1;
    int status = CLI_OK;
    for (size_t i = 0; i < num_threads; ++i)
        for (int t = 0; t < num_types; ++t)
            for (size_t j = 0; j < c->shapes.count && status == CLI_OK; ++j) {
                const bench_item_t item = {.type = c->num_types > 0 ? c->types[t] : TCGEMM_F32_F32,
                                           .shape = c->shapes.values[j],
                                           .batch = s->batch,
                                           .threads =
                                               c->threads.count > 0 ? c->threads.values[i] : 0,
                                           .cold = s->cold,
                                           .beta = s->beta};
                status = add(items, &item);
            }
    return status;
}

/* ---- of a suite ---- */

static bool has_thread(const choice_t *c, int64_t threads) {
    for (size_t i = 0; i < c->threads.count; ++i)
        if (c->threads.values[i] == threads)
            return true;
    return c->threads.count == 0;
}

static bool has_type(const choice_t *c, tcgemm_type_t type) {
    for (int i = 0; i < c->num_types; ++i)
        if (c->types[i] == type)
            return true;
    return c->num_types == 0;
}

/* The list of --class by name; a class that `of` of another one asks for is measured, too. */
static bool has_class(const char *list, const char *name) {
    const size_t length = strlen(name);
    while (list) {
        const size_t next = strcspn(list, ",");
        if (next == length && strncmp(list, name, length) == 0)
            return true;
        list = list[next] ? list + next + 1 : NULL;
    }
    return false;
}

static bool is_wanted(const settings_t *s, const suite_t *suite, const char *name) {
    if (!s->classes || has_class(s->classes, name))
        return true;
    for (int i = 0; i < suite->num_classes; ++i)
        if (has_class(s->classes, suite->classes[i].name) &&
            strcmp(suite->classes[i].of, name) == 0)
            return true;
    return false;
}

static int check_classes(const settings_t *s, const suite_t *suite) {
    char name[SUITE_NAME_SIZE];
    for (const char *at = s->classes; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (!suite_class(suite, name))
            return message_usage("bench", "--class: %s has no class '%s'", s->suite, name);
    }
    return CLI_OK;
}

static int add_suite(const choice_t *c, const suite_t *suite, int num_processors,
                     bench_items_t *items) {
    const settings_t *s = c->settings;
    int64_t too_many = 0;
    int status = check_classes(s, suite);
    for (size_t i = 0; i < suite->items.count && status == CLI_OK; ++i) {
        bench_item_t item = suite->items.values[i];
        if (!is_wanted(s, suite, item.class_name) || !has_type(c, item.type) ||
            (!suite->on_gpu && item.threads > 0 && !has_thread(c, item.threads)))
            continue;
        if (item.beta == 0)
            item.beta = s->beta;
        if (item.threads > num_processors)
            ++too_many;
        else
            status = add(items, &item);
    }
    if (status == CLI_OK && too_many > 0)
        message_note("%lld problem%s of %s take%s more threads than this process has processors "
                     "(%d): skipped",
                     (long long)too_many, too_many == 1 ? "" : "s", s->suite,
                     too_many == 1 ? "s" : "", num_processors);
    if (status == CLI_OK && items->count == 0)
        return message_usage("bench", "nothing of %s is left to measure", s->suite);
    return status;
}

int bench_suite_read(const settings_t *s, suite_t *suite) {
    char why[SUITE_ERROR_SIZE];
    size_t length = 0;
    char *file = NULL;
    if (s->shape || s->shapes || s->m || s->n || s->k || s->cold || s->batch != 1 || s->trans_a ||
        s->trans_b)
        return message_usage(
            "bench", "--suite says which problems: leave out sizes, transposes, --batch and "
                     "--cold");
    const char *text = suite_text(s->suite, &length);
    if (!text) {
        const int status = setup_read_text(s->suite, &file, &length);
        if (status != CLI_OK)
            return status;
        text = file;
    }
    const bool good = suite_parse(text, length, suite, why);
    free(file);
    return good ? CLI_OK : message_fail(CLI_BAD_FILE, "%s: %s", s->suite, why);
}

int bench_items_make(const settings_t *s, const suite_t *suite, int num_processors,
                     bench_items_t *items) {
    choice_t c = {.settings = s};
    int status = parse(&c);
    if (status == CLI_OK && s->suite)
        status = add_suite(&c, suite, num_processors, items);
    else if (status == CLI_OK) {
        status = bench_shapes(s, &c.shapes);
        if (status == CLI_OK)
            status = add_product(&c, items);
    }
    sizes_free_shapes(&c.shapes);
    sizes_free_list(&c.threads);
    return status;
}
