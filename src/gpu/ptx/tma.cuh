/* tma.cuh - copies of boxes of a tensor by the tensor memory accelerator (sm_90), one instruction
 * each. PTX ISA, Data Movement and Conversion: "cp.async.bulk.tensor", "prefetch.tensormap".
 *
 * A box begins at element (x, y, z) of the tensor that the map describes, x contiguous; elements
 * outside the tensor come as zeros. One thread asks; the whole box counts towards the bytes that
 * `barrier` was told to expect.
 */
#ifndef TCGEMM_PTX_TMA_CUH
#define TCGEMM_PTX_TMA_CUH

#include <stdint.h>

#include "gpu/tensor_map.h"

static __device__ __forceinline__ void tcgemm_tma_prefetch(const tcgemm_tensor_map_t *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

static __device__ __forceinline__ void tcgemm_tma_load(uint32_t to, const tcgemm_tensor_map_t *map,
                                                       uint32_t barrier, int32_t x, int32_t y,
                                                       int32_t z) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

#endif
