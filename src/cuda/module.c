/* module.c - picks the image for the device and loads it when first needed. */
#include "cuda/module.h"

#include <string.h>

/* Machine code runs on its own major version from its own minor version on; PTX on everything
 * newer. Machine code first, then the newest. */
static bool can_run(const tcgemm_image_t *image, const tcgemm_gpu_t *gpu) {
    const int cc = gpu->facts.cc;
    if (image->only_this_arch && (image->arch != cc || gpu->plays_older))
        return false;
    if (image->is_ptx)
        return image->arch <= cc;
    return !gpu->plays_older && image->arch / 10 == cc / 10 && image->arch <= cc;
}

static bool is_better(const tcgemm_image_t *image, const tcgemm_image_t *than) {
    if (!than || image->is_ptx != than->is_ptx)
        return !than || than->is_ptx;
    if (image->arch != than->arch)
        return image->arch > than->arch;
    return image->only_this_arch && !than->only_this_arch;
}

static const tcgemm_image_t *find_image(const char *module, const tcgemm_gpu_t *gpu) {
    const tcgemm_image_t *best = NULL;
    for (int i = 0; i < tcgemm_num_images; ++i) {
        const tcgemm_image_t *image = &tcgemm_images[i];
        if (strcmp(image->module, module) == 0 && can_run(image, gpu) && is_better(image, best))
            best = image;
    }
    return best;
}

bool tcgemm_gpu_has_own_code(const tcgemm_gpu_t *gpu) {
    for (int i = 0; i < tcgemm_num_images; ++i)
        if (tcgemm_images[i].only_this_arch && can_run(&tcgemm_images[i], gpu))
            return true;
    return false;
}

bool tcgemm_gpu_has_code(const tcgemm_gpu_t *gpu, const char *module) {
    return find_image(module, gpu) != NULL;
}

static tcgemm_status_t load(tcgemm_gpu_t *gpu, const char *module, CUmodule *loaded) {
    const tcgemm_image_t *image = find_image(module, gpu);
    TCGEMM_RETURN_IF(!image || image->slot >= TCGEMM_MAX_MODULES, TCGEMM_STATUS_UNSUPPORTED,
                     "this library has no code of %s for compute capability %d.%d", module,
                     gpu->facts.cc / 10, gpu->facts.cc % 10);
    (void)pthread_mutex_lock(&gpu->mutex);
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (!gpu->modules[image->slot]) {
        CUmodule made = NULL;
        status = tcgemm_gpu_check(gpu, tcgemm_driver(NULL)->module_load(&made, image->data),
                                  "loading a module of kernels");
        gpu->modules[image->slot] = made;
    }
    *loaded = gpu->modules[image->slot];
    (void)pthread_mutex_unlock(&gpu->mutex);
    return status;
}

tcgemm_status_t tcgemm_gpu_function(tcgemm_gpu_t *gpu, const char *module, const char *name,
                                    CUfunction *function) {
    CUmodule loaded = NULL;
    TCGEMM_FORWARD(load(gpu, module, &loaded));
    const CUresult result = tcgemm_driver(NULL)->module_function(function, loaded, name);
    TCGEMM_RETURN_IF(result == CUDA_ERROR_NOT_FOUND, TCGEMM_STATUS_INTERNAL,
                     "module %s has no kernel %s", module, name);
    return tcgemm_gpu_check(gpu, result, "finding a kernel");
}
