/* shared.cuh - static shared memory, by a word that the emulator can take differently: there a
 * variable of a function would be each thread's own (src/emulate/device); loads and stores by
 * address. */
#ifndef TCGEMM_PTX_SHARED_CUH
#define TCGEMM_PTX_SHARED_CUH

#include <stdint.h>

#define TCGEMM_SHARED_ARRAY(type, name, count) __shared__ type name[count]

static __device__ __forceinline__ uint32_t tcgemm_lds_32(uint32_t from) {
    uint32_t value;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(from) : "memory");
    return value;
}

static __device__ __forceinline__ void tcgemm_sts_32(uint32_t to, uint32_t value) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

static __device__ __forceinline__ void tcgemm_sts_64(uint32_t to, uint2 value) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(value.x), "r"(value.y)
                 : "memory");
}

#endif
