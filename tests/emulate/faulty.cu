/* faulty.cu - kernels with one fault each, and their sound counterparts: what the emulator must
 * see.
 *
 * One block of two warps on in[64 x 4], out[64 x 4] floats (rows of 4 of a pitch of 6: what lies
 * between them is nobody's), 1024 bytes of shared memory. The names end in the words that
 * test_faults.c expects of them.
 */
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mma.cuh"

enum { PITCH = 6 };

#define KERNEL(name) extern "C" __global__ void name(const float *in, float *out)
#define SHARED       extern __shared__ __align__(1024) float faulty_memory[]

/* Each thread hands its number to its neighbour. */
KERNEL(sound_exchange) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = in[t * PITCH];
    __syncthreads();
    out[t * PITCH] = faulty_memory[t ^ 33];
}

KERNEL(no_syncthreads) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = in[t * PITCH];
    out[t * PITCH] = faulty_memory[t ^ 33];
}

KERNEL(sound_exchange_in_a_warp) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = in[t * PITCH];
    __syncwarp();
    out[t * PITCH] = faulty_memory[t ^ 1];
    __syncwarp();
    faulty_memory[t ^ 1] = 1;
}

KERNEL(no_syncwarp) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = in[t * PITCH];
    out[t * PITCH] = faulty_memory[t ^ 1];
}

/* The reads are in time, the next writes are not. */
KERNEL(no_syncwarp_before_the_next_write) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = in[t * PITCH];
    __syncwarp();
    out[t * PITCH] = faulty_memory[t ^ 1];
    faulty_memory[t] = 1;
}

KERNEL(syncwarp_between_warps) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = in[t * PITCH];
    __syncwarp();
    out[t * PITCH] = faulty_memory[t ^ 33];
}

KERNEL(two_writers) {
    SHARED;
    faulty_memory[threadIdx.x / 2] = 1;
    __syncthreads();
    out[threadIdx.x * PITCH] = in[threadIdx.x * PITCH];
}

/* Neighbours in one word: no race. */
KERNEL(sound_bytes) {
    SHARED;
    char *bytes = (char *)faulty_memory;
    bytes[threadIdx.x] = (char)threadIdx.x;
    __syncthreads();
    out[threadIdx.x * PITCH] = bytes[threadIdx.x ^ 5];
}

KERNEL(never_written) {
    SHARED;
    if (threadIdx.x != 7)
        faulty_memory[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x * PITCH] = faulty_memory[threadIdx.x];
}

KERNEL(beyond_shared) {
    SHARED;
    faulty_memory[4 * threadIdx.x + 4] = 1;
}

/* ---- threads that do not meet ---- */

KERNEL(some_do_not_sync) {
    if (threadIdx.x != 5)
        __syncthreads();
    out[threadIdx.x * PITCH] = in[threadIdx.x * PITCH];
}

KERNEL(some_end_early) {
    if (threadIdx.x >= 60)
        return;
    __syncthreads();
    out[threadIdx.x * PITCH] = in[threadIdx.x * PITCH];
}

KERNEL(two_barriers) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x * PITCH] = in[threadIdx.x * PITCH];
}

KERNEL(half_a_warp_multiplies) {
    float c[4] = {0, 0, 0, 0};
    const uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    if (threadIdx.x % 32 < 16)
        tcgemm_mma_m16n8k16_f32_f16(c, a, b);
    else
        __syncwarp();
    out[threadIdx.x * PITCH] = c[0];
}

KERNEL(a_product_in_two_places) {
    float c[4] = {0, 0, 0, 0};
    const uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    if (threadIdx.x % 32 < 16)
        tcgemm_mma_m16n8k16_f32_f16(c, a, b);
    else
        tcgemm_mma_m16n8k16_f32_f16(c, a, b);
    out[threadIdx.x * PITCH] = c[0];
}

/* ---- global memory ---- */

KERNEL(sound_rows) {
    for (int j = 0; j < 4; ++j)
        out[threadIdx.x * PITCH + j] = in[threadIdx.x * PITCH + j];
}

KERNEL(a_column_too_many) {
    float sum = 0;
    for (int j = 0; j < 5; ++j)
        sum += in[threadIdx.x * PITCH + j];
    out[threadIdx.x * PITCH] = sum;
}

KERNEL(a_row_too_many) {
    out[threadIdx.x * PITCH] = in[(threadIdx.x + 1) * PITCH];
}

KERNEL(writes_between_rows) {
    out[threadIdx.x * PITCH + 4] = 0;
}

KERNEL(writes_its_input) {
    ((float *)in)[threadIdx.x * PITCH] = 0;
}

KERNEL(reads_its_output) {
    out[threadIdx.x * PITCH] += 1;
}

KERNEL(writes_twice) {
    out[threadIdx.x / 2 * PITCH] = 1;
}

KERNEL(misaligned) {
    const float4 v = *(const float4 *)(in + threadIdx.x * PITCH);
    out[threadIdx.x * PITCH] = v.x;
}

/* ---- cp.async ---- */

static __device__ uint32_t slot(uint32_t thread) {
    SHARED;
    return tcgemm_smem_address(faulty_memory + thread);
}

KERNEL(sound_copies) {
    SHARED;
    const uint32_t t = threadIdx.x;
    tcgemm_cp_async_4(slot(t), in + t * PITCH, 4);
    tcgemm_cp_async_commit();
    tcgemm_cp_async_4(slot(t + 64), in + t * PITCH + 1, 4);
    tcgemm_cp_async_commit();
    tcgemm_cp_async_wait<1>();
    __syncthreads();
    out[t * PITCH] = faulty_memory[t ^ 33];
    tcgemm_cp_async_wait<0>();
    __syncthreads();
    out[t * PITCH + 1] = faulty_memory[64 + (t ^ 33)];
}

KERNEL(no_wait) {
    SHARED;
    const uint32_t t = threadIdx.x;
    tcgemm_cp_async_4(slot(t), in + t * PITCH, 4);
    tcgemm_cp_async_commit();
    __syncthreads();
    out[t * PITCH] = faulty_memory[t ^ 33];
    tcgemm_cp_async_wait<0>();
}

KERNEL(waits_for_too_few) {
    SHARED;
    const uint32_t t = threadIdx.x;
    tcgemm_cp_async_4(slot(t), in + t * PITCH, 4);
    tcgemm_cp_async_commit();
    tcgemm_cp_async_wait<1>();
    __syncthreads();
    out[t * PITCH] = faulty_memory[t ^ 33];
    tcgemm_cp_async_wait<0>();
}

KERNEL(no_commit) {
    SHARED;
    const uint32_t t = threadIdx.x;
    tcgemm_cp_async_4(slot(t), in + t * PITCH, 4);
    tcgemm_cp_async_wait<0>();
    __syncthreads();
    out[t * PITCH] = faulty_memory[t ^ 33];
}

KERNEL(waits_without_a_barrier) {
    SHARED;
    const uint32_t t = threadIdx.x;
    tcgemm_cp_async_4(slot(t), in + t * PITCH, 4);
    tcgemm_cp_async_commit();
    tcgemm_cp_async_wait<0>();
    out[t * PITCH] = faulty_memory[t ^ 33];
}

KERNEL(overwrites_what_is_read) {
    SHARED;
    const uint32_t t = threadIdx.x;
    faulty_memory[t] = 1;
    __syncthreads();
    out[t * PITCH] = faulty_memory[t ^ 33];
    tcgemm_cp_async_4(slot(t), in + t * PITCH, 4);
    tcgemm_cp_async_commit();
    tcgemm_cp_async_wait<0>();
}

KERNEL(copies_off_by_two_bytes) {
    tcgemm_cp_async_4(slot(threadIdx.x) + 2, in, 4);
}

KERNEL(copies_a_row_too_many) {
    tcgemm_cp_async_4(slot(threadIdx.x), in + (threadIdx.x + 1) * PITCH, 4);
    tcgemm_cp_async_commit();
    tcgemm_cp_async_wait<0>();
}

KERNEL(ends_in_flight) {
    tcgemm_cp_async_4(slot(threadIdx.x), in + threadIdx.x * PITCH, 4);
    tcgemm_cp_async_commit();
}
