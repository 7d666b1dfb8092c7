/* mbarrier.cuh - the host model of src/gpu/ptx/mbarrier.cuh (emulate/mbarrier.c). */
#ifndef TCGEMM_PTX_MBARRIER_CUH
#define TCGEMM_PTX_MBARRIER_CUH

static __forceinline__ void tcgemm_mbarrier_init(uint32_t barrier, uint32_t arrivals,
                                                 TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_mbarrier_init(barrier, arrivals);
}

static __forceinline__ void tcgemm_mbarrier_fence_init(void) {
    tcgemm_emulate_mbarrier_fence_init();
}

static __forceinline__ void tcgemm_mbarrier_arrive(uint32_t barrier, TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_mbarrier_arrive(barrier, 0);
}

static __forceinline__ void tcgemm_mbarrier_arrive_at(uint32_t barrier, uint32_t rank,
                                                      TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_mbarrier_arrive_at(barrier, rank);
}

static __forceinline__ void tcgemm_mbarrier_arrive_expect(uint32_t barrier, uint32_t bytes,
                                                          TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_mbarrier_arrive(barrier, bytes);
}

static __forceinline__ void tcgemm_mbarrier_wait(uint32_t barrier, uint32_t parity,
                                                 TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_mbarrier_wait(barrier, parity);
}

#endif
