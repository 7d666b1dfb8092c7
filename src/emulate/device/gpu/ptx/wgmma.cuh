/* wgmma.cuh - the host model of src/gpu/ptx/wgmma.cuh (emulate/wgmma.c). Descriptors have the bits
 * of the hardware. */
#ifndef TCGEMM_PTX_WGMMA_CUH
#define TCGEMM_PTX_WGMMA_CUH

static __forceinline__ uint64_t tcgemm_wgmma_operand(uint32_t at, uint32_t next_bytes,
                                                     uint32_t group_bytes) {
    return (uint64_t)(at >> 4 & 0x3FFF) | (uint64_t)(next_bytes >> 4) << 16 |
           (uint64_t)(group_bytes >> 4) << 32 | (uint64_t)1 << 62;
}

static __forceinline__ uint64_t tcgemm_wgmma_advance(uint64_t operand, uint32_t bytes) {
    return operand + (bytes >> 4);
}

static __forceinline__ void tcgemm_wgmma_fence(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_wgmma_fence();
}

static __forceinline__ void tcgemm_wgmma_commit(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_wgmma_commit();
}

template <int PENDING> static __forceinline__ void tcgemm_wgmma_wait(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_wgmma_wait(PENDING);
}

enum tcgemm_wgmma_kind {
    TCGEMM_WGMMA_F16,
    TCGEMM_WGMMA_BF16,
    TCGEMM_WGMMA_TF32,
    TCGEMM_WGMMA_E4M3,
    TCGEMM_WGMMA_E5M2,
    TCGEMM_WGMMA_S8,
    TCGEMM_WGMMA_U8,
    TCGEMM_WGMMA_U8S8,
    TCGEMM_WGMMA_S8U8
};

/* ---- what the kinds are ---- */

template <int A, int B, class SUM, bool IS_16_BIT> struct tcgemm_wgmma_types {
    typedef SUM sum;
    static constexpr bool BY_MN = IS_16_BIT;
    static constexpr tcgemm_emulate_element_t A_TYPE = (tcgemm_emulate_element_t)A;
    static constexpr tcgemm_emulate_element_t B_TYPE = (tcgemm_emulate_element_t)B;
};
template <int KIND> struct tcgemm_wgmma_of;
#define TCGEMM_WGMMA_OF(kind, a, b, sum, is_16_bit)                                                \
    template <>                                                                                    \
    struct tcgemm_wgmma_of<TCGEMM_WGMMA_##kind>                                                    \
        : tcgemm_wgmma_types<TCGEMM_EMULATE_##a, TCGEMM_EMULATE_##b, sum, is_16_bit> {};
TCGEMM_WGMMA_OF(F16, F16, F16, float, true)
TCGEMM_WGMMA_OF(BF16, BF16, BF16, float, true)
TCGEMM_WGMMA_OF(TF32, TF32, TF32, float, false)
TCGEMM_WGMMA_OF(E4M3, E4M3, E4M3, float, false)
TCGEMM_WGMMA_OF(E5M2, E5M2, E5M2, float, false)
TCGEMM_WGMMA_OF(S8, S8, S8, uint32_t, false)
TCGEMM_WGMMA_OF(U8, U8, U8, uint32_t, false)
TCGEMM_WGMMA_OF(U8S8, U8, S8, uint32_t, false)
TCGEMM_WGMMA_OF(S8U8, S8, U8, uint32_t, false)

template <int KIND, int N> struct tcgemm_wgmma {
    typedef tcgemm_wgmma_of<KIND> of;
    static_assert(N == 16 || N == 32 || N == 64 || N == 96 || N == 128 || N == 176 || N == 192 ||
                      N == 224 || N == 256,
                  "the widths of gpu/ptx/wgmma.cuh");
    template <int A_MN, int B_MN>
    static __forceinline__ void run(typename of::sum (&c)[N / 2], uint64_t a, uint64_t b, int add,
                                    TCGEMM_EMULATE_CALLER) {
        static_assert(of::BY_MN || (A_MN == 0 && B_MN == 0), "k contiguous");
        TCGEMM_EMULATE_HERE();
        tcgemm_emulate_wgmma(c, {of::A_TYPE, of::B_TYPE, N, A_MN, B_MN, add, a, b, nullptr});
    }
};

template <int KIND, int N> struct tcgemm_wgmma_registers {
    typedef tcgemm_wgmma_of<KIND> of;
    static_assert(KIND == TCGEMM_WGMMA_TF32, "the kinds of gpu/ptx/wgmma.cuh");
    static __forceinline__ void run(float (&c)[N / 2], const uint32_t (&a)[4], uint64_t b, int add,
                                    TCGEMM_EMULATE_CALLER) {
        TCGEMM_EMULATE_HERE();
        tcgemm_emulate_wgmma(c, {of::A_TYPE, of::B_TYPE, N, 0, 0, add, 0, b, a});
    }
};

#endif
