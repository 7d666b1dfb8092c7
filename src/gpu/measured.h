/* measured.h - what was measured of each GPU row: a row without a line gets cautious figures, no
 * better than those of the slowest like it, so that a new tile needs no line to be tried. */
#ifndef TCGEMM_GPU_MEASURED_H
#define TCGEMM_GPU_MEASURED_H

#include "device/facts.h"
#include "table/table.h"

/* What a row costs, in cycles of one SM: a line of measured/cost.def (model.c has the meaning). */
typedef struct tcgemm_gpu_cost {
    double macs, wait, start, finish, narrow, unaligned;
    double layout[4]; /* NN, NT, TN, TT */
} tcgemm_gpu_cost_t;

const tcgemm_gpu_cost_t *tcgemm_gpu_cost_of(const tcgemm_kernel_t *kernel);

/* The same on a device: the line of measured/cost_h200.def where it is an H200 and the row has one.
 */
const tcgemm_gpu_cost_t *tcgemm_gpu_cost_on(const tcgemm_kernel_t *kernel,
                                            const tcgemm_device_t *device);

/* What it would be for a row like this one that has no line. */
tcgemm_gpu_cost_t tcgemm_gpu_cost_unmeasured(const tcgemm_kernel_t *kernel);

/* Registers a thread, the most on any architecture: a line of measured/registers.def; 128 for a row
 * without one. */
int tcgemm_gpu_registers_of(const tcgemm_kernel_t *kernel);

#endif
