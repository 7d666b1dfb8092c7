/* device.c - GPUs, primary contexts and each thread's stack of them. */
#include <stdio.h>
#include <string.h>

#include "fake_driver/driver/state.h"

enum { MAX_DEPTH = 16 };

#define GB ((size_t)1 << 30)

const fake_gpu_t fake_hopper = {"Fake H200", 90, 132, 140 * GB, 232448};
const fake_gpu_t fake_ampere = {"Fake A100", 80, 108, 40 * GB, 166912};
const fake_gpu_t fake_turing = {"Fake T4", 75, 40, 16 * GB, 65536};
const fake_gpu_t fake_pascal = {"Fake P40", 61, 30, 24 * GB, 49152};

struct CUctx_st fake_contexts[FAKE_MAX_GPUS] = {
    {.facts = {"Fake H200", 90, 132, 140 * GB, 232448}}};
int fake_num_gpus = 1;

static _Thread_local CUcontext stack[MAX_DEPTH];
static _Thread_local int depth;

void fake_set_gpus(int count, const fake_gpu_t *gpus) {
    fake_num_gpus = count;
    for (int i = 0; i < count; ++i)
        fake_contexts[i] = (struct CUctx_st){.facts = gpus[i], .index = i};
}

void fake_set_memory(int gpu, size_t bytes) {
    fake_contexts[gpu].facts.memory_bytes = bytes;
}

void fake_set_free_memory(int gpu, size_t bytes) {
    fake_contexts[gpu].others_bytes = fake_contexts[gpu].facts.memory_bytes - bytes;
}

CUcontext fake_current(void) {
    return depth > 0 ? stack[depth - 1] : NULL;
}

int fake_depth(void) {
    return depth;
}

/* ---- the driver and its devices ---- */

CUresult cuInit(unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_NOTHING);
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake_num_gpus == 0)
        return CUDA_ERROR_NO_DEVICE;
    for (int i = 0; i < fake_num_gpus; ++i)
        fake_contexts[i].legacy = (struct CUstream_st){
            .context = &fake_contexts[i], .is_blocking = true, .is_legacy = true, .is_live = true};
    fake_mark_initialised();
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    FAKE_CALL(FAKE_NEEDS_NOTHING);
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **words) {
    static const struct {
        CUresult result;
        const char *words;
    } known[] = {
        {CUDA_SUCCESS, "no error"},
        {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
        {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
        {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
        {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
        {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver "
                                            "combination"},
        {CUDA_ERROR_UNKNOWN, "unknown error"},
    };
    FAKE_CALL(FAKE_NEEDS_NOTHING);
    *words = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (known[i].result == error)
            *words = known[i].words;
    return *words ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    *count = fake_num_gpus;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    if (ordinal < 0 || ordinal >= fake_num_gpus)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    (void)snprintf(name, (size_t)size, "%s", fake_contexts[device].facts.name);
    return CUDA_SUCCESS;
}

static int attribute(const fake_gpu_t *gpu, CUdevice_attribute which) {
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return gpu->cc / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return gpu->cc % 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return gpu->num_sms;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return 1500000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return 2000000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return 4096;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return 32 << 20;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return (int)gpu->smem_block_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return (int)gpu->smem_block_bytes + 1024;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return gpu->cc >= 80 ? 1024 : 0;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return gpu->cc == 75 ? 1024 : 2048;
    default:
        return 0;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    if (device < 0 || device >= fake_num_gpus)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute(&fake_contexts[device].facts, which);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    *bytes = fake_contexts[device].facts.memory_bytes;
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    fake_contexts[device].retained += 1;
    *context = &fake_contexts[device];
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    if (fake_contexts[device].retained == 0)
        fake_complain("a primary context is released more often than retained");
    fake_contexts[device].retained -= 1;
    return CUDA_SUCCESS;
}

static bool is_retained(CUcontext context) {
    for (int i = 0; i < fake_num_gpus; ++i)
        if (context == &fake_contexts[i])
            return context->retained > 0;
    return false;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    if (!is_retained(context) || depth == MAX_DEPTH) {
        fake_complain("a context is pushed that nobody retains, or too deep");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    if (depth == 0) {
        fake_complain("a context is popped off an empty stack");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    *context = fake_current();
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    fake_finish_all();
    return fake_current()->lost;
}
