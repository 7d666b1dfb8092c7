/* kernel_cache.c - see kernel_cache.h. */
#include "cuda/kernel_cache.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/module.h"
#include "gpu/launch.h"

enum { DEFAULT_SMEM_BYTES = 48 << 10 }; /* what a kernel gets without asking */

struct tcgemm_gpu_kernel_entry {
    struct tcgemm_gpu_kernel_entry *next;
    char name[TCGEMM_ENTRY_CHARS];
    tcgemm_gpu_kernel_t kernel;
};

static const tcgemm_driver_t *driver(void) {
    return tcgemm_driver(NULL);
}

/* What the kernel takes; a driver that does not tell leaves what was measured. */
static tcgemm_status_t ask_size(tcgemm_gpu_t *gpu, CUfunction function, int *registers, int *smem) {
    if (!tcgemm_driver_has(TCGEMM_DRIVER_REGISTERS))
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_check(
        gpu, driver()->function_attribute(registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
        "asking for the kernel's registers"));
    return tcgemm_gpu_check(
        gpu, driver()->function_attribute(smem, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
        "asking for the kernel's shared memory");
}

static tcgemm_status_t ask_occupancy(tcgemm_gpu_t *gpu, const tcgemm_gpu_row_t *row,
                                     tcgemm_gpu_kernel_t *kernel) {
    kernel->blocks_per_sm = tcgemm_gpu_occupancy(row, kernel->registers, &gpu->facts).blocks;
    if (!tcgemm_driver_has(TCGEMM_DRIVER_OCCUPANCY))
        return TCGEMM_STATUS_OK;
    return tcgemm_gpu_check(gpu,
                            driver()->occupancy(&kernel->blocks_per_sm, kernel->function,
                                                row->threads, row->smem_bytes),
                            "asking how many blocks fit");
}

static tcgemm_status_t ask_about_row(tcgemm_gpu_t *gpu, const char *name,
                                     const tcgemm_gpu_row_t *row, tcgemm_gpu_kernel_t *kernel) {
    const size_t most = tcgemm_gpu_smem_for(row, 1, &gpu->facts);
    int smem = 0;
    if (most > DEFAULT_SMEM_BYTES)
        TCGEMM_FORWARD(tcgemm_gpu_check(
            gpu,
            driver()->function_set(kernel->function,
                                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)most),
            "asking for the kernel's shared memory"));
    TCGEMM_FORWARD(ask_size(gpu, kernel->function, &kernel->registers, &smem));
    TCGEMM_FORWARD(ask_occupancy(gpu, row, kernel));
    kernel->smem_bytes = row->smem_bytes + (size_t)smem;
    TCGEMM_RETURN_IF(
        kernel->blocks_per_sm < 1, TCGEMM_STATUS_UNSUPPORTED,
        "kernel %s does not fit on GPU %d (%d threads, %d registers each, %zu bytes of "
        "shared memory)",
        name, gpu->facts.index, row->threads, kernel->registers, row->smem_bytes);
    return TCGEMM_STATUS_OK;
}

static bool find(tcgemm_gpu_t *gpu, const char *name, tcgemm_gpu_kernel_t *kernel) {
    bool found = false;
    (void)pthread_mutex_lock(&gpu->mutex);
    for (struct tcgemm_gpu_kernel_entry *e = gpu->kernels; e && !found; e = e->next)
        if (strcmp(e->name, name) == 0) {
            *kernel = e->kernel;
            found = true;
        }
    (void)pthread_mutex_unlock(&gpu->mutex);
    return found;
}

/* For the life of the process, as the primary context. Two threads that come at once both keep
 * theirs; nothing is lost by that. */
static tcgemm_status_t keep(tcgemm_gpu_t *gpu, const char *name,
                            const tcgemm_gpu_kernel_t *kernel) {
    struct tcgemm_gpu_kernel_entry *e = malloc(sizeof *e);
    TCGEMM_RETURN_IF(!e, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory to remember a kernel");
    memset(e->name, 0, sizeof e->name);
    strncpy(e->name, name, sizeof e->name - 1);
    e->kernel = *kernel;
    (void)pthread_mutex_lock(&gpu->mutex);
    e->next = gpu->kernels;
    gpu->kernels = e;
    (void)pthread_mutex_unlock(&gpu->mutex);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_gpu_kernel(tcgemm_gpu_t *gpu, const char *module, const char *entry,
                                  const tcgemm_gpu_row_t *row, int registers,
                                  tcgemm_gpu_kernel_t *kernel) {
    if (find(gpu, entry, kernel))
        return TCGEMM_STATUS_OK;
    *kernel = (tcgemm_gpu_kernel_t){.registers = registers};
    TCGEMM_FORWARD(tcgemm_gpu_function(gpu, module, entry, &kernel->function));
    if (row)
        TCGEMM_FORWARD(ask_about_row(gpu, entry, row, kernel));
    return keep(gpu, entry, kernel);
}
