/* copy.c - copies, synchronous and in streams. */
#include <stdlib.h>
#include <string.h>

#include "fake_driver/driver/state.h"

/* How far cuMemcpy waits ("API synchronization behavior" of the driver's manual): not at all
 * between two places on the GPU, and for pageable host memory only until it has been read. */
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(NULL);
    const bool to_device = fake_is_on_device((uintptr_t)to);
    const bool from_device = fake_is_on_device((uintptr_t)from);
    void *snapshot = NULL;
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (to_device && !from_device && !fake_is_pinned((uintptr_t)from)) {
        snapshot = malloc(bytes);
        if (!snapshot)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(snapshot, (void *)(uintptr_t)from, bytes);
    }
    fake_queue_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes, snapshot);
    if (!to_device || !(from_device || snapshot))
        fake_finish_stream(stream);
    return fake_current()->lost;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!fake_all_pinned((uintptr_t)from, bytes))
        fake_complain("an asynchronous copy from memory that is not pinned");
    fake_queue_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes, NULL);
    return CUDA_SUCCESS;
}

/* What is there until the copy runs stays: the same bytes may be the source of one before it. */
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!fake_all_pinned((uintptr_t)to, bytes))
        fake_complain("an asynchronous copy to memory that is not pinned");
    fake_queue_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes, NULL);
    return CUDA_SUCCESS;
}

enum { MAX_PITCH = 0x7FFFFFFF };

/* Lines between the GPU and host memory, the only kinds that we know. */
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *x, CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    const bool to_host = x->dstMemoryType == CU_MEMORYTYPE_HOST;
    const fake_lines_t lines = {.bytes = x->WidthInBytes,
                                .lines = x->Height,
                                .to_pitch = x->dstPitch,
                                .from_pitch = x->srcPitch};
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (x->srcMemoryType != (to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST) ||
        (!to_host && x->dstMemoryType != CU_MEMORYTYPE_DEVICE) || x->srcXInBytes || x->srcY ||
        x->dstXInBytes || x->dstY || x->srcPitch < x->WidthInBytes ||
        x->dstPitch < x->WidthInBytes || x->srcPitch > MAX_PITCH || x->dstPitch > MAX_PITCH)
        return CUDA_ERROR_INVALID_VALUE;
    const uintptr_t host = to_host ? (uintptr_t)x->dstHost : (uintptr_t)x->srcHost;
    const size_t pitch = to_host ? x->dstPitch : x->srcPitch;
    if (x->Height && !fake_all_pinned(host, (x->Height - 1) * pitch + x->WidthInBytes))
        fake_complain("an asynchronous copy of lines of memory that is not pinned");
    fake_queue_lines(stream, to_host ? host : (uintptr_t)x->dstDevice,
                     to_host ? (uintptr_t)x->srcDevice : host, &lines, NULL);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    const fake_lines_t lines = {.bytes = width, .lines = height, .to_pitch = pitch, .value = value};
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (width > pitch || pitch > MAX_PITCH)
        return CUDA_ERROR_INVALID_VALUE;
    fake_queue_set(stream, (uintptr_t)to, &lines);
    return CUDA_SUCCESS;
}
