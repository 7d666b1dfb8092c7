/* gpu_data.h - a workload on a GPU, once or in as many copies as it takes to outgrow the L2. */
#ifndef CLI_GPU_DATA_H
#define CLI_GPU_DATA_H

#include <stdint.h>

#include "measure/workload.h"
#include "tcgemm/tcgemm.h"

typedef struct gpu_set {
    void *a, *b, *c, *d;
} gpu_set_t;

typedef struct gpu_data {
    int device;
    gpu_set_t *sets; /* to be taken one after the other */
    int64_t count, next;
} gpu_data_t;

/* Copies the workload to the GPU, and there until the copies hold `min_bytes`. Returns an exit
 * status. */
int gpu_data_create(gpu_data_t *data, int device, const workload_t *w, double min_bytes);
void gpu_data_free(gpu_data_t *data);

/* The operands whose turn it is. */
const gpu_set_t *gpu_data_next(gpu_data_t *data);

/* Marks D of the first set as not written; brings it into the workload's D. Return an exit status.
 */
int gpu_data_mark(const gpu_data_t *data, workload_t *w);
int gpu_data_fetch(const gpu_data_t *data, workload_t *w);

#endif
