/* kernels.c - the public view of the kernel table. */
#include "base/error.h"
#include "base/struct.h"
#include "cuda/backend.h"
#include "gpu/gpu_row.h"

int tcgemm_kernel_count(void) {
    return tcgemm_num_kernels();
}

/* On this processor, or on a GPU of this machine. */
static bool is_runnable(const tcgemm_kernel_t *kernel) {
    const tcgemm_device_t *device;
    if (!kernel->gpu)
        return kernel->family->fits(kernel, NULL);
    for (int i = 0; i < tcgemm_gpu_count(); ++i)
        if (tcgemm_gpu_find(i, &device) == TCGEMM_STATUS_OK && kernel->family->fits(kernel, device))
            return true;
    return false;
}

tcgemm_status_t tcgemm_kernel_get_info(int index, tcgemm_kernel_info_t *info) {
    const tcgemm_kernel_t *kernel = tcgemm_kernel_at(index);
    TCGEMM_RETURN_IF(!kernel, TCGEMM_STATUS_BAD_ARGUMENT, "kernel %d is not in 0 .. %d", index,
                     tcgemm_num_kernels() - 1);
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof *info));
    const tcgemm_kernel_info_t filled = {
        .struct_size = sizeof filled,
        .name = kernel->name,
        .algo = kernel->family->algo,
        .isa = kernel->isa,
        .device = kernel->gpu ? "gpu" : "cpu",
        .runnable = is_runnable(kernel),
        .tile_m = kernel->mr,
        .tile_n = kernel->nr,
        .tile_k = kernel->ku,
        .types = kernel->types,
        .needs_flags = kernel->needs,
    };
    tcgemm_struct_write(info, &filled, sizeof filled);
    return TCGEMM_STATUS_OK;
}
