/* device.c - the public view of GPUs. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/struct.h"
#include "cuda/backend.h"
#include "device/known_gpus.h"
#include "table/family.h"

int tcgemm_device_count(void) {
    return tcgemm_gpu_count();
}

const char *tcgemm_device_reason(void) {
    return tcgemm_gpu_reason();
}

static void describe(const tcgemm_device_t *device, tcgemm_device_info_t *out) {
    tcgemm_device_info_t info = {
        .struct_size = sizeof info,
        .cc_major = device->cc / 10,
        .cc_minor = device->cc % 10,
        .num_sms = device->num_sms,
        .clock_hz = device->clock_hz,
        .memory_bytes = device->memory_bytes,
        .bandwidth = device->bandwidth,
        .smem_block_bytes = device->smem_block_bytes,
        .smem_sm_bytes = device->smem_sm_bytes,
        .l2_bytes = device->l2_bytes,
        .registers_per_sm = device->registers_per_sm,
        .threads_per_sm = device->threads_per_sm,
    };
    (void)snprintf(info.name, sizeof info.name, "%s", device->name);
    for (int i = 0; i < tcgemm_num_kernels(); ++i)
        info.num_kernels += tcgemm_kernel_at(i)->family->fits(tcgemm_kernel_at(i), device);
    for (int t = 1; t <= tcgemm_type_count() && t < TCGEMM_MAX_TYPES; ++t)
        info.peak[t] = tcgemm_device_peak(device, (tcgemm_type_t)t);
    tcgemm_struct_write(out, &info, sizeof info);
}

tcgemm_status_t tcgemm_device_get_info(int index, tcgemm_device_info_t *info) {
    const tcgemm_device_t *device = NULL;
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof *info));
    const tcgemm_status_t status = tcgemm_gpu_find(index, &device);
    if (!device)
        return status;
    describe(device, info);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_known_gpu_get_info(int index, tcgemm_device_info_t *info) {
    const tcgemm_device_t *device = tcgemm_known_gpu(index);
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof *info));
    TCGEMM_RETURN_IF(!device, TCGEMM_STATUS_BAD_ARGUMENT, "known GPU %d is not in 0 .. %d", index,
                     tcgemm_known_gpu_count() - 1);
    describe(device, info);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_device_measure_peak(int index, tcgemm_type_t type, double *measured) {
    TCGEMM_RETURN_IF(!measured, TCGEMM_STATUS_BAD_ARGUMENT, "measured is NULL");
    *measured = 0.0;
    TCGEMM_RETURN_IF(!tcgemm_type_info(type), TCGEMM_STATUS_BAD_TYPE, "type %d is unknown",
                     (int)type);
    return tcgemm_gpu_measure_peak(index, type, measured);
}

tcgemm_status_t tcgemm_device_alloc(int index, size_t bytes, void **memory) {
    TCGEMM_RETURN_IF(!memory, TCGEMM_STATUS_BAD_ARGUMENT, "memory is NULL");
    return tcgemm_gpu_alloc(index, bytes, memory);
}

tcgemm_status_t tcgemm_device_free(int index, void *memory) {
    return tcgemm_gpu_free(index, memory);
}

tcgemm_status_t tcgemm_device_copy(int index, void *to, const void *from, size_t bytes) {
    TCGEMM_RETURN_IF((!to || !from) && bytes > 0, TCGEMM_STATUS_BAD_ARGUMENT, "%s is NULL",
                     to ? "from" : "to");
    return tcgemm_gpu_copy(index, to, from, bytes);
}
