/* setmaxnreg.cuh - how registers are dealt out among warpgroups (sm_90a), one instruction each. PTX
 * ISA, Miscellaneous: "setmaxnreg".
 *
 * All warps of a warpgroup say the same. What the warpgroups of a block have together is what they
 * had at its start.
 */
#ifndef TCGEMM_PTX_SETMAXNREG_CUH
#define TCGEMM_PTX_SETMAXNREG_CUH

#include <stdint.h>

/* COUNT registers a thread from now on, a multiple of 8: fewer than before, */
template <int COUNT> static __device__ __forceinline__ void tcgemm_registers_less(void) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/* or more, when another warpgroup has given them up. */
template <int COUNT> static __device__ __forceinline__ void tcgemm_registers_more(void) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

#endif
