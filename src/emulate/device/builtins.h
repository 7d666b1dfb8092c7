/* builtins.h - what nvcc knows without an #include, for kernels that are compiled for the host.
 *
 * The compiler is given this header first (-include), __CUDACC__ and __CUDA_ARCH__. A kernel then
 * is an ordinary function: each of its threads runs it on a fiber of its own (emulate/machine.h),
 * and what a thread asks of the GPU is a call into the machine. Loads and stores reach the machine
 * as the calls that -fsanitize=thread puts before each of them (emulate/hooks.c).
 */
#ifndef TCGEMM_EMULATE_DEVICE_BUILTINS_H
#define TCGEMM_EMULATE_DEVICE_BUILTINS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emulate/instructions.h"

/* ---- qualifiers ---- */

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
/* Dynamic shared memory is `extern __shared__`: a symbol that the linker takes for the machine's
 * shared memory (emulate/CMakeLists.txt). On a variable that is not extern the attribute is an
 * error
 * (-Werror=attributes), as it should be: such a variable would be each thread's own. */
#define __shared__ __attribute__((visibility("hidden")))

/* ---- who am I ---- */

#define threadIdx (tcgemm_emulate_thread_idx())
#define blockIdx  (tcgemm_emulate_block_idx())
#define blockDim  (tcgemm_emulate_block_dim())
#define gridDim   (tcgemm_emulate_grid_dim())

/* ---- vectors ---- */

#define TCGEMM_EMULATE_VECTOR_2(name, type, bytes)                                                 \
    struct __attribute__((aligned(bytes))) name {                                                  \
        type x, y;                                                                                 \
    };                                                                                             \
    static __forceinline__ name make_##name(type x, type y) {                                      \
        return name{x, y};                                                                         \
    }
#define TCGEMM_EMULATE_VECTOR_4(name, type, bytes)                                                 \
    struct __attribute__((aligned(bytes))) name {                                                  \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static __forceinline__ name make_##name(type x, type y, type z, type w) {                      \
        return name{x, y, z, w};                                                                   \
    }

TCGEMM_EMULATE_VECTOR_2(float2, float, 8)
TCGEMM_EMULATE_VECTOR_2(uint2, uint32_t, 8)
TCGEMM_EMULATE_VECTOR_2(int2, int32_t, 8)
TCGEMM_EMULATE_VECTOR_2(double2, double, 16)
TCGEMM_EMULATE_VECTOR_4(float4, float, 16)
TCGEMM_EMULATE_VECTOR_4(uint4, uint32_t, 16)
TCGEMM_EMULATE_VECTOR_4(int4, int32_t, 16)

/* ---- functions ---- */

/* The last parameters of a function that a whole warp or block calls: where it is called from, in
 * the source. (An address would not do: the compiler may compile one call twice.) */
#define TCGEMM_EMULATE_CALLER const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE()
#define TCGEMM_EMULATE_HERE() tcgemm_emulate_here(file, line)

static __forceinline__ float __uint_as_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static __forceinline__ uint32_t __float_as_uint(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* PTX ISA, "prmt", without the replication of signs: a nibble is 0 .. 7. */
static __forceinline__ uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t which) {
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; ++i)
        r |= (uint32_t)(both >> 8 * (which >> 4 * i & 7) & 0xFF) << 8 * i;
    return r;
}

#define __cvta_generic_to_shared(p) ((size_t)tcgemm_emulate_shared_address(p))

static __forceinline__ void __syncthreads(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_syncthreads();
}

static __forceinline__ void __syncwarp(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_syncwarp();
}

static __forceinline__ uint32_t __shfl_sync(uint32_t mask, uint32_t value, int from,
                                            TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    return tcgemm_emulate_shfl(mask, value, (uint32_t)from);
}

/* Bits shift .. shift + 31 of (high, low). */
static __forceinline__ uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

/* Leading zeros of 32 bits. */
static constexpr int __clz(int x) {
    return x ? __builtin_clz((uint32_t)x) : 32;
}

/* Multiply-adds are counted for the report. */
static __forceinline__ float tcgemm_counted_fmaf(float a, float b, float c) {
    tcgemm_emulate_count_fma();
    return __builtin_fmaf(a, b, c);
}
#define fmaf tcgemm_counted_fmaf

#endif
