/* tma.cuh - copies of boxes of a tensor by the tensor memory accelerator (sm_90), one instruction
 * each. PTX ISA, Data Movement and Conversion: "cp.async.bulk.tensor", "prefetch.tensormap",
 * "createpolicy", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group"; "membar / fence".
 *
 * A box begins at element (x, y, z) of the tensor that the map describes, x contiguous; elements
 * outside the tensor come as zeros, and are not written. One thread asks. A box that comes counts
 * towards the bytes that `barrier` was told to expect. Of boxes that leave, the thread that asked
 * waits until all but the newest `pending` groups are read, and their places may be written again.
 * What threads have written to shared memory leaves only if each has called the fence before the
 * one that asks came to know of it.
 */
#ifndef TCGEMM_PTX_TMA_CUH
#define TCGEMM_PTX_TMA_CUH

#include <stdint.h>

#include "gpu/tensor_map.h"

static __device__ __forceinline__ void tcgemm_tma_prefetch(const tcgemm_tensor_map_t *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* What an access tells the L2 of its lines: that they are the first to leave it, as createpolicy
 * writes L2::evict_first for all of an access, or nothing. Of L2::evict_normal it makes something
 * else, with which all of wgmma takes 1.2 to 1.5 times as long (H200). */
static __device__ __forceinline__ uint64_t tcgemm_l2_policy(bool leaves_first) {
    return leaves_first ? 0x12f0000000000000 : 0x1000000000000000;
}

static __device__ __forceinline__ void tcgemm_tma_load_by(uint32_t to,
                                                          const tcgemm_tensor_map_t *map,
                                                          uint32_t barrier, int32_t x, int32_t y,
                                                          int32_t z, uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "l"(policy)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_tma_load(uint32_t to, const tcgemm_tensor_map_t *map,
                                                       uint32_t barrier, int32_t x, int32_t y,
                                                       int32_t z) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* To the same place of the shared memory of ranks 0 and 1 of the cluster, and counted by the
 * barrier at the same place there. */
static __device__ __forceinline__ void tcgemm_tma_load_both(uint32_t to,
                                                            const tcgemm_tensor_map_t *map,
                                                            uint32_t barrier, int32_t x, int32_t y,
                                                            int32_t z) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"((uint16_t)3)
                 : "memory");
}

static __device__ __forceinline__ void
tcgemm_tma_store(const tcgemm_tensor_map_t *map, uint32_t from, int32_t x, int32_t y, int32_t z) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                 "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(from), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_tma_commit(void) {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <int PENDING> static __device__ __forceinline__ void tcgemm_tma_wait_read(void) {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

static __device__ __forceinline__ void tcgemm_tma_fence(void) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
