/* print.h - matrices for people and for Python. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tcgemm/tcgemm.h"

/* A stored matrix, or a batch of them. */
typedef struct print_view {
    char name;
    tcgemm_dtype_t dtype;
    tcgemm_order_t order;
    int num_dims;    /* of each: 2, or less if operands had one dimension */
    bool is_batched; /* with a dimension for the items, be there one alone */
    int64_t rows, cols, ld;
    int64_t batch, stride;
    const void *data;
} print_view_t;

/* `A = [[...],\n     [...]]`: an assignment to be pasted at a Python prompt. Floats have as many
 * digits as it takes to read the same value again. A batch is a list of matrices. Returns false
 * without memory. */
bool print_python(const print_view_t *view, FILE *out);

/* Aligned columns below a title. */
bool print_table(const print_view_t *view, FILE *out);

#endif
