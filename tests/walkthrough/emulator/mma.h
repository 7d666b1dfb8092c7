/* mma.h - a GPU of one warp, played by the CPU, for docs/walkthrough.md on machines without one.
 *
 * The program is compiled by the host compiler with this header in place of CUDA's <mma.h>, and its
 * kernel really runs: block by block and warp by warp, the 32 lanes of a warp as coroutines that
 * change places at __syncwarp. Between two of these a lane runs alone, first all of lane 0, then
 * all of lane 1, so that a missing __syncwarp is a wrong result each time, not now and then. A
 * fragment lives in one lane, the leader; it is lane 0, or, with EMULATOR_LEADER=last, lane 31: a
 * race shows in the one or in the other.
 *
 * Sums are formed in order and rounded to nearest; the truncation of real tensor cores is not
 * modelled. Of the CUDA runtime there is what the program calls.
 */
#ifndef WALKTHROUGH_EMULATOR_MMA_H
#define WALKTHROUGH_EMULATOR_MMA_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#undef __shared__
#define __shared__ static
#undef __launch_bounds__
#define __launch_bounds__(...)

/* ---- lanes ---------------------------------------------------------------------------------- */

static uint3 threadIdx, blockIdx;

namespace emulator {

enum { LANES = 32, STACK = 1 << 18 };

struct warp_state {
    ucontext_t scheduler, lanes[LANES];
    std::vector<char> stacks = std::vector<char>((size_t)LANES * STACK);
    bool done[LANES];
    int lane = 0;
    std::function<void()> body;
};

inline warp_state &warp(void) {
    static warp_state state;
    return state;
}

inline bool is_leader(void) {
    static const char *leader = getenv("EMULATOR_LEADER");
    return warp().lane == (leader && strcmp(leader, "last") == 0 ? LANES - 1 : 0);
}

inline void run_lane(void) {
    warp_state &w = warp();
    w.body();
    w.done[w.lane] = true;
    swapcontext(&w.lanes[w.lane], &w.scheduler);
}

/* Runs the lanes of one warp to their ends, from one __syncwarp to the next. */
inline void run_warp(int index) {
    warp_state &w = warp();
    for (int i = 0; i < LANES; i++) {
        getcontext(&w.lanes[i]);
        w.lanes[i].uc_stack.ss_sp = w.stacks.data() + (size_t)i * STACK;
        w.lanes[i].uc_stack.ss_size = STACK;
        w.lanes[i].uc_link = nullptr;
        makecontext(&w.lanes[i], run_lane, 0);
        w.done[i] = false;
    }
    for (int ended = 0; ended < LANES;) {
        ended = 0;
        for (int i = 0; i < LANES; i++) {
            w.lane = i;
            threadIdx.x = (unsigned)(index * LANES + i);
            swapcontext(&w.scheduler, &w.lanes[i]);
            ended += w.done[i];
        }
        if (ended != 0 && ended != LANES) {
            fputs("emulator: some lanes ended where others wait\n", stderr);
            abort();
        }
    }
}

} // namespace emulator

static inline void __syncwarp(void) {
    emulator::warp_state &w = emulator::warp();
    const int lane = w.lane;
    swapcontext(&w.lanes[lane], &w.scheduler);
}

/* ---- warp-matrix functions ------------------------------------------------------------------ */

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
} // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <class T> struct stored { typedef T type; };
template <> struct stored<precision::tf32> { typedef float type; };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static constexpr int ROWS = std::is_same<Use, matrix_b>::value ? K : M;
    static constexpr int COLS = std::is_same<Use, matrix_a>::value ? K : N;
    static constexpr int num_elements = ROWS * COLS;
    typedef typename stored<T>::type element;
    std::unique_ptr<element[]> x{new element[num_elements]()};
};

inline float __float_to_tf32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000) & ~0x1FFFu;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

template <class F, class T> void fill_fragment(F &f, T value) {
    for (int i = 0; i < F::num_elements; i++)
        f.x[i] = value;
}

/* A pointer or a distance of rows that the hardware may refuse is an error here. */
template <class T> void demand_alignment(const T *from, unsigned ld) {
    if ((uintptr_t)from % 16 != 0 || ld * sizeof(T) % 16 != 0) {
        fprintf(stderr, "emulator: rows %u elements apart, from %p on, are not aligned\n", ld,
                (const void *)from);
        abort();
    }
}

template <class Use, int M, int N, int K, class T, class Layout, class Memory>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const Memory *from, unsigned ld) {
    typedef fragment<Use, M, N, K, T, Layout> F;
    demand_alignment(from, ld);
    if (!emulator::is_leader())
        return;
    for (int i = 0; i < F::ROWS; i++)
        for (int j = 0; j < F::COLS; j++)
            f.x[i * F::COLS + j] = std::is_same<Layout, row_major>::value
                                       ? from[(size_t)i * ld + j]
                                       : from[(size_t)j * ld + i];
}

template <int M, int N, int K, class T, class Memory>
void store_matrix_sync(Memory *to, const fragment<accumulator, M, N, K, T> &f, unsigned ld,
                       layout_t) {
    demand_alignment(to, ld);
    if (emulator::is_leader())
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                to[(size_t)i * ld + j] = f.x[i * N + j];
}

template <class Sum, class T> Sum widened(T x) {
    if constexpr (std::is_arithmetic<T>::value)
        return (Sum)x;
    else
        return (Sum)(float)x;
}

template <int M, int N, int K, class Sum, class T, class LA, class LB>
void mma_sync(fragment<accumulator, M, N, K, Sum> &d, const fragment<matrix_a, M, N, K, T, LA> &a,
              const fragment<matrix_b, M, N, K, T, LB> &b,
              const fragment<accumulator, M, N, K, Sum> &c) {
    typedef typename std::conditional<std::is_same<Sum, int>::value, unsigned, Sum>::type wide;
    if (!emulator::is_leader())
        return;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            wide sum = (wide)c.x[i * N + j];
            for (int p = 0; p < K; p++)
                sum += widened<wide>(a.x[i * K + p]) * widened<wide>(b.x[p * N + j]);
            d.x[i * N + j] = (Sum)sum;
        }
}

} // namespace wmma
} // namespace nvcuda

/* ---- the runtime ---------------------------------------------------------------------------- */

namespace emulator {

template <class Sum> void run_grid(const void *kernel, dim3 grid, dim3 block, void **arguments) {
    typedef void (*function)(int, int, int, Sum, const void *, const void *, Sum, const void *,
                             void *);
    const function call = (function)kernel;
    warp().body = [=] {
        call(*(int *)arguments[0], *(int *)arguments[1], *(int *)arguments[2], *(Sum *)arguments[3],
             *(void **)arguments[4], *(void **)arguments[5], *(Sum *)arguments[6],
             *(void **)arguments[7], *(void **)arguments[8]);
    };
    for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
            for (unsigned i = 0; i < block.x / LANES; i++)
                run_warp((int)i);
}

} // namespace emulator

/* What the kernel sums in is told by its name: ..4gemmI7f16_f32Li16E... (linked with -rdynamic). */
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t,
                             cudaStream_t) {
    Dl_info info;
    if (!dladdr(kernel, &info) || !info.dli_sname)
        return cudaErrorInvalidDeviceFunction;
    const std::string name = info.dli_sname;
    if (name.find("_s32Li") != std::string::npos)
        emulator::run_grid<int>(kernel, grid, block, arguments);
    else if (name.find("f64_f64Li") != std::string::npos)
        emulator::run_grid<double>(kernel, grid, block, arguments);
    else
        emulator::run_grid<float>(kernel, grid, block, arguments);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *gpu, int) {
    memset(gpu, 0, sizeof *gpu);
    strcpy(gpu->name, "emulator");
    gpu->major = 8;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory" : "the emulator failed";
}

cudaError_t cudaMalloc(void **data, size_t bytes) {
    *data = aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *data) {
    free(data);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    if (bytes > 0)
        memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *data, int value, size_t bytes) {
    memset(data, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = nullptr;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 1;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t) {
    return cudaSuccess;
}

template <class T> cudaError_t cudaMalloc(T **data, size_t bytes) {
    return cudaMalloc((void **)data, bytes);
}

#endif
