/* suite.h - classes of problems with the goal that each has to reach, read from a text.
 *
 *     # what follows is a comment
 *     device cpu                              or gpu; where the suite is measured
 *     seconds 0.1                             --min-seconds, unless given
 *     samples 5                               --samples, unless given
 *     class small-1 geomean=1.05 worst=0.95   a class begins; its goal
 *       f32_f32,f64_f64 NN,NT 8:64:*2 threads=1
 *       bf16_f32 NN 16x4096x4096 batch=8 pad=1 beta=1 cold=yes
 *
 * A line of a class is TYPES OPS SHAPES and means all their combinations; shapes are those of
 * --shape. pad=N makes leading dimensions N elements longer, beta=N is --beta (0: what that says),
 * cold=yes takes fresh operands for each call, fast=yes is --fast-accumulate, threads=LIST says on
 * how many (a GPU's suite: not at all).
 *
 * A goal is of the ratio to the best peer: geomean=X its geometric mean over the class, worst=X at
 * each point; roof=X is the least median fraction of the roof. With of=CLASS the ratio is to our
 * own median speed in that class, type by type. */
#ifndef CLI_SUITE_H
#define CLI_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench_item.h"

enum { SUITE_MAX_CLASSES = 128, SUITE_NAME_SIZE = 40, SUITE_ERROR_SIZE = 200 };

typedef struct suite_class {
    char name[SUITE_NAME_SIZE];
    char of[SUITE_NAME_SIZE];    /* "": the peer */
    double geomean, worst, roof; /* 0: no such goal */
} suite_class_t;

typedef struct suite {
    bool on_gpu;
    double seconds;  /* 0: not said */
    int64_t samples; /* likewise */
    suite_class_t *classes;
    int num_classes;
    bench_items_t items; /* of all classes; their class_name is that of `classes` */
} suite_t;

/* False with a sentence that names the line; there is then nothing to free. */
bool suite_parse(const char *text, size_t length, suite_t *suite, char error[SUITE_ERROR_SIZE]);
void suite_free(suite_t *suite);

/* The class of that name, or NULL. */
const suite_class_t *suite_class(const suite_t *suite, const char *name);

/* The text of a suite that the tool brings along, or NULL. */
const char *suite_text(const char *name, size_t *length);

#endif
