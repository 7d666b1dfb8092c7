/* mma.cuh - the host model of src/gpu/ptx/mma.cuh: registers go to the machine and come back
 * (emulate/product.c). */
#ifndef TCGEMM_PTX_MMA_CUH
#define TCGEMM_PTX_MMA_CUH

/* ---- 16-bit ---- */

static __forceinline__ void tcgemm_mma_m16n8k16_f32_f16(float c[4], const uint32_t a[4],
                                                        const uint32_t b[2],
                                                        TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_f4_t r =
        tcgemm_emulate_mma_f32(TCGEMM_EMULATE_F16, 16, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k16_f16_f16(uint32_t c[2], const uint32_t a[4],
                                                        const uint32_t b[2],
                                                        TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u2_t r =
        tcgemm_emulate_mma_f16(16, {{c[0], c[1]}}, {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k8_f32_f16(float c[4], const uint32_t a[2],
                                                       const uint32_t b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_f4_t r = tcgemm_emulate_mma_f32(
        TCGEMM_EMULATE_F16, 8, {{c[0], c[1], c[2], c[3]}}, {{a[0], a[1]}}, {{b[0]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k8_f16_f16(uint32_t c[2], const uint32_t a[2],
                                                       const uint32_t b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u2_t r =
        tcgemm_emulate_mma_f16(8, {{c[0], c[1]}}, {{a[0], a[1]}}, {{b[0]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k16_f32_bf16(float c[4], const uint32_t a[4],
                                                         const uint32_t b[2],
                                                         TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_f4_t r =
        tcgemm_emulate_mma_f32(TCGEMM_EMULATE_BF16, 16, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

/* ---- tf32 ---- */

static __forceinline__ void tcgemm_mma_m16n8k8_f32_tf32(float c[4], const uint32_t a[4],
                                                        const uint32_t b[2],
                                                        TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_f4_t r =
        tcgemm_emulate_mma_f32(TCGEMM_EMULATE_TF32, 8, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

/* ---- 8-bit ---- */

static __forceinline__ void tcgemm_mma_m16n8k32_s8_s8(uint32_t c[4], const uint32_t a[4],
                                                      const uint32_t b[2], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r =
        tcgemm_emulate_mma_s32(TCGEMM_EMULATE_S8, TCGEMM_EMULATE_S8, 16, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m8n8k16_s8_s8(uint32_t c[2], const uint32_t a[1],
                                                     const uint32_t b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r = tcgemm_emulate_mma_s32(TCGEMM_EMULATE_S8, TCGEMM_EMULATE_S8, 8,
                                                         {{c[0], c[1]}}, {{a[0]}}, {{b[0]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k32_s8_u8(uint32_t c[4], const uint32_t a[4],
                                                      const uint32_t b[2], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r =
        tcgemm_emulate_mma_s32(TCGEMM_EMULATE_S8, TCGEMM_EMULATE_U8, 16, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m8n8k16_s8_u8(uint32_t c[2], const uint32_t a[1],
                                                     const uint32_t b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r = tcgemm_emulate_mma_s32(TCGEMM_EMULATE_S8, TCGEMM_EMULATE_U8, 8,
                                                         {{c[0], c[1]}}, {{a[0]}}, {{b[0]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k32_u8_s8(uint32_t c[4], const uint32_t a[4],
                                                      const uint32_t b[2], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r =
        tcgemm_emulate_mma_s32(TCGEMM_EMULATE_U8, TCGEMM_EMULATE_S8, 16, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m8n8k16_u8_s8(uint32_t c[2], const uint32_t a[1],
                                                     const uint32_t b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r = tcgemm_emulate_mma_s32(TCGEMM_EMULATE_U8, TCGEMM_EMULATE_S8, 8,
                                                         {{c[0], c[1]}}, {{a[0]}}, {{b[0]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k32_u8_u8(uint32_t c[4], const uint32_t a[4],
                                                      const uint32_t b[2], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r =
        tcgemm_emulate_mma_s32(TCGEMM_EMULATE_U8, TCGEMM_EMULATE_U8, 16, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m8n8k16_u8_u8(uint32_t c[2], const uint32_t a[1],
                                                     const uint32_t b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t r = tcgemm_emulate_mma_s32(TCGEMM_EMULATE_U8, TCGEMM_EMULATE_U8, 8,
                                                         {{c[0], c[1]}}, {{a[0]}}, {{b[0]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

/* ---- fp8 ---- */

static __forceinline__ void tcgemm_mma_m16n8k32_f32_e4m3(float c[4], const uint32_t a[4],
                                                         const uint32_t b[2],
                                                         TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_f4_t r =
        tcgemm_emulate_mma_f32(TCGEMM_EMULATE_E4M3, 32, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k32_f32_e5m2(float c[4], const uint32_t a[4],
                                                         const uint32_t b[2],
                                                         TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_f4_t r =
        tcgemm_emulate_mma_f32(TCGEMM_EMULATE_E5M2, 32, {{c[0], c[1], c[2], c[3]}},
                               {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

/* ---- f64 ---- */

static __forceinline__ void tcgemm_mma_m8n8k4_f64(double c[2], const double a[1], const double b[1],
                                                  TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_d4_t r = tcgemm_emulate_mma_f64(8, 4, {{c[0], c[1]}}, {{a[0]}}, {{b[0]}});
    for (int i = 0; i < 2; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k4_f64(double c[4], const double a[2],
                                                   const double b[1], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_d4_t r =
        tcgemm_emulate_mma_f64(16, 4, {{c[0], c[1], c[2], c[3]}}, {{a[0], a[1]}}, {{b[0]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k8_f64(double c[4], const double a[4],
                                                   const double b[2], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_d4_t r = tcgemm_emulate_mma_f64(
        16, 8, {{c[0], c[1], c[2], c[3]}}, {{a[0], a[1], a[2], a[3]}}, {{b[0], b[1]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

static __forceinline__ void tcgemm_mma_m16n8k16_f64(double c[4], const double a[8],
                                                    const double b[4], TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_d4_t r = tcgemm_emulate_mma_f64(
        16, 16, {{c[0], c[1], c[2], c[3]}}, {{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]}},
        {{b[0], b[1], b[2], b[3]}});
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

#endif
