/* device.c - finds the GPUs and asks for their facts. */
#include "cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"
#include "cuda/module.h"

enum { DEFAULT_SMEM_BYTES = 48 << 10 }; /* what a kernel gets without asking */

static tcgemm_gpu_t gpus[TCGEMM_MAX_GPUS];
static int num_gpus;
static const char *absence = "";
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    (void)tcgemm_driver(NULL)->device_attribute(&value, which, device);
    return value > 0 ? value : 0;
}

/* The architecture that TCGEMM_CUDA_ARCH asks for, or 0. */
static int played_cc(void) {
    const char *text = secure_getenv("TCGEMM_CUDA_ARCH");
    const long value = text ? strtol(text, NULL, 10) : 0;
    return value >= 50 && value < 1000 ? (int)value : 0;
}

/* False if the driver does not tell what every plan needs. */
static bool find_facts(tcgemm_gpu_t *gpu, int index) {
    tcgemm_device_t *f = &gpu->facts;
    const CUdevice d = gpu->device;
    f->index = index;
    (void)snprintf(f->name, sizeof f->name, "GPU %d", index);
    if (tcgemm_driver_has(TCGEMM_DRIVER_NAMES))
        (void)tcgemm_driver(NULL)->device_name(f->name, (int)sizeof f->name, d);
    f->cc = 10 * attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
            attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    f->num_sms = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    f->clock_hz = 1e3 * attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    /* Two transfers a clock on each wire. */
    f->bandwidth = 2e3 * attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                   attribute(d, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
    (void)tcgemm_driver(NULL)->device_memory(&f->memory_bytes, d);
    f->l2_bytes = (size_t)attribute(d, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    f->smem_block_bytes =
        (size_t)attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    f->smem_sm_bytes =
        (size_t)attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    f->smem_reserved_bytes =
        (size_t)attribute(d, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    f->registers_per_sm = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    f->threads_per_sm = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    if (!tcgemm_driver_has(TCGEMM_DRIVER_LARGE_SMEM) && f->smem_block_bytes > DEFAULT_SMEM_BYTES)
        f->smem_block_bytes = DEFAULT_SMEM_BYTES; /* the rows that need more do not fit then */
    f->half_rate_f32 = strstr(f->name, "GeForce") != NULL && f->cc < 90;
    if (f->cc >= 120)
        f->half_rate_f32 = strstr(f->name, "GeForce") != NULL;
    const int played = played_cc();
    if (played && played < f->cc) {
        gpu->plays_older = true;
        f->cc = played;
        if (f->smem_block_bytes > tcgemm_smem_of_cc(played))
            f->smem_block_bytes = tcgemm_smem_of_cc(played);
    }
    f->takes_tensor_maps =
        tcgemm_driver_has(TCGEMM_DRIVER_TENSOR_MAPS) && tcgemm_gpu_has_own_code(gpu);
    f->has_fp8_mma =
        TCGEMM_HAS_FP8_MMA(f->cc) && tcgemm_gpu_has_code(gpu, "mma_pipelined_e4m3_f32");
    return f->cc >= 10 && f->num_sms > 0 && f->memory_bytes > 0 && f->smem_block_bytes > 0 &&
           f->smem_sm_bytes > 0 && f->registers_per_sm > 0 && f->threads_per_sm > 0;
}

static void find_gpus(void) {
    const tcgemm_driver_t *const driver = tcgemm_driver(&absence);
    if (!driver)
        return;
    int count = 0;
    absence = "the NVIDIA driver sees no GPU";
    if (driver->device_count(&count) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < count && num_gpus < TCGEMM_MAX_GPUS; ++i) {
        tcgemm_gpu_t *const gpu = &gpus[num_gpus];
        if (driver->device(&gpu->device, i) != CUDA_SUCCESS || !find_facts(gpu, i))
            break; /* numbers must stay those of the driver */
        (void)pthread_mutex_init(&gpu->mutex, NULL);
        (void)pthread_mutex_init(&gpu->staging_mutex, NULL);
        num_gpus += 1;
    }
    if (num_gpus > 0)
        absence = "";
    else if (count > 0)
        absence = "the NVIDIA driver does not tell what its GPU can do";
}

tcgemm_gpu_t *tcgemm_gpu(int index) {
    (void)pthread_once(&once, find_gpus);
    return index >= 0 && index < num_gpus ? &gpus[index] : NULL;
}

/* ---- entering and leaving ---- */

static tcgemm_status_t after_fork(void) {
    return tcgemm_error_set(TCGEMM_STATUS_AFTER_FORK,
                            "this process was forked from one that used its GPU; CUDA does not "
                            "survive a fork: start the GPU work in the child, or use exec");
}

static tcgemm_status_t lost(const tcgemm_gpu_t *gpu) {
    return tcgemm_error_set(TCGEMM_STATUS_DEVICE_LOST,
                            "GPU %d (%s) failed earlier; it is lost to this process",
                            gpu->facts.index, gpu->facts.name);
}

tcgemm_status_t tcgemm_gpu_check(tcgemm_gpu_t *gpu, CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return TCGEMM_STATUS_OK;
    if (tcgemm_driver_error_is_sticky(result))
        atomic_store(&gpu->is_lost, true);
    return tcgemm_driver_status(result, what);
}

static tcgemm_status_t retain_context(tcgemm_gpu_t *gpu) {
    (void)pthread_mutex_lock(&gpu->mutex);
    CUresult result = CUDA_SUCCESS;
    if (!gpu->context)
        result = tcgemm_driver(NULL)->primary_retain(&gpu->context, gpu->device);
    (void)pthread_mutex_unlock(&gpu->mutex);
    return tcgemm_gpu_check(gpu, result, "opening the GPU's primary context");
}

tcgemm_status_t tcgemm_gpu_enter(tcgemm_gpu_t *gpu) {
    if (tcgemm_driver_is_forked())
        return after_fork();
    if (atomic_load(&gpu->is_lost))
        return lost(gpu);
    TCGEMM_FORWARD(retain_context(gpu));
    return tcgemm_gpu_check(gpu, tcgemm_driver(NULL)->push(gpu->context),
                            "making the GPU's context current");
}

void tcgemm_gpu_leave(void) {
    CUcontext ours;
    (void)tcgemm_driver(NULL)->pop(&ours);
}

/* ---- what others may ask ---- */

tcgemm_status_t tcgemm_gpu_find(int index, const tcgemm_device_t **device) {
    *device = NULL;
    if (tcgemm_driver_is_forked())
        return after_fork();
    tcgemm_gpu_t *const gpu = tcgemm_gpu(index);
    if (!gpu && num_gpus == 0)
        return tcgemm_error_set(TCGEMM_STATUS_NO_DEVICE, "GPU %d was asked for, but %s", index,
                                absence);
    TCGEMM_RETURN_IF(!gpu, TCGEMM_STATUS_NO_DEVICE,
                     "GPU %d was asked for, but this machine has %d: 0 .. %d", index, num_gpus,
                     num_gpus - 1);
    if (atomic_load(&gpu->is_lost))
        return lost(gpu);
    *device = &gpu->facts;
    return TCGEMM_STATUS_OK;
}

int tcgemm_gpu_count(void) {
    (void)tcgemm_gpu(0);
    return num_gpus;
}

const char *tcgemm_gpu_reason(void) {
    (void)tcgemm_gpu(0);
    return absence;
}

bool tcgemm_gpu_is_forked(void) {
    return tcgemm_driver_is_forked();
}

bool tcgemm_gpu_takes_host_matrices(void) {
    return tcgemm_driver_has(TCGEMM_DRIVER_STAGING);
}

/* ---- memory ---- */

tcgemm_status_t tcgemm_gpu_alloc(int index, size_t bytes, void **memory) {
    const tcgemm_device_t *device;
    *memory = NULL;
    TCGEMM_FORWARD(tcgemm_gpu_find(index, &device));
    tcgemm_gpu_t *const gpu = tcgemm_gpu(index);
    CUdeviceptr made = 0;
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status = tcgemm_gpu_check(
        gpu, tcgemm_driver(NULL)->alloc(&made, bytes ? bytes : 1), "allocating GPU memory");
    tcgemm_gpu_leave();
    *memory = (void *)(uintptr_t)made;
    return status;
}

tcgemm_status_t tcgemm_gpu_free(int index, void *memory) {
    const tcgemm_device_t *device;
    if (!memory)
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(tcgemm_gpu_find(index, &device));
    tcgemm_gpu_t *const gpu = tcgemm_gpu(index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status = tcgemm_gpu_check(
        gpu, tcgemm_driver(NULL)->release((CUdeviceptr)(uintptr_t)memory), "freeing GPU memory");
    tcgemm_gpu_leave();
    return status;
}

/* The driver's copy does not wait for what goes from GPU to GPU, nor for the last way of pageable
 * memory, and a stream that does not block would not come behind it: so we wait. */
static tcgemm_status_t copy_and_wait(tcgemm_gpu_t *gpu, void *to, const void *from, size_t bytes) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    TCGEMM_FORWARD(tcgemm_gpu_check(
        gpu, driver->copy((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes),
        "copying"));
    return tcgemm_gpu_check(gpu, driver->stream_synchronize(NULL), "waiting for a copy");
}

tcgemm_status_t tcgemm_gpu_copy(int index, void *to, const void *from, size_t bytes) {
    const tcgemm_device_t *device;
    TCGEMM_FORWARD(tcgemm_gpu_find(index, &device));
    tcgemm_gpu_t *const gpu = tcgemm_gpu(index);
    TCGEMM_FORWARD(tcgemm_gpu_enter(gpu));
    const tcgemm_status_t status = copy_and_wait(gpu, to, from, bytes);
    tcgemm_gpu_leave();
    return status;
}
