/* libFuzzer on the grammar of sizes: -m/-n/-k lists, --shape lists, and files of shapes.
 *
 *     fuzz_sizes -max_total_time=60 tests/fuzz/corpus/sizes */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/sizes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refusal has its clause and no list; an acceptance is within the limits. */
static void check(bool good, size_t count, const void *values, const char *why) {
    if (good ? count > SIZES_MAX_COUNT
             : count != 0 || values || !memchr(why, '\0', SIZES_ERROR_SIZE) || !why[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    char why[SIZES_ERROR_SIZE] = "";
    size_list_t list;
    size_shapes_t shapes;
    bool good = sizes_parse_list(text, size, &list, why);
    check(good && list.count > 0, list.count, list.values, why);
    for (size_t i = 0; i < list.count; ++i)
        if (list.values[i] < 0)
            abort();
    sizes_free_list(&list);
    good = sizes_parse_shapes(text, size, &shapes, why);
    check(good && shapes.count > 0, shapes.count, shapes.values, why);
    sizes_free_shapes(&shapes);
    good = sizes_parse_file(text, size, &shapes, why);
    check(good, shapes.count, shapes.values, why);
    for (size_t i = 0; i < shapes.count; ++i)
        if (shapes.values[i].m < 0 || shapes.values[i].n < 0 || shapes.values[i].k < 0)
            abort();
    sizes_free_shapes(&shapes);
    return 0;
}
