/* shared.cuh - the host model of src/gpu/ptx/shared.cuh. */
#ifndef TCGEMM_PTX_SHARED_CUH
#define TCGEMM_PTX_SHARED_CUH

#define TCGEMM_SHARED_ARRAY(type, name, count)                                                     \
    type *const name = (type *)tcgemm_emulate_static_shared(sizeof(type) * (count))

static __forceinline__ uint32_t tcgemm_lds_32(uint32_t from) {
    return tcgemm_emulate_lds_32(from);
}

static __forceinline__ void tcgemm_sts_32(uint32_t to, uint32_t value) {
    tcgemm_emulate_sts_32(to, value);
}

static __forceinline__ void tcgemm_sts_64(uint32_t to, uint2 value) {
    tcgemm_emulate_sts_64(to, {{value.x, value.y}});
}

#endif
