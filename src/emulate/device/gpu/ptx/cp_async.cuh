/* cp_async.cuh - the host model of src/gpu/ptx/cp_async.cuh: the same functions, played by the
 * machine (emulate/copy.c). */
#ifndef TCGEMM_PTX_CP_ASYNC_CUH
#define TCGEMM_PTX_CP_ASYNC_CUH

static __forceinline__ uint32_t tcgemm_smem_address(const void *p) {
    return tcgemm_emulate_shared_address(p);
}

static __forceinline__ void tcgemm_cp_async_16(uint32_t to, const void *from, uint32_t bytes) {
    tcgemm_emulate_cp_async(to, from, 16, bytes);
}

static __forceinline__ void tcgemm_cp_async_8(uint32_t to, const void *from, uint32_t bytes) {
    tcgemm_emulate_cp_async(to, from, 8, bytes);
}

static __forceinline__ void tcgemm_cp_async_4(uint32_t to, const void *from, uint32_t bytes) {
    tcgemm_emulate_cp_async(to, from, 4, bytes);
}

static __forceinline__ void tcgemm_cp_async_4_if(uint32_t to, const void *from, bool reads) {
    tcgemm_emulate_cp_async(to, from, 4, reads ? 4 : 0);
}

static __forceinline__ void tcgemm_cp_async_commit(void) {
    tcgemm_emulate_cp_async_commit();
}

template <int PENDING> static __forceinline__ void tcgemm_cp_async_wait(void) {
    tcgemm_emulate_cp_async_wait(PENDING);
}

static __forceinline__ void tcgemm_cp_async_arrive(uint32_t barrier) {
    tcgemm_emulate_cp_async_arrive(barrier);
}

#endif
