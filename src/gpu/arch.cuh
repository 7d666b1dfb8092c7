/* arch.cuh - the architecture that a kernel is being compiled for. */
#ifndef TCGEMM_GPU_ARCH_CUH
#define TCGEMM_GPU_ARCH_CUH

#include "device/arch_smem.h"

/* 10 x compute capability; 0 while nvcc compiles for the host. */
#if defined(__CUDA_ARCH__)
#define TCGEMM_ARCH (__CUDA_ARCH__ / 10)
#else
#define TCGEMM_ARCH 0
#endif

/* Whether it is sm_90a, whose image is for devices of that very architecture: in modules that do
 * not share the PTX of 90 (cmake/TcgemmCuda.cmake). */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TCGEMM_IS_SM90A 1
#else
#define TCGEMM_IS_SM90A 0
#endif

/* Whether the kernel of a row is for it. The body of the others is empty: no device is offered
 * them. */
#define TCGEMM_IS_FOR_ARCH(min_cc, max_cc, smem_bytes)                                             \
    (TCGEMM_ARCH >= (min_cc) && TCGEMM_ARCH <= (max_cc) &&                                         \
     (smem_bytes) <= TCGEMM_SMEM_OF_CC(TCGEMM_ARCH))

/* cp.async copies from global to shared memory from sm_80 on. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define TCGEMM_HAVE_CP_ASYNC 0
#else
#define TCGEMM_HAVE_CP_ASYNC 1
#endif

#endif
