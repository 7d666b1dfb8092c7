/* module.h - the kernels in this library. */
#ifndef TCGEMM_CUDA_MODULE_H
#define TCGEMM_CUDA_MODULE_H

#include "cuda/device.h"

/* One module compiled for one architecture; the build writes the list (cmake/TcgemmCuda.cmake). */
typedef struct tcgemm_image {
    const char *module;
    int slot;            /* of the module: images of one module share it */
    int arch;            /* 90 */
    bool only_this_arch; /* sm_90a code runs on 9.0 and nowhere else */
    bool is_ptx;
    const void *data; /* a compressed fatbin */
} tcgemm_image_t;

extern const tcgemm_image_t tcgemm_images[];
extern const int tcgemm_num_images;

/* True if there is machine code for this very architecture (sm_90a), with what it alone has. */
bool tcgemm_gpu_has_own_code(const tcgemm_gpu_t *gpu);

/* True if there is code of the module that this GPU can run. */
bool tcgemm_gpu_has_code(const tcgemm_gpu_t *gpu, const char *module);

/* The function, its module loaded if need be. The GPU's context is current.
 * Returns OK, UNSUPPORTED (no image for this architecture), INTERNAL (no such function), or what
 * the driver says. */
tcgemm_status_t tcgemm_gpu_function(tcgemm_gpu_t *gpu, const char *module, const char *name,
                                    CUfunction *function);

#endif
