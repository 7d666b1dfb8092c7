/* epilogue.h - what happens to an element of D between its sum and memory: a bias, an activation.
 */
#ifndef TCGEMM_BASE_EPILOGUE_H
#define TCGEMM_BASE_EPILOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

enum { TCGEMM_NUM_ACTIVATIONS = TCGEMM_ACTIVATION_TANH + 1 };

/* D = activation(x + bias). All zero: there is nothing to do. */
typedef struct tcgemm_epilogue {
    const void *bias; /* of D's type; NULL: none */
    bool is_of_rows;  /* an element for each row of D, else for each column */
    tcgemm_activation_t activation;
} tcgemm_epilogue_t;

static inline bool tcgemm_epilogue_is_empty(const tcgemm_epilogue_t *e) {
    return !e->bias && e->activation == TCGEMM_ACTIVATION_NONE;
}

/* The same for the part of D that begins with this row and column, whose elements have `bytes`. */
static inline tcgemm_epilogue_t tcgemm_epilogue_at(const tcgemm_epilogue_t *e, int bytes,
                                                   int64_t row, int64_t col) {
    tcgemm_epilogue_t part = *e;
    if (e->bias)
        part.bias = (const char *)e->bias + (e->is_of_rows ? row : col) * bytes;
    return part;
}

/* The activation in f64, by the functions of libm; and the most that it stretches a difference. */
double tcgemm_activate(tcgemm_activation_t activation, double x);
double tcgemm_activation_slope(tcgemm_activation_t activation);

#endif
