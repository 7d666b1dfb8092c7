/* bench_item.h - what `bench` measures, one problem of one type on one number of threads after the
 * other. */
#ifndef CLI_BENCH_ITEM_H
#define CLI_BENCH_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/sizes.h"
#include "tcgemm/tcgemm.h"

typedef struct bench_item {
    const char *class_name; /* of the suite; NULL: of none */
    tcgemm_type_t type;
    size_shape_t shape;
    int64_t batch, pad;
    int64_t threads; /* 0: as many as a context takes by itself */
    bool cold;
    bool fast_accumulate; /* as --fast-accumulate */
    double beta;
} bench_item_t;

typedef struct bench_items {
    bench_item_t *values;
    size_t count;
} bench_items_t;

/* False without memory. */
bool bench_items_add(bench_items_t *items, const bench_item_t *item);
void bench_items_free(bench_items_t *items);

#endif
