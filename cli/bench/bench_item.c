/* bench_item.c - a list that grows. */
#include "bench/bench_item.h"

#include <stdlib.h>

bool bench_items_add(bench_items_t *items, const bench_item_t *item) {
    if ((items->count & (items->count + 1)) == 0) { /* 0, 1, 3, 7, ...: the array is full */
        bench_item_t *more = realloc(items->values, (2 * items->count + 1) * sizeof *more);
        if (!more)
            return false;
        items->values = more;
    }
    items->values[items->count++] = *item;
    return true;
}

void bench_items_free(bench_items_t *items) {
    free(items->values);
    *items = (bench_items_t){NULL, 0};
}
