/* plot_label.h - what tells one measured row from another, in words.
 *
 * What varies among the rows of a plot goes into the labels of its series, what does not goes into
 * the title and the line below it. */
#ifndef CLI_PLOT_LABEL_H
#define CLI_PLOT_LABEL_H

#include "plot/plot_data.h"

/* Bits, in the order in which a label names them. */
typedef enum plot_property {
    PROPERTY_TYPE = 1 << 0,    /* f32_f32 */
    PROPERTY_SHAPE = 1 << 1,   /* 8192 x 8192 x 256, 4096^3 */
    PROPERTY_MN = 1 << 2,      /* m = n = 8192 */
    PROPERTY_ALGO = 1 << 3,    /* mma-pipelined */
    PROPERTY_KERNEL = 1 << 4,  /* 128x256x64_s3: what its name says beyond type and algo */
    PROPERTY_LAYOUT = 1 << 5,  /* row-major NT */
    PROPERTY_BATCH = 1 << 6,   /* batch of 3 */
    PROPERTY_MACHINE = 1 << 7, /* NVIDIA H200 */
    PROPERTY_THREADS = 1 << 8, /* 2 threads; nothing for a GPU */
    PROPERTY_COLD = 1 << 9,    /* cold operands; nothing for warm ones */
    NUM_PROPERTIES = 10
} plot_property_t;

enum {
    PROPERTIES_ALL = (1 << NUM_PROPERTIES) - 1,
    PROPERTIES_OF_METHOD = PROPERTY_ALGO | PROPERTY_KERNEL,
    PROPERTIES_OF_SIZE = PROPERTY_SHAPE | PROPERTY_MN,
    PLOT_LABEL_SIZE = 192
};

/* The properties of `mask` as "f32_f32, 2 threads". */
void plot_label(const plot_row_t *row, unsigned mask, char text[PLOT_LABEL_SIZE]);

/* Whether two rows agree in the properties of `mask`. */
bool plot_label_same(const plot_row_t *a, const plot_row_t *b, unsigned mask);

/* Whether two kernels computed rows that agree in `mask`, so that only their names tell them apart.
 */
bool plot_label_needs_kernel(const plot_data_t *data, unsigned mask);

/* The properties in which some row differs from the first. */
unsigned plot_label_varying(const plot_data_t *data);

/* Adds ", words" (no comma to an empty text), as much of it as fits. */
void plot_label_append(char text[PLOT_LABEL_SIZE], const char *words);

/* "f32_f32, f64_f64", or "8 types" where more than three are in the rows. */
void plot_label_types(const plot_data_t *data, char text[PLOT_LABEL_SIZE]);

/* "openblas" if all peers begin with that word, or "peers"; "" without a peer. */
void plot_label_peers(const plot_data_t *data, char text[PLOT_LABEL_SIZE]);

/* A speed: three digits, or as many as a whole number needs. */
void plot_label_number(double value, char text[PLOT_LABEL_SIZE]);

#endif
