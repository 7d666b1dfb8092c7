/* What a file's header says about an array, after every word of it has been checked. */
#ifndef TCGEMM_CLI_ARRAY_VIEW_H
#define TCGEMM_CLI_ARRAY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tcgemm/tcgemm.h>

#include "files/element.h"
#include "files/file_error.h"

/* What is known of an array before its file is read; it settles what the file leaves open. 0: not
 * said. */
typedef struct array_hint {
    tcgemm_dtype_t said;   /* what the user says that the file holds */
    tcgemm_dtype_t wanted; /* what the operand is in the product */
} array_hint_t;

typedef struct array_view {
    tcgemm_dtype_t dtype;    /* once decoded */
    element_coding_t coding; /* of the file */
    bool taken;              /* the file leaves the type open: it is taken for what was wanted */
    char dtype_text[32];     /* in the file's own words */
    tcgemm_order_t order;
    bool big_endian;
    int num_dims;       /* 1, 2 or 3 */
    int64_t batch;      /* matrices in an array of three dimensions; else 1 */
    int64_t rows, cols; /* of each; an array of one dimension is one row */
    size_t offset;      /* of the data in the file; offset + num_bytes <= the size of the file */
    size_t num_bytes;   /* in the file: batch * rows * cols * bytes of one element */
} array_view_t;

#define ARRAY_MAX_DIMS 64

/* A shape of any rank, as headers have it. */
typedef struct array_shape {
    int num_dims;
    int64_t dims[ARRAY_MAX_DIMS];
} array_shape_t;

/* "2 x 3", "(5,)" for one dimension, "()" for none; cut to `size` with "...". Returns text. */
const char *array_shape_text(const array_shape_t *shape, char *text, size_t size);

/* The bits of all elements, false if they do not fit in an int64_t. A zero does not hide an
 * overflow of the other dimensions, because later arithmetic may multiply these alone. */
bool array_shape_bits(const array_shape_t *shape, int bits, int64_t *total);

/* Bytes of one element in the file. */
size_t array_view_element_bytes(const array_view_t *view);

/* Sets the dimensions and num_bytes of `view` (whose dtype and coding are set). Fails, naming the
 * shape, unless there are one, two or three dimensions whose bytes can be counted. */
bool array_view_set_shape(array_view_t *view, const array_shape_t *shape, const char *name,
                          file_error_t *err);

/* The shape that was set. */
array_shape_t array_view_shape(const array_view_t *view);

#endif /* TCGEMM_CLI_ARRAY_VIEW_H */
