/* cluster.cuh - the host model of src/gpu/ptx/cluster.cuh (emulate/cluster.c). */
#ifndef TCGEMM_PTX_CLUSTER_CUH
#define TCGEMM_PTX_CLUSTER_CUH

static __forceinline__ uint32_t tcgemm_cluster_rank(void) {
    return tcgemm_emulate_cluster_rank();
}

static __forceinline__ uint32_t tcgemm_cluster_ranks(void) {
    return tcgemm_emulate_cluster_ranks();
}

static __forceinline__ void tcgemm_cluster_arrive(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_cluster_arrive(1);
}

static __forceinline__ void tcgemm_cluster_arrive_relaxed(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_cluster_arrive(0);
}

static __forceinline__ void tcgemm_cluster_wait(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_cluster_wait();
}

static __forceinline__ uint4 tcgemm_cluster_lds_128(uint32_t from, uint32_t rank,
                                                    TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_u4_t v = tcgemm_emulate_cluster_lds_128(from, rank);
    return make_uint4(v.r[0], v.r[1], v.r[2], v.r[3]);
}

#endif
