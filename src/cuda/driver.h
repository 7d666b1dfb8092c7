/* driver.h - libcuda, opened at run time: the library links with nothing of CUDA.
 *
 * The types are those of <cuda.h>, the functions members of tcgemm_driver(). A member's symbol is
 * the one that <cuda.h> names (cuMemAlloc is cuMemAlloc_v2 there), so types and functions agree
 * whatever the version of the driver.
 */
#ifndef TCGEMM_CUDA_DRIVER_H
#define TCGEMM_CUDA_DRIVER_H

#include <cuda.h>
#include <stdbool.h>

#include "base/error.h"

#define TCGEMM_DRIVER_FUNCTIONS(F)                                                                 \
    F(init, cuInit)                                                                                \
    F(driver_version, cuDriverGetVersion)                                                          \
    F(error_string, cuGetErrorString)                                                              \
    F(device_count, cuDeviceGetCount)                                                              \
    F(device, cuDeviceGet)                                                                         \
    F(device_name, cuDeviceGetName)                                                                \
    F(device_attribute, cuDeviceGetAttribute)                                                      \
    F(device_memory, cuDeviceTotalMem)                                                             \
    F(primary_retain, cuDevicePrimaryCtxRetain)                                                    \
    F(push, cuCtxPushCurrent)                                                                      \
    F(pop, cuCtxPopCurrent)                                                                        \
    F(module_load, cuModuleLoadData)                                                               \
    F(module_unload, cuModuleUnload)                                                               \
    F(module_function, cuModuleGetFunction)                                                        \
    F(function_attribute, cuFuncGetAttribute)                                                      \
    F(function_set, cuFuncSetAttribute)                                                            \
    F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)                                      \
    F(launch, cuLaunchKernel)                                                                      \
    F(pointer_attribute, cuPointerGetAttribute)                                                    \
    F(memory_info, cuMemGetInfo)                                                                   \
    F(alloc, cuMemAlloc)                                                                           \
    F(release, cuMemFree)                                                                          \
    F(alloc_async, cuMemAllocAsync)                                                                \
    F(release_async, cuMemFreeAsync)                                                               \
    F(alloc_pinned, cuMemHostAlloc)                                                                \
    F(release_pinned, cuMemFreeHost)                                                               \
    F(copy, cuMemcpy)                                                                              \
    F(to_device, cuMemcpyHtoDAsync)                                                                \
    F(to_host, cuMemcpyDtoHAsync)                                                                  \
    F(stream_create, cuStreamCreate)                                                               \
    F(stream_wait_event, cuStreamWaitEvent)                                                        \
    F(stream_synchronize, cuStreamSynchronize)                                                     \
    F(event_create, cuEventCreate)                                                                 \
    F(event_destroy, cuEventDestroy)                                                               \
    F(event_record, cuEventRecord)                                                                 \
    F(event_synchronize, cuEventSynchronize)                                                       \
    F(event_elapsed, cuEventElapsedTime)

#define TCGEMM_DRIVER_MEMBER(member, function) __typeof__(function) *member;
typedef struct tcgemm_driver {
    TCGEMM_DRIVER_FUNCTIONS(TCGEMM_DRIVER_MEMBER)
} tcgemm_driver_t;
#undef TCGEMM_DRIVER_MEMBER

/* The driver, opened and initialised, or NULL: then `why` (if not NULL) is a sentence. Tried once.
 */
const tcgemm_driver_t *tcgemm_driver(const char **why);

/* True if the process has libcuda in it, ours or the caller's; cheap, loads nothing. */
bool tcgemm_driver_is_present(void);

/* True in a child forked after the driver was initialised. */
bool tcgemm_driver_is_forked(void);

/* OK for CUDA_SUCCESS, else a status with a sentence: "<what>: <the driver's words>". */
tcgemm_status_t tcgemm_driver_status(CUresult result, const char *what);

/* True for an error that stays: everything in the context fails from then on. */
bool tcgemm_driver_error_is_sticky(CUresult result);

#endif
