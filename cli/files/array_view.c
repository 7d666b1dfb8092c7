/* array_view.c - shapes from untrusted headers. */
#include "files/array_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *array_shape_text(const array_shape_t *shape, char *text, size_t size) {
    if (shape->num_dims < 2) {
        if (shape->num_dims == 0)
            snprintf(text, size, "()");
        else
            snprintf(text, size, "(%" PRId64 ",)", shape->dims[0]);
        return text;
    }
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < shape->num_dims; d++) {
        char dim[32];
        const int length = snprintf(dim, sizeof dim, "%s%" PRId64, d ? " x " : "", shape->dims[d]);
        if (used + (size_t)length + sizeof " x ..." > size) {
            snprintf(text + used, size - used, " x ...");
            break;
        }
        memcpy(text + used, dim, (size_t)length + 1);
        used += (size_t)length;
    }
    return text;
}

bool array_shape_bits(const array_shape_t *shape, int bits, int64_t *total) {
    int64_t product = bits;
    bool empty = false;
    for (int d = 0; d < shape->num_dims; d++) {
        const int64_t dim = shape->dims[d];
        empty |= dim == 0;
        if (__builtin_mul_overflow(product, dim ? dim : 1, &product))
            return false;
    }
    *total = empty ? 0 : product;
    return true;
}

size_t array_view_element_bytes(const array_view_t *view) {
    return view->coding == ELEMENT_PLAIN ? (size_t)tcgemm_dtype_bits(view->dtype) / 8
                                         : element_file_bytes(view->coding);
}

bool array_view_set_shape(array_view_t *view, const array_shape_t *shape, const char *name,
                          file_error_t *err) {
    char text[128];
    array_shape_text(shape, text, sizeof text);
    if (shape->num_dims < 1 || shape->num_dims > 3)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the array has %d dimensions, shape %s, but a vector has one, a matrix "
                         "two, a batch of matrices three",
                         shape->num_dims, text);

    int64_t bits;
    if (!array_shape_bits(shape, 8 * (int)array_view_element_bytes(view), &bits))
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the header says %s %s, more than any memory can hold", text,
                         tcgemm_dtype_name(view->dtype));
    const int n = shape->num_dims;
    view->num_dims = n;
    view->batch = n == 3 ? shape->dims[0] : 1;
    view->rows = n >= 2 ? shape->dims[n - 2] : 1;
    view->cols = shape->dims[n - 1];
    view->num_bytes = (size_t)bits / 8;
    return true;
}

array_shape_t array_view_shape(const array_view_t *view) {
    const int64_t all[3] = {view->batch, view->rows, view->cols};
    array_shape_t shape = {.num_dims = view->num_dims};
    for (int d = 0; d < view->num_dims; d++)
        shape.dims[d] = all[3 - view->num_dims + d];
    return shape;
}
