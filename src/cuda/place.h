/* place.h - whether the copy engines may read and write host memory. */
#ifndef TCGEMM_CUDA_PLACE_H
#define TCGEMM_CUDA_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the driver knows all the bytes as pinned: it allocated or registered them. */
bool tcgemm_gpu_is_pinned(const void *data, size_t bytes);

#endif
