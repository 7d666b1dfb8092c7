/* cluster.cuh - the blocks of a cluster: who they are, a barrier of all of them, loads from the
 * shared memory of one another (sm_90), one instruction or two each. PTX ISA, Special Registers:
 * "%cluster_ctarank", "%cluster_nctarank"; Parallel Synchronization: "barrier.cluster"; Data
 * Movement and Conversion: "mapa", "ld".
 *
 * A launch without clusters has clusters of one block. What another block wrote to its shared
 * memory may be read once both have passed a barrier behind the writing, and until that block goes
 * past the next one: it must not write there nor end before.
 */
#ifndef TCGEMM_PTX_CLUSTER_CUH
#define TCGEMM_PTX_CLUSTER_CUH

#include <stdint.h>

static __device__ __forceinline__ uint32_t tcgemm_cluster_rank(void) {
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

static __device__ __forceinline__ uint32_t tcgemm_cluster_ranks(void) {
    uint32_t ranks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    return ranks;
}

/* The barrier, in two halves: all threads of all blocks arrive, those of a warp together. What they
 * wrote before can be seen by all who have waited; but not where they have only read, which costs
 * no waiting for stores that are under way. */
static __device__ __forceinline__ void tcgemm_cluster_arrive(void) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
static __device__ __forceinline__ void tcgemm_cluster_arrive_relaxed(void) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
static __device__ __forceinline__ void tcgemm_cluster_wait(void) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* 16 bytes at `from` of the shared memory of block `rank`. */
static __device__ __forceinline__ uint4 tcgemm_cluster_lds_128(uint32_t from, uint32_t rank) {
    uint4 v;
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [there];\n"
                 "}"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(from), "r"(rank)
                 : "memory");
    return v;
}

#endif
