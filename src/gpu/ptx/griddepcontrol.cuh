/* griddepcontrol.cuh - launches that begin before the one ahead of them in the stream has ended
 * (sm_90). PTX ISA, Parallel Synchronization: "griddepcontrol".
 */
#ifndef TCGEMM_PTX_GRIDDEPCONTROL_CUH
#define TCGEMM_PTX_GRIDDEPCONTROL_CUH

/* Waits until the launches ahead have ended and what they wrote can be seen; returns at once in a
 * launch that began after them. Nothing but this kernel's parameters may be used before. */
static __device__ __forceinline__ void tcgemm_wait_for_grids(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next launch begin, once every block has said so or ended. */
static __device__ __forceinline__ void tcgemm_let_next_grid_begin(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif
