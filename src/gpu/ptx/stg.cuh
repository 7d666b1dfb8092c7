/* stg.cuh - stores to global memory that stay as wide as they are written. PTX ISA, Data Movement
 * and Conversion: "st". An assignment to a uint4 does not: where another branch stores the same
 * elements one by one, at an edge, the compiler joins both, and what is left are narrow stores.
 */
#ifndef TCGEMM_PTX_STG_CUH
#define TCGEMM_PTX_STG_CUH

#include <stdint.h>

/* BYTES bytes, 8 or 16, on a boundary of as many. */
template <int BYTES>
static __device__ __forceinline__ void tcgemm_stg(void *to, const uint32_t (&words)[BYTES / 4]) {
    static_assert(BYTES == 8 || BYTES == 16, "one wide store");
    if constexpr (BYTES == 16)
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words[0]),
                     "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    else
        asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(words[0]), "r"(words[1])
                     : "memory");
}

#endif
