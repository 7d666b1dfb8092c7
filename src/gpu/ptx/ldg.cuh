/* ldg.cuh - loads of what is read once: they leave the L1 cache to others. PTX ISA, Data Movement
 * and Conversion: "ld.global.nc". Nobody may write there while the kernel runs.
 */
#ifndef TCGEMM_PTX_LDG_CUH
#define TCGEMM_PTX_LDG_CUH

#include <stdint.h>

/* 16 bytes, on a boundary of 16. */
static __device__ __forceinline__ void tcgemm_ldg_once_16(uint32_t *to, const void *from) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "l"(from));
}

#endif
