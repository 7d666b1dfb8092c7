/* mbarrier.cuh - barriers in shared memory that count arrivals and bytes (sm_90), one instruction
 * each. PTX ISA, Parallel Synchronization: "mbarrier", "fence.mbarrier_init"; Data Movement and
 * Conversion: "mapa".
 *
 * A barrier is 8 bytes at an address divisible by 8. A phase ends when as many threads have arrived
 * as the barrier was made for and all the bytes that were announced have come; phases are told
 * apart by parity, 0 for the first.
 */
#ifndef TCGEMM_PTX_MBARRIER_CUH
#define TCGEMM_PTX_MBARRIER_CUH

#include <stdint.h>

static __device__ __forceinline__ void tcgemm_mbarrier_init(uint32_t barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

/* Makes barriers that this thread has made known to bulk copies. */
static __device__ __forceinline__ void tcgemm_mbarrier_fence_init(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void tcgemm_mbarrier_arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives at the barrier of block `rank` of the cluster, at this place of its shared memory. Of it
 * its block must have told the cluster, and it may not have ended. */
static __device__ __forceinline__ void tcgemm_mbarrier_arrive_at(uint32_t barrier, uint32_t rank) {
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

/* Arrives, and announces so many bytes for this phase. */
static __device__ __forceinline__ void tcgemm_mbarrier_arrive_expect(uint32_t barrier,
                                                                     uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/* Waits until the phase of this parity has ended; what was arrived with is visible then. */
static __device__ __forceinline__ void tcgemm_mbarrier_wait(uint32_t barrier, uint32_t parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra over;\n"
                 "bra again;\n"
                 "over:\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

#endif
