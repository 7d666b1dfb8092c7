/* tma.cuh - the host model of src/gpu/ptx/tma.cuh (emulate/box.c). A map's bytes are a
 * tcgemm_tensor_t here (gpu/tensor_map.h). */
#ifndef TCGEMM_PTX_TMA_CUH
#define TCGEMM_PTX_TMA_CUH

#include "gpu/tensor_map.h"

static __forceinline__ void tcgemm_tma_prefetch(const tcgemm_tensor_map_t *map) {
    (void)map;
}

static __forceinline__ tcgemm_emulate_box_t tcgemm_emulate_box_at(const tcgemm_tensor_map_t *map,
                                                                  int32_t x, int32_t y, int32_t z) {
    tcgemm_tensor_t t;
    static_assert(sizeof t <= sizeof map->opaque, "tensor_map.h");
    memcpy(&t, map->opaque, sizeof t);
    return {t.base,
            {t.size[0], t.size[1], t.size[2]},
            {t.stride[0], t.stride[1]},
            {t.box[0], t.box[1], t.box[2]},
            t.element_bytes,
            t.rounds_to_tf32,
            {x, y, z}};
}

static __forceinline__ void tcgemm_emulate_load(uint32_t ranks, uint32_t to,
                                                const tcgemm_tensor_map_t *map, uint32_t barrier,
                                                int32_t x, int32_t y, int32_t z) {
    const tcgemm_emulate_box_t box = tcgemm_emulate_box_at(map, x, y, z);
    tcgemm_emulate_box_load(to, &box, barrier, ranks);
}

static __forceinline__ uint64_t tcgemm_l2_policy(bool leaves_first) {
    return leaves_first;
}

static __forceinline__ void tcgemm_tma_load_by(uint32_t to, const tcgemm_tensor_map_t *map,
                                               uint32_t barrier, int32_t x, int32_t y, int32_t z,
                                               uint64_t policy, TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    (void)policy;
    tcgemm_emulate_load(1u << tcgemm_emulate_cluster_rank(), to, map, barrier, x, y, z);
}

static __forceinline__ void tcgemm_tma_load(uint32_t to, const tcgemm_tensor_map_t *map,
                                            uint32_t barrier, int32_t x, int32_t y, int32_t z,
                                            TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_load(1u << tcgemm_emulate_cluster_rank(), to, map, barrier, x, y, z);
}

static __forceinline__ void tcgemm_tma_load_both(uint32_t to, const tcgemm_tensor_map_t *map,
                                                 uint32_t barrier, int32_t x, int32_t y, int32_t z,
                                                 TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_load(3, to, map, barrier, x, y, z);
}

static __forceinline__ void tcgemm_tma_store(const tcgemm_tensor_map_t *map, uint32_t from,
                                             int32_t x, int32_t y, int32_t z,
                                             TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_box_t box = tcgemm_emulate_box_at(map, x, y, z);
    tcgemm_emulate_box_store(from, &box);
}

static __forceinline__ void tcgemm_tma_commit(void) {
    tcgemm_emulate_box_commit();
}

template <int PENDING> static __forceinline__ void tcgemm_tma_wait_read(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_box_wait(PENDING);
}

static __forceinline__ void tcgemm_tma_fence(void) {
    tcgemm_emulate_box_fence();
}

#endif
