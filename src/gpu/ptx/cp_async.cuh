/* cp_async.cuh - asynchronous copies from global to shared memory (sm_80), one instruction each.
 * PTX ISA, Data Movement and Conversion: "cp.async", "cp.async.commit_group",
 * "cp.async.wait_group".
 *
 * `bytes` of the source are read, 0 to the size of the copy; the rest is filled with zeros, and
 * with 0 the source is not touched. Both addresses are aligned to the size of the copy.
 */
#ifndef TCGEMM_PTX_CP_ASYNC_CUH
#define TCGEMM_PTX_CP_ASYNC_CUH

#include <stdint.h>

/* The 32-bit shared-window address that these instructions take. */
static __device__ __forceinline__ uint32_t tcgemm_smem_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* 16 bytes, past L1. */
static __device__ __forceinline__ void tcgemm_cp_async_16(uint32_t to, const void *from,
                                                          uint32_t bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

/* 8 bytes, through L1. */
static __device__ __forceinline__ void tcgemm_cp_async_8(uint32_t to, const void *from,
                                                         uint32_t bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

/* 4 bytes, through L1. */
static __device__ __forceinline__ void tcgemm_cp_async_4(uint32_t to, const void *from,
                                                         uint32_t bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

/* The same, of all four bytes, or of none (ignore-src). */
static __device__ __forceinline__ void tcgemm_cp_async_4_if(uint32_t to, const void *from,
                                                            bool reads) {
    asm volatile("{\n\t"
                 ".reg .pred ignored;\n\t"
                 "setp.eq.u32 ignored, %2, 0;\n\t"
                 "cp.async.ca.shared.global [%0], [%1], 4, ignored;\n\t"
                 "}" ::"r"(to),
                 "l"(from), "r"((uint32_t)reads)
                 : "memory");
}

/* Closes a group of this thread's copies; an empty group is legal. */
static __device__ __forceinline__ void tcgemm_cp_async_commit(void) {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most PENDING of this thread's newest groups are in flight. */
template <int PENDING> static __device__ __forceinline__ void tcgemm_cp_async_wait(void) {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* "cp.async.mbarrier.arrive": arrives at `barrier` once all that this thread has asked for is
 * there, as one of those that it was made for (sm_90's mbarrier.cuh); the thread goes on. */
static __device__ __forceinline__ void tcgemm_cp_async_arrive(uint32_t barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/* PTX ISA, Parallel Synchronization: "fence.proxy.async". Makes ordinary writes to shared memory
 * visible to wgmma and to bulk copies (sm_90). */
static __device__ __forceinline__ void tcgemm_fence_proxy_async_shared(void) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
