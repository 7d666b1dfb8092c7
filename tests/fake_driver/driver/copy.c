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
    if (!fake_is_pinned((uintptr_t)from))
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
    if (!fake_is_pinned((uintptr_t)to))
        fake_complain("an asynchronous copy to memory that is not pinned");
    fake_queue_copy(stream, (uintptr_t)to, (uintptr_t)from, bytes, NULL);
    return CUDA_SUCCESS;
}
