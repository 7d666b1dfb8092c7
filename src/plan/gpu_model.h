/* gpu_model.h - how long a GPU row takes, and in which order it should visit its tiles. */
#ifndef TCGEMM_PLAN_GPU_MODEL_H
#define TCGEMM_PLAN_GPU_MODEL_H

#include "device/facts.h"
#include "problem/canonical.h"
#include "table/gpu_row.h"

/* Tile rows of D that are swept together, so that what the resident blocks read stays in the L2. */
uint32_t tcgemm_gpu_raster_group(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                                 const tcgemm_device_t *device);

/* Where the time of one product goes, in seconds; matrices on the GPU. */
typedef struct tcgemm_gpu_time {
    double launch, start, wait, multiply, finish; /* one after the other; see gpu_model.c */
    double memory;                                /* beside all but the launch */
    double total;
    double rounds; /* of resident blocks */
} tcgemm_gpu_time_t;

tcgemm_gpu_time_t tcgemm_gpu_time(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                                  const tcgemm_device_t *device);

/* tcgemm_gpu_time().total. */
double tcgemm_gpu_predict(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                          const tcgemm_device_t *device);

/* Seconds that host matrices need to the GPU and back. */
double tcgemm_gpu_predict_transfer(const tcgemm_canonical_t *g);

#endif
