/* driver.h - libcuda, opened at run time: the library links with nothing of CUDA.
 *
 * The types are those of <cuda.h>, the functions members of tcgemm_driver(). A member's symbol is
 * the one that <cuda.h> names (cuMemAlloc is cuMemAlloc_v2 there), so types and functions agree
 * whatever the version of the driver.
 *
 * Each function serves a feature. A driver that lacks a function of TCGEMM_DRIVER_CORE is too old
 * for everything; one that lacks another loses that feature alone: who is about to use it asks
 * tcgemm_driver_has() or tcgemm_driver_need() first. The members are NULL then.
 */
#ifndef TCGEMM_CUDA_DRIVER_H
#define TCGEMM_CUDA_DRIVER_H

#include <cuda.h>
#include <stdbool.h>

#include "base/error.h"

typedef enum tcgemm_driver_feature {
    TCGEMM_DRIVER_CORE,
    TCGEMM_DRIVER_WORDS,         /* the sentence of an error, the driver's version */
    TCGEMM_DRIVER_POINTERS,      /* all facts of a pointer at once; else one by one */
    TCGEMM_DRIVER_NAMES,         /* names of GPUs */
    TCGEMM_DRIVER_LARGE_SMEM,    /* more than 48 KB of shared memory a block */
    TCGEMM_DRIVER_REGISTERS,     /* what a kernel really takes; else measured/registers.def */
    TCGEMM_DRIVER_OCCUPANCY,     /* how many blocks fit; else gpu/launch.h */
    TCGEMM_DRIVER_MEMORY_INFO,   /* free memory; else half of all */
    TCGEMM_DRIVER_STREAM_MEMORY, /* a workspace of our own in a stream */
    TCGEMM_DRIVER_TIMING,        /* the GPU's own clock; else ours */
    TCGEMM_DRIVER_STAGING,       /* host matrices */
    TCGEMM_DRIVER_TENSOR_MAPS,   /* kernels that fetch by them, launches that overlap (sm_90) */
    TCGEMM_DRIVER_NUM_FEATURES
} tcgemm_driver_feature_t;

#define TCGEMM_DRIVER_FUNCTIONS(F)                                                                 \
    F(init, cuInit, CORE)                                                                          \
    F(device_count, cuDeviceGetCount, CORE)                                                        \
    F(device, cuDeviceGet, CORE)                                                                   \
    F(device_attribute, cuDeviceGetAttribute, CORE)                                                \
    F(device_memory, cuDeviceTotalMem, CORE)                                                       \
    F(primary_retain, cuDevicePrimaryCtxRetain, CORE)                                              \
    F(push, cuCtxPushCurrent, CORE)                                                                \
    F(pop, cuCtxPopCurrent, CORE)                                                                  \
    F(module_load, cuModuleLoadData, CORE)                                                         \
    F(module_function, cuModuleGetFunction, CORE)                                                  \
    F(launch, cuLaunchKernel, CORE)                                                                \
    F(pointer_attribute, cuPointerGetAttribute, CORE)                                              \
    F(pointer_attributes, cuPointerGetAttributes, POINTERS)                                        \
    F(alloc, cuMemAlloc, CORE)                                                                     \
    F(release, cuMemFree, CORE)                                                                    \
    F(copy, cuMemcpy, CORE)                                                                        \
    F(stream_synchronize, cuStreamSynchronize, CORE)                                               \
    F(driver_version, cuDriverGetVersion, WORDS)                                                   \
    F(error_string, cuGetErrorString, WORDS)                                                       \
    F(device_name, cuDeviceGetName, NAMES)                                                         \
    F(function_set, cuFuncSetAttribute, LARGE_SMEM)                                                \
    F(function_attribute, cuFuncGetAttribute, REGISTERS)                                           \
    F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, OCCUPANCY)                           \
    F(memory_info, cuMemGetInfo, MEMORY_INFO)                                                      \
    F(pool_create, cuMemPoolCreate, STREAM_MEMORY)                                                 \
    F(pool_set, cuMemPoolSetAttribute, STREAM_MEMORY)                                              \
    F(alloc_from_pool, cuMemAllocFromPoolAsync, STREAM_MEMORY)                                     \
    F(release_async, cuMemFreeAsync, STREAM_MEMORY)                                                \
    F(event_elapsed, cuEventElapsedTime, TIMING)                                                   \
    F(event_create, cuEventCreate, STAGING)                                                        \
    F(event_destroy, cuEventDestroy, STAGING)                                                      \
    F(event_record, cuEventRecord, STAGING)                                                        \
    F(event_synchronize, cuEventSynchronize, STAGING)                                              \
    F(stream_create, cuStreamCreate, STAGING)                                                      \
    F(event_query, cuEventQuery, STAGING)                                                          \
    F(stream_wait_event, cuStreamWaitEvent, STAGING)                                               \
    F(alloc_pinned, cuMemHostAlloc, STAGING)                                                       \
    F(to_device, cuMemcpyHtoDAsync, STAGING)                                                       \
    F(to_host, cuMemcpyDtoHAsync, STAGING)                                                         \
    F(copy_lines, cuMemcpy2DAsync, STAGING)                                                        \
    F(set_lines, cuMemsetD2D8Async, STAGING)                                                       \
    F(encode_tiled, cuTensorMapEncodeTiled, TENSOR_MAPS)                                           \
    F(launch_overlapping, cuLaunchKernelEx, TENSOR_MAPS)

#define TCGEMM_DRIVER_MEMBER(member, function, feature) __typeof__(function) *member;
typedef struct tcgemm_driver {
    TCGEMM_DRIVER_FUNCTIONS(TCGEMM_DRIVER_MEMBER)
} tcgemm_driver_t;
#undef TCGEMM_DRIVER_MEMBER

/* The driver, opened and initialised, or NULL: then `why` (if not NULL) is a sentence. Tried once.
 */
const tcgemm_driver_t *tcgemm_driver(const char **why);

/* True if the driver has every function of the feature. */
bool tcgemm_driver_has(tcgemm_driver_feature_t feature);

/* OK, or UNSUPPORTED: "<what> needs <function>, which this NVIDIA driver (CUDA 11.0) lacks". */
tcgemm_status_t tcgemm_driver_need(tcgemm_driver_feature_t feature, const char *what);

/* True if the process has libcuda in it, ours or the caller's; cheap, loads nothing. */
bool tcgemm_driver_is_present(void);

/* True in a child forked after the driver was initialised. */
bool tcgemm_driver_is_forked(void);

/* OK for CUDA_SUCCESS, else a status with a sentence: "<what>: <the driver's words>". */
tcgemm_status_t tcgemm_driver_status(CUresult result, const char *what);

/* True for an error that stays: everything in the context fails from then on. */
bool tcgemm_driver_error_is_sticky(CUresult result);

#endif
