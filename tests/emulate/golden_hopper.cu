/* golden_hopper.cu - the kernels of golden_hopper.h. The same source for the GPU (record_hopper.cu
 * includes it) and for the emulator. */
#include <stdint.h>
#include <string.h>

#include "emulate/golden_hopper.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/mbarrier.cuh"
#include "gpu/ptx/tma.cuh"
#include "gpu/ptx/wgmma.cuh"

#define HOPPER_KERNEL(name)                                                                        \
    extern "C" __global__ void name(const __grid_constant__ tcgemm_tensor_args_t x)

extern __shared__ __align__(1024) uint32_t golden_memory[];

static __device__ uint32_t begin(void) {
    const uint32_t smem = tcgemm_smem_address(golden_memory);
    if (threadIdx.x == 0) {
        tcgemm_mbarrier_init(smem + HOPPER_BARRIER, 1);
        tcgemm_mbarrier_fence_init();
    }
    __syncthreads();
    return smem;
}

/* args: m lines in all, lda, ldb, ldc where the box begins, d the output. */
HOPPER_KERNEL(golden_box) {
    const uint32_t smem = begin(), lines = (uint32_t)x.args.m;
    if (threadIdx.x == 0) {
        tcgemm_mbarrier_arrive_expect(smem + HOPPER_BARRIER, lines * 128);
        tcgemm_tma_load(smem, &x.a, smem + HOPPER_BARRIER, (int32_t)x.args.lda, (int32_t)x.args.ldb,
                        (int32_t)x.args.ldc);
    }
    tcgemm_mbarrier_wait(smem + HOPPER_BARRIER, 0);
    for (uint32_t i = threadIdx.x; i < lines * 32; i += HOPPER_THREADS)
        ((uint32_t *)x.args.d)[i] = golden_memory[i];
}

/* One operand: its boxes, and their bytes. */
template <int MN, int EXTENT>
static __device__ void fetch(uint32_t to, const tcgemm_tensor_map_t *map, uint32_t barrier) {
    for (int32_t i = 0; i < (MN ? EXTENT : 1); i += 64)
        tcgemm_tma_load(to + i * 128, map, barrier, i, 0, 0);
}

enum { TCGEMM_WGMMA_TF32_REGISTERS = 100 };

/* A step of a box of f32 with k contiguous, as registers (gpu/ptx/wgmma.cuh). */
static __device__ void take(uint32_t step, uint32_t (&a)[4]) {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row = warp * 16 + lane / 4 + i % 2 * 8, k = 8 * step + lane % 4 + i / 2 * 4;
        a[i] = golden_memory[row * 32 + ((k / 4) ^ (row % 8)) * 4 + k % 4];
    }
}

template <int KIND, int N, int A_MN, int B_MN, class SUM>
static __device__ void multiply(const tcgemm_tensor_args_t &x) {
    enum { B_LINES = B_MN ? (N + 63) / 64 * 64 : N };
    const uint32_t smem = begin();
    if (threadIdx.x == 0) {
        tcgemm_mbarrier_arrive_expect(smem + HOPPER_BARRIER, (64 + B_LINES) * 128);
        fetch<A_MN, 64>(smem, &x.a, smem + HOPPER_BARRIER);
        fetch<B_MN, N>(smem + HOPPER_A, &x.b, smem + HOPPER_BARRIER);
    }
    SUM c[N / 2];
    for (uint32_t i = 0; i < N / 2; ++i)
        c[i] = (SUM)((threadIdx.x * 7 + i * 3) % 16);
    tcgemm_mbarrier_wait(smem + HOPPER_BARRIER, 0);
    const uint64_t a = tcgemm_wgmma_operand(smem, A_MN ? 8192 : 0, 1024);
    const uint64_t b = tcgemm_wgmma_operand(smem + HOPPER_A, B_MN ? 8192 : 0, 1024);
    uint32_t fragments[4][4];
    if constexpr (KIND == TCGEMM_WGMMA_TF32_REGISTERS)
        for (uint32_t step = 0; step < 4; ++step)
            take(step, fragments[step]);
    tcgemm_wgmma_fence();
#pragma unroll
    for (uint32_t step = 0; step < 4; ++step) {
        const uint64_t b_of_step = tcgemm_wgmma_advance(b, step * (B_MN ? 2048 : 32));
        if constexpr (KIND == TCGEMM_WGMMA_TF32_REGISTERS)
            tcgemm_wgmma_registers<TCGEMM_WGMMA_TF32, N>::run(c, fragments[step], b_of_step, 1);
        else
            tcgemm_wgmma<KIND, N>::template run<A_MN, B_MN>(
                c, tcgemm_wgmma_advance(a, step * (A_MN ? 2048 : 32)), b_of_step, 1);
    }
    tcgemm_wgmma_commit();
    tcgemm_wgmma_wait<0>();
    uint32_t words[N / 2];
    memcpy(words, c, sizeof words);
    for (uint32_t i = 0; i < N / 2; ++i)
        ((uint32_t *)x.args.d)[threadIdx.x * (N / 2) + i] = words[i];
}

#define HOPPER_MULTIPLY(name, kind, a, b, n, a_mn, b_mn, sum)                                      \
    HOPPER_KERNEL(golden_wgmma_##name) {                                                           \
        multiply<TCGEMM_WGMMA_##kind, n, a_mn, b_mn, sum>(x);                                      \
    }
HOPPER_PRODUCTS(HOPPER_MULTIPLY)
