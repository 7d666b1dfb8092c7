/* sizes.h - the grammar of sizes.
 *
 *     number  := digits                            0 .. 2^63-1
 *     range   := number ":" number ":" step        128:512:128  -> 128 256 384 512
 *     step    := number | "*" number               128:512:*2   -> 128 256 512
 *     list    := (number | range) ("," ...)*       of -m, -n, -k and --threads
 *     shape   := number "x" number "x" number      m, n, k
 *     shapes  := (shape | number | range) ("," ...)*   a lone number is a cube; of --shape
 *     line    := [("NN" | "NT" | "TN" | "TT") ","] (number "," number "," number | shape)
 *     file    := lines; "#" starts a comment; blank lines do not count
 *
 * Pure functions of a text of a given length: no NUL is needed, none is taken for an end. */
#ifndef CLI_SIZES_H
#define CLI_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIZES_MAX_COUNT = 10000, SIZES_ERROR_SIZE = 160 };

typedef struct size_list {
    int64_t *values;
    size_t count;
} size_list_t;

typedef struct size_shape {
    int64_t m, n, k;
    bool has_ops; /* the line says NN, NT, TN or TT */
    bool trans_a, trans_b;
} size_shape_t;

typedef struct size_shapes {
    size_shape_t *values;
    size_t count;
} size_shapes_t;

/* Each returns false with a clause in `error` (such as "'12q' is not a size"), and an empty list.
 * The caller frees the list. */
bool sizes_parse_list(const char *text, size_t length, size_list_t *list,
                      char error[SIZES_ERROR_SIZE]);
bool sizes_parse_shapes(const char *text, size_t length, size_shapes_t *shapes,
                        char error[SIZES_ERROR_SIZE]);
bool sizes_parse_file(const char *text, size_t length, size_shapes_t *shapes,
                      char error[SIZES_ERROR_SIZE]);

void sizes_free_list(size_list_t *list);
void sizes_free_shapes(size_shapes_t *shapes);

#endif
