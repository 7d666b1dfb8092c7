/* ldg.cuh - the host model of src/gpu/ptx/ldg.cuh: a load like any other. */
#ifndef TCGEMM_PTX_LDG_CUH
#define TCGEMM_PTX_LDG_CUH

static __forceinline__ void tcgemm_ldg_once_16(uint32_t *to, const void *from) {
    const uint4 v = *(const uint4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

#endif
