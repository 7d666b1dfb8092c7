/* gpu_clock.h - a stream of a GPU and the GPU's own time between two points of it.
 *
 * The driver is opened at run time, so that the tool needs nothing of CUDA to be built or started.
 * The device's primary context, the one that tcgemm and other libraries share, is current in the
 * opening thread until the clock is closed. */
#ifndef CLI_GPU_CLOCK_H
#define CLI_GPU_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gpu_clock gpu_clock_t;

/* NULL with a clause in `why` without a driver or that device. */
gpu_clock_t *gpu_clock_open(int device, const char **why);
void gpu_clock_close(gpu_clock_t *g); /* NULL is fine */

/* The CUstream (cudaStream_t) that is timed. */
void *gpu_clock_stream(const gpu_clock_t *g);

/* Marks the start; marks the end and waits for it. False if the driver refuses, which is also how a
 * fault of the work in between shows. */
bool gpu_clock_start(gpu_clock_t *g);
bool gpu_clock_stop(gpu_clock_t *g, double *seconds);

/* "580.65.06, CUDA 13.0": the driver's version and the newest CUDA that it knows. */
void gpu_clock_driver(const gpu_clock_t *g, char *text, size_t size);

#endif
