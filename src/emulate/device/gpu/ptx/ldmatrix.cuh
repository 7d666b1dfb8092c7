/* ldmatrix.cuh - the host model of src/gpu/ptx/ldmatrix.cuh (emulate/shared_access.c). */
#ifndef TCGEMM_PTX_LDMATRIX_CUH
#define TCGEMM_PTX_LDMATRIX_CUH

static __forceinline__ void tcgemm_ldmatrix_x4(uint32_t r[4], uint32_t from,
                                               TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t v = tcgemm_emulate_ldmatrix_x4(from, 0);
    r[0] = v.r[0], r[1] = v.r[1], r[2] = v.r[2], r[3] = v.r[3];
}

static __forceinline__ void tcgemm_ldmatrix_x4_trans(uint32_t r[4], uint32_t from,
                                                     TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t v = tcgemm_emulate_ldmatrix_x4(from, 1);
    r[0] = v.r[0], r[1] = v.r[1], r[2] = v.r[2], r[3] = v.r[3];
}

static __forceinline__ void tcgemm_lds_32(uint32_t *r, uint32_t from) {
    *r = tcgemm_emulate_lds_32(from);
}

static __forceinline__ void tcgemm_lds_64(uint32_t r[2], uint32_t from) {
    const tcgemm_emulate_u2_t v = tcgemm_emulate_lds_64(from);
    r[0] = v.r[0], r[1] = v.r[1];
}

static __forceinline__ void tcgemm_lds_128(uint32_t r[4], uint32_t from) {
    const tcgemm_emulate_u4_t v = tcgemm_emulate_lds_128(from);
    for (int i = 0; i < 4; ++i)
        r[i] = v.r[i];
}

static __forceinline__ void tcgemm_lds_128_f32_if(float r[4], uint32_t from, bool wanted) {
    if (!wanted)
        return;
    const tcgemm_emulate_u4_t v = tcgemm_emulate_lds_128(from);
    memcpy(r, v.r, sizeof v.r);
}

static __forceinline__ void tcgemm_lds_128_f64_if(double r[2], uint32_t from, bool wanted) {
    if (!wanted)
        return;
    const tcgemm_emulate_d2_t v = tcgemm_emulate_lds_128_f64(from);
    r[0] = v.r[0], r[1] = v.r[1];
}

static __forceinline__ void tcgemm_lds_64_f64_if(double *r, uint32_t from, bool wanted) {
    if (!wanted)
        return;
    const tcgemm_emulate_u2_t v = tcgemm_emulate_lds_64(from);
    memcpy(r, v.r, sizeof *r);
}

static __forceinline__ void tcgemm_sts_128(uint32_t to, uint4 v) {
    tcgemm_emulate_sts_128(to, {{v.x, v.y, v.z, v.w}});
}

static __forceinline__ uint32_t tcgemm_prmt(uint32_t a, uint32_t b, uint32_t which) {
    return __byte_perm(a, b, which);
}

#endif
