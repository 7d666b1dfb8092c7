/* special.cuh - special registers, one read each, and registers that stay. PTX ISA, Special
 * Registers.
 */
#ifndef TCGEMM_PTX_SPECIAL_CUH
#define TCGEMM_PTX_SPECIAL_CUH

#include <stdint.h>

/* blockIdx.x, read again each time it is asked for: what is worked out from it need not stay in
 * registers in between. */
static __device__ __forceinline__ uint32_t tcgemm_block_index(void) {
    uint32_t r;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(r));
    return r;
}

/* From here on no compiler knows how x came about: it stays in a register and is not worked out
 * anew where it is used. */
static __device__ __forceinline__ void tcgemm_keep(uint32_t *x) {
    asm volatile("" : "+r"(*x));
}

#endif
