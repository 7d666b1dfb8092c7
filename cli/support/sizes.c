/* sizes.c - a recursive-descent reader of the grammar in sizes.h. */
#include "support/sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rest of the text, and where the sentence goes when it does not fit. */
typedef struct reader {
    const char *at, *end;
    const char *item; /* start of the item being read, for the sentence */
    char *error;
} reader_t;

static bool fail(const reader_t *r, const char *why) {
    const char *end = r->item;
    while (end < r->end && *end != ',' && *end != '\n' && end - r->item < 40)
        ++end;
    char shown[41];
    size_t length = 0;
    for (const char *c = r->item; c < end; ++c)
        shown[length++] = *c >= ' ' && *c < 127 ? *c : '?';
    shown[length] = '\0';
    (void)snprintf(r->error, SIZES_ERROR_SIZE, "'%s' %s", shown, why);
    return false;
}

static bool take(reader_t *r, char c) {
    if (r->at == r->end || *r->at != c)
        return false;
    ++r->at;
    return true;
}

static bool take_number(reader_t *r, int64_t *value) {
    int64_t number = 0;
    const char *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at)
        if (__builtin_mul_overflow(number, (int64_t)10, &number) ||
            __builtin_add_overflow(number, (int64_t)(*r->at - '0'), &number))
            return fail(r, "is more than 2^63-1");
    *value = number;
    return r->at > start || fail(r, "is not a size");
}

static bool append_value(reader_t *r, size_list_t *list, int64_t value) {
    if (list->count == SIZES_MAX_COUNT)
        return fail(r, "makes more than 10000 sizes");
    if ((list->count & (list->count + 1)) == 0) { /* 0, 1, 3, 7, ...: the array is full */
        int64_t *more = realloc(list->values, (2 * list->count + 1) * sizeof *more);
        if (!more)
            return fail(r, "finds no memory");
        list->values = more;
    }
    list->values[list->count++] = value;
    return true;
}

static bool append_shape(reader_t *r, size_shapes_t *shapes, size_shape_t shape) {
    if (shapes->count == SIZES_MAX_COUNT)
        return fail(r, "makes more than 10000 shapes");
    if ((shapes->count & (shapes->count + 1)) == 0) {
        size_shape_t *more = realloc(shapes->values, (2 * shapes->count + 1) * sizeof *more);
        if (!more)
            return fail(r, "finds no memory");
        shapes->values = more;
    }
    shapes->values[shapes->count++] = shape;
    return true;
}

static bool at_item_end(const reader_t *r) {
    return r->at == r->end || *r->at == ',';
}

/* The rest of a range, after "first:". */
static bool take_range(reader_t *r, int64_t first, size_list_t *list) {
    int64_t last;
    int64_t step;
    if (!take_number(r, &last))
        return false;
    if (!take(r, ':'))
        return fail(r, "lacks its step: write first:last:step or first:last:*factor");
    const bool multiply = take(r, '*');
    if (!take_number(r, &step))
        return false;
    if (!at_item_end(r))
        return fail(r, "has a step that is no whole number");
    if (multiply ? step < 2 || first == 0 : step < 1)
        return fail(r, "never ends");
    if (first > last)
        return fail(r, "ends before it starts");
    for (int64_t value = first; value <= last;) {
        if (!append_value(r, list, value))
            return false;
        if (multiply ? __builtin_mul_overflow(value, step, &value)
                     : __builtin_add_overflow(value, step, &value))
            break;
    }
    return true;
}

bool sizes_parse_list(const char *text, size_t length, size_list_t *list,
                      char error[SIZES_ERROR_SIZE]) {
    *list = (size_list_t){NULL, 0};
    reader_t r = {text, text + length, text, error};
    bool good;
    do {
        int64_t value;
        r.item = r.at;
        good = take_number(&r, &value) &&
               (take(&r, ':') ? take_range(&r, value, list) : append_value(&r, list, value)) &&
               (at_item_end(&r) || fail(&r, "is not a size"));
    } while (good && take(&r, ','));
    if (!good)
        sizes_free_list(list);
    return good;
}

/* "x" number "x" number, after m. */
static bool take_shape_rest(reader_t *r, size_shape_t *shape) {
    return take_number(r, &shape->n) && (take(r, 'x') || fail(r, "is not MxNxK")) &&
           take_number(r, &shape->k);
}

static bool take_cubes(reader_t *r, int64_t first, size_shapes_t *shapes) {
    size_list_t sides = {NULL, 0};
    bool good = take_range(r, first, &sides);
    for (size_t i = 0; good && i < sides.count; ++i) {
        const int64_t side = sides.values[i];
        good = append_shape(r, shapes, (size_shape_t){.m = side, .n = side, .k = side});
    }
    sizes_free_list(&sides);
    return good;
}

static bool take_shape_item(reader_t *r, size_shapes_t *shapes) {
    size_shape_t shape = {0};
    if (!take_number(r, &shape.m))
        return false;
    if (take(r, ':'))
        return take_cubes(r, shape.m, shapes);
    if (take(r, 'x')) {
        if (!take_shape_rest(r, &shape))
            return false;
    } else {
        shape.n = shape.k = shape.m;
    }
    return append_shape(r, shapes, shape);
}

bool sizes_parse_shapes(const char *text, size_t length, size_shapes_t *shapes,
                        char error[SIZES_ERROR_SIZE]) {
    *shapes = (size_shapes_t){NULL, 0};
    reader_t r = {text, text + length, text, error};
    bool good;
    do {
        r.item = r.at;
        good = take_shape_item(&r, shapes) && (at_item_end(&r) || fail(&r, "is not MxNxK"));
    } while (good && take(&r, ','));
    if (!good)
        sizes_free_shapes(shapes);
    return good;
}

static void take_ops(reader_t *r, size_shape_t *shape) {
    if (r->end - r->at < 3 || r->at[2] != ',' || (r->at[0] != 'N' && r->at[0] != 'T') ||
        (r->at[1] != 'N' && r->at[1] != 'T'))
        return;
    shape->has_ops = true;
    shape->trans_a = r->at[0] == 'T';
    shape->trans_b = r->at[1] == 'T';
    r->at += 3;
}

static bool take_line(reader_t *r, size_shapes_t *shapes) {
    size_shape_t shape = {0};
    take_ops(r, &shape);
    if (!take_number(r, &shape.m))
        return false;
    if (take(r, 'x')) {
        if (!take_shape_rest(r, &shape))
            return false;
    } else if (!take(r, ',')) {
        return fail(r, "is not m,n,k");
    } else if (!take_number(r, &shape.n) || !(take(r, ',') || fail(r, "is not m,n,k")) ||
               !take_number(r, &shape.k)) {
        return false;
    }
    return (r->at == r->end || fail(r, "is followed by more than m,n,k")) &&
           append_shape(r, shapes, shape);
}

/* Cuts the comment and the blanks at both ends. */
static reader_t trimmed(const char *at, const char *end, char *error) {
    const char *comment = memchr(at, '#', (size_t)(end - at));
    if (comment)
        end = comment;
    while (at < end && (*at == ' ' || *at == '\t'))
        ++at;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        --end;
    return (reader_t){at, end, at, error};
}

bool sizes_parse_file(const char *text, size_t length, size_shapes_t *shapes,
                      char error[SIZES_ERROR_SIZE]) {
    *shapes = (size_shapes_t){NULL, 0};
    const char *at = text;
    const char *const end = text + length;
    for (int number = 1; at < end; ++number) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        char why[SIZES_ERROR_SIZE];
        reader_t r = trimmed(at, line_end, why);
        if (r.at < r.end && !take_line(&r, shapes)) {
            (void)snprintf(error, SIZES_ERROR_SIZE, "line %d: %.130s", number, why);
            sizes_free_shapes(shapes);
            return false;
        }
        at = newline ? newline + 1 : end;
    }
    return true;
}

void sizes_free_list(size_list_t *list) {
    free(list->values);
    *list = (size_list_t){NULL, 0};
}

void sizes_free_shapes(size_shapes_t *shapes) {
    free(shapes->values);
    *shapes = (size_shapes_t){NULL, 0};
}
