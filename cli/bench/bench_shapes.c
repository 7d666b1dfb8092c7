/* bench_shapes.c - gathers shapes from a file, a list and a cross product. */
#include "bench/bench_shapes.h"

#include <stdlib.h>
#include <string.h>

#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"

static int append(size_shapes_t *all, const size_shape_t *more, size_t count) {
    if (all->count + count > SIZES_MAX_COUNT)
        return message_usage("bench", "more than %d shapes are named", SIZES_MAX_COUNT);
    size_shape_t *values = realloc(all->values, (all->count + count) * sizeof *values);
    if (!values)
        return message_fail(CLI_NO_MEMORY, "no memory for the shapes");
    memcpy(values + all->count, more, count * sizeof *values);
    all->values = values;
    all->count += count;
    return CLI_OK;
}

static int append_file(const settings_t *s, size_shapes_t *all) {
    char *text;
    size_t length;
    int status = setup_read_text(s->shapes, &text, &length);
    if (status != CLI_OK)
        return status;
    size_shapes_t shapes;
    char why[SIZES_ERROR_SIZE];
    if (!sizes_parse_file(text, length, &shapes, why))
        status = message_fail(CLI_BAD_FILE, "%s: %s", s->shapes, why);
    else if (shapes.count == 0)
        status = message_fail(CLI_BAD_FILE, "%s: no shape in it", s->shapes);
    else
        status = append(all, shapes.values, shapes.count);
    sizes_free_shapes(&shapes);
    free(text);
    return status;
}

static int append_list(const settings_t *s, size_shapes_t *all) {
    size_shapes_t shapes;
    char why[SIZES_ERROR_SIZE];
    if (!sizes_parse_shapes(s->shape, strlen(s->shape), &shapes, why))
        return message_usage("bench", "--shape: %s", why);
    const int status = append(all, shapes.values, shapes.count);
    sizes_free_shapes(&shapes);
    return status;
}

static int append_products(const size_list_t lists[3], size_shapes_t *all) {
    int status = CLI_OK;
    for (size_t i = 0; i < lists[0].count; ++i)
        for (size_t j = 0; j < lists[1].count; ++j)
            for (size_t l = 0; l < lists[2].count && status == CLI_OK; ++l) {
                const size_shape_t shape = {
                    .m = lists[0].values[i], .n = lists[1].values[j], .k = lists[2].values[l]};
                status = append(all, &shape, 1);
            }
    return status;
}

static int append_cross(const settings_t *s, size_shapes_t *all) {
    const char *const texts[3] = {s->m, s->n, s->k};
    const char *const names[3] = {"-m", "-n", "-k"};
    size_list_t lists[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    int status = CLI_OK;
    for (int i = 0; i < 3 && status == CLI_OK; ++i) {
        char why[SIZES_ERROR_SIZE];
        if (!texts[i])
            status = message_usage("bench", "%s is missing beside the other sizes", names[i]);
        else if (!sizes_parse_list(texts[i], strlen(texts[i]), &lists[i], why))
            status = message_usage("bench", "%s: %s", names[i], why);
    }
    if (status == CLI_OK)
        status = append_products(lists, all);
    for (int i = 0; i < 3; ++i)
        sizes_free_list(&lists[i]);
    return status;
}

int bench_shapes(const settings_t *s, size_shapes_t *shapes) {
    *shapes = (size_shapes_t){NULL, 0};
    int status = CLI_OK;
    if (s->shapes)
        status = append_file(s, shapes);
    if (status == CLI_OK && s->shape)
        status = append_list(s, shapes);
    if (status == CLI_OK && (s->m || s->n || s->k))
        status = append_cross(s, shapes);
    if (status == CLI_OK && shapes->count == 0)
        status = message_usage("bench", "which sizes? --shape, --shapes FILE, or -m, -n and -k");
    return status;
}
